"""`PrefixMonitor`: whether the start of a conversation stays the same, and what it cost when it did not.

A provider's cache serves the part of a request that an earlier request began with. Whatever changes in front (a
collected history, another system text, a tool more) makes it write the rest again. The monitor is told of each
request and of the usage that came back, and reports each such loss once, with its cause and its size.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Literal, TypeAlias

import msgspec

from ..messages import Message, ToolSchema
from ..provider import SystemInstruction, system_text, tools_by_name
from ..tokens import message_tokens, text_tokens, tool_tokens
from ._plugin import CacheUsage, Covers

LossReason: TypeAlias = Literal["gc", "revert", "enrichment", "system", "tools", "swap", "edit", "expired"]
"""Why a cached prefix was of no use any more.

`gc`: the history was collected. `revert`: it went back to an earlier turn. `enrichment`: what is put around a prompt
changed what stood before it. `system`, `tools`: there are others now. `swap`: another provider or model, which has its
own cache. `edit`: the history was changed in another way. `expired`: nothing changed, the provider had it no more.
"""


class PrefixLoss(msgspec.Struct, frozen=True):
    """Tokens that had been cached, belong to the conversation still, and had to be written or paid in full again.

    `turn` counts the user's messages that the monitor saw answered, from 0. `kept` is how many messages at the start
    of the request before stand at the start of this one. `tokens` is never more than the request paid for: of what
    stands in front of the first difference it is the provider's own figure, of what stands behind it an estimate by
    the project's ruler, scaled to the provider's figures.
    """

    turn: int
    reason: LossReason
    kept: int
    tokens: int


@dataclass(frozen=True, slots=True)
class _Sent:
    """A request. `prefix_tokens` are the ruler's tokens before each message and behind the last; `common` as in
    PrefixLoss."""

    to: object
    covers: Covers
    tools: tuple[ToolSchema, ...]
    system: str
    messages: list[Message]
    of_tools: int
    prefix_tokens: list[int]
    common: int


class PrefixMonitor:
    """Watches one conversation. Call `sending` before each request and `answered` after each answer.

    A request that only goes on from the last answered one costs its new messages, and a comparison of the old ones by
    identity. A request that failed, and its repetitions, count as one. Not synchronised.
    """

    def __init__(self) -> None:
        self._losses: list[PrefixLoss] = []
        self._totals = CacheUsage()
        self._cause: LossReason | None = None
        self._before: _Sent | None = None
        self._cached = 0
        self._ends: list[tuple[int, int]] = []
        self._scale = 0.0
        self._sent: _Sent | None = None
        self._user_message: Message | None = None
        self._turn = -1

    @property
    def losses(self) -> tuple[PrefixLoss, ...]:
        """Everything that was lost so far, in order."""
        return tuple(self._losses)

    @property
    def totals(self) -> CacheUsage:
        """What all answers so far read from the cache, wrote to it, and paid in full."""
        return self._totals

    @property
    def stable(self) -> int:
        """How many messages at its start the last answered request had in common with the one before it."""
        return self._before.common if self._before is not None else 0

    def because(self, cause: LossReason) -> None:
        """Say why the next request will differ, if it does, from the one before it."""
        self._cause = cause

    def sending(
        self,
        messages: Sequence[Message],
        system: SystemInstruction,
        tools: Sequence[ToolSchema],
        *,
        covers: Covers = "conversation",
        to: object = None,
    ) -> None:
        """A request goes out; the messages and tools as the session holds them, without marks.

        `covers` says what of it will be cached, and `to` is equal for requests that can read from the same cache.
        """
        text, ordered = system_text(system), tuple(tools_by_name(tools))
        before, messages_now = self._before, list(messages)
        common = _common(before.messages, messages_now) if before is not None else 0
        if before is not None and (before.tools, before.system) == (ordered, text):
            of_tools, prefix_tokens = before.of_tools, before.prefix_tokens[: common + 1]
        else:
            of_tools = sum(map(tool_tokens, ordered))
            prefix_tokens = [of_tools + text_tokens(text)]
        *prefix_tokens, last = prefix_tokens
        prefix_tokens.extend(accumulate(map(message_tokens, messages_now[len(prefix_tokens) :]), initial=last))
        self._sent = _Sent(to, covers, ordered, text, messages_now, of_tools, prefix_tokens, common)

    def answered(self, usage: CacheUsage) -> PrefixLoss | None:
        """The request that was sent last has been answered; what that shows to be lost, or None.

        Nothing is learned from usage without a prompt, as a cancelled answer may have it.
        """
        before, sent, self._sent = self._before, self._sent, None
        if sent is None or not usage.prompt:
            return None
        self._count_turn(sent)
        self._totals += usage
        loss = self._loss(before, sent, usage) if before is not None else None
        if loss is not None:
            self._losses.append(loss)
        self._before, self._cause = sent, None
        self._cached = usage.read + usage.written
        self._ends.append((len(sent.messages), self._cached))
        self._scale = usage.prompt / max(1, sent.prefix_tokens[-1])
        return loss

    def _count_turn(self, sent: _Sent) -> None:
        user_message = next((message for message in reversed(sent.messages) if message.role == "user"), None)
        if user_message is not self._user_message:
            self._turn += 1
        self._user_message = user_message

    def _loss(self, before: _Sent, sent: _Sent, usage: CacheUsage) -> PrefixLoss | None:
        front = self._changed_in_front(before, sent)
        found = self._cached_up_to(0 if front else sent.common)
        same = sent.common == len(before.messages)
        reason: LossReason = front or ("expired" if same else self._cause or "edit")
        if before.covers == "prefix":
            # Stored as one piece, and again as one piece, which no response shows; what is said is no part of it.
            tokens = self._cached if front else self._cached - usage.read
            reason = front or "expired"
        else:
            again = max(0, found - usage.read) + round(self._tokens_behind(before, sent, front))
            tokens = min(again, usage.written + usage.fresh)
        return PrefixLoss(self._turn, reason, sent.common, tokens) if tokens > 0 else None

    def _changed_in_front(self, before: _Sent, sent: _Sent) -> LossReason | None:
        """What differs before the first message, in the order in which a prefix is made."""
        if before.to != sent.to:
            return "swap"
        if before.tools != sent.tools:
            return "tools"
        if before.system != sent.system:
            return "enrichment" if self._cause == "enrichment" else "system"
        return None

    def _cached_up_to(self, common: int) -> int:
        """What had been cached, by the provider's figures, at the last end of a request within these messages.

        Later ends are forgotten: no request will come by there again.
        """
        while self._ends and self._ends[-1][0] > common:
            self._ends.pop()
        return self._ends[-1][1] if self._ends else 0

    def _tokens_behind(self, before: _Sent, sent: _Sent, front: LossReason | None) -> float:
        """Tokens behind the first difference that had been cached and are still there."""
        cached = self._cached / self._scale if self._scale else 0.0
        again = 0.0
        if front == "swap" and before.tools == sent.tools:
            again += _within(0, before.of_tools, cached)
        if front in ("swap", "tools") and before.system == sent.system:
            again += _within(before.of_tools, before.prefix_tokens[0], cached)
        still = set(sent.messages) if front or sent.common < len(before.messages) else ()
        for place in range(0 if front else sent.common, len(before.messages)):
            if before.messages[place] in still:
                again += _within(before.prefix_tokens[place], before.prefix_tokens[place + 1], cached)
        return again * self._scale


def _common(before: list[Message], after: list[Message]) -> int:
    """How many messages both begin with. Messages compare by identity, so that equal starts are found at C's speed."""
    if after[: len(before)] == before:
        return len(before)
    pairs = enumerate(zip(before, after, strict=False))
    return next((place for place, (old, new) in pairs if old is not new), min(len(before), len(after)))


def _within(start: float, end: float, limit: float) -> float:
    return max(0.0, min(end, limit) - start)
