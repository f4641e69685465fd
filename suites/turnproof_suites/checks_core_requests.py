"""Core: the conversation goes out whole, in requests that the API accepts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from msgspec import UNSET

from turnproof.dialects.base import WireDifference
from turnproof.judge.finding import Compared, Finding, Place
from turnproof.judge.requirements import FindingCode, Findings, check, finding, findings_or_compared
from turnproof.judge.verdict import inconclusive
from turnproof.judge.view import Exchange, ProviderCall, TurnView, View
from turnproof.judge.view.diff import show
from turnproof.messages import JSON, Part, Text

from .content import instructs, system_text
from .reading import ReadRequest, broken_rule_finding, by_place, names_on_the_wire, read_requests
from .words import times_users_say, times_users_say_without_notes, user_words, without_blanks

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
        "core/wire-is-what-the-session-holds/invented", "The request has something that the session does not hold."
    ),
}
"""The code for each word that a `WireDifference` has for a violation."""


@check("core/wire-is-what-the-session-holds", aspect=lambda view: by_place(view, _wire_forms(view)))
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
    session_place = request.at_session_path(one.path)
    return _DIFFERENCES[one.what](
        request.at(one.sent_path),
        expected=UNSET if one.held is None else one.held,
        observed=UNSET if one.sent is None else one.sent,
        related=() if session_place is None else (session_place,),
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
        session_system, sent = request.call.began.system or "", system_text(request.wire)
        removed_texts = [text for text in earlier if text.strip() not in session_system]
        stale = [text for text in removed_texts if instructs(request.wire, text)]
        missing = bool(session_system) and not instructs(request.wire, session_system)
        if missing:
            yield _SYSTEM_MISSING(_at_system(request), expected=session_system, observed=sent)
        for text in stale:
            yield _SYSTEM_EARLIER(_at_system(request, text), expected=session_system, observed=text)
        if not missing and not stale and (session_system or earlier):
            yield Compared("system text")
        if session_system.strip() and session_system not in earlier:
            earlier.append(session_system)


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
        expected = times_users_say(request.session_messages, last.text)
        found = times_users_say(request.wire.messages, last.text)
        # An instruction between turns may go out in the user's name.
        instructions = [message.text for message in request.session_messages if message.role == "system"]
        instructed = without_blanks(instructions).count(without_blanks([last.text]))
        if found > expected + instructed:
            session_words = user_words(request.session_messages)
            found = max(expected, times_users_say_without_notes(request.wire.messages, last.text, session_words))
        # Two messages may say it where they meet, until something stands between them in the request.
        least = sum(times_users_say([message], last.text) for message in request.session_messages)
        if least <= found <= expected + instructed:
            yield Compared("new messages")
            continue
        missing = found < least
        yield (_NEW_MESSAGE_MISSING if missing else _NEW_MESSAGE_REPEATED)(
            _at_last_text(request, "" if missing else last.text),
            expected=least if missing else expected,
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
            wrong = [broken_rule_finding(_REFUSED, exchange, one) for one in refusals]
            yield from findings_or_compared(wrong, "requests against the rules of the API")


def _exchanges_of(view: View, turn: TurnView) -> Iterator[Exchange]:
    """The exchanges of a turn's calls; all of it where its calls are not shown."""
    if turn.calls:
        return (exchange for call in turn.calls for exchange in call.exchanges)
    return iter(view.exchanges_in(turn.events))


def _may_happen(view: View, refusal: Mapping[str, JSON]) -> bool:
    """Nobody knows beforehand that a prompt is too long, or that a managed cache has ended."""
    meaning = view.dialect.error_meaning(refusal["status"], refusal["kind"], refusal["message"])
    return meaning in ("context-limit", "cache-expired")


_OTHER_MODEL = finding(
    "core/asks-for-the-model-it-was-given/another-model",
    "The request asks for another model.",
    "a request for the model {expected}",
    "one for {observed}",
)


@check("core/asks-for-the-model-it-was-given")
def asks_for_the_model_it_was_given(view: View) -> Findings:
    """By name, or by the name that the service knows it under."""
    expected = view.transcript.model
    facts = view.dialect.models.get(expected)
    same = {expected, facts.alias_of if facts is not None else expected, facts.id if facts is not None else expected}
    for request in read_requests(view):
        if request.wire.model in same:
            yield Compared("model names")
        else:
            yield _OTHER_MODEL(request.at("model"), expected=expected, observed=request.wire.model)


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
