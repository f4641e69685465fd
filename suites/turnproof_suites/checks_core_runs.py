"""Core: every turn ends, and the adapter touches nothing outside of it."""

from __future__ import annotations

from turnproof.judge.finding import Compared, Side
from turnproof.judge.requirements import Findings, check, finding
from turnproof.judge.verdict import inconclusive
from turnproof.judge.view import View
from turnproof.run.transcript import Refused

_NOT_OPENED = finding(
    "core/turns-come-to-an-end/not-opened",
    "The adapter could not be opened.",
    "an adapter that opens",
    "{observed:words}",
)
_HUNG = finding(
    "core/turns-come-to-an-end/hung", "The adapter hung.", "a run that ends", "a run that hung: {observed:words}"
)
_DIED = finding(
    "core/turns-come-to-an-end/died",
    "The process of the adapter died.",
    "a run that ends",
    "the end of its process: {observed:words}",
)
_CIRCLES = finding(
    "core/turns-come-to-an-end/circles",
    "The same round of a turn is asked for again and again, until turnproof ends the turn.",
    "requests that hold what the model has said since the user's message, so that it can go on",
    "{observed} requests in one turn, the last of them again without it",
)


@check("core/turns-come-to-an-end", unfinished=True, needs="wire")
def turns_come_to_an_end(view: View) -> Findings:
    """The only check that also judges runs that were cut short."""
    circling = next((one for one in view.exchanges if one.fault == "circle"), None)
    if circling is not None:
        of_turn = [one for one in view.exchanges if one.request.turn == circling.request.turn and one.generates]
        yield _CIRCLES(circling.at(), observed=of_turn.index(circling) + 1)
    end = view.transcript.end
    place = view.at_event(end, "detail" if end.detail else "how")
    related = (view.calls[-1].at_request(),) if view.calls else ()
    match end.how:
        case "harness-fault":
            yield inconclusive("turnproof itself failed in this run", detail=end.detail)
        case "service-fault":
            yield inconclusive("the real service failed in this run", detail=end.detail)
        case "open-failed":
            yield _NOT_OPENED(place, observed=end.detail or end.how)
        case "hung":
            yield _HUNG(place, observed=end.detail or end.how, related=related)
        case "died":
            yield _DIED(place, observed=end.detail or end.how, related=related)
        case "completed":
            yield Compared("the run")


_ARGUMENT_CHANGED = finding(
    "core/arguments-are-left-alone/changed",
    "The call changed one of its arguments.",
    "all arguments as they were before the call",
    "a change of `{observed:words}`",
)


@check("core/arguments-are-left-alone", needs="calls")
def arguments_are_left_alone(view: View) -> Findings:
    """Whether the call succeeded, failed or was cancelled."""
    for call in view.calls:
        for name in call.mutated:
            yield _ARGUMENT_CHANGED(call.at(Side.HISTORY), observed=name)
        if not call.mutated and (call.response is not None or call.failed is not None):
            yield Compared("arguments after the call")


_PRINTED = finding(
    "core/adapter-prints-nothing/printed",
    "The adapter printed to standard output.",
    "nothing on standard output",
    "{observed}",
)


@check("core/adapter-prints-nothing", needs="wire")
def adapter_prints_nothing(view: View) -> Findings:
    """Standard output belongs to the application. Warnings and logs go to standard error, and accuse nobody, nor does
    where they go once an application wants to have them."""
    if view.scenario is not None and view.scenario.debug_logs:
        return
    end = view.transcript.end
    if end.stdout:
        yield _PRINTED(view.at_event(end, "stdout"), observed=end.stdout)
    else:
        yield Compared("standard output")


_RAISED_OUTSIDE = finding(
    "core/shutdown-does-not-fail/raised",
    "The adapter raised an exception outside of any call.",
    "no exception",
    "{error:words}: {observed:words}",
)


@check("core/shutdown-does-not-fail")
def shutdown_does_not_fail(view: View) -> Findings:
    """Calls that only tidy up, or only look, do not raise."""
    for stray in view.strays:
        yield _RAISED_OUTSIDE(view.at_event(stray, "error"), observed=stray.message, error=stray.error)
    # Of a session that opened its provider itself, its own `close` is all that shuts one down.
    refused = [event for event in view.transcript.of(Refused) if event.operation == "close"]
    for event in refused:
        yield _RAISED_OUTSIDE(view.at_event(event, "error"), observed=event.message, error=event.error)
    if not view.strays and not refused:
        yield Compared("shutdown")
