"""Scripted providers for both paths, in memory: what a session does is looked at here, not what goes over a wire."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import Any, TypeAlias

from turnproof import messages as m
from turnproof.cancel import CancelToken
from turnproof.errors import Cancelled
from turnproof.session import RetryPolicy, Session, SessionObserver, Tool

PATHS = ("stateless", "legacy")


@dataclass
class Play:
    """One provider call, as a script step sees it."""

    token: CancelToken
    kwargs: dict[str, Any]

    def stream(self, *pieces: str) -> None:
        """Show text, if the call streams."""
        if on_chunk := self.kwargs.get("on_chunk"):
            for piece in pieces:
                on_chunk(piece)

    def deliver(self, response: m.ProviderResponse) -> m.ProviderResponse:
        """Tell the callbacks of everything in a response, in order, and return it."""
        for part in response.parts:
            match part:
                case m.Text():
                    self.stream(*part.text.split("|"))
                case m.Thought() if self.kwargs.get("on_thinking"):
                    self.kwargs["on_thinking"](part.text)
                case m.FunctionCall() if self.kwargs.get("on_function_call"):
                    self.kwargs["on_function_call"](part)
                case _:
                    pass
        if on_usage := self.kwargs.get("on_usage_update"):
            on_usage(response.usage)
        return joined(response)


Step: TypeAlias = m.ProviderResponse | BaseException | Callable[[Play], m.ProviderResponse]


def joined(response: m.ProviderResponse) -> m.ProviderResponse:
    """Text parts are scripted with `|` where the stream is cut; the response has them without."""
    parts = tuple(m.Text(part.text.replace("|", "")) if isinstance(part, m.Text) else part for part in response.parts)
    return m.ProviderResponse(
        parts, response.usage, response.finish_reason, response.raw_finish, response.structured_output
    )


def reply(*parts: str | m.Part, finish: str | None = None, prompt: int = 10, output: int = 2) -> m.ProviderResponse:
    """A response of texts and parts; it ends with `tool_use` if it holds a call, else with `stop`."""
    message = m.Message.model(*parts)
    reason = m.FinishReason(finish) if finish else m.FinishReason.TOOL_USE if message.calls else m.FinishReason.STOP
    return m.ProviderResponse(message.parts, m.TokenUsage(prompt, output, prompt + output), reason)


def call(name: str = "look", id: str = "c1", **args: Any) -> m.FunctionCall:
    return m.FunctionCall(id, name, args)


def tool(name: str = "look", run: Callable[[dict[str, Any], CancelToken], Any] = lambda args, token: "seen") -> Tool:
    return Tool(m.ToolSchema(name), run)


class Script:
    """Plays steps in order, one a provider call, whatever the path."""

    def __init__(self, steps: Sequence[Step]) -> None:
        self.steps = list(steps)

    def play(self, kwargs: dict[str, Any]) -> m.ProviderResponse:
        token = kwargs.get("cancel_token") or CancelToken()
        if token.is_cancelled:
            raise Cancelled("before the request was written")
        assert self.steps, "the session called more often than the script foresees"
        step = self.steps.pop(0)
        if isinstance(step, BaseException):
            raise step
        play = Play(token, kwargs)
        return play.deliver(step) if isinstance(step, m.ProviderResponse) else joined(step(play))


@dataclass
class Request:
    """What a provider was asked, in a form that is the same for both paths."""

    messages: list[m.Message]
    system: Any
    tools: list[m.ToolSchema]
    kwargs: dict[str, Any]
    method: str = "complete"


class FakeStateless:
    """`complete()` alone; keeps what it was asked, and spoils the list it was given."""

    def __init__(self, *steps: Step) -> None:
        self.script = Script(steps)
        self.requests: list[Request] = []

    def complete(
        self, messages: Any, system_instruction: Any = None, tools: Any = None, **kwargs: Any
    ) -> m.ProviderResponse:
        self.requests.append(Request(list(messages), system_instruction, list(tools or ()), kwargs))
        messages.clear()
        return self.script.play(kwargs)


class FakeLegacy:
    """Owns its history like the adapters of old, and takes back what a failed call had added."""

    def __init__(self, *steps: Step) -> None:
        self.script = Script(steps)
        self.requests: list[Request] = []
        self.created: list[list[m.Message]] = []
        self._history: list[m.Message] = []
        self._system: Any = None
        self._tools: list[m.ToolSchema] = []

    def create_session(self, system_instruction: Any = None, tools: Any = None, history: Any = None) -> None:
        self._system, self._tools, self._history = system_instruction, list(tools or ()), list(history or ())
        self.created.append(list(self._history))

    def get_history(self) -> list[m.Message]:
        return list(self._history)

    def send_message(self, message: str, response_schema: Any = None, cancel_token: Any = None) -> m.ProviderResponse:
        return self._send(
            "send_message", m.Message.user(message), response_schema=response_schema, cancel_token=cancel_token
        )

    def send_message_with_parts(self, parts: Sequence[m.Part], response_schema: Any = None) -> m.ProviderResponse:
        return self._send("send_message_with_parts", m.Message.user(*parts), response_schema=response_schema)

    def send_tool_results(
        self, results: Sequence[m.ToolResult], response_schema: Any = None, cancel_token: Any = None
    ) -> m.ProviderResponse:
        return self._send(
            "send_tool_results", m.Message.tool(*results), response_schema=response_schema, cancel_token=cancel_token
        )

    def send_message_streaming(self, message: str, on_chunk: Any, **kwargs: Any) -> m.ProviderResponse:
        return self._send("send_message_streaming", m.Message.user(message), on_chunk=on_chunk, **kwargs)

    def send_tool_results_streaming(
        self, results: Sequence[m.ToolResult], on_chunk: Any, **kwargs: Any
    ) -> m.ProviderResponse:
        return self._send("send_tool_results_streaming", m.Message.tool(*results), on_chunk=on_chunk, **kwargs)

    def _send(self, method: str, message: m.Message, **kwargs: Any) -> m.ProviderResponse:
        before = list(self._history)
        self._history.append(message)
        self.requests.append(Request(list(self._history), self._system, self._tools, kwargs, method))
        try:
            response = self.script.play(kwargs)
        except BaseException:
            self._history = before
            raise
        if response.parts:
            self._history.append(m.Message("model", response.parts))
        return response


@dataclass
class Naps:
    """A sleep that takes no time, and may do something instead."""

    durations: list[float] = field(default_factory=list)
    during: Callable[[], object] = lambda: None

    def __call__(self, seconds: float, token: CancelToken) -> bool:
        self.durations.append(seconds)
        self.during()
        return token.is_cancelled


def open_session(path: str, *steps: Step, **options: Any) -> tuple[Session, Any]:
    """A session on a scripted provider, with counted ids, no real sleep and no jitter."""
    provider = FakeStateless(*steps) if path == "stateless" else FakeLegacy(*steps)
    options.setdefault("sleep", Naps())
    options.setdefault("retry", RetryPolicy(jitter=0))
    session = Session(provider, path=path, ids=numbered(), **options)  # type: ignore[arg-type]
    return session, provider


def numbered() -> Callable[[], str]:
    ids: Iterator[int] = count(1)
    return lambda: f"m{next(ids)}"


def shape(session: Session) -> list[tuple[str, tuple[m.Part, ...]]]:
    """The history by value, ids aside."""
    return [(message.role, message.parts) for message in session.history.messages]


def user(text: str) -> tuple[str, tuple[Any, ...]]:
    """The shape of a message of the user."""
    return ("user", (m.Text(text),))


def model(*parts: Any) -> tuple[str, tuple[Any, ...]]:
    """The shape of a message of the model."""
    return ("model", tuple(m.Text(part) if isinstance(part, str) else part for part in parts))


def results(*parts: m.ToolResult) -> tuple[str, tuple[Any, ...]]:
    """The shape of a message of results."""
    return ("tool", parts)


class Watching(SessionObserver):
    """An observer made of the functions that are given, under the names of its methods."""

    def __init__(self, **methods: Callable[..., object]) -> None:
        for name, method in methods.items():
            assert hasattr(SessionObserver, name), name
            setattr(self, name, method)
