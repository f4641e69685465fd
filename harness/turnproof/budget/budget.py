"""`InstructionBudget`: what each part of a prompt takes of the model's context, and how full that is.

Each message is measured once, by the project's ruler, and the sum is corrected by what the provider reports: right
after a report the two agree to the token. From there on they drift apart by the error of the ruler on what was added
or taken away since, which is all that is ever guessed.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence, Set
from typing import Final

from ..messages import Message, TokenUsage, ToolSchema
from ..provider import SystemInstruction, system_text
from ..tokens import message_tokens, text_tokens, thought_tokens, tool_tokens
from .model import BudgetState, ContextUsage, Entry, Growth, Mark, Policy, Source
from .policies import Policies

ERROR: Final = 0.15
"""Declared error, as a share of the provider's count of the same prompt.

A ruler that counts bytes does not know that code, prose and other scripts take different numbers of tokens for a
byte. They do so in every prompt, though, and the report corrects it; what stays is how far the newest message differs
from the mix before it: a tenth at the most, in the conversations that were recorded from the real services.
"""

ERROR_TOKENS: Final = 64
"""Declared error of a small prompt, in tokens: frames, ids, a hidden preamble; they weigh nothing in a large one."""

DOUBT_TOKENS: Final = 1_000
"""How much a prompt must have grown, by the ruler, until that says as much of a provider's tokens as its whole size.

