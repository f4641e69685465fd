"""One decision of what a check finds in several runs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import TypeAlias

from msgspec.structs import replace

from ...judge.finding import Compared, Side
from ...judge.requirements.root_causes import with_root
from ...judge.verdict import Status
from ...judge.view import View
from .codes import leaves_undecided
from .decision import Decision, Reason, decided, with_counts
from .phases import Setting

RunReasons: TypeAlias = Iterator[Compared | Reason]
"""What a check of one run yields: what it found in order, and what it did not or could not decide."""

RunCheck: TypeAlias = Callable[[View], RunReasons]

_UNFINISHED = leaves_undecided(
    "runs/unfinished", "The run did not come to its end.", "{expected:words}", "{observed:words} ({because})"
)
NOTHING_COMPARED = leaves_undecided("runs/nothing-compared", "No run had anything to compare.")


def over_runs(runs: Iterable[tuple[Setting, View]], check: RunCheck, nothing: Reason | None = None) -> Decision:
    """What a check finds in runs, in the order of their keys, with how often it compared what.

    `nothing` is the reason where it found nothing at all to look at; without one it says just that.
    """
    reasons: list[Reason] = []
    equal: Counter[str] = Counter()
    for setting, view in sorted(runs, key=lambda pair: pair[1].key):
        for found in check(view) if view.finished else iter([unfinished(view)]):
            if isinstance(found, Compared):
                equal[found.what] += 1
            else:
                reasons.append(seen_in(found, view, setting))
    if not reasons and not equal:
        reasons = [nothing or NOTHING_COMPARED()]
    return decided(reasons, with_counts(equal.most_common()))


def unfinished(view: View) -> Reason:
    """Undecided, because the run came to no end."""
    end = view.transcript.end
    return _UNFINISHED(view.at(Side.PROCESS), expected="completed", observed=end.how, because=end.detail)


def seen_in(reason: Reason, view: View, setting: Setting | None = None) -> Reason:
    """A reason with the run that it was seen in: its setting and its evidence, and what a violation follows from."""
    finding = with_root(reason.finding, view) if reason.status is Status.VIOLATED else reason.finding
    evidence = reason.evidence or ((view.digest,) if view.digest else ())
    return replace(reason, finding=finding, setting=reason.setting or setting, evidence=evidence)
