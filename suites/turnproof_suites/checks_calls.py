"""Tools, incoming: calls come back as the model made them, and what is no whole call never runs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

import msgspec
from msgspec import UNSET

from turnproof.dialects.base import WireAnswer
from turnproof.dialects.call_pairing import pair_calls
from turnproof.judge.finding import Compared, Side
from turnproof.judge.requirements import FindingCode, Findings, check, finding
from turnproof.judge.view import ProviderCall, View
from turnproof.judge.view.diff import ABSENT, Steps, equal, present, same_scalar_and_type, walk_steps
from turnproof.messages import JSON, FinishReason, FunctionCall, Part
from turnproof.run.transcript import FunctionCallDetected, ToolRun

from .content import calls_in, calls_made
from .phrases import EXCEPTION
from .reading import AnsweredCall, answered_calls, by_place, issued_ids

_ID_CHANGED = finding(
    "tools/call-ids-are-kept/changed",
    "The adapter returned a tool call under another id.",
    "the id {expected}",
    "{observed}",
)
_ID_NOT_ITS_OWN = finding(
    "tools/call-ids-are-kept/not-its-own",
    "Calls that came without ids did not each get a separate id.",
    "a different id for each of {calls} calls",
    "the ids {observed}",
)


@check("tools/call-ids-are-kept")
def call_ids_are_kept(view: View) -> Findings:
    """The provider gets its own ids back, whatever the adapter's are; each call has an id that no other call has."""
    for one in answered_calls(view):
        answer = one.call.answer
        sent, response_calls = calls_in(answer.parts if answer is not None else ()), calls_in(one.response.parts)
        if not sent or len(sent) != len(response_calls):
            continue
        ids = [call.id for call in response_calls]
        differ = len(set(ids)) == len(ids) and all(ids)
        if not any(call.id for call in sent):
            if differ:
                yield Compared("call ids that had to be made up")
            else:
                yield _ID_NOT_ITS_OWN(
                    one.at("parts"), observed=ids, related=(one.at_wire(),), calls=len(response_calls)
                )
        elif sorted(call.id for call in sent) == sorted(ids):
            yield Compared("call ids")
        else:
            for ours, theirs in pair_calls(response_calls, sent):
                if ours.id != theirs.id:
                    yield from _sent_back(view, one, ours, theirs, differ)


def _sent_back(view: View, one: AnsweredCall, ours: FunctionCall, theirs: FunctionCall, differ: bool) -> Findings:
    """Whether a call that was returned under another id went back under the provider's, where it did go back."""
    back = set(_ids_sent_back(view, ours)) if differ else set()
    if back == {theirs.id}:
        yield Compared("call ids that the adapter maps")
    elif back or not differ:
        yield _ID_CHANGED(one.at_part(ours, "id"), expected=theirs.id, observed=ours.id, related=(one.at_wire(theirs),))


def _ids_sent_back(view: View, returned: FunctionCall) -> Iterator[str]:
    """The ids on the wire of a call that the session holds. An id that stands for a place is none."""
    for call in view.calls:
        for exchange in call.generated:
            sent = calls_made(exchange.call.messages) if exchange.call is not None else ()
            for session_call, wire in pair_calls(calls_made(call.began.messages), sent, issued_ids(view)):
                if session_call.id == returned.id and not view.dialect.is_positional(wire.id):
                    yield wire.id


_ARGUMENT_CHANGED = finding(
    "tools/arguments-keep-their-values/changed",
    "The adapter returned other arguments than the model wrote.",
    "{expected} in the arguments for {tool}",
    "{observed}",
)


