"""The framework at twelve stages of its migration, as its owners would bind it, and what is wrong at each."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from turnproof import errors
from turnproof import messages as m
from turnproof.cancel import CancelToken
from turnproof.provider import Binding, Capabilities, Endpoint, Path
from turnproof.subject import Flag, SessionBinding, SessionReply, SessionSetup, SessionTurn, Tool

from . import providers, sessions
from .providers import Answer, Chat, Tools
from .service import ServiceError, StopSign

FLAG = "FRAMEWORK_SESSION_HISTORY"
CAPABILITIES = Capabilities(streaming=True, tools=True, parallel_tools=True, cancel=True, typed_errors=True)
ERRORS: dict[int, type[errors.ProviderError]] = {
    0: errors.TransportError,
    401: errors.AuthenticationError,
    429: errors.RateLimitError,
}
FINISH = {"end_turn": "stop", "tool_use": "tool_use", "max_tokens": "max_tokens", "refusal": "refusal"}


# -- words of the framework, and ours ---------------------------------------------------------------------------------


def to_chat(messages: Iterable[m.Message]) -> Chat:
    """A conversation as the framework has it."""
    roles = {"model": "assistant"}
    return [{"role": roles.get(one.role, "user"), "content": [_block(part) for part in one.parts]} for one in messages]


def _block(part: m.Part) -> dict[str, Any]:
    match part:
        case m.FunctionCall():
            return {"type": "tool_use", "id": part.id, "name": part.name, "input": m.thaw(part.args)}
        case m.ToolResult():
            content = _words(m.thaw(part.result))
            return {"type": "tool_result", "tool_use_id": part.call_id, "content": content, "is_error": part.is_error}
        case m.Text():
            return {"type": "text", "text": part.text}
    raise TypeError(f"the framework has no {type(part).__name__}")


def _words(result: Any) -> str:
    return result if isinstance(result, str) else json.dumps(result, ensure_ascii=False)


def to_messages(chat: Chat) -> list[m.Message]:
    """A conversation of the framework in neutral form."""
    names: dict[str, str] = {}
    found = []
    for message in chat:
        parts = [_part(block, names) for block in message["content"]]
        if any(isinstance(part, m.ToolResult) for part in parts):
            found.append(m.Message("tool", tuple(parts)))
        else:
            found.append(m.Message("model" if message["role"] == "assistant" else "user", tuple(parts)))
    return found


def _part(block: dict[str, Any], names: dict[str, str]) -> m.Part:
    match block["type"]:
        case "tool_use":
            names[block["id"]] = block["name"]
            return m.FunctionCall(block["id"], block["name"], block["input"])
        case "tool_result":
            call_id = block["tool_use_id"]
            return m.ToolResult(call_id, names.get(call_id, ""), block["content"], block["is_error"])
    return m.Text(block["text"])


def to_tools(schemas: Iterable[m.ToolSchema]) -> Tools:
    return {one.name: {"description": one.description, "schema": m.thaw(one.parameters)} for one in schemas}


def to_response(answer: Answer) -> m.ProviderResponse:
    names: dict[str, str] = {}
    usage = m.TokenUsage(answer.tokens_in, answer.tokens_out, answer.tokens_in + answer.tokens_out)
    word = "cancelled" if answer.stopped else FINISH.get(answer.stop_reason, "unknown")
    parts = tuple(_part(block, names) for block in answer.blocks)
    return m.ProviderResponse(parts, usage, m.FinishReason(word), answer.stop_reason or None)


def typed(error: ServiceError) -> errors.ProviderError:
    kind = ERRORS.get(error.status, errors.OverloadedError if error.status >= 500 else errors.InvalidRequestError)
    typed_error = kind(str(error), status=error.status or None)
    typed_error.retry_after = error.retry_after
    return typed_error


# -- its providers by themselves --------------------------------------------------------------------------------------


class Bridge:
    """A provider of the framework, as turnproof calls one. It has nothing of what the provider does beside that."""

    def __init__(self, provider: Any) -> None:
        self._provider = provider

    def answered(self, ask: Callable[[StopSign], Answer], token: CancelToken | None) -> m.ProviderResponse:
        stop, token = StopSign(), token or CancelToken()
        token.raise_if_cancelled()
        forget = token.on_cancel(stop.raise_it)
        try:
            return to_response(ask(stop))
        except ServiceError as error:
            raise typed(error) from error
        finally:
            forget()


class LegacyBridge(Bridge):
    def create_session(self, system_instruction: Any = None, tools: Any = None, history: Any = None) -> None:
        self._provider.create_session(system_instruction, to_tools(tools or ()), to_chat(history or ()))

    def get_history(self) -> list[m.Message]:
        return to_messages(self._provider.get_history())

    def send_message(
        self, message: str, response_schema: Any = None, *, cancel_token: Any = None
    ) -> m.ProviderResponse:
        return self.send_message_streaming(message, None, cancel_token=cancel_token)

    def send_message_streaming(
        self, message: str, on_chunk: Any, *, cancel_token: Any = None, **_: Any
    ) -> m.ProviderResponse:
        return self.answered(lambda stop: self._provider.send_message(message, on_chunk, stop), cancel_token)

    def send_tool_results(
        self, results: Sequence[m.ToolResult], response_schema: Any = None, *, cancel_token: Any = None
    ) -> m.ProviderResponse:
        return self.send_tool_results_streaming(results, None, cancel_token=cancel_token)

    def send_tool_results_streaming(
        self, results: Sequence[m.ToolResult], on_chunk: Any, *, cancel_token: Any = None, **_: Any
    ) -> m.ProviderResponse:
        blocks = [_block(one) for one in results]
        return self.answered(lambda stop: self._provider.send_tool_results(blocks, on_chunk, stop), cancel_token)


class StatelessBridge(Bridge):
    def complete(
        self,
        messages: Sequence[m.Message],
        system_instruction: Any = None,
        tools: Any = None,
        *,
        response_schema: Any = None,
        cancel_token: Any = None,
        on_chunk: Any = None,
        **_: Any,
    ) -> m.ProviderResponse:
        request = to_chat(messages), system_instruction, to_tools(tools or ())
        return self.answered(lambda stop: self._provider.complete(*request, on_chunk, stop), cancel_token)


_QUESTION: Chat = [{"role": "user", "content": [{"type": "text", "text": "How many?"}]}]

RETAINED: dict[str, Callable[[Any], object]] = {
    "count_tokens": lambda bridge: bridge._provider.count_tokens(_QUESTION) > 0,
    "serialisers": lambda bridge: (
        bridge._provider.deserialize_history(bridge._provider.serialize_history(_QUESTION)) == _QUESTION
    ),
    "error classification": lambda bridge: (
        bridge._provider.classify_error(ServiceError("busy", 529, "overloaded_error")) == "transient"
    ),
}
"""What is called in the framework's own way. The rest of what a provider does has no arguments."""


