"""The SDK's answer objects, read as what `assemble` makes a neutral answer of.

A batch answer and each piece of a stream are the same kind of object.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

from google.genai import types

from turnproof import messages
from turnproof.errors import PayloadError, TransportError

from .._answers import Listeners
from .._calling import Source
from .._characters import whole_characters
from . import assemble, usage
from .assemble import Assembler, Called, Chunk, Piece, Words, blocked
from .target import Target


def read(answer: types.GenerateContentResponse, to: Target) -> Chunk:
    """One object of an answer."""
    candidate = answer.candidates[0] if answer.candidates else None
    chunk = Chunk(
        answer=answer.response_id,
        model=answer.model_version,
        usage=usage.tokens(answer.usage_metadata) if answer.usage_metadata is not None else None,
    )
    if candidate is None:
        feedback = answer.prompt_feedback
        if feedback is None or feedback.block_reason is None:
            return chunk
        return replace(chunk, blocked=blocked(feedback.block_reason.value, feedback.block_reason_message))
    parts = candidate.content.parts if candidate.content is not None else None
    chunk = replace(chunk, pieces=tuple(_piece(part, to) for part in parts or ()))
    if candidate.finish_reason is None:
        return chunk
    return replace(chunk, finish=candidate.finish_reason.value, finish_message=candidate.finish_message)


def chunks(open_stream: Callable[[], Source[types.GenerateContentResponse]], to: Target) -> Source[Chunk]:
    """A stream of the SDK's, its objects read as they come."""
    source = open_stream()
    return Source(map(partial(read, to=to), source.events), source.close)


def read_sdk_answer(
    assembler: Callable[[Listeners], Assembler], to: Target, answer: types.GenerateContentResponse, listeners: Listeners
) -> messages.ProviderResponse:
    """A batch answer as a response; the callbacks hear of it in model order, like those of a stream."""
    return assemble.read_answer(assembler, read(answer, to), listeners)


def other_part(wire: types.Part, to: Target) -> messages.Part | None:
    """The part that is neither a call nor words; None for one of which the SDK kept nothing.

    Raises TransportError for one that holds what JSON cannot carry: nobody could send it back.
    """
    issued = issued_data(wire, to)
    if (code := wire.executable_code) is not None:
        language = whole_characters(code.language.value) if code.language is not None else ""
        text = whole_characters(code.code or "")
        return messages.ExecutableCode(language, text, provider_data=issued_data(wire, to, id=code.id))
    if (code_result := wire.code_execution_result) is not None:
        outcome = whole_characters(code_result.outcome.value) if code_result.outcome is not None else ""
        output = whole_characters(code_result.output or "")
        return messages.CodeExecutionResult(outcome, output, provider_data=issued_data(wire, to, id=code_result.id))
    if (blob := wire.inline_data) is not None:
        return messages.InlineData(whole_characters(blob.mime_type or ""), blob.data or b"", provider_data=issued)
    if (file := wire.file_data) is not None:
        mime_type, uri = whole_characters(file.mime_type or ""), whole_characters(file.file_uri or "")
        return messages.FileRef(mime_type, uri, provider_data=issued)
    kind = _kind(wire)
    try:
        return messages.Opaque(to.dialect, kind, _plain(wire), provider_data=issued) if kind is not None else None
    except PayloadError as error:
        raise TransportError(f"the service sent a part that cannot be kept ({error})") from None


def issued_data(wire: types.Part, to: Target, **known: str | None) -> messages.ProviderData | None:
    """What goes back with the part: its signature in the standard alphabet, and ids that only the API knows."""
    signature = b64encode(wire.thought_signature).decode() if wire.thought_signature else None
    return to.data(signature, **known)


def _piece(wire: types.Part, to: Target) -> Piece:
    if (call := wire.function_call) is not None:
        return Called(call.id, call.name, call.args, issued_data(wire, to))
    if wire.text is not None or (wire.thought_signature and _kind(wire) is None):
        return Words(messages.Thought if wire.thought else messages.Text, wire.text or "", issued_data(wire, to))
    return other_part(wire, to)


def _kind(wire: types.Part) -> str | None:
    """The wire name of what a part holds."""
    return next((name for name in _plain(wire) if name != "thought"), None)


def _plain(wire: types.Part) -> dict[str, Any]:
    """A part in the API's own form, without its signature."""
    return wire.model_dump(mode="json", by_alias=True, exclude_none=True, exclude={"thought_signature"})
