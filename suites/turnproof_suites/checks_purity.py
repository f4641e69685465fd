"""Core: a call depends on nothing but its arguments, whichever object, thread or event loop makes it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set

from msgspec import UNSET

from turnproof.judge.finding import Compared, Finding, Side
from turnproof.judge.requirements import FindingCode, Findings, check, finding
from turnproof.judge.view import ProviderCall, View
from turnproof.judge.view.diff import ABSENT, Steps, present, walk_steps
from turnproof.messages import JSON, FunctionCall, Part, to_builtins
from turnproof.run.transcript import Failed, Response

from .phrases import EXCEPTION

_FRESH = (
    finding(
        "core/a-fresh-object-sends-the-same/nothing-sent",
        "On a fresh object the same call sends no request.",
        "the same request",
        "none; the adapter raised {observed}",
    ),
    finding(
        "core/a-fresh-object-sends-the-same/changed",
        "On a fresh object the same call sends another request.",
        "{expected}, as in the first request",
        "{observed}",
    ),
    finding(
        "core/a-fresh-object-sends-the-same/other-bytes",
        "On a fresh object the same call writes its JSON in another way.",
        "the same bytes",
        "the same JSON in other bytes",
    ),
)
_REVERSED = (
    finding(
        "core/order-of-conversations-does-not-matter/nothing-sent",
        "After other calls the same call sends no request.",
        "the same request",
        "none; the adapter raised {observed}",
    ),
    finding(
        "core/order-of-conversations-does-not-matter/changed",
        "After other calls the same call sends another request.",
        "{expected}, as in the first request",
        "{observed}",
    ),
    finding(
        "core/order-of-conversations-does-not-matter/other-bytes",
        "After other calls the same call writes its JSON in another way.",
        "the same bytes",
        "the same JSON in other bytes",
    ),
)


@check("core/a-fresh-object-sends-the-same", shows=("adopt",))
def a_fresh_object_sends_the_same(view: View) -> Findings:
    """Each call again, on an object of its own."""
    yield from _probe_findings(view, "fresh", "on a fresh object", *_FRESH)


@check("core/order-of-conversations-does-not-matter", shows=("adopt",))
def order_of_conversations_does_not_matter(view: View) -> Findings:
    """All calls again, last one first, on one object."""
    yield from _probe_findings(view, "reversed", "after the calls that had come later", *_REVERSED)


def _probe_findings(
    view: View, probe: str, how: str, nothing: FindingCode, changed: FindingCode, other_bytes: FindingCode
) -> Findings:
    originals = {call.index: call for call in view.calls}
    for again in view.probes.get(probe, ()):
        original = originals.get(again.index)
        if original is None or not original.generated:
            continue
        first = original.generated[0]
        if not again.generated:
            failed = again.failed
            place = first.at() if failed is None else view.at_event(failed, "error")
            observed = UNSET if failed is None else f"{failed.error}: {failed.message}"
            yield nothing(place, observed=observed, related=(first.at(),))
        elif again.generated[0].request.digest == first.request.digest:
            yield Compared(f"requests made again {how}")
        else:
            second = again.generated[0]
            volatile: Set[Steps] = _volatile_steps(view, original) if probe != "fresh" else frozenset()
            differing = [place for place in walk_steps(first.body, second.body) if place[0] not in volatile]
            for steps, before, now in differing:
                yield changed(
                    second.at(Side.REQUEST, *present(second.body, steps)),
                    expected=UNSET if before is ABSENT else before,
                    observed=UNSET if now is ABSENT else now,
                    related=(first.at(Side.REQUEST, *present(first.body, steps)),),
                )
            if not differing and not volatile:
                yield other_bytes(second.at(), related=(first.at(),))


def _volatile_steps(view: View, original: ProviderCall) -> Set[Steps]:
    """Places where each request of a call has another text: the first one, that of a fresh object, and the one made
    after other calls. Nothing that an earlier call left behind is in the first request of a run, nor in that of a fresh
    object."""
    first = original.generated[0].body
    again = [
        call.generated[0].body
        for probe in ("fresh", "reversed")
        for call in view.probes.get(probe, ())
        if call.index == original.index and call.generated
    ]
    if len(again) < 2:
        return frozenset()
    fresh, late = again
    others = {steps: now for steps, _, now in walk_steps(first, late)}
    between = {steps for steps, _, _ in walk_steps(fresh, late)}
    return frozenset(
        steps
        for steps, before, now in walk_steps(first, fresh)
        if isinstance(before, str) and isinstance(now, str) and isinstance(others.get(steps), str) and steps in between
    )


_LOOP_RAISED = finding(
    "core/event-loops-may-come-and-go/raised",
    "In another event loop the same call raised an exception.",
    "the same answer",
    EXCEPTION,
)
_LOOP_CHANGED = finding(
    "core/event-loops-may-come-and-go/changed", "In another event loop the same call returned another answer."
)


@check("core/event-loops-may-come-and-go", needs="calls")
def event_loops_may_come_and_go(view: View) -> Findings:
    """Calls from inside one event loop after the other: the same answers as without."""
    ended = view.probe_responses("loops")
    for call in view.calls:
        again = ended.get(call.index)
        if again is None or not call.clean or call.response is None:
            continue
        if isinstance(again, Failed):
            yield _probe_error(view, call, again, _LOOP_RAISED)
        elif not _same_answer(call, again):
            yield from _probe_differences(view, call, again, _LOOP_CHANGED)
        else:
            yield Compared("calls in event loops of their own")


def _same_answer(call: ProviderCall, again: Response) -> bool:
    """Whether a call returned the same twice. An id that the service did not send may be drawn each time, and may stand
    in what is kept with the parts as well."""
    first = call.response.parts if call.response is not None else ()
    issued = {part.id for part in (call.answer.parts if call.answer else ()) if isinstance(part, FunctionCall)}
    return bool(_without_drawn_ids(first, issued) == _without_drawn_ids(again.response.parts, issued))


def _without_drawn_ids(parts: Sequence[Part], issued: Set[str]) -> JSON:
    """The parts with the number of its call in place of each id that the service did not issue."""
    ids = dict.fromkeys(part.id for part in parts if isinstance(part, FunctionCall) and part.id not in issued)
    return _replaced(to_builtins(parts), {id: f"call {number}" for number, id in enumerate(ids)})


def _replaced(value: JSON, texts: Mapping[str, str]) -> JSON:
    """The value with other texts in place of those that are all of a string in it."""
    match value:
        case str():
            return texts.get(value, value)
        case dict():
            return {key: _replaced(item, texts) for key, item in value.items()}
        case list() | tuple():
            return [_replaced(item, texts) for item in value]
    return value


def _probe_error(view: View, call: ProviderCall, again: Failed, code: FindingCode) -> Finding:
    place = view.at_event(again, "error")
    return code(place, observed=again.message, related=(call.at_answer(),), error=again.error)


def _probe_differences(view: View, call: ProviderCall, again: Response, code: FindingCode) -> Iterator[Finding]:
    """Where the answer to the same call differs from the first one."""
    first = to_builtins(call.response.parts if call.response is not None else ())
    second = to_builtins(again.response.parts)
    differing: list[tuple[Steps, object, object]] = list(walk_steps(first, second))
    for steps, before, now in differing or [((), first, second)]:
        yield code(
            view.at_event(again, "parts", *present(second, steps)),
            expected=UNSET if before is ABSENT else before,
            observed=UNSET if now is ABSENT else now,
            related=(call.at(Side.RESPONSE, "parts", *present(first, steps)),),
        )


_THREAD_REQUEST = finding(
    "core/threads-are-not-mixed/request-missing",
    "Among the requests of several threads, that of one call is missing.",
    "the same request as from one thread",
    "{observed} requests, none of which is the same",
)
_THREAD_RAISED = finding(
    "core/threads-are-not-mixed/raised",
    "With calls of other threads at the same time, the same call raised an exception.",
    "the same answer",
    EXCEPTION,
)
_THREAD_CHANGED = finding(
    "core/threads-are-not-mixed/changed",
    "With calls of other threads at the same time, the same call returned another answer.",
)


@check("core/threads-are-not-mixed", shows=("adopt", "spawn", "children_at_once"))
def threads_are_not_mixed(view: View) -> Findings:
    """All calls at once through one object: the same requests, and to each call its own answer."""
    ended = view.probe_responses("threads")
    if not ended:
        return
    sent = {exchange.request.digest for exchange in view.probe_exchanges("threads")}
    for call in view.calls:
        again = ended.get(call.index)
        if again is None or not call.generated or not call.clean:
            continue
        if call.generated[0].request.digest not in sent:
            if not _volatile_steps(view, call):  # no two requests of a call that draws something are the same
                yield _THREAD_REQUEST(call.generated[0].at(), observed=len(sent))
        elif isinstance(again, Failed) and call.failed is not None and call.failed.error == again.error:
            continue  # it raises the same without other threads
        elif isinstance(again, Failed):
            yield _probe_error(view, call, again, _THREAD_RAISED)
        elif call.response is not None and not _same_answer(call, again):
            yield from _probe_differences(view, call, again, _THREAD_CHANGED)
        else:
            yield Compared("calls from several threads")
