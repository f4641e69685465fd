"""Core: the conversation goes out whole, the answer comes back as it was, and every turn ends."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import msgspec

from turnproof.dialects.base import Evidence, WireDifference
from turnproof.errors import ContentFilterError, ContextLimitError
from turnproof.messages import JSON, FinishReason, to_builtins
from turnproof.requirements import Findings, check
from turnproof.transcript import Failed
from turnproof.verdict import Verdict, inconclusive, violated
from turnproof.view import Exchange, ProviderCall, TurnView, View
from turnproof.view.diff import differences, show

from .reading import (
    Requested,
    answered,
    by_place,
    calls_in,
    excerpt,
    requested,
    shape,
    spoken_text,
    system_text,
    user_text,
)


@check("core/turns-come-to-an-end", unfinished=True, without_calls=True)
def turns_come_to_an_end(view: View) -> Findings:
    """The only check that also judges runs that were cut short."""
    end = view.transcript.end
    match end.how:
        case "harness-fault":
            yield inconclusive("turnproof itself failed in this run", detail=end.detail)
        case "open-failed":
            yield violated(f"the adapter could not be opened: {end.detail}")
        case "hung" | "died":
            last = view.calls[-1].where if view.calls else "before the first call"
            yield violated(f"the adapter {end.how} at {last}: {end.detail}")
        case "completed":
            yield "the run"


@check(
    "core/wire-is-what-the-session-holds",
    aspect=lambda view: by_place(view, _wire_forms(view)),
)
def wire_is_what_the_session_holds(view: View) -> Findings:
    """Every request, the one after an abnormal turn and each repeated attempt included."""
    for request in requested(view):
        found = _differences(view, request)
        if not found:
            yield "requests against the session's history"
        else:
            yield _difference_verdict(request, found)


def _wire_forms(view: View) -> Iterator[tuple[ProviderCall, JSON]]:
    for request in requested(view):
        yield request.call, view.dialect.match_form(request.sent)


def _differences(view: View, request: Requested) -> list[WireDifference]:
    began = request.call.began
    model = view.transcript.model
    return view.dialect.differences(began.messages, began.system, began.tools, request.sent, model)


def _difference_verdict(request: Requested, found: list[WireDifference]) -> Verdict:
    lines = [
        f"{one.what} at {one.path}: the session holds {show(one.held)}, the wire carried {show(one.sent)}"
        for one in found
    ]
    losses = [line for one, line in zip(found, lines, strict=True) if one.violation]
    detail = "\n".join(lines)
    if losses:
        return violated(f"{request.where}: {losses[0]}", detail=detail)
    return inconclusive(f"{request.where}: the wire differs in a way that is not classified: {lines[0]}", detail=detail)


@check("core/system-text-is-sent-each-turn")
def system_text_is_sent_each_turn(view: View) -> Findings:
    """The text in force, and none that was in force before."""
    earlier: list[str] = []
    for request in requested(view):
        held, sent = request.call.began.system or "", system_text(request.sent)
        stale = [text for text in earlier if text in sent and text not in held]
        if held and held.strip() not in sent:
            yield violated(
                f"{request.where}: the system text {show(held)} is not in the request, which has {show(sent)}"
            )
        elif stale:
            yield violated(f"{request.where}: the request still carries an earlier system text: {show(stale[0])}")
        elif held or earlier:
            yield "system text"
        if held.strip() and held not in earlier:
            earlier.append(held)


@check("core/new-message-goes-out-once")
def new_message_goes_out_once(view: View) -> Findings:
    """As often as the session holds the text of the new message, no more and no less."""
    for request in requested(view):
        last = request.held[-1] if request.held else None
        if last is None or last.role != "user" or not last.text.strip():
            continue
        wanted = user_text(request.held).count(last.text)
        found = user_text(request.sent.messages).count(last.text)
        # An instruction between turns may go out in the user's name.
        instructed = sum(message.text.count(last.text) for message in request.held if message.role == "system")
        if wanted <= found <= wanted + instructed:
            yield "new messages"
        else:
            yield violated(
                f"{request.where}: {show(last.text)} stands in the request {found} times instead of {wanted}"
            )


@check("core/no-request-is-refused", without_calls=True)
def no_request_is_refused(view: View) -> Findings:
    """By rules that the real API enforces. A prompt that is too long is the conversation's doing, not the adapter's."""
    for turn in view.turns:
        if turn.script is not None and turn.script.expect == "error":
            continue
        for where, exchange in _asked_in(view, turn):
            if exchange.request.operation == "cache":
                continue  # a prefix may be too small to be stored; it is then sent as it is
            refusals = [one for one in exchange.refusals if not _may_happen(view, one)]
            if not refusals:
                yield "requests against the rules of the API"
                continue
            first = refusals[0]
            rule = f"{first['rule']}, known from {first['evidence']}"
            yield violated(
                f"{where}: the API refuses this request with {first['status']} {first['kind']}: "
                f"{first['message']} ({rule})",
                detail=f"at {first['path']}\n{show(exchange.body, 1200)}",
                rests_on=Evidence(first["evidence"]),
            )


def _asked_in(view: View, turn: TurnView) -> Iterator[tuple[str, Exchange]]:
    """The exchanges of a turn's calls; all of it where its calls are not shown."""
    if turn.calls:
        return ((call.where, exchange) for call in turn.calls for exchange in call.exchanges)
    return ((turn.where, exchange) for exchange in view.exchanges_in(turn.events))


