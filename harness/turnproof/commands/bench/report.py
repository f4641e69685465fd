"""The outcome of a benchmark as data: `turnproof.bench/2`, its JSON, and reading it back."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Literal, TypeAlias

import msgspec

from ..._base.canonical import canonical
from ..._base.counts import counted
from ...errors import UsageError
from ...judge.run_log import Environment
from ...provider import Path as AdapterPath

Schema: TypeAlias = Literal["turnproof.bench/2"]
SCHEMA: Schema = "turnproof.bench/2"

TimeFigure: TypeAlias = Literal[
    "turn", "stream", "first-delta", "delta", "collect", "restore", "tls", "conversation", "crowd"
]
SizeFigure: TypeAlias = Literal["peak", "left", "held", "held-bare"]
Figure: TypeAlias = TimeFigure | SizeFigure
Unit: TypeAlias = Literal["bytes", "blocks", "bytes a message"]
Operation: TypeAlias = Literal["turn", "stream", "collect", "restore"]


class Time(msgspec.Struct, frozen=True):
    """CPU milliseconds of one figure for one caller (a path, a plain call, the floor), with `messages` of history.

    `turn` is a turn answered in one piece, `stream` a streamed one, `first-delta` the part of it up to the first piece
    of text, `delta` what each further piece adds, `tls` a turn over TLS. `collect` is a collection of half the history
    with the turn after it, `restore` the first turn of a conversation that is new to the provider. `conversation` is a
    whole one, from empty to `messages`; `crowd` a turn of one of many sessions that take theirs at once. `ms` is the
    best of the `rounds`.
    """

    figure: TimeFigure
    caller: str
    messages: int
    ms: float
    rounds: tuple[float, ...]


class Size(msgspec.Struct, frozen=True):
    """Memory of one figure for one caller.

    `peak` is what a turn allocates at its peak, in bytes of Python; `left` how many blocks more there are after it,
    before the collector ran. `held` is what many live sessions take, in bytes of the process for each message;
    `held-bare` the same where the path has dropped what it keeps beside messages.
    """

    figure: SizeFigure
    caller: str
    messages: int
    amount: float
    unit: Unit


class Ratio(msgspec.Struct, frozen=True):
    """A caller's time or size, over that of caller `to` with `to_messages` of history: the same figure of it, or one
    that it has where the other has no such thing: its `turn` for `collect` and `restore`, its `held` for `held-bare`.

    `value` is the median of the quotients within each round; `low` and `high` are the lowest and the highest of them.
    """

    figure: Figure
    caller: str
    messages: int
    to: str
    to_messages: int
    value: float
    low: float
    high: float

    @property
    def best(self) -> float:
        """What a limit is held against: the best that any round showed, so that no noise alone goes beyond it."""
        return self.low

    @property
    def key(self) -> tuple[Figure, str, int, str, int]:
        """What it is the ratio of."""
        return self.figure, self.caller, self.messages, self.to, self.to_messages

    @property
    def words(self) -> str:
        """The same in words."""
        return words_of(*self.key)


def words_of(figure: Figure, caller: str, messages: int, to: str, to_messages: int) -> str:
    """A ratio in words."""
    at = f" at {to_messages}" if to_messages != messages else ""
    return f"{figure}, {caller}, {counted(messages, 'message')} / {to}{at}"


class Count(msgspec.Struct, frozen=True):
    """What one operation of the reference session took on a path. Exact: the same in every run.

    `calls` are those of the provider's methods, `requests` what reached the server. `read` is how many messages of the
    history were looked into while the provider had control, `taken` how many it took out of the list that it was
    handed: every pass over the list, and every copy, takes all. `encoded` is how many it encoded, by its own count
    (`messages_encoded`); None where it has none.
    """

    operation: Operation
    path: AdapterPath
    messages: int
    calls: dict[str, int]
    requests: int
    read: int
    taken: int
    encoded: int | None = None


class Peer(msgspec.Struct, frozen=True):
    """A library that took the same turns in a process of its own, with the versions that it ran on."""

    name: str
    package: str
    versions: dict[str, str]


class AdapterBench(msgspec.Struct, frozen=True):
    """One adapter. `plain_calls` are the SDK's own calls that it was held against, of the `package` that its binding
    names, and `peers` other libraries; `problems` say what was not measured and why."""

    dialect: str
    model: str
    package: str = ""
    plain_calls: tuple[str, ...] = ()
    times: tuple[Time, ...] = ()
    sizes: tuple[Size, ...] = ()
    ratios: tuple[Ratio, ...] = ()
    counts: tuple[Count, ...] = ()
    problems: tuple[str, ...] = ()
    peers: tuple[Peer, ...] = ()

    @property
    def rivals(self) -> tuple[str, ...]:
        """Whom the paths are held against, beside the floor and each other."""
        return (*self.plain_calls, *(peer.name for peer in self.peers))

    @property
    def measured(self) -> bool:
        """Whether there is any figure of a path."""
        return bool(self.ratios or self.counts)


class OwnFigure(msgspec.Struct, frozen=True):
    """What a part of turnproof, or another tool that does the same, takes: the best of the `rounds`, in `unit`."""

    figure: str
    of: str
    amount: float
    unit: str
    rounds: tuple[float, ...]


class OwnRatio(msgspec.Struct, frozen=True):
    """One of those over another; `value`, `low` and `high` as for a `Ratio`."""

    figure: str
    of: str
    to: str
    value: float
    low: float
    high: float

    @property
    def best(self) -> float:
        """What a limit is held against."""
        return self.low


class Own(msgspec.Struct, frozen=True):
    """What turnproof itself takes. `notes` say which tools were not there to be measured beside it."""

    figures: tuple[OwnFigure, ...] = ()
    ratios: tuple[OwnRatio, ...] = ()
    problems: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


Standing: TypeAlias = Literal["stretch reached", "reached", "missed", "not measured"]


class GoalResult(msgspec.Struct, frozen=True):
    """A goal and what became of it.

    `subject` is the adapter, `words` say what is the ratio of what. It is missed if even the best round is above
    `at_most`; the stretch is reached if `value` is not above it. `value`, `low` and `high` are the ratio's own; None
    where the run did not measure it.
    """

    id: str
    subject: str
    words: str
    at_most: float
    stretch: float | None
    standing: Standing
    value: float | None = None
    low: float | None = None
    high: float | None = None


class Change(msgspec.Struct, frozen=True):
    """One figure that is worse than in the baseline: what it is, and both sides."""

    adapter: str
    what: str
    before: str
    now: str


class Comparison(msgspec.Struct, frozen=True):
    """This run against an earlier one. `counts` and `ratios` say how many of each were compared; `elsewhere` in what
    the earlier one was another machine's, another Python's or another SDK's."""

    baseline: str
    max_ratio: float
    counts: int
    ratios: int
    worse: tuple[Change, ...] = ()
    elsewhere: tuple[str, ...] = ()


