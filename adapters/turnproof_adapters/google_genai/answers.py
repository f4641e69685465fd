"""The SDK's answer objects become a neutral answer, and callbacks hear of it on the way.

A batch answer and each chunk of a stream are the same kind of object, so one assembler reads both: a stream is an
answer in several objects. Order is the model's own. Neighbouring texts of one kind are joined, except that a part with
a signature stays a part of its own: the API wants it back exactly as it came.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeAlias
from uuid import uuid4

from google.genai import types

from turnproof.cancel import CancelToken
from turnproof.errors import ContentFilterError, PayloadError, ProviderError, TransportError
from turnproof.messages import (
    CodeExecutionResult,
    ExecutableCode,
    FileRef,
    FinishReason,
    FunctionCall,
    InlineData,
    Opaque,
    Part,
    ProviderData,
    ProviderResponse,
    Text,
    Thought,
    TokenUsage,
)

from .._answers import Listeners, counted, risen
from .._characters import Joiner, whole_characters
from .finish import finish_reason, unusable
from .models import DIALECT
from .names import made_up_id

Restore: TypeAlias = Callable[[str], str]
"""From a tool's wire name to its own."""


@dataclass(slots=True)
class _Words:
    """Text of one kind that may still go on."""

    kind: type[Text] | type[Thought]
    pieces: list[str] = field(default_factory=list)
    joiner: Joiner = field(default_factory=Joiner)

    def part(self) -> Part:
        return self.kind("".join(self.pieces))


class Assembler:
    """Feed it the answer's objects in order. `complete` turns true with the finish reason.

    `model` is the model that was asked, which alone gets its signatures back. One object may hold several parts: after
    the one whose callback sets `token`, the rest is neither told nor kept.
    """

    def __init__(self, model: str, restore: Restore, listeners: Listeners, token: CancelToken | None = None) -> None:
        self.complete = False
        self.failure: ProviderError | None = None
        self._model = model
        self._restore = restore
        self._listeners = listeners
        self._token = token or CancelToken()
        self._said: list[Part | _Words] = []
        self._calls = 0
        self._answer = ""
        self._answered_by: str | None = None
        self._raw_finish: str | None = None
        self._finish_message: str | None = None
        self._usage = TokenUsage()
        self._shown = TokenUsage()

    def feed(self, answer: types.GenerateContentResponse) -> None:
        """Take one object. What it lacks changes nothing."""
        self._answer = self._answer or answer.response_id or ""
        self._answered_by = whole_characters(answer.model_version or "") or self._answered_by
        candidate = answer.candidates[0] if answer.candidates else None
        if candidate is not None:
            content = candidate.content
            for part in (content.parts if content is not None else None) or ():
                self._take(part)
                if self.failure is not None or self._token.is_cancelled:
                    return
            if candidate.finish_reason is not None:
                self._end_words()
                self._raw_finish = candidate.finish_reason.value
                self._finish_message = candidate.finish_message
                self.complete = True
        elif (feedback := answer.prompt_feedback) is not None and feedback.block_reason is not None:
            self.failure = _blocked(feedback.block_reason.value, feedback.block_reason_message)
        if answer.usage_metadata is not None:
            self._count(answer.usage_metadata)

    def response(self) -> ProviderResponse:
        """The finished answer. Raises TransportError for one that cannot be read, and for none at all."""
        failure = self.failure or unusable(self._raw_finish, self._finish_message)
        if failure is not None:
            raise failure
        if self._raw_finish is None and not self._said:
            raise TransportError("the service sent an answer without a candidate")
        return ProviderResponse(
            parts=self._parts(),
            usage=self._usage,
            finish_reason=finish_reason(self._raw_finish, has_calls=self._calls > 0),
            raw_finish=self._raw_finish,
            model=self._answered_by,
        )

    def cancelled(self) -> ProviderResponse:
        """What had arrived of text, and thoughts that were signed. Never a call."""
        return ProviderResponse(
            parts=tuple(part for part in self._parts() if stands_alone(part)),
            usage=self._usage,
            finish_reason=FinishReason.CANCELLED,
            model=self._answered_by,
        )

    def _take(self, wire: types.Part) -> None:
        if wire.text is None:
            self._end_words()
        if wire.function_call is not None:
            self._take_call(wire, wire.function_call)
        elif wire.text is not None or (wire.thought_signature and _kind(wire) is None):
            self._take_words(wire)
        else:
            part = other_part(wire, self._model)
            if part is not None:
                self._said.append(part)

    def _take_call(self, wire: types.Part, call: types.FunctionCall) -> None:
        name = whole_characters(self._restore(call.name or ""))
        call_id = whole_characters(call.id or "") or made_up_id(self._named(), self._calls)
        try:
            part = FunctionCall(call_id, name, call.args or {}, provider_data=issued_data(wire, self._model))
        except PayloadError as error:
            self.failure = TransportError(f"the service sent malformed arguments for a call of {name!r:.80} ({error})")
            return
        self._calls += 1
        self._said.append(part)
        if self._listeners.on_function_call is not None:
            self._listeners.on_function_call(part)

    def _take_words(self, wire: types.Part) -> None:
        text, kind = wire.text or "", Thought if wire.thought else Text
        issued = issued_data(wire, self._model)
        if issued is not None:
            self._end_words()
            text = whole_characters(text)
            self._said.append(kind(text=text, provider_data=issued))
        elif text:
            last = self._said[-1] if self._said else None
            if not isinstance(last, _Words) or last.kind is not kind:
                self._end_words()
                last = _Words(kind)
                self._said.append(last)
            text = last.joiner.feed(text)
            last.pieces.append(text)
        self._show(kind, text)

    def _end_words(self) -> None:
        """What comes next is no part of the words before it."""
        last = self._said[-1] if self._said else None
        if isinstance(last, _Words) and (rest := last.joiner.rest()):
            last.pieces.append(rest)
            self._show(last.kind, rest)

    def _show(self, kind: type[Text] | type[Thought], text: str) -> None:
        listener = self._listeners.on_thinking if kind is Thought else self._listeners.on_chunk
        if text and listener is not None:
            listener(text)

    def _named(self) -> str:
        """What tells this answer from every other."""
        self._answer = self._answer or uuid4().hex
        return self._answer

    def _count(self, usage: types.GenerateContentResponseUsageMetadata) -> None:
        self._usage = tokens(usage)
        self._shown = risen(self._shown, self._usage)
        if self._listeners.on_usage_update is not None:
            self._listeners.on_usage_update(self._shown)

    def _parts(self) -> tuple[Part, ...]:
        return tuple(said.part() if isinstance(said, _Words) else said for said in self._said)


