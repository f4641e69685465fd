"""An answer in Gemini's form as typed data, straight from the wire.

Only what the adapters use is named; everything else is ignored. Parts stay plain dictionaries until their kind is
known, since one of a kind unknown here is kept verbatim.
"""

from __future__ import annotations

import binascii
from base64 import b64decode
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import msgspec

from turnproof import messages
from turnproof.errors import PayloadError

from .._characters import whole_characters
from .._decoding import convert_to, decode_json
from . import usage
from .assemble import Called, Chunk, Piece, Words, blocked
from .target import Target


class Call(msgspec.Struct, frozen=True):
    """A call, whole."""

    id: str | None = None
    name: str | None = None
    args: dict[str, Any] | None = None


class Code(msgspec.Struct, frozen=True):
    """Code that the service ran."""

    id: str | None = None
    language: str | None = None
    code: str | None = None


class CodeResult(msgspec.Struct, frozen=True):
    """What that gave."""

    id: str | None = None
    outcome: str | None = None
    output: str | None = None


class Blob(msgspec.Struct, frozen=True, rename="camel"):
    """Bytes of a file."""

    mime_type: str | None = None
    data: str | None = None


class File(msgspec.Struct, frozen=True, rename="camel"):
    """Where a file is."""

    mime_type: str | None = None
    file_uri: str | None = None


class WirePart(msgspec.Struct, frozen=True, rename="camel"):
    """One part of an answer."""

    text: str | None = None
    thought: bool | None = None
    thought_signature: str | None = None
    function_call: Call | None = None
    executable_code: Code | None = None
    code_execution_result: CodeResult | None = None
    inline_data: Blob | None = None
    file_data: File | None = None

    @property
    def signature(self) -> str | None:
        """What goes back with the part, as it came."""
        return None if self.thought_signature is None else whole_characters(self.thought_signature)


class Content(msgspec.Struct, frozen=True):
    """What the model said."""

    parts: list[dict[str, Any]] | None = None


class Candidate(msgspec.Struct, frozen=True, rename="camel"):
    """One answer; there is never more than one."""

    content: Content | None = None
    finish_reason: str | None = None
    finish_message: str | None = None


class Feedback(msgspec.Struct, frozen=True, rename="camel"):
    """Why the prompt was not answered."""

    block_reason: str | None = None
    block_reason_message: str | None = None


class Usage(msgspec.Struct, frozen=True, rename="camel"):
    """Token figures in Gemini's arithmetic. With Claude what was thought is counted as said."""

    prompt_token_count: int | None = None
    tool_use_prompt_token_count: int | None = None
    candidates_token_count: int | None = None
    thoughts_token_count: int | None = None
    cached_content_token_count: int | None = None


class Answer(msgspec.Struct, frozen=True, rename="camel"):
    """An answer, or a piece of one."""

    candidates: list[Candidate] | None = None
    prompt_feedback: Feedback | None = None
    usage_metadata: Usage | None = None
    model_version: str | None = None
    response_id: str | None = None


class AnswerOrError(Answer, frozen=True, rename="camel"):
    """What a service sends where an answer belongs: one, or an error in its place."""

    error: Any = None


class ToldOfFailure(Exception):
    """What came in place of an answer, under a status that promised one."""

    def __init__(self, error: object) -> None:
        super().__init__("the service told of a failure in the midst of an answer")
        self.error = error


_decoder = msgspec.json.Decoder(AnswerOrError)


def decode_chunk(data: bytes, to: Target) -> Chunk:
    """An answer, or a piece of one. Raises ValueError for what is none, RecursionError for one that is nested too
    deeply, and ToldOfFailure for an error."""
    answer = decode_json(_decoder, data)
    if answer.error is not None:
        raise ToldOfFailure(answer.error)
    return chunk(answer, to)


def chunk(answer: Answer, to: Target) -> Chunk:
    """The same of data that has been decoded."""
    figures = answer.usage_metadata
    found = Chunk(
        answer=answer.response_id,
        model=answer.model_version,
        usage=usage.tokens(figures) if figures is not None else None,
    )
    if not answer.candidates:
        feedback = answer.prompt_feedback
        if feedback is None or feedback.block_reason is None:
            return found
        return replace(found, blocked=blocked(feedback.block_reason, feedback.block_reason_message))
    candidate = answer.candidates[0]
    parts = candidate.content.parts if candidate.content is not None else None
    return replace(
        found,
        pieces=pieces(parts or (), to),
        finish=candidate.finish_reason,
        finish_message=candidate.finish_message,
    )


def pieces(parts: Iterable[dict[str, Any]], to: Target) -> tuple[Piece, ...]:
    """Parts as what an answer is made of. Raises ValueError for one that is none."""
    return tuple(_piece(part, to) for part in parts)


def _piece(plain: dict[str, Any], to: Target) -> Piece:
    wire = convert_to(plain, WirePart)
    if (call := wire.function_call) is not None:
        return Called(call.id, call.name, call.args, to.data(wire.signature))
    kind = next((name for name, value in plain.items() if name not in _SIDE_FIELDS and value is not None), None)
    if wire.text is not None or (wire.thought_signature and kind is None):
        return Words(messages.Thought if wire.thought else messages.Text, wire.text or "", to.data(wire.signature))
    return _other(wire, plain, kind, to) if kind is not None else None


_SIDE_FIELDS = frozenset({"thought", "thoughtSignature"})


def _other(wire: WirePart, plain: dict[str, Any], kind: str, to: Target) -> messages.Part:
    """A part that is neither a call nor words."""
    issued: messages.ProviderData | None = to.data(wire.signature)
    if (code := wire.executable_code) is not None:
        known = to.data(wire.signature, id=code.id)
        language, text = whole_characters(code.language or ""), whole_characters(code.code or "")
        return messages.ExecutableCode(language, text, provider_data=known)
    if (code_result := wire.code_execution_result) is not None:
        known = to.data(wire.signature, id=code_result.id)
        outcome, output = whole_characters(code_result.outcome or ""), whole_characters(code_result.output or "")
        return messages.CodeExecutionResult(outcome, output, provider_data=known)
    if (blob := wire.inline_data) is not None:
        return messages.InlineData(
            whole_characters(blob.mime_type or ""), decoded_bytes(blob.data or ""), provider_data=issued
        )
    if (file := wire.file_data) is not None:
        mime_type, uri = whole_characters(file.mime_type or ""), whole_characters(file.file_uri or "")
        return messages.FileRef(mime_type, uri, provider_data=issued)
    data = {name: value for name, value in plain.items() if name != "thoughtSignature" and value is not None}
    try:
        return messages.Opaque(to.dialect, kind, data, provider_data=issued)
    except PayloadError as error:
        raise ValueError(f"a part that nobody could send back: {error.reason}") from None


def decoded_bytes(text: str) -> bytes:
    """Base64 in either alphabet, padded or not. Raises ValueError for what is none."""
    standard = text.replace("-", "+").replace("_", "/")
    try:
        return b64decode(standard + "=" * (-len(standard) % 4), validate=True)
    except binascii.Error as error:
        raise ValueError(f"not base64: {error}") from None
