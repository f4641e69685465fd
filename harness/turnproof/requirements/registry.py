"""The checks, each under the id of the requirement that it decides.

A check reads views and drives nothing. It is written as a generator over one run:

    @check("tools/call-ids-are-kept")
    def call_ids_are_kept(view: View) -> Findings:
        for call in view.calls:
            ...
            if sent != received:
                yield violated(f"{call.where}: the adapter returned id {received!r}, the wire carried {sent!r}")
            else:
                yield "ids of the calls"

What it yields is either a word for what it has just compared and found in order, or a verdict. A run in which it
yields nothing had nothing that it looks at; so no check can hold without having compared something. A check may also
return a `Verdict` or None itself.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TypeAlias, TypeVar

from ..dialects.base import Evidence
from ..errors import CatalogueError
from ..messages import JSON
from ..verdict import Status, Verdict, combine, held
from ..view import View

Findings: TypeAlias = Iterator[str | Verdict]
Result: TypeAlias = Iterable[str | Verdict] | Verdict | None
CheckFunction: TypeAlias = Callable[[View], Result]
ModesFunction: TypeAlias = Callable[[View, View], Result]
Aspect: TypeAlias = Callable[[View], JSON]

_CheckT = TypeVar("_CheckT", bound=CheckFunction)
_ModesT = TypeVar("_ModesT", bound=ModesFunction)


@dataclass(frozen=True, slots=True)
class Check:
    """What decides one requirement.

    `single` judges one run. `modes` judges the streamed against the one-piece run of a scenario. `aspect` extracts
    from a run what both paths must have in common (None: nothing here). `unfinished` says that the check also judges
    runs that came to no end, `without_calls` that it judges sessions, too, that do not show their provider calls.
    """

    id: str
    single: CheckFunction | None = None
    modes: ModesFunction | None = None
    aspect: Aspect | None = None
    unfinished: bool = False
    without_calls: bool = False


class Registry:
    """Checks by requirement id. The suites register into the one that this module exports."""

    def __init__(self) -> None:
        self._checks: dict[str, Check] = {}

    @property
    def checks(self) -> Mapping[str, Check]:
        """Everything registered so far."""
        return dict(self._checks)

    def __getitem__(self, requirement: str) -> Check:
        """The check of a requirement. Raises CatalogueError when there is none."""
        try:
            return self._checks[requirement]
        except KeyError:
            raise CatalogueError(f"no check is registered for {requirement!r}") from None

    def check(
        self, requirement: str, *, aspect: Aspect | None = None, unfinished: bool = False, without_calls: bool = False
    ) -> Callable[[_CheckT], _CheckT]:
        """Register a check of single runs. Raises CatalogueError when the id has one already."""

        def register(function: _CheckT) -> _CheckT:
            found = self._checks.get(requirement, Check(requirement))
            if found.single is not None:
                both = f"{_name(found.single)} and {_name(function)}"
                raise CatalogueError(f"two checks are registered for {requirement!r}: {both}")
            self._checks[requirement] = replace(
                found, single=function, aspect=aspect, unfinished=unfinished, without_calls=without_calls
            )
            return function

        return register

    def compare_modes(self, requirement: str) -> Callable[[_ModesT], _ModesT]:
        """Register a check of the streamed against the one-piece run of the same scenario and path."""

        def register(function: _ModesT) -> _ModesT:
            found = self._checks.get(requirement, Check(requirement))
            if found.modes is not None:
                both = f"{_name(found.modes)} and {_name(function)}"
                raise CatalogueError(f"two comparisons are registered for {requirement!r}: {both}")
            self._checks[requirement] = replace(found, modes=function)
            return function

        return register


REGISTRY = Registry()
check = REGISTRY.check
compare_modes = REGISTRY.compare_modes


def settle(result: Result) -> Verdict | None:
    """One verdict of what a check said of one run; None where it had nothing to look at."""
    if result is None or isinstance(result, Verdict):
        return result
    compared: list[str] = []
    verdicts: list[Verdict] = []
    marks: list[Evidence] = []
    for finding in result:
        if isinstance(finding, str):
            compared.append(finding)
        elif finding.status is Status.HELD:
            compared += finding.compared
            marks += [finding.rests_on] if finding.rests_on is not None else []
        else:
            verdicts.append(finding)
    if verdicts:
        return combine(verdicts)
    if not compared:
        return None
    listed = (f"{what} ×{times}" if times > 1 else what for what, times in Counter(compared).items())
    return held(*listed, rests_on=max(marks, key=list(Evidence).index) if marks else None)


def _name(function: Callable[..., object]) -> str:
    return f"{function.__module__}.{function.__qualname__}"
