"""The checks, each under the id of the requirement that it decides.

A check reads views and drives nothing. It is written as a generator over one run:

    @check("tools/call-ids-are-kept")
    def call_ids_are_kept(view: View) -> Findings:
        for call in view.calls:
            ...
            if sent != received:
                yield CHANGED(call.at(Side.RESPONSE, "parts", n, "id"), expected=sent, observed=received)
            else:
                yield Compared("ids of the calls")

    CHANGED = finding("tools/call-ids-are-kept/changed", "The id of a call was changed.", "{expected}", "{observed}")

What it yields is either `Compared`, for what it has just looked at and found in order, or a `Finding`, for what it did
not; its code is registered beside the check, with the words for it. A run in which it yields nothing had nothing that
it looks at; so no check can hold without having compared something. Nor can it where the run never asked the subject,
which the requirement's `counts` decides, whatever the check says. A check that cannot decide yields or returns
`inconclusive(reason)`, and it may return None. A plain text for what was compared and `violated(text)` are understood.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal, Protocol, TypeAlias, TypeVar

import msgspec
from msgspec import UNSET

from ...dialects.base import Evidence
from ...errors import CatalogueError
from ...messages import JSON
from ..finding import BrokenRule, Compared, Finding, Place, plain_value
from ..finding_words import Template
from ..verdict import Status, Verdict, combine, failed, held
from ..verdict_words import message_of
from ..view import View

Findings: TypeAlias = Iterator[Compared | Finding | Verdict | str]
Result: TypeAlias = Iterable[Compared | Finding | Verdict | str] | Verdict | None
CheckFunction: TypeAlias = Callable[[View], Result]
ModesFunction: TypeAlias = Callable[[View, View], Result]
Aspect: TypeAlias = Callable[[View], JSON]
Callback: TypeAlias = Literal["on_chunk", "on_thinking", "on_function_call", "on_usage_update"]

Needs: TypeAlias = Literal["wire", "history", "usage", "answer", "calls"]

Shows: TypeAlias = Literal[
    "shows_thinking", "shows_calls", "shows_usage", "reports_retries", "adopt", "spawn", "children_at_once", "path"
]

_CODE = re.compile(r"[a-z]+/[a-z0-9-]+/[a-z0-9]+(-[a-z0-9]+)*")

_CheckT = TypeVar("_CheckT", bound=CheckFunction)
_ModesT = TypeVar("_ModesT", bound=ModesFunction)


@dataclass(frozen=True, slots=True)
class Check:
    """What decides one requirement.

    `single` judges one run. `modes` judges the streamed against the one-piece run of a scenario. `aspect` extracts
    from a run what both paths must have in common (None: nothing here). `unfinished` says that the check also judges
    runs that came to no end. `needs` says what has to be seen of a session that does not show its provider calls, so
    that the check can judge it:

    - `wire`: what every session shows
    - `history`: the calls that can be derived from the wire and from what the session holds (`judge/view/derived.py`)
    - `usage`: the same, and the usage that the session tells after a turn
    - `answer`: the same, and the last answer of a turn as the session gives it to its user
    - `calls`: the calls themselves, and what only an adapter's own door shows; such a session is not judged

    `shows` names what such a session has to claim as well. `callbacks` names those of the provider contract
    (`on_usage_update`) without which there is nothing to compare, and `probe` the one that it reads the calls of.
    """

    id: str
    single: CheckFunction | None = None
    modes: ModesFunction | None = None
    aspect: Aspect | None = None
    unfinished: bool = False
    needs: Needs = "history"
    callbacks: tuple[Callback, ...] = ()
    shows: tuple[Shows, ...] = ()
    probe: str = ""


class RaisedError(Protocol):
    """An event of a run that says what was raised."""

    @property
    def error(self) -> str | None:
        """The name of the class."""

    @property
    def message(self) -> str | None:
        """The text of the error."""


@dataclass(frozen=True, slots=True)
class FindingCode:
    """A code with its words. Calling it makes a finding; what is no JSON becomes some."""

    code: str
    template: Template

    def __call__(
        self,
        place: Place,
        *,
        expected: object = UNSET,
        observed: object = UNSET,
        rule: BrokenRule | None = None,
        related: Iterable[Place] = (),
        rests_on: Evidence | None = None,
        **facts: object,
    ) -> Finding:
        """A finding at a place. `facts` are what else the template names."""
        return Finding(
            code=self.code,
            place=place,
            expected=plain_value(expected),
            observed=plain_value(observed),
            rule=rule,
            related=tuple(related),
            facts={name: plain_value(value) for name, value in facts.items()},
            rests_on=rests_on,
        )

    def of_error(self, place: Place, error: RaisedError, *, expected: object = UNSET, **more: Any) -> Finding:
        """A finding about an error that was raised: its class is what was observed, its message a fact.

        `more` is what else a finding takes.
        """
        return self(place, expected=expected, observed=error.error, message=error.message, **more)


class Registry:
    """Checks by requirement id, and the codes of what they find. The suites register into the one that this module
    exports."""

    def __init__(self) -> None:
        self._checks: dict[str, Check] = {}
        self._templates: dict[str, Template] = {}

    @property
    def templates(self) -> Mapping[str, Template]:
        """The words for every code registered so far; those that every requirement has are `COMMON`."""
        return dict(self._templates)

    def message(self, verdict: Verdict) -> str:
        """What a verdict says, in a sentence."""
        return message_of(verdict, self.templates)

    def finding(self, code: str, title: str, expected: str = "{expected}", got: str = "{observed}") -> FindingCode:
        """Register a code, `REQUIREMENT/WHAT`, with the words for it. Raises CatalogueError when it is taken.

        `title` is a sentence that says what is wrong, without values. `expected` and `got` are templates for what was
        expected and what came instead; see `finding_words`.
        """
        if not _CODE.fullmatch(code):
            raise CatalogueError(f"{code!r} is no code of a finding: it is `profile/what-holds/what-is-wrong`")
        if code in self._templates:
            raise CatalogueError(f"two findings have the code {code!r}")
        template = Template(title, expected, got)
        self._templates[code] = template
        return FindingCode(code, template)

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
        self,
        requirement: str,
        *,
        aspect: Aspect | None = None,
        unfinished: bool = False,
        needs: Needs = "history",
        callbacks: tuple[Callback, ...] = (),
        shows: tuple[Shows, ...] = (),
        probe: str = "",
    ) -> Callable[[_CheckT], _CheckT]:
        """Register a check of single runs. Raises CatalogueError when the id has one already."""

        def register(function: _CheckT) -> _CheckT:
            found = self._checks.get(requirement, Check(requirement))
            if found.single is not None:
                both = f"{_name(found.single)} and {_name(function)}"
                raise CatalogueError(f"two checks are registered for {requirement!r}: {both}")
            self._checks[requirement] = replace(
                found,
                single=function,
                aspect=aspect,
                unfinished=unfinished,
                needs=needs,
                callbacks=callbacks,
                shows=shows,
                probe=probe,
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


def findings_or_compared(findings: Iterable[Finding], what: str) -> Iterator[Finding | Compared]:
    """The findings; where there are none, that `what` was compared and found in order."""
    found = list(findings)
    yield from found
    if not found:
        yield Compared(what)


REGISTRY = Registry()
check = REGISTRY.check
compare_modes = REGISTRY.compare_modes
finding = REGISTRY.finding


def run_verdict(result: Result, asked: int) -> Verdict | None:
    """One verdict of what a check said of one run; None where it had nothing to look at.

    `asked` is how often the subject was asked in that run. What was found in order in a run without any is left out.
    """
    if result is None:
        return None
    if isinstance(result, Verdict):
        result = (result,)
    if not (results := list(result)):
        return None  # as of nearly every run: a check looks at all of them
    compared: list[str] = []
    findings: list[Finding] = []
    verdicts: list[Verdict] = []
    marks: list[Evidence] = []
    for found in results:
        match found:
            case str():
                compared.append(found)
            case Compared():
                compared.append(found.what)
                marks += [found.rests_on] if found.rests_on is not None else []
            case Finding():
                findings.append(found)
            case Verdict(status=Status.HELD):
                compared += found.compared
                marks += [found.rests_on] if found.rests_on is not None else []
            case _:
                verdicts.append(found)
    verdicts += _failures(findings)
    if verdicts:
        return msgspec.structs.replace(combine(verdicts), asked=asked)
    if not compared or not asked:
        return None
    counts = (f"{what} ×{times}" if times > 1 else what for what, times in Counter(compared).items())
    return held(*counts, asked=asked, rests_on=max(marks, key=list(Evidence).index) if marks else None)


def _failures(findings: Iterable[Finding]) -> Iterator[Verdict]:
    """One verdict for the findings that rest on evidence of a kind, in their order: what rests on inference accuses
    nobody, and takes nothing from what does."""
    by_mark: dict[Evidence | None, list[Finding]] = {}
    for found in findings:
        by_mark.setdefault(found.rests_on, []).append(found)
    for mark, some in by_mark.items():
        yield failed(some, rests_on=mark)


def _name(function: Callable[..., object]) -> str:
    return f"{function.__module__}.{function.__qualname__}"
