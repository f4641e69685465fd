"""Two answers from one run: *works with today's models*, and *whole contract*.

The whole contract is what a certification decides. The other layer leaves out of a violation the runs of scenarios in
which the service does what its API allows and no service is known to do (`Header.allowed_only`). A MUST that is
violated there alone is set aside: it counts neither as held nor as violated. What is undecided is unknown in both
layers.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Literal, TypeAlias

import msgspec

from ..judge.run_log import AdapterLine, ResultLine, Run
from ..judge.verdict import Status, Verdict, worst
from ..scenarios.sweep import base_of

Answer: TypeAlias = Literal["yes", "known-issues", "no", "unknown"]


class Layer(msgspec.Struct, frozen=True):
    """One answer, with the MUSTs that decide it: `must` is [held, counted].

    `answer` is `yes` where all that count are held, `known-issues` where accepted violations are all that speaks
    against it, `no` where one is violated, and `unknown` where none is and something was not decided, measured or
    finished.
    `violated`, `undecided` and `known` are ids of requirements, and `set_aside` those that do not count.
    """

    answer: Answer
    must: tuple[int, int]
    violated: tuple[str, ...] = ()
    undecided: tuple[str, ...] = ()
    known: tuple[str, ...] = ()
    set_aside: tuple[str, ...] = ()
    unmeasured: int = 0


class Layers(msgspec.Struct, frozen=True):
    """Both answers about one adapter. `today` is None of a run from before turnproof could tell them apart."""

    contract: Layer
    today: Layer | None = None


def layers(run: Run, adapter: AdapterLine, unmeasured: int) -> Layers:
    """Both answers of a run about an adapter; `unmeasured` counts the MUSTs that it left out."""
    musts: dict[str, list[ResultLine]] = {}
    for line in run.results:
        known = run.requirements.get(line.requirement)
        if line.adapter == adapter.name and known is not None and known.level == "MUST":
            musts.setdefault(line.requirement, []).append(line)
    whole = {name: worst(line.verdict.status for line in lines) for name, lines in musts.items()}
    contract = _layer(whole, (), unmeasured, complete=run.complete)
    if run.header.allowed_only is None:
        return Layers(contract)
    allowed = {one.name for one in run.header.allowed_only if one.speaks_of(adapter.dialect)}
    statuses, aside = {}, []
    for name, lines in musts.items():
        left = [line for line in lines if not _only_allowed(line.verdict, allowed)]
        status = worst(line.verdict.status for line in left)
        if len(left) < len(lines) and status in (Status.HELD, Status.NOT_CLAIMED):
            aside.append(name)
        else:
            statuses[name] = status
    return Layers(contract, _layer(statuses, aside, unmeasured, complete=run.complete))


def _only_allowed(verdict: Verdict, allowed: Collection[str]) -> bool:
    """Whether a verdict speaks against the adapter, and every finding was made in one of these scenarios."""
    if verdict.status not in (Status.VIOLATED, Status.KNOWN_ISSUE):
        return False
    runs = [*verdict.failing, *(finding.place.run for finding in verdict.accepted)]
    placed = sum(verdict.failing.values()) == verdict.total and all(runs)
    return placed and bool(runs) and all(base_of(run.rsplit("/", 2)[0]) in allowed for run in runs)


def _layer(statuses: Mapping[str, Status], aside: Sequence[str], unmeasured: int, *, complete: bool) -> Layer:
    found = {status: tuple(name for name, one in statuses.items() if one is status) for status in Status}
    held_ids, violated = found[Status.HELD], found[Status.VIOLATED]
    undecided, known = found[Status.INCONCLUSIVE], found[Status.KNOWN_ISSUE]
    answer: Answer = "yes"
    if violated and complete:
        answer = "no"
    elif undecided or unmeasured or not complete or not (held_ids or known):
        answer = "unknown"
    elif known:
        answer = "known-issues"
    return Layer(
        answer=answer,
        must=(len(held_ids), len(held_ids) + len(violated) + len(undecided) + len(known)),
        violated=violated,
        undecided=undecided,
        known=known,
        set_aside=tuple(aside),
        unmeasured=unmeasured,
    )
