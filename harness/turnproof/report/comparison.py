"""`comparison.json`: runs side by side, what differs, and which of it was declared.

A difference is declared, with its reason, or it is a violation. A declared one that nothing shows any more is stale,
which only a comparison of everything can tell.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from enum import StrEnum
from typing import Literal

import msgspec

from .. import __version__
from .._base.canonical import canonical
from .._base.exit_codes import Exit
from ..judge.parity import Comparison, Found, Side, kind, reason_for, stale
from ..judge.parity.bodies import BodyPair
from ..judge.parity.model import Aspect
from ..provider import Difference

SCHEMA = "turnproof.comparison/1"

Compares = Literal["paths", "adapters", "runs"]


class Standing(StrEnum):
    """What became of one scenario in one mode, heaviest first."""

    VIOLATED = "violated"
    INCONCLUSIVE = "inconclusive"
    DECLARED = "declared"
    EQUAL = "equal"


class JudgedDifference(Found, frozen=True, kw_only=True, omit_defaults=True):
    """A difference with the title of its kind, and why it is meant; without a `reason` it is a violation."""

    title: str
    reason: str | None = None


class ScenarioComparison(msgspec.Struct, frozen=True, kw_only=True):
    """One scenario in one mode. Fields are those of `parity.Comparison`; `bodies` only where they were asked for."""

    scenario: str
    mode: Literal["stream", "batch"]
    standing: Standing
    left: Side
    right: Side
    differences: tuple[JudgedDifference, ...]
    noise: tuple[str, ...]
    compared: dict[Aspect, int]
    problem: str
    cut: str
    reproduce: str
    bodies: tuple[BodyPair, ...] = ()

    @property
    def violations(self) -> tuple[JudgedDifference, ...]:
        """The differences that nobody declared."""
        return tuple(found for found in self.differences if found.reason is None)


class DeclaredReport(msgspec.Struct, frozen=True):
    """A declared difference, and in how many comparisons it was found."""

    name: str
    title: str
    reason: str
    times: int


class Setting(msgspec.Struct, frozen=True, kw_only=True):
    """What was compared with what, and how.

    `left` and `right` are what reports call the sides. `whole` says that everything was compared that could show a
    declared difference.
    """

    compares: Compares
    left: str
    right: str
    backend: str
    depth: str
    seed: int
    started: str
    whole: bool


class ComparisonReport(Setting, frozen=True, kw_only=True):
    """Everything that was compared.

    `adapters` names all that took part, `left_out` counts scenarios by what they need and is not claimed. `stale` names
    the declared differences that nothing shows, if the comparison was `whole`.
    """

    schema: str = SCHEMA
    turnproof: str = __version__
    exit_code: int
    counts: dict[Standing, int]
    adapters: tuple[str, ...]
    declared: tuple[DeclaredReport, ...]
    stale: tuple[str, ...]
    left_out: dict[str, int]
    scenarios: tuple[ScenarioComparison, ...]

    @property
    def violations(self) -> tuple[tuple[ScenarioComparison, JudgedDifference], ...]:
        """Every difference that nobody declared, with the comparison it was found in."""
        return tuple((one, found) for one in self.scenarios for found in one.violations)

    @property
    def same(self) -> bool:
        """Whether something was compared, and nothing differs but what was declared and still occurs."""
        return self.exit_code == Exit.OK


def comparison_report(
    setting: Setting,
    comparisons: Sequence[Comparison],
    declared: Sequence[Difference],
    *,
    reproduce: Callable[[str], str] = lambda scenario: "",
    bodies: Sequence[Sequence[BodyPair]] = (),
    left_out: Mapping[str, int] | None = None,
) -> ComparisonReport:
    """The report of some comparisons, judged by what is declared. A pure function.

    `reproduce` gives the command for a scenario; `bodies` are those of each comparison in turn, where asked for.
    """
    shown = tuple(
        _scenario(one, declared, reproduce(one.scenario), pairs)
        for one, pairs in zip(comparisons, bodies or [()] * len(comparisons), strict=True)
    )
    counts = {standing: sum(one.standing is standing for one in shown) for standing in Standing}
    stale_differences = stale(declared, comparisons) if setting.whole and not counts[Standing.INCONCLUSIVE] else ()
    return ComparisonReport(
        **msgspec.structs.asdict(setting),
        exit_code=_exit_code(counts, bool(stale_differences)),
        counts=counts,
        adapters=tuple(dict.fromkeys(side.adapter for one in comparisons for side in (one.left, one.right))),
        declared=tuple(_declared(difference, comparisons) for difference in declared),
        stale=tuple(difference.name for difference in stale_differences),
        left_out=dict(left_out or {}),
        scenarios=shown,
    )


def comparison_json(report: ComparisonReport) -> bytes:
    """The report as indented JSON with sorted keys; equal reports are equal bytes."""
    return msgspec.json.format(canonical(report), indent=2) + b"\n"


def _scenario(
    one: Comparison, declared: Sequence[Difference], reproduce: str, bodies: Sequence[BodyPair]
) -> ScenarioComparison:
    judged = tuple(
        JudgedDifference(
            **{name: getattr(found, name) for name in Found.__struct_fields__},
            title=kind(found.name).title,
            reason=reason_for(found, declared),
        )
        for found in one.differences
    )
    return ScenarioComparison(
        scenario=one.scenario,
        mode=one.mode,
        standing=_standing(one, judged),
        left=one.left,
        right=one.right,
        differences=judged,
        noise=one.noise,
        compared=one.compared,
        problem=one.problem,
        cut=one.cut,
        reproduce=reproduce,
        bodies=tuple(bodies),
    )


def _standing(one: Comparison, judged: Iterable[JudgedDifference]) -> Standing:
    found = list(judged)
    if one.problem:
        return Standing.INCONCLUSIVE
    if any(difference.reason is None for difference in found):
        return Standing.VIOLATED
    return Standing.DECLARED if found else Standing.EQUAL


def _declared(difference: Difference, comparisons: Iterable[Comparison]) -> DeclaredReport:
    times = sum(difference.name in one.names for one in comparisons)
    return DeclaredReport(difference.name, kind(difference.name).title, difference.reason, times)


def _exit_code(counts: Mapping[Standing, int], some_stale: bool) -> Exit:
    if counts[Standing.VIOLATED] or some_stale:
        return Exit.VIOLATIONS
    if counts[Standing.INCONCLUSIVE] or not sum(counts.values()):
        return Exit.UNDECIDED
    return Exit.OK
