"""What llama.cpp's own server refuses while it turns a request into one of chat completions.

It takes what it does not know, keeps nothing, and pairs no calls. Reasoning has to come back as text.
"""

from __future__ import annotations

from collections.abc import Iterator

from ...base import Refusal, Rule
from ...judged_request import Placed
from .. import rules
from ..counting import count
from ..surfaces import Item
from .context import Context, refuse

_KIND = "invalid_request_error"
_TELLING = ("user", "system", "developer")


def check(context: Context) -> Iterator[Refusal]:
    """Rules of llama.cpp alone."""
    if "input" not in context.body:
        yield refuse(rules.LLAMACPP_INPUT, "'input' is required", "input")
    if context.body.get("previous_response_id"):
        message = "llama.cpp does not support 'previous_response_id'."
        yield refuse(rules.LLAMACPP_PREVIOUS, message, "previous_response_id")
    for placed in context.sent:
        yield from _item(placed)
    yield from _size(context)


def _size(context: Context) -> Iterator[Refusal]:
    if context.facts is None or context.counting:
        return
    tokens, window = count(context.call), context.facts.context_tokens
    if tokens > window:
        message = f"request ({tokens} tokens) exceeds the available context size ({window} tokens), try increasing it"
        yield refuse(rules.LLAMACPP_WINDOW, message, "input", "exceed_context_size_error")


def _item(placed: Placed) -> Iterator[Refusal]:
    item, content = placed.item, placed.item.get("content")
    if item.get("role") in _TELLING and isinstance(content, str | list):
        for block in content if isinstance(content, list) else ():
            if isinstance(block, dict) and block.get("type") == "input_file":
                message = "'input_file' is not supported by llamacpp at this moment"
                yield _refusal(rules.LLAMACPP_FILE, message, placed)
    elif item.get("type") == "reasoning" and isinstance(item.get("summary"), list):
        if not isinstance(content, list):
            yield _refusal(rules.LLAMACPP_REASONING, "item['content'] is not an array", placed)
        elif not content:
            yield _refusal(rules.LLAMACPP_REASONING, "item['content'] is empty", placed)
    elif not _is_answer(item) and not _is_of_a_call(item):
        yield _refusal(rules.LLAMACPP_ITEM, "Cannot determine type of 'item'", placed)


def _is_answer(item: Item) -> bool:
    return item.get("role") == "assistant" and item.get("type") == "message" and isinstance(item.get("content"), list)


def _is_of_a_call(item: Item) -> bool:
    if item.get("type") == "function_call":
        return all(isinstance(item.get(name), str) for name in ("arguments", "call_id", "name"))
    is_output = item.get("type") == "function_call_output" and isinstance(item.get("call_id"), str)
    return is_output and isinstance(item.get("output"), str | list)


def _refusal(rule: Rule, message: str, placed: Placed) -> Refusal:
    return refuse(rule, message, placed.path, _KIND)
