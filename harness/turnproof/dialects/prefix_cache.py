"""A prompt cache that works by prefixes: what was written under a breakpoint can be read by a longer prompt.

A prompt is a row of cells (a tool, a system block, a content block). Each cell belongs to a *position*; several
cells may share one. A breakpoint on a cell writes one entry, the digest of everything up to and including it. A
later prompt looks back from each of its breakpoints over a limited number of positions for such an entry. The
rules that differ between services (what is hashed, how many tokens are enough, how far to look) are arguments.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import wraps
from hashlib import blake2b
from typing import Literal, TypeAlias, TypeVar

from .base import Call, ModelFacts, PromptUsage
from .catalogue import dated

Ttl: TypeAlias = Literal["5m", "30m", "1h", "12h"]

LIFETIME: dict[Ttl, float] = {"5m": 300.0, "30m": 1800.0, "1h": 3600.0, "12h": 43_200.0}


@dataclass(slots=True)
class Cell:
    """One piece of a prompt: what is hashed for it, what it weighs, where it stands, and its breakpoint.

    A breakpoint that is not written is only looked for.
    """

    content: bytes
    tokens: int
    position: int = 0
    mark: Ttl | None = None
    is_written: bool = True


P = TypeVar("P")


def kept_for_the_latest(make: Callable[[P], Sequence[Cell]]) -> Callable[[P], Sequence[Cell]]:
    """`make`, which is not run again for the very prompt that it was run for last.

    One request is counted, limited and accounted for in a row: its cells are made once. They are not to be changed.
    """
    latest: tuple[P, Sequence[Cell]] | None = None

    @wraps(make)
    def cells(prompt: P) -> Sequence[Cell]:
        nonlocal latest
        found = latest
        if found is None or found[0] is not prompt:
            found = latest = prompt, make(prompt)
        return found[1]

    return cells


def one_by_one(row: Iterable[Cell]) -> Iterator[Cell]:
    """The cells of a prompt, each at a position of its own."""
    for position, cell in enumerate(row, 1):
        cell.position = position
        yield cell


def open_ended(row: Iterable[Cell]) -> list[Cell]:
    """The cells of a prompt of which each but the last ends a prefix: no prompt is cached to its very end."""
    found = list(row)
    if found:
        found[-1].mark = None
    return found


def prompt_cells(row: Callable[[Call], Iterable[Cell]]) -> Callable[[Call], Sequence[Cell]]:
    """The cells of a prompt in prefix order, which `row` makes of a call: made once for each prompt, not to be changed.

    Each but the last ends a prefix that may be found again; no prompt is cached to its very end.
    """
    return kept_for_the_latest(lambda call: open_ended(one_by_one(row(call))))


def in_steps(whole: int, read: int, step: int) -> PromptUsage:
    """The usage of a prompt at a service that finds prefixes of whole steps of tokens, and does not tell what it
    wrote."""
    read -= read % step
    return PromptUsage(whole - read, cache_read=read)


@dataclass(slots=True)
class _Entry:
    expires: float
    lifetime: float


@dataclass(frozen=True, slots=True)
class _Breakpoint:
    cell: int
    ttl: Ttl
    digest: bytes


@dataclass(frozen=True, slots=True)
class Limits:
    """How many of a prompt's latest breakpoints are looked for and written, and the life of what is written; None for
    no limit, and for the life that each breakpoint has."""

    reads: int | None = None
    writes: int | None = None
    life: Ttl | None = None


class PrefixStore:
    """The entries of one workspace. Entries become readable only when the response that wrote them has begun."""

    def __init__(self, *, lookback: int) -> None:
        self._entries: dict[bytes, _Entry] = {}
        self._lookback = lookback

    def account(
        self, cells: Sequence[Cell], tail: int, salt: bytes, minimum: int, now: float, limits: Limits | None = None
    ) -> tuple[PromptUsage, Callable[[], None]]:
        """How a prompt is counted at `now` (seconds), and the function that makes its entries readable.

        `tail` tokens stand after the last cell; `salt` keeps caches apart (the model). A breakpoint below `minimum`
        tokens does nothing.
        """
        limits = limits or Limits()
        running_totals = _running_totals(cells)
        marked_cells = [n for n, cell in enumerate(cells) if cell.mark is not None and running_totals[n] >= minimum]
        if limits.reads is not None:
            marked_cells = marked_cells[-limits.reads :]
        if not marked_cells:
            return PromptUsage(running_totals[-1] + tail if running_totals else tail), nothing_to_write
        digests = self._digests(cells, marked_cells, salt)
        written = [n for n in marked_cells if cells[n].is_written]
        written = written if limits.writes is None else written[-limits.writes :]
        breakpoints = [_Breakpoint(n, limits.life or cells[n].mark or "5m", digests[n]) for n in written]
        hit = max((n for n, digest in digests.items() if self._alive(digest, now)), default=-1)
        usage = _usage(breakpoints, running_totals, hit, tail)
        read = digests[hit] if hit >= 0 else None

        def commit() -> None:
            if read is not None and (entry := self._entries.get(read)) is not None:
                entry.expires = max(entry.expires, now + entry.lifetime)
            for each in breakpoints:
                self._write(each, now)

        return usage, commit

    def account_for(
        self, cells: Sequence[Cell], facts: ModelFacts, now: float, *, tail: int = 0, limits: Limits | None = None
    ) -> tuple[PromptUsage, Callable[[], None]]:
        """The same for a prompt to this model. Caches are kept per model; an alias and its dated id share one."""
        return self.account(cells, tail, dated(facts).encode(), facts.cache_minimum_tokens, now, limits)

    def _digests(self, cells: Sequence[Cell], marked_cells: Sequence[int], salt: bytes) -> dict[int, bytes]:
        # Only cells within reach of a breakpoint are worth a digest: copying the hash is what costs.
        near = set()
        for n in marked_cells:
            horizon = cells[n].position - self._lookback
            while n >= 0 and cells[n].position > horizon:
                near.add(n)
                n -= 1
        running = blake2b(salt, digest_size=16)
        found = {}
        for n, cell in enumerate(cells[: marked_cells[-1] + 1]):
            running.update(b"%d:" % len(cell.content))
            running.update(cell.content)
            if n in near:
                found[n] = running.copy().digest()
        return found

    def _alive(self, digest: bytes, now: float) -> bool:
        entry = self._entries.get(digest)
        return entry is not None and entry.expires > now

    def _write(self, each: _Breakpoint, now: float) -> None:
        lifetime = LIFETIME[each.ttl]
        entry = self._entries.get(each.digest)
        if entry is None or entry.expires <= now:
            self._entries[each.digest] = _Entry(now + lifetime, lifetime)
            return
        entry.lifetime = max(entry.lifetime, lifetime)
        entry.expires = max(entry.expires, now + entry.lifetime)


class AutomaticCache:
    """One run's cache at a service that finds prefixes by itself, in models with this `feature`.

    Nothing is ever counted as written: storing costs no tokens here.
    """

    def __init__(self, cells: Callable[[Call], Sequence[Cell]], feature: str) -> None:
        self._cells = cells
        self._feature = feature
        self._store = PrefixStore(lookback=1)

    def account(self, call: Call, facts: ModelFacts, now: float) -> tuple[PromptUsage, Callable[[], None]]:
        """How the prompt is counted at `now`, and the function to call when the response has begun."""
        row = self._cells(call)
        whole = sum(cell.tokens for cell in row)
        if call.operation != "generate" or self._feature not in facts.features:
            return PromptUsage(whole), nothing_to_write
        usage, commit = self._store.account_for(row, facts, now)
        return in_steps(whole, usage.cache_read, 1), commit


def nothing_to_write() -> None:
    """The end of a request that leaves nothing in the cache."""


def _running_totals(cells: Sequence[Cell]) -> list[int]:
    total = 0
    totals = []
    for cell in cells:
        total += cell.tokens
        totals.append(total)
    return totals


def _usage(breakpoints: Sequence[_Breakpoint], prefix_tokens: Sequence[int], hit: int, tail: int) -> PromptUsage:
    read = prefix_tokens[hit] if hit >= 0 else 0
    last = max(prefix_tokens[breakpoints[-1].cell], read)
    hour = max((prefix_tokens[each.cell] for each in breakpoints if each.ttl == "1h" and each.cell > hit), default=read)
    return PromptUsage(
        fresh=prefix_tokens[-1] - last + tail, cache_read=read, cache_write_5m=last - hour, cache_write_1h=hour - read
    )