def _may_happen(view: View, refusal: Mapping[str, JSON]) -> bool:
    """Nobody knows beforehand that a prompt is too long, or that a managed cache has ended."""
    meaning = view.dialect.error_meaning(refusal["status"], refusal["kind"], refusal["message"])
    return meaning in ("context-limit", "cache-expired")


@check(
    "core/text-is-what-the-wire-carried",
    aspect=lambda view: by_place(view, ((one.call, spoken_text(one.response.parts)) for one in answered(view))),
)
def text_is_what_the_wire_carried(view: View) -> Findings:
    """Every letter of the visible text, and none besides."""
    for one in answered(view):
        sent, got = spoken_text(one.wire.parts), spoken_text(one.response.parts)
        # An adapter may hand structured output over as an object alone.
        if one.call.began.response_schema is not None and not got:
            continue
        if sent == got:
            yield "texts of answers"
        else:
            yield violated(
                f"{one.where}: the wire carried the text {show(sent)}, the adapter returned {show(got)}",
                detail=excerpt(one.call.last),
            )


@check("core/parts-keep-the-models-order")
def parts_keep_the_models_order(view: View) -> Findings:
    """The order of text and calls, and of the calls among themselves."""
    for one in answered(view):
        sent, got = shape(one.wire.parts), shape(one.response.parts)
        if len(sent) < 2 or sorted(sent) != sorted(got):
            continue  # nothing to order, or something is missing: another requirement's business
        sent_ids = [call.id for call in calls_in(one.wire.parts)]
        got_ids = [call.id for call in calls_in(one.response.parts)]
        if sent != got:
            yield violated(f"{one.where}: the model's parts came as {sent}, the adapter returned them as {got}")
        elif sorted(sent_ids) == sorted(got_ids) and sent_ids != got_ids:
            yield violated(f"{one.where}: the model made its calls in the order {sent_ids}, the adapter says {got_ids}")
        else:
            yield "orders of parts"


_ALIKE = frozenset({FinishReason.REFUSAL, FinishReason.SAFETY})


@check(
    "core/finish-reason-says-why",
    aspect=lambda view: by_place(view, ((one.call, str(one.response.finish_reason)) for one in answered(view))),
)
def finish_reason_says_why(view: View) -> Findings:
    """By the dialect's table. Refusal and safety are two words for one thing."""
    for one in answered(view):
        wire, got = one.wire.finish, one.response.finish_reason
        if wire is None:
            continue
        if wire == got or {wire, got} <= _ALIKE:
            yield "finish reasons"
        else:
            yield violated(
                f"{one.where}: the wire said {one.wire.raw_finish!r}, which means {str(wire)!r}; "
                f"the adapter returned {str(got)!r}"
            )


@check("core/providers-own-finish-word-is-kept")
def providers_own_finish_word_is_kept(view: View) -> Findings:
    """`raw_finish` is the word on the wire."""
    for one in answered(view):
        if one.wire.raw_finish is None:
            continue
        if one.response.raw_finish == one.wire.raw_finish:
            yield "finish words"
        else:
            yield violated(
                f"{one.where}: the wire said {one.wire.raw_finish!r}, raw_finish is {one.response.raw_finish!r}"
            )


@check("core/a-good-answer-is-returned")
def a_good_answer_is_returned(view: View) -> Findings:
    """A whole answer under status 200 is no reason to raise."""
    for call in view.calls:
        wire = call.answer
        if wire is None or call.last is None or call.last.disturbed or wire.broken_calls:
            continue
        if call.failed is None:
            yield "good answers"
        elif not _may_raise(call, wire.finish):
            yield violated(
                f"{call.where}: the wire carried a whole answer, the adapter raised "
                f"{call.failed.error}: {call.failed.message}",
                detail=excerpt(call.last),
            )


def _may_raise(call: ProviderCall, finish: FinishReason | None) -> bool:
    """A refusal may be raised as the error made for it; a cancelled turn may raise `Cancelled`."""
    assert call.failed is not None
    names = {call.failed.error, *call.failed.bases}
    if "Cancelled" in names:
        return True
    if finish in _ALIKE:
        return ContentFilterError.__name__ in names
    return finish is FinishReason.CONTEXT_LIMIT and ContextLimitError.__name__ in names