def tokens(usage: types.GenerateContentResponseUsageMetadata) -> TokenUsage:
    """The neutral figures; missing and negative ones count as 0. Each object of a stream brings the whole count."""
    prompt = counted(usage.prompt_token_count) + counted(usage.tool_use_prompt_token_count)
    thinking = counted(usage.thoughts_token_count)
    output = counted(usage.candidates_token_count) + thinking
    return TokenUsage(
        prompt_tokens=prompt,
        output_tokens=output,
        total_tokens=prompt + output,
        cache_read_tokens=counted(usage.cached_content_token_count),
        thinking_tokens=thinking,
    )


def whole(
    assembler: Callable[[Listeners], Assembler], answer: types.GenerateContentResponse, listeners: Listeners
) -> ProviderResponse:
    """A batch answer as a response; the callbacks hear of it in model order, like those of a stream."""
    assembling = assembler(listeners)
    assembling.feed(answer)
    return assembling.response()


def stands_alone(part: Part) -> bool:
    """Whether a part makes sense in a history without what would have followed it.

    A thought may have been broken off anywhere: it is whole for sure only with the signature that ends it.
    """
    return isinstance(part, Text) or (isinstance(part, Thought) and part.provider_data is not None)


def _blocked(reason: str, message: str | None) -> ContentFilterError:
    detail = f": {message}" if message else ""
    return ContentFilterError(f"the service refused the prompt ({reason}){detail}", kind=reason)


def other_part(wire: types.Part, model: str) -> Part | None:
    """The part that is neither a call nor words; None for one of which the SDK kept nothing."""
    issued = issued_data(wire, model)
    if (code := wire.executable_code) is not None:
        language = whole_characters(code.language.value) if code.language is not None else ""
        text = whole_characters(code.code or "")
        return ExecutableCode(language, text, provider_data=issued_data(wire, model, id=code.id))
    if (ran := wire.code_execution_result) is not None:
        outcome = whole_characters(ran.outcome.value) if ran.outcome is not None else ""
        output = whole_characters(ran.output or "")
        return CodeExecutionResult(outcome, output, provider_data=issued_data(wire, model, id=ran.id))
    if (blob := wire.inline_data) is not None:
        return InlineData(whole_characters(blob.mime_type or ""), blob.data or b"", provider_data=issued)
    if (file := wire.file_data) is not None:
        mime_type, uri = whole_characters(file.mime_type or ""), whole_characters(file.file_uri or "")
        return FileRef(mime_type, uri, provider_data=issued)
    kind = _kind(wire)
    return Opaque(DIALECT, kind, _plain(wire), provider_data=issued) if kind is not None else None


def _kind(wire: types.Part) -> str | None:
    """The wire name of what a part holds."""
    return next((name for name in _plain(wire) if name != "thought"), None)


def _plain(wire: types.Part) -> dict[str, Any]:
    """A part in the API's own form, without its signature."""
    return wire.model_dump(mode="json", by_alias=True, exclude_none=True, exclude={"thought_signature"})


def issued_data(wire: types.Part, model: str, **known: str | None) -> ProviderData | None:
    """What goes back with the part: its signature in the standard alphabet, and ids that only the API knows."""
    data = {name: value for name, value in known.items() if value is not None}
    if wire.thought_signature:
        data["signature"] = b64encode(wire.thought_signature).decode()
    return ProviderData(DIALECT, model, data) if data or known else None
