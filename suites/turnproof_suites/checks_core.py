"""Core: the conversation goes out whole, the answer comes back as it was, and every turn ends."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from msgspec import UNSET

from turnproof.dialects.base import WireDifference
from turnproof.errors import ContentFilterError, ContextLimitError
from turnproof.judge.finding import Compared, Finding, Place, Side
from turnproof.judge.requirements import FindingCode, Findings, check, finding
from turnproof.judge.verdict import inconclusive
from turnproof.judge.view import Exchange, ProviderCall, TurnView, View
from turnproof.judge.view.diff import show
from turnproof.messages import JSON, FinishReason, Part, Text

from .raised_errors import breaks_contract
from .reading import (
    ReadRequest,
    answered_calls,
    by_place,
    calls_in,
    instructs,
    names_on_the_wire,
    part_kinds,
    read_requests,
    refusal_finding,
    spoken_as,
    spoken_text,
    system_text,
)
from .words import times_users_say, without_blanks

_NOT_OPENED = finding(
    "core/turns-come-to-an-end/not-opened",
    "The adapter could not be opened.",
    "an adapter that opens",
    "{observed:words}",
)
_HUNG = finding(
    "core/turns-come-to-an-end/hung",
    "The adapter hung.",
    "a run that ends",
    "a run that hung: {observed:words}",
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


_DIFFERENCES: Mapping[str, FindingCode] = {
    "lost-text": finding(
        "core/wire-is-what-the-session-holds/lost-text",
        "Text of the conversation is missing from the request, or is another one there.",
    ),
    "lost-call": finding(
        "core/wire-is-what-the-session-holds/lost-call",
        "A tool call of the conversation is missing from the request, or is another one there.",
    ),
    "lost-result": finding(
        "core/wire-is-what-the-session-holds/lost-result",
        "A tool result of the conversation is missing from the request, or is another one there.",
    ),
    "order": finding(
        "core/wire-is-what-the-session-holds/order",
        "The request has a part of the conversation in another place.",
        "{expected} in the place where the session holds it",
        "the same part in another place",
    ),
    "pairing": finding(
        "core/wire-is-what-the-session-holds/pairing",
        "A tool result in the request names another call.",
        "a result for the call {expected}",
        "one for the call {observed}",
    ),
    "lost-signature": finding(
        "core/wire-is-what-the-session-holds/lost-signature",
        "A signature is missing from the request, or what it signs was changed.",
    ),
    "changed-args": finding(
        "core/wire-is-what-the-session-holds/changed-args",
        "The request has other arguments for a tool call.",
        "the arguments {expected}",
        "{observed}",
    ),
    "lost-attachment": finding(
        "core/wire-is-what-the-session-holds/lost-attachment",
        "An image, a document or other content is missing from the request.",
    ),
    "lost-error-flag": finding(
        "core/wire-is-what-the-session-holds/lost-error-flag",
        "The request does not mark the result of a failed tool as failed.",
        "a result marked as failed",
        "a result marked as good",
    ),
    "system": finding(
        "core/wire-is-what-the-session-holds/system",
        "The request has other system text.",
        "the system text {expected}",
        "{observed}",
    ),
    "tools": finding(
        "core/wire-is-what-the-session-holds/tools",
        "The request declares other tools, or a tool in another way.",
        "{expected} among the tools",
        "{observed}",
    ),
    "invented": finding(
        "core/wire-is-what-the-session-holds/invented",
        "The request has something that the session does not hold.",
    ),
}
"""The code for each word that a `WireDifference` has for a violation."""


@check(
    "core/wire-is-what-the-session-holds",
    aspect=lambda view: by_place(view, _wire_forms(view)),
)
def wire_is_what_the_session_holds(view: View) -> Findings:
    """Every request, the one after an abnormal turn and each repeated attempt included."""
    for request in read_requests(view):
        found = _differences(view, request)
        losses = [one for one in found if one.violation]
        if losses:
            yield from (_difference(request, one) for one in losses)
        elif found:
            lines = [
                f"{one.what} at {one.path}: the session holds {show(one.held)}, the wire carried {show(one.sent)}"
                for one in found
            ]
            yield inconclusive(
                f"{request.where}: the wire differs in a way that is not classified: {lines[0]}",
                detail="\n".join(lines),
            )
        else:
            yield Compared("requests against the session's history")


def _wire_forms(view: View) -> Iterator[tuple[ProviderCall, JSON]]:
    for request in read_requests(view):
        yield request.call, view.dialect.match_form(request.wire)


def _differences(view: View, request: ReadRequest) -> list[WireDifference]:
    began = request.call.began
    model = view.transcript.model
    found = view.dialect.differences(began.messages, began.system, began.tools, request.wire, model)
    names = names_on_the_wire(view, request)
    return [one for one in found if not (one.path.endswith("].name") and names.get(str(one.held)) == one.sent)]


def _difference(request: ReadRequest, one: WireDifference) -> Finding:
    held = request.at_session_path(one.path)
    return _DIFFERENCES[one.what](
        request.at(one.sent_path),
        expected=UNSET if one.held is None else one.held,
        observed=UNSET if one.sent is None else one.sent,
        related=() if held is None else (held,),
    )


_SYSTEM_MISSING = finding(
    "core/system-text-is-sent-each-turn/missing",
    "The system text in force is missing from the request.",
    "a request with the system text {expected}",
    "one with the system text {observed}",
)
_SYSTEM_EARLIER = finding(
    "core/system-text-is-sent-each-turn/earlier-text",
    "The request has a system text that is no longer in force.",
    "a request with the system text {expected} alone",
    "one that also has the earlier system text {observed}",
)


@check("core/system-text-is-sent-each-turn")
def system_text_is_sent_each_turn(view: View) -> Findings:
    """The text in force, and none that was in force before."""
    earlier: list[str] = []
    for request in read_requests(view):
        held, sent = request.call.began.system or "", system_text(request.wire)
        gone = [text for text in earlier if text.strip() not in held]
        stale = [text for text in gone if instructs(request.wire, text)]
        missing = bool(held) and not instructs(request.wire, held)
        if missing:
            yield _SYSTEM_MISSING(_at_system(request), expected=held, observed=sent)
        for text in stale:
            yield _SYSTEM_EARLIER(_at_system(request, text), expected=held, observed=text)
        if not missing and not stale and (held or earlier):
            yield Compared("system text")
        if held.strip() and held not in earlier:
            earlier.append(held)


def _at_system(request: ReadRequest, text: str = "") -> Place:
    """The place of the instructions, or of those that have this text."""
    for n, part in enumerate(request.wire.system):
        if isinstance(part, Text) and text and text in part.text:
            return request.at("system", n)
    for n, message in enumerate(request.wire.messages):
        if message.role == "system" and text in message.text:
            return request.at("messages", n)
    return request.at("system")


_NEW_MESSAGE_MISSING = finding(
    "core/new-message-goes-out-once/missing",
    "The user's new message is missing from the request.",
    "the user's text {message} as often as in the conversation: {expected}",
    "{observed} in the request",
)
_NEW_MESSAGE_REPEATED = finding(
    "core/new-message-goes-out-once/more-than-once",
    "The user's new message is in the request more often than in the conversation.",
    "the user's text {message} as often as in the conversation: {expected}",
    "{observed} in the request",
)


@check("core/new-message-goes-out-once")
def new_message_goes_out_once(view: View) -> Findings:
    """As often as the session holds the text of the new message, no more and no less."""
    for request in read_requests(view):
        last = request.session_messages[-1] if request.session_messages else None
        if last is None or last.role != "user" or not last.text.strip():
            continue
        wanted = times_users_say(request.session_messages, last.text)
        found = times_users_say(request.wire.messages, last.text)
        # An instruction between turns may go out in the user's name.
        instructions = [message.text for message in request.session_messages if message.role == "system"]
        instructed = without_blanks(instructions).count(without_blanks([last.text]))
        if wanted <= found <= wanted + instructed:
            yield Compared("new messages")
            continue
        code = _NEW_MESSAGE_MISSING if found < wanted else _NEW_MESSAGE_REPEATED
        yield code(
            _at_last_text(request, last.text if found > wanted else ""),
            expected=wanted,
            observed=found,
            related=(request.at_session(last),),
            message=last.text,
        )


def _at_last_text(request: ReadRequest, text: str) -> Place:
    """The last text of the user with these words; the conversation where there are none."""
    parts: list[Part] = [part for one in request.wire.messages if one.role == "user" for part in one.parts]
    found = [part for part in parts if isinstance(part, Text) and text and text in part.text]
    return request.at_part(found[-1]) if found else request.at("messages")


_REFUSED = finding(
    "core/no-request-is-refused/refused",
    "The API refuses a request.",
    "a request that keeps the rule {name:words}",
    "one that the API refuses with status {status}, {kind:words}: {observed:words}",
)


@check("core/no-request-is-refused", needs="wire")
def no_request_is_refused(view: View) -> Findings:
    """By rules that the real API enforces. A prompt that is too long is the conversation's doing, not the adapter's."""
    for turn in view.turns:
        if turn.script is not None and turn.script.expect == "error":
            continue
        for exchange in _exchanges_of(view, turn):
            if exchange.request.operation == "cache":
                continue  # a prefix may be too small to be stored; it is then sent as it is
            refusals = [one for one in exchange.refusals if not _may_happen(view, one)]
            yield from (_refused(exchange, one) for one in refusals)
            if not refusals:
                yield Compared("requests against the rules of the API")


def _refused(exchange: Exchange, refusal: Mapping[str, JSON]) -> Finding:
    return refusal_finding(
        _REFUSED,
        exchange,
        refusal,
        observed=refusal["message"],
        name=refusal["rule"],
        status=refusal["status"],
        kind=refusal["kind"],
    )


def _exchanges_of(view: View, turn: TurnView) -> Iterator[Exchange]:
    """The exchanges of a turn's calls; all of it where its calls are not shown."""
    if turn.calls:
        return (exchange for call in turn.calls for exchange in call.exchanges)
    return iter(view.exchanges_in(turn.events))