class Bench(msgspec.Struct, frozen=True, kw_only=True):
    """The whole outcome. `messages` are the lengths of history; `started` is ISO 8601 in UTC; `notes` say what was left
    out because something is not installed, or not to be had on this system. `own` is what turnproof itself takes, where
    that was asked for."""

    schema: Schema
    turnproof: str
    started: str
    rounds: int
    messages: tuple[int, ...]
    environment: Environment
    adapters: dict[str, AdapterBench]
    goals: tuple[GoalResult, ...] = ()
    comparison: Comparison | None = None
    notes: tuple[str, ...] = ()
    own: Own | None = None

    def ratios(self) -> Iterator[tuple[str, Ratio]]:
        """Every ratio with the name of its adapter."""
        for name, adapter in self.adapters.items():
            yield from ((name, ratio) for ratio in adapter.ratios)


def to_json(bench: Bench) -> bytes:
    """The outcome as JSON text, ending in a newline."""
    return msgspec.json.format(canonical(bench), indent=1) + b"\n"


def read(file: Path) -> Bench:
    """The inverse of `to_json`. Raises UsageError, with file and path to the spot, for anything else."""
    try:
        data = file.read_bytes()
        _refuse_another_schema(file, data)
        return msgspec.json.decode(data, type=Bench)
    except OSError as error:
        raise UsageError(f"{file}: cannot read the benchmark: {error.strerror}") from error
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise UsageError(f"{file}: this is no output of `turnproof bench --json`: {error}") from error


class _Kind(msgspec.Struct):
    schema: str = ""


def _refuse_another_schema(file: Path, data: bytes) -> None:
    found = msgspec.json.decode(data, type=_Kind).schema
    if found.startswith("turnproof.bench/") and found != SCHEMA:
        raise UsageError(
            f"{file}: this is {found}, and this turnproof reads {SCHEMA}: "
            f"measure again with `turnproof bench --out {file}`"
        )
