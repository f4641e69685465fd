"""Telemetry: what failed is marked as an error, and nothing else is."""

from __future__ import annotations

from collections.abc import Iterator

from turnproof.judge.finding import Compared
from turnproof.judge.requirements import Findings, check, finding
from turnproof.judge.view import View
from turnproof.run.transcript import SpanMade

from .spans import TurnSpans, at_attribute, error_type, operation, turn_spans

_UNMARKED = finding(
    "telemetry/errors-are-marked/unmarked",
    "The span of something that failed does not have the status of an error.",
    "the status {expected} for {what:words}, which failed",
)
_NO_ERROR_TYPE = finding(
    "telemetry/errors-are-marked/no-error-type",
    "The span of something that failed does not name its error.",
    "`error.type` in the span of {what:words}, which failed",
    "none",
)
_WRONGLY_MARKED = finding(
    "telemetry/errors-are-marked/wrongly-marked",
    "The span of something that did not fail has the status of an error.",
    "no error for {what:words}, which did not fail",
    "the status {observed}",
)


@check("telemetry/errors-are-marked")
def errors_are_marked(view: View) -> Findings:
    """What failed has the error status and names its error; what came to its end has no error status."""
    for turn in turn_spans(view):
        for span, failed, what in _spans_with_outcome(turn):
            if failed and span.status != "error":
                yield _UNMARKED(turn.at_span(span, "status"), expected="error", observed=span.status, what=what)
            elif failed and operation(span) and not error_type(span):
                yield _NO_ERROR_TYPE(at_attribute(view, span, "error.type"), what=what)
            elif not failed and span.status == "error":
                yield _WRONGLY_MARKED(turn.at_span(span, "status"), observed=span.status, what=what)
            else:
                yield Compared("spans of what failed" if failed else "spans of what went well")


def _spans_with_outcome(turn: TurnSpans) -> Iterator[tuple[SpanMade, bool, str]]:
    """Spans of which it is known whether what they stand for failed. Of a cancelled turn that is not said."""
    if turn.outcome == "cancelled":
        return
    for root in turn.roots:
        yield root, turn.outcome == "error", "the turn"
    for answer in turn.answers:
        if answer.failed:
            yield answer.span, True, "the call of the model"
        elif not answer.cancelled and turn.outcome == "answer":
            yield answer.span, False, "the call of the model"
    for outcome in turn.tool_outcomes:
        found = turn.tool_spans(outcome)
        if len(found) == 1:
            yield found[0], outcome.failed, f"the tool {outcome.name}"


_CANCEL_MARKED = finding(
    "telemetry/a-cancel-is-no-error/marked",
    "The span of something that was cancelled has the status of an error.",
    "no error in the span {span}",
    "the status {observed}",
)


@check("telemetry/a-cancel-is-no-error")
def a_cancel_is_no_error(view: View) -> Findings:
    """Somebody wanted it: an alarm about it would be a false one."""
    for turn in turn_spans(view):
        stopped = list(turn.roots) if turn.outcome == "cancelled" else []
        stopped += [answer.span for answer in turn.answers if answer.cancelled]
        for span in stopped:
            if span.status == "error":
                yield _CANCEL_MARKED(turn.at_span(span, "status"), observed=span.status, span=span.name)
            else:
                yield Compared("cancelled spans")