@check(
    "tools/arguments-keep-their-values",
    aspect=lambda view: by_place(
        view, ((one.call, [[c.name, c.args] for c in one.response.calls]) for one in answered_calls(view))
    ),
)
def arguments_keep_their_values(view: View) -> Findings:
    """Every value with its JSON type: `"50"` is not 50, `"true"` is not true, and 2.0 is not 2. Only where the tool's
    schema wants another type, and has no room for this one, may the value be read as that: a string of JSON as an
    object or a list, a number with or without a fraction."""
    for one in answered_calls(view):
        for own, call in pair_calls(calls_in(one.response.parts), calls_in(one.wire.parts)):
            if not call.args:
                continue
            declared = next((tool.parameters for tool in one.call.began.tools if tool.name == own.name), {})
            found = walk_steps(call.args, own.args, same=same_scalar_and_type)
            differing = [each for each in found if not _is_read_as_declared(declared, each)]
            for steps, wire, returned in differing:
                yield _ARGUMENT_CHANGED(
                    one.at_part(own, "args", *present(own.args, steps)),
                    expected=UNSET if wire is ABSENT else wire,
                    observed=UNSET if returned is ABSENT else returned,
                    related=(one.at_wire(call),),
                    tool=call.name,
                )
            if not differing:
                yield Compared("arguments")


def _is_read_as_declared(schema: JSON, difference: tuple[Steps, object, object]) -> bool:
    """Whether a member was read as what its schema wants: a string as an object, a number as a float."""
    steps, wire, returned = difference
    if len(steps) != 1:
        return False
    members = schema.get("properties") if isinstance(schema, Mapping) else None
    member = members.get(steps[0]) if isinstance(members, Mapping) else None
    wants = member.get("type") if isinstance(member, Mapping) else None
    if isinstance(wire, int | float) and wire == returned:
        return isinstance(returned, {"integer": int, "number": float}.get(str(wants), ()))
    if not isinstance(wire, str) or wants not in ("object", "array"):
        return False
    try:
        return bool(equal(msgspec.json.decode(wire), returned))
    except msgspec.DecodeError:
        return False


_NO_ARGUMENTS_RAISED = finding(
    "tools/no-arguments-are-an-empty-object/raised",
    "The adapter raised an exception for a call without arguments.",
    "a call of {tool} with the arguments {{}}",
    EXCEPTION,
)
_NOT_EMPTY = finding(
    "tools/no-arguments-are-an-empty-object/not-empty",
    "A call without arguments came back with some.",
    "a call of {tool} with the arguments {expected}",
    "{observed}",
)


def _only_declared_tools(call: ProviderCall, parts: Iterable[Part]) -> bool:
    """Whether every tool that an answer calls stands in the request."""
    declared = {tool.name for tool in call.sent.tools} if call.sent is not None else set()
    return all(function_call.name in declared for function_call in calls_in(parts))


@check("tools/no-arguments-are-an-empty-object")
def no_arguments_are_an_empty_object(view: View) -> Findings:
    """A call without arguments is a call with `{}`, in whatever form the wire leaves them out."""
    for call in view.calls:
        wire = call.answer
        if wire is None or call.last is None:
            continue
        for function_call in (each for each in calls_in(wire.parts) if not each.args):
            if call.failed is not None:
                if wire.broken_calls or not _only_declared_tools(call, wire.parts):
                    continue  # that may be what it was raised for
                yield _NO_ARGUMENTS_RAISED(
                    call.at(Side.ERROR, "error"),
                    observed=call.failed.message,
                    related=(call.last.at_part(function_call),),
                    tool=function_call.name,
                    error=call.failed.error,
                )
                continue
            parts = call.response.parts if call.response is not None else ()
            pairs = pair_calls(calls_in(parts), calls_in(wire.parts))
            returned = next((ours for ours, theirs in pairs if theirs is function_call), None)
            if returned is None:
                continue
            number = next(n for n, one in enumerate(parts) if one is returned)
            if equal(returned.args, {}):
                yield Compared("calls without arguments")
            else:
                yield _NOT_EMPTY(
                    call.at(Side.RESPONSE, "parts", number, "args"),
                    expected={},
                    observed=returned.args,
                    related=(call.last.at_part(function_call),),
                    tool=function_call.name,
                )


