"""Messages and texts: what may be empty, who may speak last, where `system` may stand."""

from __future__ import annotations

from collections.abc import Iterator

from ...base import Refusal
from .. import rules
from ..conversation import MergedTurn, blocks_of, kind_of
from .context import Context, refuse

_EMPTY = "text content blocks must be non-empty"
_NO_CONTENT = "all messages must have non-empty content except for the optional final assistant message"
_BLANK = "text content blocks must contain non-whitespace text"


def check(context: Context) -> Iterator[Refusal]:
    """Rules about messages as such, pairing of calls and results aside."""
    if not context.messages:
        yield refuse(rules.NO_MESSAGES, "messages: at least one message is required", "messages")
        return
    yield from _system_texts(context)
    yield from _empty_messages(context)
    for turn in context.turns:
        yield from _texts(turn)
    yield from _system_role(context)
    yield from _server_tools(context)
    yield from _prefill(context)


def _empty_messages(context: Context) -> Iterator[Refusal]:
    last = len(context.messages) - 1
    for n, message in enumerate(context.messages):
        if message.get("content", "absent"):
            continue
        if not (n == last and message["role"] == "assistant"):
            yield refuse(rules.EMPTY_CONTENT, f"messages.{n}: {_NO_CONTENT}", f"messages.{n}")


def _system_texts(context: Context) -> Iterator[Refusal]:
    for n, block in enumerate(blocks_of(context.body.get("system"))):
        text = block.get("text")
        if block.get("type") == "text" and isinstance(text, str) and not text.strip():
            if isinstance(context.body["system"], str):
                return  # Nobody was seen refusing a blank string here.
            rule, words = (rules.BLANK_TEXT, _BLANK) if text else (rules.EMPTY_TEXT, _EMPTY)
            yield refuse(rule, f"system: {words}", f"system.{n}")


def _texts(turn: MergedTurn) -> Iterator[Refusal]:
    for n, block in enumerate(turn.blocks):
        if block.get("type") != "text":
            continue
        text = block.get("text", "absent")
        if text == "":
            yield refuse(rules.EMPTY_TEXT, f"messages: {_EMPTY}", turn.place(n).path)
        elif turn.role == "user" and text.isspace():
            # Recorded: a blank text of the assistant is accepted.
            yield refuse(rules.BLANK_TEXT, f"messages: {_BLANK}", turn.place(n).path)


def _system_role(context: Context) -> Iterator[Refusal]:
    turns = context.turns
    for n, turn in enumerate(turns):
        if turn.role != "system":
            continue
        where = f"messages.{turn.first}"
        if context.facts is not None and not context.has("mid-system"):
            yield refuse(rules.SYSTEM_ROLE_UNSUPPORTED, "role 'system' is not supported on this model", where)
            return
        if n == 0 or not _may_lead_to_system(turns[n - 1]):
            message = (
                f"{where}: role 'system' must follow a 'user' message or an 'assistant' message ending in a server "
                "tool result"
            )
            yield refuse(rules.SYSTEM_ROLE_FOLLOWS, message, where)
        if n + 1 < len(turns) and turns[n + 1].role != "assistant":
            message = f"{where}: role 'system' must precede an 'assistant' message"
            yield refuse(rules.SYSTEM_ROLE_PRECEDES, message, where)


def _may_lead_to_system(turn: MergedTurn) -> bool:
    return turn.role == "user" or bool(turn.blocks and is_server_result(kind_of(turn.blocks[-1])))


def is_server_result(kind: str) -> bool:
    """Whether a block is the result of a tool that the service ran itself."""
    return kind.endswith("_tool_result")


def _server_tools(context: Context) -> Iterator[Refusal]:
    """A web search or fetch without its result; in the last assistant turn it may still be pending."""
    assistants = [turn for turn in context.turns if turn.role == "assistant"]
    for turn in assistants[:-1]:
        result_ids = {each.get("tool_use_id") for each in turn.blocks if is_server_result(kind_of(each))}
        for placed in turn.blocks_of_type("server_tool_use"):
            name, call_id = placed.block.get("name"), placed.block.get("id")
            if name in ("web_search", "web_fetch") and call_id not in result_ids:
                message = (
                    f"`{name}` tool use with id `{call_id}` was found without a corresponding "
                    f"`{name}_tool_result` block"
                )
                yield refuse(rules.SERVER_TOOL_UNANSWERED, message, placed.path)


def _prefill(context: Context) -> Iterator[Refusal]:
    last = context.turns[-1]
    if last.role != "assistant" or not last.blocks:
        return
    if any(kind_of(each) == "server_tool_use" or is_server_result(kind_of(each)) for each in last.blocks):
        return  # A paused turn goes back as it came.
    if context.has("no-prefill"):
        message = (
            "This model does not support assistant message prefill. The conversation must end with a user message."
        )
        yield refuse(rules.PREFILL_UNSUPPORTED, message, f"messages.{last.last}")
    final = last.blocks[-1]
    text = final.get("text")
    if final.get("type") == "text" and isinstance(text, str) and text != text.rstrip():
        message = "messages: final assistant content cannot end with trailing whitespace"
        yield refuse(rules.PREFILL_WHITESPACE, message, last.place(len(last.blocks) - 1).path)