def _may_happen(view: View, refusal: Mapping[str, JSON]) -> bool:
    """Nobody knows beforehand that a prompt is too long, or that a managed cache has ended."""
    meaning = view.dialect.error_meaning(refusal["status"], refusal["kind"], refusal["message"])
    return meaning in ("context-limit", "cache-expired")


_TEXT_CHANGED = finding(
    "core/text-is-what-the-wire-carried/changed",
    "The adapter returned another text than the API sent.",
    "the text {expected}",
    "{observed}",
)


@check(
    "core/text-is-what-the-wire-carried",
    aspect=lambda view: by_place(view, ((one.call, spoken_text(one.response.parts)) for one in answered_calls(view))),
)
def text_is_what_the_wire_carried(view: View) -> Findings:
    """Every letter of the visible text, and none besides."""
    for one in answered_calls(view):
        sent, got = spoken_text(one.wire.parts), spoken_as(one.response.parts, one.wire.parts)
        # An adapter may hand structured output over as an object alone.
        if one.call.began.response_schema is not None and not got:
            continue
        if sent == got:
            yield Compared("texts of answers")
        else:
            yield _TEXT_CHANGED(one.at_text(sent), expected=sent, observed=got, related=(one.at_wire_text(got),))


_KINDS_MOVED = finding(
    "core/parts-keep-the-models-order/order",
    "The adapter returned text and calls in another order.",
    "the parts {expected}, in this order",
    "{observed}",
)
_CALLS_MOVED = finding(
    "core/parts-keep-the-models-order/order-of-calls",
    "The adapter returned the model's calls in another order.",
    "the calls {expected}, in this order",
    "{observed}",
)