_CLIPPED_RETURNED = finding(
    "tools/clipped-calls-are-not-returned/returned",
    "The adapter returned a call that the output limit cut off.",
    "no call of {tool}",
    "one with the arguments {observed}",
)
_CLIPPED_ANNOUNCED = finding(
    "tools/clipped-calls-are-not-returned/announced",
    "`on_function_call` got a call that the output limit cut off.",
    "no call of {tool}",
    "one with the arguments {observed}",
)
_BROKEN_RETURNED = finding(
    "tools/broken-arguments-never-run/returned",
    "The adapter returned a call whose arguments are not valid JSON.",
    "no call of {tool}",
    "one with the arguments {observed}",
)
_BROKEN_ANNOUNCED = finding(
    "tools/broken-arguments-never-run/announced",
    "`on_function_call` got a call whose arguments are not valid JSON.",
    "no call of {tool}",
    "one with the arguments {observed}",
)


@check("tools/clipped-calls-are-not-returned")
def clipped_calls_are_not_returned(view: View) -> Findings:
    """A call that the output limit cut off is neither returned nor announced; the rest of the answer may be."""
    for call in view.calls:
        wire = call.answer
        if wire is None or wire.finish is not FinishReason.MAX_TOKENS:
            continue
        clipped = _clipped_in_one_piece(call)
        if wire.broken_calls or clipped:
            what = "calls cut off by the output limit"
            yield from _never_runs(view, call, what, _CLIPPED_RETURNED, _CLIPPED_ANNOUNCED, clipped)


def _clipped_in_one_piece(call: ProviderCall) -> frozenset[str]:
    """The id of a last call that looks whole: in one piece it has the members that were complete, and only the script
    knows that there should have been more."""
    parts = call.answer.parts if call.answer is not None else ()
    scripted = call.script.parts if call.script is not None else ()
    if parts and scripted and scripted[-1].broken and isinstance(last := parts[-1], FunctionCall):
        return frozenset({last.id})
    return frozenset()


def _may_be_clipped(answer: WireAnswer) -> bool:
    """Whether an answer that its limit ended has a call last: in one piece that looks whole, whatever it lacks."""
    is_last = bool(answer.parts) and isinstance(answer.parts[-1], FunctionCall)
    return is_last and answer.finish is FinishReason.MAX_TOKENS


@check("tools/broken-arguments-never-run")
def broken_arguments_never_run(view: View) -> Findings:
    """Arguments that are no JSON never become a call, least of all one with `{}`."""
    for call in view.calls:
        wire = call.answer
        if wire is not None and wire.broken_calls and wire.finish is not FinishReason.MAX_TOKENS:
            what = "calls with arguments that are no JSON"
            yield from _never_runs(view, call, what, _BROKEN_RETURNED, _BROKEN_ANNOUNCED)


def _never_runs(
    view: View,
    call: ProviderCall,
    what: str,
    returned: FindingCode,
    announced: FindingCode,
    clipped: frozenset[str] = frozenset(),
) -> Findings:
    wire = [
        wire_call
        for wire_call in calls_in(call.answer.parts if call.answer is not None else ())
        if wire_call.id not in clipped
    ]
    if not view.shows_calls:
        yield from _not_run(view, call, what, returned, wire)
        return
    parts = call.response.parts if call.response is not None else ()
    events = [event for event in call.callbacks if isinstance(event, FunctionCallDetected)]
    announced_calls = [event.function_call for event in events]
    complete = {id(ours) for calls in (calls_in(parts), announced_calls) for ours, _ in pair_calls(calls, wire)}
    wrong = False
    for number, part in enumerate(parts):
        if isinstance(part, FunctionCall) and id(part) not in complete:
            wrong = True
            place = call.at(Side.RESPONSE, "parts", number)
            yield returned(place, observed=part.args, related=(call.at_answer(),), tool=part.name)
    for event in events:
        if id(event.function_call) not in complete:
            wrong = True
            function_call = event.function_call
            place = call.at_callback(event, "function_call")
            yield announced(place, observed=function_call.args, related=(call.at_answer(),), tool=function_call.name)
    if not wrong and (call.response is not None or call.failed is not None):
        yield Compared(what)