def _opener(bridge: type[Bridge], provider: type[providers.Wire]) -> Callable[[Endpoint], Any]:
    return lambda endpoint: bridge(provider(endpoint.base_url, endpoint.api_key, endpoint.model))


def adapter(provider: type[providers.Wire]) -> Binding:
    """The binding of a provider class, with the paths that it has."""
    return Binding(
        name=f"framework-{provider.__name__}",
        options={"provider": provider.__name__},
        dialect="anthropic-messages",
        model="claude-sonnet-4-6",
        capabilities=CAPABILITIES,
        open_legacy=_opener(LegacyBridge, provider) if hasattr(provider, "send_message") else None,
        open_stateless=_opener(StatelessBridge, provider) if hasattr(provider, "complete") else None,
        retained=RETAINED,
    )


# -- its sessions -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Stage:
    """The framework at one stage: its providers, its session with the flag off and on, and what is wrong with it.

    `closed` is the criterion that has to close the gate of `phase`, and `says` stands in its message; `also_closed` are
    those that the same mistake closes. Without one the gate is open. `others` are providers that the session has to run
    on, beside the first.
    """

    name: str
    phase: int
    provider: type[providers.Wire]
    off: type[sessions.Session] | None = None
    on: type[sessions.Session] | None = None
    reads_flag: bool = True
    closed: str = ""
    says: str = ""
    also_closed: tuple[str, ...] = ()
    others: tuple[type[providers.Wire], ...] = ()

    @property
    def attribute(self) -> str:
        """The name of its session in this module."""
        return self.name.upper().replace("-", "_")

    def owns_history(self, setup: SessionSetup) -> bool:
        """Whether a session opened like this keeps its conversation itself."""
        can = hasattr(self.provider_of(setup.endpoint), "complete")
        if not can or self.on is None or self.off is None:
            return can and self.on is not None
        if setup.path is not None:
            return setup.path == "stateless"
        default = "1" if self.phase >= 3 else "0"
        return self.reads_flag and os.environ.get(FLAG, default) == "1"

    def provider_of(self, endpoint: Endpoint) -> type[providers.Wire]:
        kinds = {one.__name__: one for one in (self.provider, *self.others)}
        return kinds[endpoint.options.get("provider", self.provider.__name__)]

    def session(self) -> SessionBinding:
        """The binding of the session."""
        kinds: dict[Path, type[sessions.Session] | None] = {"stateless": self.on, "legacy": self.off}
        return SessionBinding(
            name=self.name,
            adapter=adapter(self.provider),
            open=lambda setup: Handle(setup, self),
            send=send,
            history=lambda handle: to_messages(handle.session.chat),
            provider_history=(lambda handle: to_messages(handle.session.read_chat())) if self.off else None,
            path=lambda handle: "stateless" if handle.owns else "legacy",
            paths=tuple(path for path, kind in kinds.items() if kind is not None),
            flag=Flag(FLAG, default=self.phase >= 3),
            stop=lambda handle: handle.session.stop.raise_it(),
            configure=lambda handle, system, tools: handle.session.configure(system, handle.tools(tools)),
            reset=lambda handle: handle.session.reset(),
            collect=lambda handle: handle.session.collect(handle.setup.keep_turns),
            save=lambda handle: handle.session.save(),
            load=self._load,
            accounting=lambda handle: handle.session.accounts,
            close=lambda handle: handle.session.close(),
            message_ids=False,
        )

    def _load(self, setup: SessionSetup, saved: str) -> Handle:
        handle = Handle(setup, self)
        handle.session.load(saved)
        return handle