@check("core/parts-keep-the-models-order")
def parts_keep_the_models_order(view: View) -> Findings:
    """The order of text and calls, and of the calls among themselves."""
    for one in answered_calls(view):
        sent, got = part_kinds(one.wire.parts), part_kinds(one.response.parts)
        if len(sent) < 2 or sorted(sent) != sorted(got):
            continue  # nothing to order, or something is missing: another requirement's business
        sent_ids = [call.id for call in calls_in(one.wire.parts)]
        got_ids = [call.id for call in calls_in(one.response.parts)]
        if sent != got:
            yield _KINDS_MOVED(one.at("parts"), expected=sent, observed=got, related=(one.at_wire(),))
        elif sorted(sent_ids) == sorted(got_ids) and sent_ids != got_ids:
            calls = calls_in(one.response.parts)
            first = next(call for call, id in zip(calls, sent_ids, strict=True) if call.id != id)
            yield _CALLS_MOVED(one.at_part(first), expected=sent_ids, observed=got_ids, related=(one.at_wire(),))
        else:
            yield Compared("orders of parts")


_ALIKE = frozenset({FinishReason.REFUSAL, FinishReason.SAFETY})

_FINISH_WRONG = finding(
    "core/finish-reason-says-why/wrong",
    "The adapter returned another finish reason than the API's word means.",
    "the finish reason {expected}, since the API sent {word}",
    "{observed}",
)


@check(
    "core/finish-reason-says-why",
    needs="calls",
    aspect=lambda view: by_place(view, ((one.call, str(one.response.finish_reason)) for one in answered_calls(view))),
)
def finish_reason_says_why(view: View) -> Findings:
    """By the dialect's table. Refusal and safety count as the same. OpenAI has a field for refusals and sends the word
    "stop" beside it: an adapter may return either reason."""
    for one in answered_calls(view):
        wire, got = one.wire.finish, one.response.finish_reason
        if wire is None:
            continue
        if got in (wire, one.wire.finish_word) or {wire, got} <= _ALIKE:
            yield Compared("finish reasons")
        else:
            yield _FINISH_WRONG(
                one.at("finish_reason"),
                expected=wire,
                observed=got,
                related=(one.at_wire(),),
                word=one.wire.raw_finish,
            )


