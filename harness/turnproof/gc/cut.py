"""Cut the largest tool results, where nothing else is left that could go.

The result says itself what is missing and how much of it. It begins and ends as it did: what a log or a listing is
stands at its beginning, and how it came out at its end. One that is cut again counts what was missing before.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import msgspec
from msgspec.structs import replace

from ..budget import InstructionBudget
from ..messages import Message, Part, ToolResult
from ..tokens import BYTES_A_TOKEN, part_tokens, text_tokens
from .base import GCResult, Reason

SMALLEST: Final = 64
"""Tokens below which no result is cut: less says nothing, and the notice itself takes half as much."""

HEAD: Final = 2 / 3
"""The share of what stays that is taken from the beginning."""

_NOTICE = "\n[… {cut} of {whole} characters cut here: the whole result did not fit into the model's context …]\n"
_CUT = re.compile(re.escape(_NOTICE).replace(r"\{cut\}", r"(?P<cut>\d+)").replace(r"\{whole\}", r"(?P<whole>\d+)"))
_FILES = "\n[… left out, for the same reason: {files} …]"
_NOTICE_TOKENS = text_tokens(_NOTICE) + 4
_encode = msgspec.json.Encoder().encode


def cut_results(
    history: Sequence[Message], *, free: float, budget: InstructionBudget, reason: Reason = "overflow"
) -> GCResult:
    """The history with its largest tool results cut down to one size, so that `free` tokens of the budget are freed.

    As many as can be, where that is less; the history as it is, where no result is large enough. A message that is
    cut keeps its id, and what is no text becomes text.
    """
    found = list(_results(history, budget))
    level = _level([each.tokens for each in found], free)
    too_large = {(each.message, each.part): each for each in found if each.tokens > level + _NOTICE_TOKENS * each.rate}
    messages, changed = list(history), sorted({message for message, _ in too_large})
    for n in changed:
        parts: list[Part] = list(messages[n].parts)
        for m in range(len(parts)):
            if (large := too_large.get((n, m))) is not None:
                parts[m] = cut(large.result, int(level / large.rate))
        messages[n] = Message(messages[n].role, tuple(parts), messages[n].message_id)
    freed = budget.weigh(history[n] for n in changed) - budget.weigh(messages[n] for n in changed)
    return GCResult(
        messages=tuple(messages),
        reason=reason,
        cut_ids=tuple(messages[n].message_id for n in changed),
        tokens_freed=max(1, round(freed)) if changed else 0,
        before=len(history),
        after=len(history),
    )


def cut(result: ToolResult, tokens: int) -> ToolResult:
    """A tool result cut down to about so many tokens, with a notice inside. Files are left out where they alone are
    larger than that."""
    files = sum(map(part_tokens, result.attachments))
    text = result.result if isinstance(result.result, str) else _encode(result.result).decode()
    if files <= tokens - SMALLEST:
        return replace(result, result=cut_text(text, tokens - files))
    kinds = ", ".join(each.mime_type for each in result.attachments)
    shorter = cut_text(text, tokens) if text_tokens(text) > tokens else text
    return replace(result, result=shorter + _FILES.format(files=kinds) if kinds else shorter, attachments=())


def cut_text(text: str, tokens: int) -> str:
    """The beginning and the end of a text, about so many tokens, and between them how much is missing."""
    if text_tokens(text) <= tokens:
        return text
    room = max(tokens, SMALLEST // 2) * BYTES_A_TOKEN
    head, tail, whole = text, text, len(text)
    if before := _CUT.search(text):
        head, tail = text[: before.start()], text[before.end() :]
        whole = len(head) + len(tail) + int(before["cut"])
    first = _first(head, int(room * HEAD))
    last = _last(tail, room - int(room * HEAD))
    return f"{first}{_NOTICE.format(cut=whole - len(first) - len(last), whole=whole)}{last}"


def _first(text: str, size: int) -> str:
    """As much of the beginning as fits into so many bytes."""
    return text[:size].encode()[:size].decode(errors="ignore")


def _last(text: str, size: int) -> str:
    return text[-size:].encode()[-size:].decode(errors="ignore")


@dataclass(frozen=True, slots=True)
class _Result:
    """A result in its place, its size in the budget's tokens, and what the budget counts for a token of the ruler."""

    message: int
    part: int
    result: ToolResult
    tokens: float
    rate: float


def _results(history: Sequence[Message], budget: InstructionBudget) -> Iterator[_Result]:
    for n, message in enumerate(history):
        for m, part in enumerate(message.parts):
            if isinstance(part, ToolResult):
                rate = budget.rate(message)
                yield _Result(n, m, part, part_tokens(part) * rate, rate)


def _level(sizes: Sequence[float], free: float) -> float:
    """The size to which the largest have to be cut for this much to be freed, notices deducted."""
    if free <= 0 or not sizes:
        return float("inf")
    largest = sorted(sizes, reverse=True)
    whole = 0.0
    for count, (size, following) in enumerate(zip(largest, [*largest[1:], 0.0], strict=True), start=1):
        whole += size
        level = (whole - free) / count - _NOTICE_TOKENS
        if level >= following:
            return max(level, SMALLEST)
    return SMALLEST
