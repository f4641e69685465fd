"""One case: a requirement, a run that keeps it, and the smallest change after which it does not."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

from turnproof.requirements import Suite, judge, load_suite
from turnproof.verdict import Status, Verdict
from turnproof.view import View


@cache
def suite() -> Suite:
    """The suite under test, loaded once."""
    return load_suite()


@dataclass(frozen=True)
class Case:
    """`bad` spoils the run that `good` makes; `said` are words of the verdict's message."""

    id: str
    good: Callable[[], View]
    bad: Callable[[View], View]
    said: str = ""

    def verdict(self, *views: View) -> Verdict:
        """What the requirement's own check says."""
        return judge(suite().catalogue[self.id], views[0].key.path, views)


def decide(case: Case) -> None:
    """The good run holds and says what was compared; the bad one is violated, and the message says where and what."""
    good = case.good()
    kept = case.verdict(good)
    assert kept.status is Status.HELD, kept
    assert kept.compared
    bad = case.verdict(case.bad(good))
    assert bad.status is Status.VIOLATED, bad
    assert case.said in bad.message
    assert bad.where == str(good.key)