_WORD_CHANGED = finding(
    "core/providers-own-finish-word-is-kept/changed",
    "The API's own word for why the answer ended was changed.",
    "{expected} as `raw_finish`",
    "{observed}",
)


@check("core/providers-own-finish-word-is-kept", needs="calls")
def providers_own_finish_word_is_kept(view: View) -> Findings:
    """`raw_finish` is the word on the wire. A number is no word: a client hands it on, or names it."""
    for one in answered_calls(view):
        if one.wire.raw_finish is None or one.wire.raw_finish.isdecimal():
            continue
        if one.response.raw_finish == one.wire.raw_finish:
            yield Compared("finish words")
        else:
            yield _WORD_CHANGED(
                one.at("raw_finish"),
                expected=one.wire.raw_finish,
                observed=one.response.raw_finish,
                related=(one.at_wire(),),
            )


_GOOD_ANSWER_RAISED = finding(
    "core/a-good-answer-is-returned/raised",
    "The adapter raised an exception for a whole answer.",
    "the answer as the return value",
    "the exception {error:words}: {observed:words}",
)


_NOT_THE_CONTRACT = finding(
    "core/a-good-answer-is-returned/contract",
    "The adapter returned, or passed to a callback, a value of another type than the contract has.",
    "the types of turnproof.provider.StatelessProvider",
    "{observed:words}",
)


@check("core/a-good-answer-is-returned")
def a_good_answer_is_returned(view: View) -> Findings:
    """A whole answer under status 200 is no reason to raise."""
    for call in view.calls:
        wire = call.answer
        if wire is None or call.last is None or call.last.disturbed or wire.broken_calls:
            continue
        if call.failed is None:
            if call.response is not None:
                yield Compared("good answers")
        elif call.failed.from_callback:
            continue  # the session could not go on with it
        elif breaks_contract(call.failed):
            yield _NOT_THE_CONTRACT(
                call.at(Side.ERROR, "message"), observed=call.failed.message, related=(call.at_answer(),)
            )
        elif not _may_raise(call, wire.finish):
            yield _GOOD_ANSWER_RAISED(
                call.at(Side.ERROR, "error"),
                observed=call.failed.message,
                related=(call.at_answer(),),
                error=call.failed.error,
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


_OTHER_MODEL = finding(
    "core/asks-for-the-model-it-was-given/another-model",
    "The request asks for another model.",
    "a request for the model {expected}",
    "one for {observed}",
)


@check("core/asks-for-the-model-it-was-given")
def asks_for_the_model_it_was_given(view: View) -> Findings:
    """By name, or by the name that the service knows it under."""
    wanted = view.transcript.model
    facts = view.dialect.models.get(wanted)
    same = {wanted, facts.alias_of if facts is not None else wanted, facts.id if facts is not None else wanted}
    for request in read_requests(view):
        if request.wire.model in same:
            yield Compared("model names")
        else:
            yield _OTHER_MODEL(request.at("model"), expected=wanted, observed=request.wire.model)


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


_TOO_MANY_REQUESTS = finding(
    "core/side-requests-stay-few/too-many",
    "A call makes many requests in addition to the one for the answer.",
    "at most {expected} requests in addition to the one for the answer",
    "{observed}, to {path:words}",
)
_FEW = 2


@check("core/side-requests-stay-few")
def side_requests_stay_few(view: View) -> Findings:
    """Counting tokens anew for every message of the history would show here."""
    for call in view.calls:
        side = [exchange for exchange in call.exchanges if not exchange.generates]
        if len(side) > _FEW:
            yield _TOO_MANY_REQUESTS(side[_FEW].at(), expected=_FEW, observed=len(side), path=side[_FEW].request.path)
        elif call.generated:
            yield Compared("side requests")


_PRINTED = finding(
    "core/adapter-prints-nothing/printed",
    "The adapter printed to standard output.",
    "nothing on standard output",
    "{observed}",
)


@check("core/adapter-prints-nothing", needs="wire")
def adapter_prints_nothing(view: View) -> Findings:
    """Standard output belongs to the application. Warnings and logs go to standard error, and accuse nobody."""
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


@check("core/shutdown-does-not-fail", needs="calls")
def shutdown_does_not_fail(view: View) -> Findings:
    """Calls that only tidy up, or only look, do not raise."""
    for stray in view.strays:
        yield _RAISED_OUTSIDE(view.at_event(stray, "error"), observed=stray.message, error=stray.error)
    if not view.strays:
        yield Compared("shutdown")
