"""Items as the service keeps them: each with an id and a status, a message with its content as a list, page by page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from .items import id_of, kind_of
from .surfaces import Item
from .writing import item_id

_PREFIXES: Mapping[str, str] = {
    "message": "msg",
    "function_call": "fc",
    "function_call_output": "fco",
    "reasoning": "rs",
    "compaction": "cmp",
}
_TEXT: Mapping[str, str] = {"assistant": "output_text"}
_WITH_STATUS = frozenset({"message", "function_call", "function_call_output"})
_MOST_DIGITS = 18
"""Python refuses to read a number of thousands of digits. One of so many is larger than any count."""

_LIMIT = 20
"""How many items a page has unless the request says so (openai 3.54 `InputItemListParams.limit`)."""


def whole_number(text: object) -> int | None:
    """A parameter of an address as a number of digits alone; None for anything else."""
    if not isinstance(text, str) or not text.isdecimal():
        return None
    return int(text) if len(text) <= _MOST_DIGITS else 10**_MOST_DIGITS


def stored_form(items: Sequence[Item], seed: str) -> list[dict[str, Any]]:
    """Items as they are kept. Those that have an id keep it; others get one, drawn from the seed and their place."""
    return [_stored(item, n, seed) for n, item in enumerate(items)]


def _stored(item: Item, n: int, seed: str) -> dict[str, Any]:
    kind = kind_of(item)
    found = {"id": item_id(_PREFIXES.get(kind, "item"), seed, "stored", n), **item, "type": kind}
    if kind in _WITH_STATUS:
        found["status"] = item.get("status") or "completed"
    if kind == "message" and isinstance(content := item.get("content"), str):
        block = {"type": _TEXT.get(str(item.get("role")), "input_text"), "text": content}
        found["content"] = [block | {"annotations": [], "logprobs": []} if block["type"] == "output_text" else block]
    return found


def page(items: Sequence[Item], query: Mapping[str, Any]) -> dict[str, Any]:
    """A page of items, newest first unless the query's `order` is `asc`: its `limit`, `after` which item it begins."""
    ordered = list(items) if query.get("order") == "asc" else list(reversed(items))
    names = [id_of(item) for item in ordered]
    after = query.get("after")
    start = names.index(after) + 1 if after in names else 0
    number = whole_number(query.get("limit"))
    limit = _LIMIT if number is None else number
    shown = ordered[start : start + limit]
    return {
        "object": "list",
        "data": shown,
        "first_id": id_of(shown[0]) if shown else None,
        "last_id": id_of(shown[-1]) if shown else None,
        "has_more": start + limit < len(ordered),
    }
