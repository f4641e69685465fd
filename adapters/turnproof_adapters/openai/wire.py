"""The API's answers as typed data: a whole answer, and the chunks of a stream, which have the same form.

Only what the adapters use is named; everything else is ignored, as the API asks of its clients. An answer may be a
failure, under whatever status: `Answer.failure` says so.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Final

import msgspec

from turnproof.messages import TokenUsage

from .._answers import token_count
from .._decoding import convert_to, decode_json
from .._sse import payloads


class Function(msgspec.Struct, frozen=True):
    """A function's name and arguments, or a piece of them. Arguments are text, of some servers an object."""

    name: str | None = None
    arguments: str | dict[str, Any] | None = None


class Call(msgspec.Struct, frozen=True):
    """A tool call, or a piece of one."""

    index: int | None = None
    id: str | None = None
    type: str | None = None
    function: Function | None = None


class ChatMessage(msgspec.Struct, frozen=True):
    """A message, or what a chunk adds to one. Thinking stands in the field that its service chose. `function_call` is
    the old form of a call: there is one at most, and it has no id."""

    content: str | list[dict[str, Any]] | None = None
    refusal: str | None = None
    tool_calls: list[Call] | None = None
    function_call: Function | None = None
    annotations: Any = None
    reasoning_content: str | None = None
    reasoning_text: str | None = None
    reasoning: str | None = None
    reasoning_opaque: str | None = None


THINKING: Final = ("reasoning_content", "reasoning_text", "reasoning")
"""The fields that thinking stands in: Z.ai's and most servers', Copilot's, Ollama's and newer ones'."""


class FinishDetails(msgspec.Struct, frozen=True):
    """How an answer ended, as the first models with eyes said it."""

    type: str | None = None


class Choice(msgspec.Struct, frozen=True):
    """One of the answers; nobody here asks for more than one."""

    index: int | None = None
    message: ChatMessage | None = None
    delta: ChatMessage | None = None
    finish_reason: str | None = None
    finish_details: FinishDetails | None = None

    @property
    def finish(self) -> str | None:
        """The service's word for why the answer ended."""
        return self.finish_reason or (self.finish_details.type if self.finish_details is not None else None)


class PromptDetails(msgspec.Struct, frozen=True):
    """Parts of the prompt's tokens."""

    cached_tokens: int | None = None
    cache_write_tokens: int | None = None


class OutputDetails(msgspec.Struct, frozen=True):
    """Parts of the answer's tokens."""

    reasoning_tokens: int | None = None


class Usage(msgspec.Struct, frozen=True):
    """Token figures as the API gives them: details are inside the whole."""

    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    prompt_tokens_details: PromptDetails | None = None
    completion_tokens_details: OutputDetails | None = None


class Failure(msgspec.Struct, frozen=True):
    """What a service says went wrong. The fields of many servers, none of which has them all."""

    message: Any = None
    msg: Any = None
    detail: Any = None
    type: Any = None
    code: Any = None

    @property
    def text(self) -> str | None:
        """The words, if there are any."""
        return next(
            (
                candidate
                for candidate in (self.message, self.msg, self.detail)
                if isinstance(candidate, str) and candidate
            ),
            None,
        )

    @property
    def kind(self) -> str | None:
        """The code, which tells more, or else the type."""
        for word in (self.code, self.type):
            if isinstance(word, str | int) and not isinstance(word, bool) and str(word):
                return str(word)
        return None


def failure_of(body: object) -> Failure:
    """What plain data, the body of a refusal or its `error`, says of a failure. A proxy's page of HTML says nothing."""
    if isinstance(body, str):
        return Failure() if body.lstrip().startswith("<") else Failure(body.strip())
    if isinstance(body, dict) and body.get("error"):
        return failure_of(body["error"])
    try:
        return convert_to(body, Failure)
    except ValueError:
        return Failure()


class Answer(Failure, frozen=True):
    """A whole answer, or a chunk of a stream. Some servers tell a failure in its place, without `error` around it."""

    id: Any = None
    object: str | None = None
    model: str | None = None
    choices: list[Choice] | None = None
    usage: Usage | None = None
    error: Any = None
    success: Any = None

    @property
    def failure(self) -> Failure | None:
        """The failure that this is instead of an answer, or None."""
        if self.error:
            return failure_of(self.error)
        return self if self.success is False or self.object == "error" else None


END: Final = Answer()
"""What comes behind the last chunk of a stream, whatever marks its end on the wire."""

_answers = msgspec.json.Decoder(Answer)


def decode(data: bytes) -> Answer:
    """An answer or a chunk. Raises ValueError for what is none, RecursionError for one that is nested too deeply."""
    return decode_json(_answers, data)


def chunks(content_type: str, pieces: Iterable[bytes]) -> Iterator[Answer]:
    """The chunks of a stream's body, and `END` behind them.

    What calls itself JSON is read as one answer, unless it is a stream all the same (both are recorded).
    """
    if "json" in content_type.lower():
        body = b"".join(pieces)
        if not body.lstrip().startswith(b"data:"):
            yield decode(body)
            yield END
            return
        pieces = (body,)
    events = payloads(pieces)
    for data in events:
        if data.startswith(b"[DONE]"):
            break
        yield decode(data)
    yield END
    for _ in events:
        pass  # only the end of the body is left, read for the connection's sake


def tokens(usage: Usage) -> TokenUsage:
    """The neutral figures; missing ones, and negative ones, count as 0. A part is never more than its whole: servers
    were seen to report more cached tokens than the prompt has."""
    prompt, output = token_count(usage.prompt_tokens), token_count(usage.completion_tokens)
    inside = usage.prompt_tokens_details or PromptDetails()
    details = usage.completion_tokens_details or OutputDetails()
    return TokenUsage(
        prompt_tokens=prompt,
        output_tokens=output,
        total_tokens=prompt + output,
        cache_read_tokens=min(token_count(inside.cached_tokens), prompt),
        cache_creation_tokens=min(token_count(inside.cache_write_tokens), prompt),
        thinking_tokens=min(token_count(details.reasoning_tokens), output),
    )
