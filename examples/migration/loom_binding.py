"""How turnproof opens Loom: its sessions, and its providers by themselves."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from loom import Note, Outcome, Session, Tool
from loom.http import ModelError, Stop
from loom.notes import Answer
from loom.providers import AnthropicProvider, OpenAIProvider, Provider
from loom.providers.base import OnText
from loom_translator import LOOM, answer, message, messages, note, schema, text_of

from turnproof.cancel import CancelToken
from turnproof.errors import (
    AuthenticationError,
    Cancelled,
    ContextLimitError,
    InvalidRequestError,
    OverloadedError,
    ProviderError,
    RateLimitError,
    TransportError,
)
from turnproof.messages import FunctionCall, Message, ProviderResponse, ToolResult
from turnproof.provider import Binding, Capabilities, Endpoint, Path
from turnproof.subject import Flag, SessionBinding, SessionReply, SessionSetup, SessionTurn
from turnproof.subject import Tool as TurnproofTool

CAPABILITIES = Capabilities(streaming=True, tools=True, parallel_tools=True, cancel=True, typed_errors=True)
KINDS = {"anthropic": AnthropicProvider, "openai": OpenAIProvider}


def error(found: ModelError, provider: Provider) -> ProviderError:
    kinds: dict[int, type[ProviderError]] = {
        0: TransportError,
        401: AuthenticationError,
        403: AuthenticationError,
        429: RateLimitError,
    }
    kind = kinds.get(found.status, OverloadedError if found.status >= 500 else InvalidRequestError)
    if provider.classify_error(found)["too_long"]:
        kind = ContextLimitError
    return kind(str(found), status=found.status or None)


# -- the providers ------------------------------------------------------------------------------------------------


class Facade:
    """A provider of Loom's, as turnproof calls one. What it does beside a conversation is passed on as it is."""

    def __init__(self, endpoint: Endpoint) -> None:
        self.provider = KINDS[endpoint.options["kind"]](endpoint.base_url, endpoint.api_key, endpoint.model)
        for name in (
            "classify_error",
            "count_tokens",
            "deserialize_history",
            "get_context_limit",
            "history_changed",
            "serialize_history",
            "set_cache_plugin",
        ):
            setattr(self, name, getattr(self.provider, name))

    @property
    def _refused_tokens(self) -> int:
        return self.provider._refused_tokens

    def answered(self, ask: Callable[[Stop], Answer], token: CancelToken | None) -> ProviderResponse:
        """What came of a call that a token can stop."""
        stop, token = Stop(), token or CancelToken()
        token.raise_if_cancelled()
        forget = token.on_cancel(stop.press)
        try:
            return LOOM.response_in(ask(stop))
        except ModelError as found:
            raise error(found, self.provider) from found
        finally:
            forget()


class Legacy(Facade):
    """One that keeps its conversation."""

    def create_session(self, system_instruction: Any = None, tools: Any = None, history: Any = None) -> None:
        self.provider.create_session(system_instruction, LOOM.tools_out(tools or ()), LOOM.messages_out(history or ()))

    def get_history(self) -> list[Message]:
        return messages(self.provider.get_history())

    def send_message(
        self, message: str, response_schema: Any = None, *, cancel_token: CancelToken | None = None
    ) -> ProviderResponse:
        return self.answered(lambda stop: self.provider.send_message(message, stop), cancel_token)

    def send_message_streaming(
        self, message: str, on_chunk: Any, *, cancel_token: CancelToken | None = None, **_: Any
    ) -> ProviderResponse:
        send = self.provider.send_message_streaming
        return self.answered(lambda stop: send(message, on_chunk, stop), cancel_token)

    def send_tool_results(
        self, results: Sequence[ToolResult], response_schema: Any = None, *, cancel_token: CancelToken | None = None
    ) -> ProviderResponse:
        send = self.provider.send_tool_results
        return self.answered(lambda stop: send(note(Message.tool(*results)).outcomes, stop), cancel_token)

    def send_tool_results_streaming(
        self, results: Sequence[ToolResult], on_chunk: Any, *, cancel_token: CancelToken | None = None, **_: Any
    ) -> ProviderResponse:
        send = self.provider.send_tool_results_streaming
        return self.answered(lambda stop: send(note(Message.tool(*results)).outcomes, on_chunk, stop), cancel_token)


RETAINED = {
    "count_tokens": lambda facade: facade.count_tokens([Note("human", "How many?")]) > 0,
    "serialisers": lambda facade: facade.deserialize_history(facade.serialize_history([Note("bot", "Two.")])) != [],
    "error classification": lambda facade: facade.classify_error(ModelError(529, "overloaded"))["transient"],
}
ANTHROPIC = Binding(
    name="loom-anthropic",
    dialect="anthropic-messages",
    model="claude-sonnet-4-6",
    capabilities=CAPABILITIES,
    open_legacy=Legacy,
    retained=RETAINED,
    options={"kind": "anthropic"},
)
OPENAI = Binding(
    name="loom-openai",
    dialect="openai-chat",
    model="gpt-5-mini",
    capabilities=CAPABILITIES,
    open_legacy=Legacy,
    retained=RETAINED,
    options={"kind": "openai"},
)


