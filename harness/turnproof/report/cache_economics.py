"""What prompt caching came to in a run: tokens read, written and paid in full, turn by turn, and what was paid again.

All from the wire, in the figures of the service as the dialect reads them; the adapter's own are judged elsewhere.
Made for the scenarios about caching, which are those named `cache/...`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import msgspec

from ..dialects import dialect as dialect_named
from ..errors import UsageError
from ..judge.run_log import Run
from ..messages import Message, TokenUsage
from ..run.evidence import EvidenceStore
from ..run.transcript import (
    CallBegan,
    Collected,
    Loaded,
    Reset,
    Reverted,
    RunKey,
    Swapped,
    Transcript,
    WireRequest,
    WireResponse,
)
from ..tokens import message_tokens, text_tokens, tool_tokens

SCENARIOS = "cache/"
"""How the names of the scenarios about caching begin."""

_OPERATIONS = {Collected: "gc", Reverted: "revert", Loaded: "load", Swapped: "swap", Reset: "reset"}


class TurnEconomics(msgspec.Struct, frozen=True):
    """The tokens of one turn's prompts, over all its calls: `read` from the cache, `written` to it, `fresh`.

    `again` is the part of written and fresh that had been cached before and is still in the conversation. `after` says
    what was done to the session in front of the turn: gc, revert, load, swap, reset.
    """

    turn: int
    calls: int
    read: int
    written: int
    fresh: int
    again: int
    after: tuple[str, ...]


class RunEconomics(msgspec.Struct, frozen=True):
    """A run of a scenario on a path. `gc_cost` is what was paid `again` in turns that follow a collection.

    With a `problem` its evidence could not be read, and there are no figures.
    """

    scenario: str
    path: str
    mode: str
    read: int = 0
    written: int = 0
    fresh: int = 0
    gc_cost: int = 0
    turns: tuple[TurnEconomics, ...] = ()
    problem: str = ""

    @property
    def after_gc(self) -> bool:
        """Whether history was collected in it."""
        return any("gc" in turn.after for turn in self.turns)

    @property
    def read_share(self) -> float:
        """The part of all prompt tokens that the cache served, 0.0 to 1.0."""
        prompt_tokens = self.read + self.written + self.fresh
        return self.read / prompt_tokens if prompt_tokens else 0.0


@dataclass(frozen=True, slots=True)
class _Call:
    """An answered request: what the session held of it, and how its prompt was counted."""

    began: CallBegan
    usage: TokenUsage

    @property
    def uncached(self) -> int:
        return self.usage.prompt_tokens - self.usage.cache_read_tokens


def economics(run: Run, adapter: str, store: EvidenceStore) -> tuple[RunEconomics, ...]:
    """The runs of an adapter that are about caching and had anything cached, in the order of the run."""
    found = []
    for line in run.transcripts:
        if line.adapter == adapter and line.key.scenario.startswith(SCENARIOS) and not line.key.repeat:
            try:
                found.append(of_transcript(store.get(line.digest)))
            except UsageError as error:
                found.append(_named(line.key, problem=str(error)))
    return tuple(one for one in found if one.read or one.written or one.problem)


def of_transcript(transcript: Transcript) -> RunEconomics:
    """One run, from its evidence."""
    after: dict[int, list[str]] = defaultdict(list)
    for event in transcript.events:
        word = _OPERATIONS.get(type(event))
        if word is not None and not (isinstance(event, Loaded) and event.damaged):
            after[event.turn].append(word)
    by_turn: dict[int, list[tuple[_Call, int]]] = defaultdict(list)
    before: _Call | None = None
    for call in _calls(transcript):
        by_turn[call.began.turn].append((call, _again(before, call) if before is not None else 0))
        before = call
    turns = tuple(_turn(turn, turn_events, tuple(after[turn])) for turn, turn_events in by_turn.items())
    return _named(transcript.key, turns=turns)


def _named(key: RunKey, turns: Sequence[TurnEconomics] = (), problem: str = "") -> RunEconomics:
    return RunEconomics(
        scenario=key.scenario,
        path=key.path,
        mode=key.mode,
        read=sum(turn.read for turn in turns),
        written=sum(turn.written for turn in turns),
        fresh=sum(turn.fresh for turn in turns),
        gc_cost=sum(turn.again for turn in turns if "gc" in turn.after),
        turns=tuple(turns),
        problem=problem,
    )


def _turn(turn: int, calls: Sequence[tuple[_Call, int]], after: tuple[str, ...]) -> TurnEconomics:
    return TurnEconomics(
        turn=turn,
        calls=len(calls),
        read=sum(call.usage.cache_read_tokens for call, _ in calls),
        written=sum(call.usage.cache_creation_tokens for call, _ in calls),
        fresh=sum(call.uncached - call.usage.cache_creation_tokens for call, _ in calls),
        again=sum(again for _, again in calls),
        after=after,
    )


def _calls(transcript: Transcript) -> Iterator[_Call]:
    """The requests that were answered and counted, in order; what probes sent again is left aside."""
    wire = dialect_named(transcript.dialect)
    answers = {event.exchange: event for event in transcript.of(WireResponse)}
    began = {event.call: event for event in transcript.of(CallBegan) if not event.probe}
    for request in transcript.of(WireRequest):
        answer, call = answers.get(request.exchange), began.get(request.call)
        if request.probe or request.operation != "generate" or answer is None or call is None or answer.status != 200:
            continue
        usage = wire.read_response(answer.status, answer.headers, answer.data).usage
        if usage is not None and usage.prompt_tokens:
            yield _Call(call, usage)


def _again(before: _Call, call: _Call) -> int:
    """Tokens of a request that the one before it had in the cache, and that were not read from there.

    What is new is measured by the ruler, scaled to the service's count; the rest of what was not read was there before.
    """
    known = {message.message_id for message in before.began.messages}
    new = [message for message in call.began.messages if message.message_id not in known]
    prompt_size = (
        _size(call.began.messages) + text_tokens(call.began.system or "") + sum(map(tool_tokens, call.began.tools))
    )
    fresh = round(_size(new) * call.usage.prompt_tokens / max(1, prompt_size))
    cached = before.usage.cache_read_tokens + before.usage.cache_creation_tokens
    return max(0, min(call.uncached - fresh, cached - call.usage.cache_read_tokens))


def _size(messages: Sequence[Message]) -> int:
    return sum(map(message_tokens, messages))
