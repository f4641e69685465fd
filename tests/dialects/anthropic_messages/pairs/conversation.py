"""Pairs about messages: who speaks, what is empty, calls and results, thinking."""

from __future__ import annotations

from typing import Any

from ...requests import Json
from ..asks import Ask, Pair, ask, body, loop
from ..builders import (
    FOREIGN_SIGNATURE,
    NEWEST,
    OPENING,
    REDACTED,
    THINKING,
    TOOL,
    assistant,
    call,
    result,
    system,
    text,
    thinking,
    user,
)

_ANSWERED = (OPENING, assistant("Let me look.", call()), user(result()))
_ORDER = (
    "When `thinking` is enabled, a final `assistant` message must start with a thinking block (preceeding the lastmost "
    "set of `tool_use` and `tool_result` blocks)."
)
_MODIFIED = (
    "`thinking` or `redacted_thinking` blocks in the latest assistant message cannot be modified. These blocks must "
    "remain as they were in the original response."
)


def _dangling(at: int, ids: str = "call_1") -> str:
    return (
        f"messages.{at}: `tool_use` ids were found without `tool_result` blocks immediately after: {ids}. Each "
        "`tool_use` block must have a corresponding `tool_result` block in the next message."
    )


def _turns() -> list[Pair]:
    nonempty = "text content blocks must be non-empty"
    nonblank = "text content blocks must contain non-whitespace text"
    empty = "all messages must have non-empty content except for the optional final assistant message"
    search = {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"query": "moist"}}
    found = {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": []}
    return [
        Pair("no-messages", Ask(body() | {"messages": []}), "messages: at least one message is required", ask()),
        Pair("empty-content", ask(user(), OPENING), f"messages.0: {empty}", ask(OPENING, assistant())),
        Pair("empty-text", ask(user(text(""))), f"messages: {nonempty}", ask(user(text("Hello")))),
        Pair("empty-text", ask(system=[text("")]), f"system: {nonempty}", ask(system=[text("Be brief.")]),
             variant="system"),
        Pair("blank-text", ask(user(text(" \n"))), f"messages: {nonblank}",
             ask(OPENING, assistant(text(" "), text("41 %")), user("Thanks"))),
        Pair("blank-text", ask(system=[text(" ")]), f"system: {nonblank}", ask(system=[text("Be brief.")]),
             variant="system"),
        Pair(
            "system-role-unsupported",
            ask(OPENING, system("Be brief.")),
            "role 'system' is not supported on this model",
            ask(OPENING, system("Be brief."), model=NEWEST),
        ),
        Pair(
            "system-role-follows",
            ask(system("Be brief."), assistant("Yes."), OPENING, model=NEWEST),
            "messages.0: role 'system' must follow a 'user' message or an 'assistant' message ending in a server tool "
            "result",
            ask(OPENING, system("Be brief."), assistant("Yes."), OPENING, model=NEWEST),
            enforced=False,
        ),
        Pair("system-role-precedes", ask(OPENING, system("Be brief."), OPENING, model=NEWEST),
             "messages.1: role 'system' must precede an 'assistant' message",
             ask(OPENING, OPENING, system("Be brief."), model=NEWEST)),
        Pair("server-tool-unanswered", ask(OPENING, assistant(search), OPENING, assistant("41 %"), user("Thanks")),
             "`web_search` tool use with id `srvtoolu_1` was found without a corresponding `web_search_tool_result` "
             "block", ask(OPENING, assistant(search, found), OPENING, assistant("41 %"), user("Thanks")),
             enforced=False),
        Pair("prefill-unsupported", ask(OPENING, assistant("Bed 3 is"), model=NEWEST),
             "This model does not support assistant message prefill. The conversation must end with a user message.",
             ask(OPENING, assistant("Bed 3 is"))),
        Pair("prefill-whitespace", ask(OPENING, assistant("Bed 3 is ")),
             "messages: final assistant content cannot end with trailing whitespace",
             ask(OPENING, assistant("Bed 3 is"))),
    ]  # fmt: skip


def _pairing() -> list[Pair]:
    return [
        Pair("dangling-call", ask(OPENING, assistant(call()), OPENING), _dangling(2), loop(result())),
        Pair("dangling-call", ask(OPENING, assistant(call("call_1"), call("call_2")), OPENING),
             _dangling(2, "call_1, call_2"),
             ask(OPENING, assistant(call("call_1"), call("call_2")), user(result("call_2"), result("call_1"))),
             variant="parallel"),
        Pair("dangling-call", ask(OPENING, assistant(call()), assistant(call("call_2")), user(result())),
             _dangling(3, "call_2"),
             ask(OPENING, assistant(call()), assistant(call("call_2")), user(result()), user(result("call_2"))),
             variant="merged"),
        Pair("dangling-call", ask(OPENING, assistant(call()), tools=[TOOL]), _dangling(2), loop(result()),
             variant="last"),
        Pair("dangling-last-without-tools", ask(OPENING, assistant(call())), _dangling(2), loop(result()),
             enforced=False),
        Pair("text-after-call", ask(OPENING, assistant(call(), "Wait."), user(result())), _dangling(2),
             ask(OPENING, assistant("Wait.", call()), user(result()))),
        Pair("text-before-result", loop(text("Here:"), result()), _dangling(2), loop(result(), text("Here:"))),
        Pair(
            "orphan-result",
            ask(user(result())),
            "messages.0.content.0: unexpected `tool_use_id` found in `tool_result` blocks: call_1. Each `tool_result` "
            "block must have a corresponding `tool_use` block in the previous message.",
            loop(result()),
        ),
        Pair(
            "orphan-result",
            ask(*_ANSWERED, assistant("41 %"), user(result())),
            "messages.4.content.0: unexpected `tool_use_id` found in `tool_result` blocks: call_1. Each `tool_result` "
            "block must have a corresponding `tool_use` block in the previous message.",
            ask(*_ANSWERED, assistant(call()), user(result())),
            variant="stale",
        ),
        Pair("duplicate-result", loop(result(), result()),
             "each tool_use must have a single result. Found multiple `tool_result` blocks with id: call_1",
             loop(result())),
        Pair("duplicate-call-id", ask(OPENING, assistant(call(), call()), user(result())),
             "messages.1.content.1: `tool_use` ids must be unique", ask(*_ANSWERED, assistant(call()), user(result()))),
    ]  # fmt: skip


def _thinking_blocks() -> list[Pair]:
    def running(*blocks: Json, **more: Any) -> Ask:
        return ask(OPENING, assistant(*blocks, call()), user(result()), tools=[TOOL], **(THINKING | more))

    def earlier(block: Json) -> Ask:
        return ask(OPENING, assistant(block, "41 %"), user("And 4?"), assistant("40 %"), user("Thanks"), **THINKING)

    redacted = {"type": "redacted_thinking", "data": REDACTED}
    return [
        Pair("unsigned-thinking", running(thinking(signature="")),
             "messages.1.content.0.thinking: each thinking block must contain thinking", running(thinking())),
        Pair("missing-field", running(thinking(signature=None)),
             "messages.1.content.0.thinking.signature: Field required", running(thinking()), variant="signature"),
        Pair("unsigned-while-off", ask(OPENING, assistant(thinking(signature=""), "41 %"), user("Thanks")),
             "messages.1.content.0.thinking: each thinking block must contain thinking",
             ask(OPENING, assistant(thinking(), "41 %"), user("Thanks")), enforced=False),
        Pair("invalid-signature", running(thinking(signature="Zm9yZWlnbg==")),
             "messages.1.content.0: Invalid `signature` in `thinking` block", running(thinking())),
        Pair("invalid-signature", earlier(thinking("Bed 4 needs it.")),
             "messages.1.content.0: Invalid `signature` in `thinking` block", earlier(thinking()),
             variant="changed-text"),
        Pair("invalid-redacted", running(redacted | {"data": "Zm9yZWlnbg=="}),
             "messages.1.content.0: Invalid `data` in `redacted_thinking` block", running(redacted)),
        Pair("modified-thinking", running(thinking("Bed 4 needs it.")), f"messages.1.content.0: {_MODIFIED}",
             running(thinking())),
        Pair("foreign-model-signature", running(thinking(signature=FOREIGN_SIGNATURE)),
             f"messages.1.content.0: `signature` was issued by {NEWEST}", running(thinking()), enforced=False),
        Pair("thinking-required", running(),
             "messages.1.content.0.type: Expected `thinking` or `redacted_thinking`, but found `tool_use`. " + _ORDER,
             running(thinking())),
        Pair("thinking-required", running(text("Let me look.")),
             "messages.1.content.0.type: Expected `thinking` or `redacted_thinking`, but found `text`. " + _ORDER,
             running(text("Let me look."), model=NEWEST, thinking={"type": "adaptive"}), variant="text-first"),
    ]  # fmt: skip


PAIRS: tuple[Pair, ...] = (*_turns(), *_pairing(), *_thinking_blocks())