# -- the session --------------------------------------------------------------------------------------------------


class Shown:
    """A provider of Loom's for Loom's own session, whose calls go by turnproof."""

    def __init__(self, handle: Handle, path: Path) -> None:
        self._handle = handle
        self._there = handle.setup.open_provider(path)

    def create_session(
        self, system: str | None = None, tools: Sequence[Tool] = (), history: Sequence[Note] = ()
    ) -> None:
        self._there.create_session(system, [*map(schema, tools)], messages(history))

    def get_history(self) -> list[Note]:
        return [*map(note, self._there.get_history())]

    def send_message(self, text: str, stop: Stop) -> Answer:
        return self._answer(self._there.send_message, text)

    def send_message_streaming(self, text: str, on_text: OnText, stop: Stop) -> Answer:
        return self._answer(self._there.send_message_streaming, text, on_text)

    def send_tool_results(self, outcomes: Sequence[Outcome], stop: Stop) -> Answer:
        return self._answer(self._there.send_tool_results, message(Note("tools", outcomes=tuple(outcomes))).results)

    def send_tool_results_streaming(self, outcomes: Sequence[Outcome], on_text: OnText, stop: Stop) -> Answer:
        results = message(Note("tools", outcomes=tuple(outcomes))).results
        return self._answer(self._there.send_tool_results_streaming, results, on_text)

    def _answer(self, ask: Callable[..., ProviderResponse], *arguments: Any, **options: Any) -> Answer:
        try:
            return answer(ask(*arguments, cancel_token=self._handle.token, **options))
        except Cancelled:
            return Answer(None, stopped=True)
        except ProviderError as found:
            raise found.__cause__ or found from None  # the session knows Loom's own errors

    def __getattr__(self, name: str) -> Any:
        return getattr(self._there, name)


class Handle:
    """A session of Loom's with what its setup says."""

    def __init__(self, setup: SessionSetup) -> None:
        self.setup = setup
        self.token = CancelToken()
        self.session = Session(
            Shown(self, "legacy"),  # type: ignore[arg-type]
            system=setup.system,
            tools=self.tools(setup.tools),
            attempts=setup.attempts,
            sleep=lambda seconds: setup.sleep(seconds, self.token),
            on_outcome=self.report_outcome,
        )

    def tools(self, tools: Iterable[TurnproofTool]) -> list[Tool]:
        return [
            Tool(one.schema.name, one.schema.description, dict(one.schema.parameters), self.running(one))
            for one in tools
        ]

    def running(self, tool: TurnproofTool) -> Any:
        def run(arguments: dict[str, Any]) -> str:
            found = tool.run(arguments, self.token)
            result, failed = getattr(found, "result", found), getattr(found, "is_error", False)
            if failed:
                raise RuntimeError(text_of(result))
            return text_of(result)

        return run

    def report_outcome(self, outcome: Outcome) -> None:
        call = FunctionCall(outcome.call_id, outcome.tool, {})
        self.setup.on_tool(call, ToolResult(outcome.call_id, outcome.tool, outcome.text, outcome.failed))

    def configure(self, system: str | None, tools: Iterable[TurnproofTool]) -> None:
        self.session.configure(system, self.tools(tools))


def send(handle: Handle, text: str, turn: SessionTurn) -> SessionReply:
    turn.cancel_token.raise_if_cancelled()
    handle.token = turn.cancel_token
    forget = turn.cancel_token.on_cancel(handle.session.stop)
    try:
        answer = handle.session.send(text, turn.on_chunk)
    except ModelError as found:
        raise error(found, handle.session.provider) from found
    finally:
        forget()
    return SessionReply(answer, "cancelled" if handle.session.stopped else "answer")


def load(setup: SessionSetup, saved: str) -> Handle:
    handle = Handle(setup)
    handle.session.load(saved)
    return handle


SESSION = SessionBinding(
    name="loom",
    adapter=ANTHROPIC,
    open=Handle,
    send=send,
    history=lambda handle: messages(handle.session.transcript),
    provider_history=lambda handle: messages(handle.session.provider.get_history()),
    path=lambda handle: "legacy",
    paths=("legacy",),
    flag=Flag("LOOM_SESSION_HISTORY"),
    stop=lambda handle: handle.token.cancel(),
    configure=Handle.configure,
    reset=lambda handle: handle.session.reset(),
    collect=lambda handle: handle.session.collect(handle.setup.keep_turns),
    save=lambda handle: handle.session.save(),
    load=load,
    accounting=lambda handle: handle.session.accounts,
)