The size has in it what the service adds by itself; the growth has not, but a small one is mostly noise.
"""

PLAUSIBLE: Final = (0.5, 2.0)
"""Tokens for one of the ruler that a tokenizer can come to. What is beyond that is something else than text."""


def within_error(used: int, counted: int) -> bool:
    """Whether a budget's figure is as near to a provider's count as it promises to be.

    Three things are beyond any ruler: thinking, which counts until the next report also where the provider leaves it
    out of the next prompt; files, which have a flat size; and what a service puts into the prompt by itself.
    """
    return abs(used - counted) <= max(ERROR_TOKENS, ERROR * counted)


class InstructionBudget:
    """Entries of one conversation. `limit` is the context's in tokens, where it is known.

    Holds no history of its own: `sync` tells it what the history is now. Not synchronised.
    """

    def __init__(self, limit: int | None = None) -> None:
        self.limit = limit
        self._marks: dict[str, Mark] = {}
        self._frame: tuple[Entry, ...] = ()
        self._frame_counted = False
        self._reported = self._expected = 1.0
        self._counted = self._uncounted = 0
        self._growth = Growth()
        self._last_total: int | None = None
        self._rebuild([], frozenset())

    # What the prompt is

    def frame(self, system: SystemInstruction, tools: Sequence[ToolSchema]) -> None:
        """Take over what stands beside the messages in every call."""
        text = system_text(system)
        entries = [Entry(Source.SYSTEM, Policy.LOCKED, text_tokens(text))] if text else []
        entries += [Entry(Source.PLUGIN, Policy.LOCKED, tool_tokens(tool), tool.name) for tool in tools]
        if tuple(entries) != self._frame:
            self._frame, self._frame_counted = tuple(entries), False
            self._add_up()

    def sync(self, messages: Sequence[Message]) -> None:
        """Hold entries for exactly these messages.

        Costs what was added; a pass over the history only where something else happened to it.
        """
        known_messages, now = self._messages, messages if isinstance(messages, list) else list(messages)
        # Compared by identity, in C; copied only where there is more than before.
        if known_messages == (now if len(now) == len(known_messages) else now[: len(known_messages)]):
            self._extend(now[len(known_messages) :])
        else:
            known = set(known_messages)
            counted = {one.message_id for one in now if one in known and one.message_id in self._counted_ids}
            used, thought = self.used, any(map(thought_tokens, known_messages))
            self._rebuild(list(now), counted)
            if thought and not any(map(thought_tokens, now)):
                self._forget_thinking(used)

    def mark(self, message_id: str, source: Source, policy: Policy) -> None:
        """Say where a message comes from and what may be done to it, instead of what the conversation shows.

        Best before the message is in the history: afterwards it costs a pass over it.
        """
        self._marks[message_id] = Mark(source, policy)
        if any(message.message_id == message_id for message in reversed(self._messages)):
            self._rebuild(self._messages, self._counted_ids)

    def report(self, usage: TokenUsage) -> None:
        """What the provider counted, of all that is in the budget now: a call's prompt, and the answer to it.

        A report without figures changes nothing.
        """
        estimate = self._counted + self._uncounted
        if usage.total_tokens <= 0 or estimate <= 0:
            return
        if self._last_total is not None:
            growth = self._growth
            self._growth = Growth(
                growth.reported + usage.total_tokens - self._last_total, growth.estimated + self._uncounted
            )
        self._reported = usage.total_tokens / estimate
        by_size = _plausible((usage.total_tokens + DOUBT_TOKENS) / (estimate + DOUBT_TOKENS))
        by_growth = (self._growth.reported + DOUBT_TOKENS * by_size) / (self._growth.estimated + DOUBT_TOKENS)
        self._expected = _plausible(by_growth)
        self._last_total = usage.total_tokens
        self._counted_ids.update(self._uncounted_ids)
        self._uncounted_ids.clear()
        self._frame_counted = True
        self._counted, self._uncounted = estimate, 0

    def use_other_provider(self) -> None:
        """Another provider counts from now on. Until it has, the figures stay, and it teaches nothing about the ruler.

        That its first count differs has other reasons than what was added meanwhile.
        """
        self._growth, self._last_total = Growth(), None

    # What it comes to

    @property
    def used(self) -> int:
        """Tokens of the whole prompt."""
        return round(self._counted * self._reported + self._uncounted * self._expected)

    @property
    def turns(self) -> int:
        """Turns of the conversation."""
        return self._policies.turns

    @property
    def aside(self) -> Set[str]:
        """Ids of the messages that are marked as enrichment: nobody's turn."""
        return {name for name, mark in self._marks.items() if mark.source is Source.ENRICHMENT}

    def get_context_usage(self, adding: Iterable[Message] = ()) -> ContextUsage:
        """How full the context is, or would be with these messages behind what it holds."""
        return ContextUsage(self.used + round(self.weigh(adding)), self.limit, self.turns)

    def weigh(self, messages: Iterable[Message]) -> float:
        """Tokens of messages in the provider's measure: of those that are held, what they add to `used`."""
        return sum(message_tokens(one) * self.rate(one) for one in messages)

    def rate(self, message: Message) -> float:
        """Tokens of the provider for one of the ruler, in this message."""
        return self._reported if message.message_id in self._counted_ids else self._expected

    def entries(self) -> list[Entry]:
        """Every entry: system text, tools, messages in their order; thinking stands apart from what was said."""
        found = list(self._frame)
        for message, entry in zip(self._messages, self._entries, strict=True):
            thought = thought_tokens(message)
            if thought < entry.tokens:
                found.append(Entry(entry.source, entry.policy, entry.tokens - thought, entry.id))
            if thought:
                found.append(Entry(Source.THINKING, entry.policy, thought, entry.id))
        return found

    def by_source(self) -> dict[Source, int]:
        """Tokens by the ruler, of every source."""
        sums = dict.fromkeys(Source, 0)
        for entry in self.entries():
            sums[entry.source] += entry.tokens
        return sums

    def entries_of(self, messages: Sequence[Message]) -> Sequence[Entry]:
        """One entry for each of these messages, thinking included, as if they were the history."""
        if list(messages) == self._messages:
            return self._entries
        policies = Policies(self._marks)
        return [_entry(message, policies) for message in messages]

    def stable_head(self, messages: Sequence[Message]) -> int:
        """How many of these messages, from the first one on, are locked: no collection by budget takes them away."""
        policies = Policies(self._marks)
        for count, message in enumerate(messages):
            if policies.mark(message).policy is not Policy.LOCKED:
                return count
        return len(messages)

    # Saving

    def state(self) -> BudgetState:
        """What a saved session keeps of it."""
        return BudgetState(
            reported=self._reported,
            expected=self._expected,
            uncounted=tuple(self._uncounted_ids),
            frame_counted=self._frame_counted,
            grown=self._growth,
            last_total=self._last_total,
            marks=dict(self._marks),
        )

    def restore(self, state: BudgetState, messages: Sequence[Message]) -> None:
        """Go on where a budget with this history stopped. System text and tools stay as they are."""
        self._marks = dict(state.marks)
        self._reported, self._expected = state.reported, state.expected
        self._frame_counted = state.frame_counted
        self._growth = state.grown
        self._rebuild(list(messages), {message.message_id for message in messages}.difference(state.uncounted))
        self._last_total = state.last_total

    # Inside

    def _extend(self, added: list[Message]) -> None:
        for message in added:
            entry = _entry(message, self._policies)
            self._entries.append(entry)
            self._uncounted_ids.append(entry.id)
            self._uncounted += entry.tokens
        self._messages += added

    def _rebuild(self, messages: list[Message], counted: Set[str]) -> None:
        policies = Policies(self._marks)
        entries = [_entry(message, policies) for message in messages]
        self._messages, self._policies, self._entries = messages, policies, entries
        self._counted_ids = set(counted)
        self._uncounted_ids = [entry.id for entry in entries if entry.id not in counted]
        self._add_up()

    def _forget_thinking(self, used: int) -> None:
        """Thinking that was measured and not sent had made everything look small; now it is gone."""
        if self._counted and self._reported < self._expected:
            self._reported = min(self._expected, used / self._counted)

    def _add_up(self) -> None:
        # Something else than growth happened: from here to the next report nothing can be learned.
        self._last_total = None
        whole = sum(entry.tokens for entry in self._entries) + sum(entry.tokens for entry in self._frame)
        new = sum(entry.tokens for entry in self._entries if entry.id not in self._counted_ids)
        if not self._frame_counted:
            new += sum(entry.tokens for entry in self._frame)
        self._counted, self._uncounted = whole - new, new


def _plausible(rate: float) -> float:
    low, high = PLAUSIBLE
    return min(max(rate, low), high)


def _entry(message: Message, policies: Policies) -> Entry:
    mark = policies.mark(message)
    return Entry(mark.source, mark.policy, message_tokens(message), message.message_id)
