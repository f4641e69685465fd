"""Collected history: what is left goes out whole, what was removed does not come back."""

from __future__ import annotations

from collections.abc import Iterator

from turnproof.judge.finding import Compared, Finding, Place, Side
from turnproof.judge.requirements import Findings, check, finding
from turnproof.judge.view import TurnView, View
from turnproof.messages import Message, Text, same

from .content import calls_made, instructs, results_in, system_text
from .context_room import makes_room, too_long
from .reading import ReadRequest, refusal_finding
from .steps import Step, operations_done
from .words import user_words, without_blanks


def _after_collection(view: View) -> Iterator[tuple[TurnView, ReadRequest]]:
    """The first request after each collection: the scenario's, or the session's after a prompt that was too long."""
    due = False
    for turn in view.turns:
        due = due or turn.collected is not None
        for call in turn.calls:
            if due and call.last is not None and call.sent is not None:
                yield turn, ReadRequest(call, call.last, call.sent)
            due = makes_room(call)


_NO_RESULT = finding(
    "gc/pairs-stay-whole/no-result",
    "After a collection a call in the request has no result.",
    "a result for the call {call} of the tool {tool}",
    "none",
)
_NO_CALL = finding(
    "gc/pairs-stay-whole/no-call",
    "After a collection a result in the request has no call.",
    "the call {call} in front of its result",
    "a result without it",
)


@check("gc/pairs-stay-whole")
def pairs_stay_whole(view: View) -> Findings:
    """No call without its result, no result without its call."""
    for _, request in _after_collection(view):
        calls = {call.id: call for call in calls_made(request.wire.messages)}
        results = {result.call_id: result for result in results_in(request.wire.messages)}
        for id, call in calls.items():
            if id not in results:
                related = [request.at_part(call)]
                yield _NO_RESULT(request.at_results_of(call), call=id, tool=call.name, related=related)
        for id, result in results.items():
            if id not in calls:
                # The call is missing from the messages; nothing is wrong with its result.
                yield _NO_CALL(request.at("messages"), call=id, related=[request.at_part(result)])
        if calls.keys() == results.keys():
            yield Compared("calls and results after a collection")


_FIRST_ROLE = finding(
    "gc/first-message-is-the-users/role",
    "After a collection the request does not begin with a message of the user.",
    "a first message of role {expected}",
)


@check("gc/first-message-is-the-users")
def first_message_is_the_users(view: View) -> Findings:
    """A conversation does not begin with an answer, or with the results of calls that are gone."""
    for _, request in _after_collection(view):
        others = ((n, message.role) for n, message in enumerate(request.wire.messages) if message.role != "system")
        number, role = next(others, (None, None))
        if role == "user":
            yield Compared("first messages after a collection")
        else:
            related = [] if number is None else [request.at("messages", number)]
            yield _FIRST_ROLE(request.at("messages"), expected="user", observed=role, related=related)


_REFUSED = finding(
    "gc/next-turn-is-answered/refused",
    "The API refuses the request after a collection.",
    "a request that the API accepts",
    "a request that it refuses: {message:words}",
)
_OUTCOME = finding(
    "gc/next-turn-is-answered/outcome", "The turn after a collection was not answered.", "the outcome {expected}"
)
_NO_REQUEST = finding(
    "gc/next-turn-is-answered/no-request",
    "After a collection the turn failed before it made a request.",
    "a request",
    "{observed:words}: {message:words}",
)


@check("gc/next-turn-is-answered")
def next_turn_is_answered(view: View) -> Findings:
    """The API takes what is left, and the turn ends like any other."""
    reached: set[int] = set()
    for turn, request in _after_collection(view):
        reached.add(turn.index)
        if turn.expected != "answer" or turn.ended is None:
            continue
        if request.exchange.refusals and not too_long(request.exchange):
            for refusal in request.exchange.refusals:
                yield refusal_finding(_REFUSED, request.exchange, refusal, message=refusal["message"])
        elif turn.ended.outcome == "answer" or turn.cancelled:
            yield Compared("turns after a collection")
        else:
            related = [turn.at(Side.ERROR)] if turn.failed is not None else []
            place = turn.at_event(turn.ended, "outcome")
            yield _OUTCOME(place, expected="answer", observed=turn.ended.outcome, related=related)
    for turn in _first_turns_after_collection(view):
        if turn.index not in reached and turn.failed is not None:
            yield _NO_REQUEST.of_error(turn.at(Side.ERROR), turn.failed)


def _first_turns_after_collection(view: View) -> Iterator[TurnView]:
    due = False
    for turn in view.turns:
        due = due or turn.collected is not None
        if due and turn.has_user_message:
            yield turn
            due = False


_SENT_AGAIN = finding(
    "gc/removed-history-stays-removed/sent",
    "The request has a message that a collection removed.",
    "a request without it",
)


@check("gc/removed-history-stays-removed")
def removed_history_stays_removed(view: View) -> Findings:
    """Nobody but the session remembers: what it removed is in no later request."""
    collections = list(operations_done(view, "gc"))
    for turn in view.turns:
        removed_messages = [message for one in collections if one.turn.index <= turn.index for message in _removed(one)]
        for call in turn.calls:
            if removed_messages and call.sent is not None:
                yield from _forgotten(ReadRequest(call, call.generated[-1], call.sent), removed_messages)


def _removed(collection: Step) -> Iterator[Message]:
    """What the session held before a collection and not after it, whatever its messages' ids are."""
    for message in collection.history_before:
        if not any(same(message, left, ids=False) for left in collection.history):
            yield message


def _forgotten(request: ReadRequest, removed_messages: list[Message]) -> Iterator[Compared | Finding]:
    session_words, sent = user_words(request.session_messages), user_words(request.wire.messages)
    for message in removed_messages:
        words = without_blanks([message.text])
        if message.role != "user" or not words or words in session_words:
            continue
        if words in sent:
            yield _SENT_AGAIN(_at_words(request, message.text), observed=message.text)
        else:
            yield Compared("collected messages")


def _at_words(request: ReadRequest, text: str) -> Place:
    """The first text of a user in the request that has these words; all messages where they stand in several."""
    for message in request.wire.messages:
        for part in message.parts if message.role == "user" else ():
            if isinstance(part, Text) and text in part.text:
                return request.at_part(part, "text")
    return request.at("messages")


_TOOL_GONE = finding(
    "gc/system-and-tools-stay-in-force/tool-missing",
    "After a collection a tool is missing from the request.",
    "the tool {expected}",
    "a request with the tools {observed}",
)
_SYSTEM_GONE = finding(
    "gc/system-and-tools-stay-in-force/system-missing",
    "After a collection the system text is missing from the request.",
)


@check("gc/system-and-tools-stay-in-force")
def system_and_tools_stay_in_force(view: View) -> Findings:
    """A collection removes turns, and nothing that is no turn."""
    for _, request in _after_collection(view):
        began = request.call.began
        missing = [tool.name for tool in began.tools if tool.name not in request.call.wire_names]
        sent = sorted(tool.name for tool in request.wire.tools)
        for name in missing:
            yield _TOOL_GONE(request.at("tools"), expected=name, observed=sent)
        is_system_lost = began.system is not None and not instructs(request.wire, began.system)
        if is_system_lost:
            yield _SYSTEM_GONE(request.at("system"), expected=began.system, observed=system_text(request.wire))
        if not missing and not is_system_lost and (began.system or began.tools):
            yield Compared("system text and tools after a collection")
