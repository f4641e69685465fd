"""`framework.Chat`, bound as a session: everything that turnproof asks of somebody else's session in one place."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from turnproof import errors
from turnproof.cancel import CancelToken
from turnproof.messages import FunctionCall, Message, Part, Text, TokenUsage, ToolResult
from turnproof.provider import Binding, Capabilities
from turnproof.subject import SessionBinding, SessionReply, SessionSetup, SessionTurn, Tool

from .framework import Chat, ChatError, Function, Line

WIRE = Binding(  # no provider of ours: this only says what the framework speaks
    name="framework-wire",
    dialect="anthropic-messages",
    model="claude-sonnet-4-5",
    capabilities=Capabilities(streaming=True, tools=True, parallel_tools=True, cancel=True, typed_errors=True),
)


class Handle:
    """A chat with the token of the turn that runs, which the framework has no notion of."""

    def __init__(self, setup: SessionSetup) -> None:
        self.setup = setup
        self.token = CancelToken()
        at = setup.endpoint
        self.chat = Chat(
            at.base_url, at.api_key, at.model, instructions=setup.system or "", tries=setup.attempts, nap=self.nap
        )
        self.configure(setup.system, setup.tools)

    def nap(self, seconds: float) -> None:
        self.setup.sleep(seconds, self.token)

    def configure(self, system: str | None, tools: Sequence[Tool]) -> None:
        self.chat.instructions = system or ""
        self.chat.functions = [
            Function(one.schema.name, one.schema.description, dict(one.schema.parameters), self.running(one))
            for one in tools
        ]

    def running(self, tool: Tool) -> Any:
        return lambda args: tool.run(args, self.token)


KINDS: dict[int, type[errors.ProviderError]] = {
    0: errors.TransportError,
    401: errors.AuthenticationError,
    403: errors.AuthenticationError,
    429: errors.RateLimitError,
    529: errors.OverloadedError,
}


def typed(error: ChatError) -> errors.ProviderError:
    """The framework's one error as what it is."""
    if "prompt is too long" in str(error):
        return errors.ContextLimitError(str(error), status=error.status)
    kind = KINDS.get(error.status, errors.OverloadedError if error.passes else errors.InvalidRequestError)
    return kind(str(error), status=error.status or None)


def send(handle: Handle, text: str, turn: SessionTurn) -> SessionReply:
    turn.cancel_token.raise_if_cancelled()
    handle.token = turn.cancel_token
    forget = turn.cancel_token.on_cancel(handle.chat.halt)
    try:
        answer = handle.chat.say(text, turn.on_chunk)
    except ChatError as error:
        raise typed(error) from error
    finally:
        forget()
    return SessionReply(answer, "cancelled" if handle.chat.halted else "answer")


def message(line: Line) -> Message:
    if line.who == "function":
        results = (ToolResult(one["id"], one["name"], one["text"], is_error=one["failed"]) for one in line.results)
        return Message("tool", tuple(results), line.uid)
    parts: list[Part] = [Text(line.text)] if line.text else []
    parts += [FunctionCall(call["id"], call["name"], call["input"]) for call in line.calls]
    return Message("user" if line.who == "human" else "model", tuple(parts), line.uid)


def load(setup: SessionSetup, saved: str) -> Handle:
    handle = Handle(setup)
    handle.chat.restore(saved)
    return handle


FOREIGN = SessionBinding(
    name="framework",
    adapter=WIRE,
    open=Handle,
    send=send,
    history=lambda handle: [message(line) for line in handle.chat.lines],
    stop=lambda handle: handle.chat.halt(),
    configure=Handle.configure,
    reset=lambda handle: handle.chat.lines.clear(),
    revert=lambda handle, turn_index: handle.chat.rewind(turn_index + 1),
    collect=lambda handle: handle.chat.lines.__delitem__(slice(handle.chat.starts()[-handle.setup.keep_turns])),
    save=lambda handle: handle.chat.dump(),
    load=load,
    usage=lambda handle: TokenUsage(*handle.chat.tokens),
)

BARE = replace(FOREIGN, name="bare-framework", stop=None, reset=None, revert=None, collect=None, save=None, load=None)