def _not_run(
    view: View, call: ProviderCall, what: str, returned: FindingCode, complete: Sequence[FunctionCall]
) -> Findings:
    """The same of a session that shows no calls. It may hold such a call, and tell the model what is wrong with it; its
    tool runs no more often in the turn than the model has called it in full, and a reply does not have the call."""
    turn = next(one for one in view.turns if one.index == call.began.turn)
    answers = [one.answer for one in turn.calls if one is not call and one.answer is not None]
    called = Counter(
        function_call.name for function_call in (*complete, *(each for one in answers for each in calls_in(one.parts)))
    )
    own_names = call.session_names
    allowed = Counter({own_names.get(name, name): times for name, times in called.items()})
    extra: list[ToolRun | FunctionCall] = []
    for run in turn.tool_runs:
        allowed[run.name] -= 1
        if allowed[run.name] < 0 and run.outcome != "unknown":
            extra.append(run)
            yield returned(turn.at_event(run, "args"), observed=run.args, related=(call.at_answer(),), tool=run.name)
    answer = turn.ended.answer if turn.ended is not None and call is turn.calls[-1] else None
    parts = answer.parts if answer is not None else ()
    whole = {id(ours) for ours, _ in pair_calls(calls_in(parts), complete)}
    for number, part in enumerate(parts):
        if isinstance(part, FunctionCall) and id(part) not in whole and turn.ended is not None:
            extra.append(part)
            place = turn.at_event(turn.ended, "answer", "parts", number)
            yield returned(place, observed=part.args, related=(call.at_answer(),), tool=part.name)
    if not extra:
        yield Compared(what)


_NO_CALL = finding(
    "tools/tool-use-comes-with-calls/no-call",
    "The adapter returned the finish reason `tool_use` without a tool call.",
    "at least one tool call",
    "none",
)


@check("tools/tool-use-comes-with-calls")
def tool_use_comes_with_calls(view: View) -> Findings:
    """Nobody can answer a tool use that has no calls."""
    for call in view.calls:
        if call.response is None or _finish(view, call) is not FinishReason.TOOL_USE:
            continue
        if call.response.calls:
            yield Compared("tool uses")
        else:
            yield _NO_CALL(call.at(Side.RESPONSE, "finish_reason"), related=(call.at_answer(),))


def _finish(view: View, call: ProviderCall) -> FinishReason | None:
    """Why an answer ended by the response; by the wire, with calls that can be run, where no response is shown."""
    if view.shows_calls:
        return call.response.finish_reason if call.response is not None else None
    answer = call.answer
    return answer.finish if answer is not None and calls_in(answer.parts) and not answer.broken_calls else None


_CALL_COUNT = finding(
    "tools/parallel-calls-stay-apart/count",
    "The adapter returned another number of calls than the model made.",
    "{expected} calls",
    "{observed}",
)
_ONE_ID = finding(
    "tools/parallel-calls-stay-apart/one-id",
    "The adapter returned two calls under one id.",
    "a different id for each call",
    "the ids {observed}",
)


@check("tools/parallel-calls-stay-apart")
def parallel_calls_stay_apart(view: View) -> Findings:
    """Several calls in one answer: as many come back, each with an id, name and arguments of its own."""
    for one in answered_calls(view):
        sent, response_calls = calls_in(one.wire.parts), calls_in(one.response.parts)
        if len(response_calls) < len(sent) and _may_be_clipped(one.wire):
            sent = sent[:-1]
        if len(sent) < 2:
            continue
        ids = [call.id for call in response_calls]
        again = next((call for n, call in enumerate(response_calls) if call.id in ids[:n]), None)
        if len(response_calls) != len(sent):
            yield _CALL_COUNT(
                one.at("parts"), expected=len(sent), observed=len(response_calls), related=(one.at_wire(),)
            )
        elif again is not None:
            yield _ONE_ID(one.at_part(again, "id"), observed=ids, related=(one.at_wire(),))
        else:
            yield Compared("parallel calls")
