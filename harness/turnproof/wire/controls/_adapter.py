"""Both paths of a control, whatever its API."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from email.utils import parsedate_to_datetime
from http.client import HTTPMessage
from typing import Any

from ... import errors
from ... import messages as m
from ...cancel import CancelToken
from ...provider import Binding, Capabilities, Endpoint
from ._http import Line

CLAIMS = Capabilities(
    streaming=True, tools=True, parallel_tools=True, cancel=True, cancel_batch=True, typed_errors=True
)
"""What every control claims: what its scenarios show, and no more."""


@dataclass(frozen=True, slots=True)
class Request:
    """What one call is given."""

    messages: Sequence[m.Message]
    system: str
    tools: Sequence[m.ToolSchema]
    streamed: bool


@dataclass
class Answer(ABC):
    """An answer while it arrives: `read_document` reads a JSON document of it, which is all of it or one event."""

    callbacks: Mapping[str, Any]
    pieces: list[list[str] | m.FunctionCall] = field(default_factory=list)
    usage: m.TokenUsage = field(default_factory=m.TokenUsage)
    raw_finish: str | None = None
    model: str | None = None
    complete: bool = False

    @abstractmethod
    def read_document(self, document: Any) -> None:
        """One document."""

    @abstractmethod
    def finish(self) -> m.FinishReason:
        """Why the answer ended, once it is complete."""

    def write(self, text: str, *, block: bool = False) -> None:
        """Text of the model; a `block` is not joined with what came before."""
        if block or not self.pieces or isinstance(self.pieces[-1], m.FunctionCall):
            self.pieces.append([])
        last = self.pieces[-1]
        if text and isinstance(last, list):
            last.append(text)
            self._call_back("on_chunk", text)

    def call(self, call: m.FunctionCall) -> None:
        """A call whose arguments are all there."""
        self.pieces.append(call)
        self._call_back("on_function_call", call)

    def count(self, prompt: int, output: int, cache_read: int = 0, cache_creation: int = 0) -> None:
        """Figures so far."""
        self.usage = m.TokenUsage(prompt, output, prompt + output, cache_read, cache_creation)
        self._call_back("on_usage_update", self.usage)

    def response(self, finish: m.FinishReason) -> m.ProviderResponse:
        """The answer as it is now; without calls if it was cancelled."""
        parts: list[m.Part] = []
        for piece in self.pieces:
            if isinstance(piece, m.FunctionCall):
                parts += [piece] if finish is not m.FinishReason.CANCELLED else []
            elif piece:
                parts.append(m.Text("".join(piece)))
        raw = self.raw_finish if finish is not m.FinishReason.CANCELLED else None
        return m.ProviderResponse(tuple(parts), self.usage, finish, raw, model=self.model)

    def _call_back(self, callback: str, value: object) -> None:
        if (function := self.callbacks.get(callback)) is not None:
            function(value)


class Api(ABC):
    """One wire API."""

    @abstractmethod
    def request(self, request: Request, endpoint: Endpoint) -> tuple[str, dict[str, str], Any]:
        """Path, headers and body."""

    @abstractmethod
    def answer(self, request: Request, callbacks: Mapping[str, Any]) -> Answer:
        """An answer that has not begun."""

    @abstractmethod
    def complaint(self, document: Any) -> tuple[str, str]:
        """The kind and the words of an error document."""


def ask(api: Api, endpoint: Endpoint, request: Request, options: Mapping[str, Any]) -> m.ProviderResponse:
    """One call. Raises as the contract of providers says."""
    token = options.get("cancel_token") or CancelToken()
    answer = api.answer(request, options)
    line = Line(endpoint.base_url, float(endpoint.options.get("timeout", 10.0)), token)
    try:
        path, headers, body = api.request(request, endpoint)
        head = line.ask(path, headers, body)
        if head.status != 200:
            raise _refusal(api, head.status, _wait(head.headers), line.document())
        for document in line.documents() if request.streamed else [line.document()]:
            if document.get("error"):
                raise _refusal(api, 529, None, document)
            answer.read_document(document)
            if answer.complete or token.is_cancelled:
                break
    except errors.ProviderError:
        if not token.is_cancelled:
            raise
    finally:
        line.close()
    if token.is_cancelled:
        return answer.response(m.FinishReason.CANCELLED)
    if not answer.complete:
        raise errors.TransportError("the stream ended before its answer did")
    return answer.response(answer.finish())


def _wait(headers: HTTPMessage) -> float | None:
    hint = headers.get("retry-after", "")
    if not hint or hint[0].isdigit():
        return float(hint) if hint else None
    return (parsedate_to_datetime(hint) - parsedate_to_datetime(headers["date"])).total_seconds()


def _refusal(api: Api, status: int, after: float | None, document: Any) -> errors.ProviderError:
    kind, words = api.complaint(document)
    match status:
        case 401 | 403:
            return errors.AuthenticationError(words, status=status, kind=kind)
        case 408:
            return errors.TransportError(words, status=status, kind=kind, retry_after=after)
        case 413:
            return errors.ContextLimitError(words, status=status, kind=kind)
        case 429:
            return errors.RateLimitError(words, status=status, kind=kind, retry_after=after)
        case 451:
            return errors.ContentFilterError(words, status=status, kind=kind)
        case _ if status >= 500:
            return errors.OverloadedError(words, status=status, kind=kind, retry_after=after)
        case _:
            return errors.InvalidRequestError(words, status=status, kind=kind)


class StatelessControl:
    """The path whose caller owns the history."""

    def __init__(self, api: Api, endpoint: Endpoint) -> None:
        self._api = api
        self._endpoint = endpoint

    def complete(
        self, messages: Any, system_instruction: Any = None, tools: Any = None, **options: Any
    ) -> m.ProviderResponse:
        """See `turnproof.provider.StatelessProvider`."""
        streamed = options.get("on_chunk") is not None
        request = Request(tuple(messages), _text_of(system_instruction), tuple(tools or ()), streamed)
        return ask(self._api, self._endpoint, request, options)

    def shutdown(self) -> None:
        """Nothing stays open between calls."""


class LegacyControl:
    """The path that owns the history: what was said is in it once the call has returned."""

    def __init__(self, api: Api, endpoint: Endpoint) -> None:
        self._api = api
        self._endpoint = endpoint
        self._history: list[m.Message] = []
        self._system = ""
        self._tools: tuple[m.ToolSchema, ...] = ()

    def create_session(self, system_instruction: Any = None, tools: Any = None, history: Any = None) -> None:
        """Begin anew, with what was said elsewhere."""
        self._system, self._tools, self._history = _text_of(system_instruction), tuple(tools or ()), list(history or ())

    def get_history(self) -> list[m.Message]:
        """A copy of what was said."""
        return list(self._history)

    def send_message(self, message: str, response_schema: Any = None, **options: Any) -> m.ProviderResponse:
        """Say a text."""
        return self._send(m.Message.user(message), options)

    def send_message_with_parts(
        self, parts: Sequence[m.Part], response_schema: Any = None, **options: Any
    ) -> m.ProviderResponse:
        """Say something that is not just text."""
        return self._send(m.Message.user(*parts), options)

    def send_tool_results(
        self, results: Sequence[m.ToolResult], response_schema: Any = None, **options: Any
    ) -> m.ProviderResponse:
        """Answer the calls."""
        return self._send(m.Message.tool(*results), options)

    def send_message_streaming(self, message: str, on_chunk: Any, **options: Any) -> m.ProviderResponse:
        """Say a text, and hear the answer in pieces."""
        return self._send(m.Message.user(message), {**options, "on_chunk": on_chunk})

    def send_tool_results_streaming(
        self, results: Sequence[m.ToolResult], on_chunk: Any, **options: Any
    ) -> m.ProviderResponse:
        """Answer the calls, and hear what comes in pieces."""
        return self._send(m.Message.tool(*results), {**options, "on_chunk": on_chunk})

    def shutdown(self) -> None:
        """Nothing stays open between calls."""

    def _send(self, message: m.Message, options: Mapping[str, Any]) -> m.ProviderResponse:
        request = Request((*self._history, message), self._system, self._tools, options.get("on_chunk") is not None)
        response = ask(self._api, self._endpoint, request, options)
        self._history.append(message)
        if response.parts:
            self._history.append(m.Message("model", response.parts))
        return response


def control(dialect: str, model: str, api: Api) -> Binding:
    """The binding of a control."""
    return Binding(
        name=f"control of {dialect}",
        dialect=dialect,
        model=model,
        capabilities=CLAIMS,
        open_stateless=lambda endpoint: StatelessControl(api, endpoint),
        open_legacy=lambda endpoint: LegacyControl(api, endpoint),
    )


def _text_of(system: Any) -> str:
    return system.text if isinstance(system, m.Text) else system or ""
