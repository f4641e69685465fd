"""The verdicts of hand-made runs."""

from __future__ import annotations

from turnproof.judge.finding import Finding, Place, Side
from turnproof.judge.finding_words import Template
from turnproof.judge.verdict import failed, held, inconclusive, not_claimed

OK = held("1 request", asked=1)
MISSING = Template("A call has no result.", "results for {expected}", "{observed}")
BAD = failed(
    [
        Finding(
            code="tools/results-answer-every-call/missing",
            place=Place(side=Side.REQUEST, turn=0, round=1, call=1, exchange=1, pointer="/messages/2"),
            expected=["c1", "c2"],
            observed=["c1"],
        )
    ]
)
BAD_IN_WORDS = 'A call has no result. turn 0 round 1 (call 1): expected results for ["c1", "c2"]; got ["c1"]'
UNSURE = inconclusive("no run had anything to compare")
UNCLAIMED = not_claimed("needs thinking")