@check("core/asks-for-the-model-it-was-given")
def asks_for_the_model_it_was_given(view: View) -> Findings:
    """By name, or by the name that the service knows it under."""
    wanted = view.transcript.model
    facts = view.dialect.models.get(wanted)
    same = {wanted, facts.alias_of if facts is not None else wanted, facts.id if facts is not None else wanted}
    for request in requested(view):
        if request.sent.model in same:
            yield "model names"
        else:
            yield violated(
                f"{request.where}: the adapter was opened for {wanted!r} and asked for {request.sent.model!r}"
            )


@check("core/arguments-are-left-alone")
def arguments_are_left_alone(view: View) -> Findings:
    """Whether the call succeeded, failed or was cancelled."""
    for call in view.calls:
        if call.mutated:
            yield violated(f"{call.where}: the call changed its argument {', '.join(call.mutated)}")
        elif call.response is not None or call.failed is not None:
            yield "arguments after the call"


@check("core/a-fresh-object-sends-the-same")
def a_fresh_object_sends_the_same(view: View) -> Findings:
    """Each call again, on an object of its own."""
    yield from _resent(view, "fresh", "on a fresh object")


@check("core/order-of-conversations-does-not-matter")
def order_of_conversations_does_not_matter(view: View) -> Findings:
    """All calls again, last one first, on one object."""
    yield from _resent(view, "reversed", "after the calls that had come later")


def _resent(view: View, probe: str, how: str) -> Findings:
    originals = {call.index: call for call in view.calls}
    for again in view.probes.get(probe, ()):
        original = originals.get(again.index)
        if original is None or not original.generated:
            continue
        first = original.generated[0]
        if not again.generated:
            reason = f": {again.failed.error}: {again.failed.message}" if again.failed is not None else ""
            yield violated(f"{original.where}: {how} the same call sends nothing{reason}")
        elif again.generated[0].request.digest == first.request.digest:
            yield f"requests made again {how}"
        else:
            yield violated(
                f"{original.where}: {how} the same call sends other bytes",
                detail=_body_diff(first.body, again.generated[0].body),
            )


@check("core/event-loops-may-come-and-go")
def event_loops_may_come_and_go(view: View) -> Findings:
    """Calls from inside one event loop after the other: the same answers as without."""
    ended = view.probe_responses("loops")
    for call in view.calls:
        again = ended.get(call.index)
        if again is None or not call.clean or call.response is None:
            continue
        if isinstance(again, Failed):
            yield violated(f"{call.where}: called in another event loop, it raised {again.error}: {again.message}")
        elif again.response.parts != call.response.parts:
            yield violated(f"{call.where}: called in another event loop, it returned another answer")
        else:
            yield "calls in event loops of their own"


@check("core/threads-are-not-mixed")
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
            yield violated(f"{call.where}: called from several threads at once, its request did not go out as before")
        elif isinstance(again, Failed):
            yield violated(
                f"{call.where}: called from several threads at once, it raised {again.error}: {again.message}"
            )
        elif call.response is not None and again.response.parts != call.response.parts:
            yield violated(
                f"{call.where}: called from several threads at once, it returned another answer",
                detail=_body_diff(to_builtins(call.response.parts), to_builtins(again.response.parts)),
            )
        else:
            yield "calls from several threads"


def _body_diff(first: JSON, second: JSON) -> str:
    lines = differences(first, second, names=("before", "now"))
    return "\n".join(lines) if lines else "equal as JSON; the bytes differ: " + show(msgspec.json.encode(second))


@check("core/side-requests-stay-few")
def side_requests_stay_few(view: View) -> Findings:
    """Counting tokens anew for every message of the history would show here."""
    for call in view.calls:
        side = [exchange for exchange in call.exchanges if not exchange.generates]
        if len(side) > 2:
            yield violated(
                f"{call.where}: the call made {len(side)} requests besides its own, to {side[0].request.path}"
            )
        elif call.generated:
            yield "side requests"


@check("core/adapter-prints-nothing", without_calls=True)
def adapter_prints_nothing(view: View) -> Findings:
    """Standard output belongs to the application."""
    printed = view.transcript.end.stdout
    if printed:
        yield violated(f"the adapter printed to standard output: {show(printed)}")
    else:
        yield "standard output"


@check("core/shutdown-does-not-fail")
def shutdown_does_not_fail(view: View) -> Findings:
    """Calls that only tidy up, or only look, do not raise."""
    if view.strays:
        first = view.strays[0]
        yield violated(f"outside any turn the adapter raised {first.error}: {first.message}")
    else:
        yield "shutdown"