class Handle:
    """A session of the framework, which opens a provider of its own, with what its setup says."""

    def __init__(self, setup: SessionSetup, stage: Stage) -> None:
        self.setup = setup
        self.token = CancelToken()
        self.owns = stage.owns_history(setup)
        self._by_name: dict[str, Tool] = {}
        kind = stage.on if self.owns else stage.off
        assert kind is not None, "a path that the binding does not have"
        at = setup.endpoint
        provider = setup.watch(stage.provider_of(at)(at.base_url, at.api_key, at.model))
        host = sessions.Host(self._run, lambda seconds: setup.sleep(seconds, self.token), setup.attempts)
        self.session = kind(provider, host, setup.system, self.tools(setup.tools))

    def tools(self, tools: Iterable[Tool]) -> Tools:
        self._by_name = {one.schema.name: one for one in tools}
        return to_tools(one.schema for one in tools)

    def _run(self, call: dict[str, Any]) -> tuple[str, bool]:
        tool = self._by_name.get(call["name"])
        if tool is None:
            return f"there is no tool {call['name']}", True
        try:
            found = tool.run(call["input"], self.token)
        except Exception as error:
            return str(error), True
        return _words(m.thaw(getattr(found, "result", found))), getattr(found, "is_error", False)


def send(handle: Handle, text: str, turn: SessionTurn) -> SessionReply:
    turn.cancel_token.raise_if_cancelled()
    handle.token, stop = turn.cancel_token, StopSign()
    forget = turn.cancel_token.on_cancel(stop.raise_it)
    try:
        answer = handle.session.send(text, turn.on_chunk, stop)
    except ServiceError as error:
        raise typed(error) from error
    finally:
        forget()
    return SessionReply(answer, "cancelled" if stop.up else "answer")


_BOTH = (sessions.Synchronises, sessions.SessionKeeps)

STAGES = (
    Stage("nothing-begun", 1, providers.KeepsHistory, sessions.ProviderKeeps, closed="1/histories-agree",
           says="got nothing"),
    Stage("phase-1", 1, providers.KeepsHistory, sessions.Synchronises),
    Stage("phase-1-stopped-turns", 1, providers.KeepsHistory, sessions.ForgetsStoppedTurns,
           closed="1/histories-agree", says="after a cancelled turn"),
    Stage("phase-2", 2, providers.Both, *_BOTH),
    Stage("phase-2-lost-results", 2, providers.LosesResults, *_BOTH, closed="2/paths-agree",
           says="messages[2].content[0].content"),
    Stage("phase-2-deaf-flag", 2, providers.Both, *_BOTH, reads_flag=False, closed="2/flag-on-is-stateless",
           says="legacy path"),
    Stage("phase-3", 3, providers.Both, *_BOTH),
    Stage("phase-3-old-provider", 3, providers.Both, *_BOTH, others=(providers.KeepsHistory,),
           closed="3/every-adapter-has-complete", says="complete()",
           also_closed=("2/flag-on-is-stateless", "3/default-is-stateless", "3/nothing-on-one-path-only")),
    Stage("phase-4", 4, providers.Stateless, on=sessions.SessionKeeps),
    Stage("phase-4-memory", 4, providers.Remembers, on=sessions.SessionKeeps,
           closed="4/providers-hold-no-history", says="_last_request",
           also_closed=("4/no-history-in-the-source",)),
    Stage("phase-5", 5, providers.Stateless, on=sessions.SessionKeeps),
    Stage("phase-5-save", 5, providers.Stateless, on=sessions.AsksToSave, closed="5/save-asks-no-provider",
           says="serialize_history()"),
)  # fmt: skip


def __getattr__(name: str) -> Any:
    """The binding of a session, by the name of its stage: `PHASE_1`; or of an adapter, by that of its provider."""
    for stage in STAGES:
        if name == stage.attribute:
            return stage.session()
    if isinstance(provider := getattr(providers, name, None), type):
        return adapter(provider)
    raise AttributeError(name)
