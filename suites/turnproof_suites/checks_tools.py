"""Tools, outgoing: definitions are in force each turn, and every call gets its result, in place and as it was."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator

from turnproof.dialects.base import Call
from turnproof.dialects.text_equality import leaves
from turnproof.dialects.tool_pairing import kept_for_history
from turnproof.judge.finding import Compared, Finding, Place
from turnproof.judge.requirements import Findings, check, finding, findings_or_compared
from turnproof.judge.view import View
from turnproof.messages import JSON, FunctionCall, Message, ToolResult, ToolSchema

from .content import matched_results, results_in
from .reading import ReadRequest, by_place, read_requests

_TOOL_MISSING = finding(
    "tools/definitions-are-sent-each-turn/missing",
    "A tool that is in force is missing from the request.",
    "the tool {expected}",
    "a request with the tools {observed}",
)
_DESCRIPTION_CHANGED = finding(
    "tools/definitions-are-sent-each-turn/description-changed",
    "The description of a tool was changed.",
    "{expected} as the description of the tool {tool}",
    "{observed}",
)
_PARAMETER_LOST = finding(
    "tools/definitions-are-sent-each-turn/parameter-lost",
    "A parameter of a tool, or that it is required, was lost.",
    "{expected} among the parameters' `{field:words}` of the tool {tool}",
    "{observed}",
)
_TOOL_INVENTED = finding(
    "tools/definitions-are-sent-each-turn/not-in-force",
    "The request declares a tool that is not in force.",
    "only the tools {expected}",
    "the tool {observed}",
)


@check("tools/definitions-are-sent-each-turn")
def definitions_are_sent_each_turn(view: View) -> Findings:
    """The tools in force, each with its description and parameters, and no tool that is gone, unless none is in force
    and the history calls it."""
    for request in read_requests(view):
        if not request.call.began.tools and not request.wire.tools:
            continue
        wrong = list(_wrong_definitions(request))
        yield from findings_or_compared(wrong, "tool definitions")


def _wrong_definitions(request: ReadRequest) -> Iterator[Finding]:
    sent = {tool.name: tool for tool in request.wire.tools}
    names = request.call.wire_names
    for tool in request.call.began.tools:
        if tool.name in names:
            yield from _changed_definition(request, tool, sent[names[tool.name]])
        else:
            yield _TOOL_MISSING(request.at("tools"), expected=tool.name, observed=sorted(sent))
    # A schema for the answer may be sent as a tool of its own.
    if request.call.began.response_schema is None:
        history_tools = kept_for_history(request.call.began.tools, request.wire.tools, request.wire.messages)
        for extra in sorted(set(sent) - set(names.values()) - history_tools):
            yield _TOOL_INVENTED(request.at_tool(extra), expected=sorted(names), observed=extra)


def _changed_definition(request: ReadRequest, tool: ToolSchema, sent: ToolSchema) -> Iterator[Finding]:
    """What of a definition was lost. Additions such as `additionalProperties` are the adapter's right."""
    if tool.description and tool.description not in sent.description:
        place = request.at_tool(sent.name, "description")
        yield _DESCRIPTION_CHANGED(place, expected=tool.description, observed=sent.description, tool=tool.name)
    for field in ("properties", "required"):
        expected, found = tool.parameters.get(field), sent.parameters.get(field)
        for parameter in sorted(set(expected or ()) - set(found or ())):
            place = request.at_tool(sent.name, "parameters", field)
            yield _PARAMETER_LOST(place, expected=parameter, observed=sorted(found or ()), field=field, tool=tool.name)


def _answers(view: View) -> Iterator[tuple[ReadRequest, tuple[FunctionCall, ...]]]:
    """Each request that carries the results of the answer before it, with the calls that the session holds there."""
    for request in read_requests(view):
        history = request.session_messages
        if len(history) >= 2 and history[-1].role == "tool" and history[-2].role == "model" and history[-2].calls:
            yield request, history[-2].calls


_RESULT_COUNT = finding(
    "tools/results-answer-every-call/result-count",
    "A tool call does not have exactly one result.",
    "one result for the call {call} of the tool {tool}",
    "{observed}, in a request with results for {answered}",
)


@check(
    "tools/results-answer-every-call",
    aspect=lambda view: by_place(view, ((r.call, _results_on_the_wire(r.wire)) for r in read_requests(view))),
)
def results_answer_every_call(view: View) -> Findings:
    """Each call of the answer before has exactly one result, under the id that the call came with."""
    for request, calls in _answers(view):
        results = results_in(_after_last_answer(request.wire))
        found = Counter(result.call_id for result in results)
        for call in calls:
            if found[call.id] == 1:
                yield Compared("results against calls")
                continue
            twice = [result for result in results if result.call_id == call.id]
            yield _RESULT_COUNT(
                request.at_part(twice[-1]) if twice else _at_results(request),
                expected=1,
                observed=found[call.id],
                related=(request.at_session(call),),
                call=call.id,
                tool=call.name,
                answered=sorted(found),
            )


def _at_results(request: ReadRequest) -> Place:
    """Where the results of the last answer stand, or would have to."""
    messages = request.wire.messages
    place = len(messages) - len(_after_last_answer(request.wire))
    return request.at("messages", min(place, len(messages) - 1)) if messages else request.at()


def _results_on_the_wire(sent: Call) -> JSON:
    return [
        {"call": result.call_id, "result": result.result, "error": result.is_error, "attached": len(result.attachments)}
        for result in results_in(sent.messages)
    ]


def _after_last_answer(sent: Call) -> list[Message]:
    """What stands behind the last model message that has calls."""
    messages = list(sent.messages)
    last = max((n for n, message in enumerate(messages) if message.calls), default=-1)
    return messages[last + 1 :]


_BEFORE_ITS_CALL = finding(
    "tools/results-follow-their-calls/no-call-before",
    "A tool result is before its call, or has no call.",
    "the call {call} in front of its result",
    "a result without it",
)
_SEPARATED = finding(
    "tools/results-follow-their-calls/separated",
    "There is something between a tool call and its result.",
    "the result of the call {call} in the message behind the call",
    "a message of role {between} in between",
)


@check("tools/results-follow-their-calls")
def results_follow_their_calls(view: View) -> Findings:
    """Directly behind the message that called, before any other content; anywhere in the conversation."""
    for request in read_requests(view):
        messages = _merge_neighbours(request.wire.messages)
        if not any(message.results for message in messages):
            continue
        wrong = list(_misplaced_results(request, messages))
        yield from findings_or_compared(wrong, "places of results")


def _merge_neighbours(messages: tuple[Message, ...]) -> list[Message]:
    """Neighbours of one role as one message, the way the API reads them."""
    merged: list[Message] = []
    for message in messages:
        if merged and merged[-1].role == message.role:
            merged[-1] = Message(message.role, merged[-1].parts + message.parts)
        else:
            merged.append(message)
    return merged


def _misplaced_results(request: ReadRequest, messages: list[Message]) -> Iterator[Finding]:
    """Results that stand somewhere else than behind their call. Missing ones are not looked for here."""
    calls: dict[str, int] = {}
    for position, message in enumerate(messages):
        for result in message.results:
            at = calls.get(result.call_id)
            if at is None:
                yield _BEFORE_ITS_CALL(request.at_part(result), call=result.call_id)
            elif position != at + 1:
                between = messages[at + 1]
                yield _SEPARATED(
                    request.at_part(between.parts[0]) if between.parts else request.at_part(result),
                    related=(request.at_part(result),),
                    call=result.call_id,
                    between=between.role,
                )
        for call in message.calls:
            calls[call.id] = position


_ORDER = finding(
    "tools/results-keep-the-order-of-calls/order",
    "The results of parallel calls are not in the order of the calls.",
    "results for {expected}, in this order",
    "{observed}",
)


@check("tools/results-keep-the-order-of-calls")
def results_keep_the_order_of_calls(view: View) -> Findings:
    """The results of parallel calls come in call order, however long each tool took."""
    for request, calls in _answers(view):
        expected = [call.id for call in calls]
        results = results_in(_after_last_answer(request.wire))
        found = [result.call_id for result in results]
        if len(expected) < 2 or sorted(expected) != sorted(found):
            continue
        if expected == found:
            yield Compared("orders of results")
        else:
            first = next(result for result, id in zip(results, expected, strict=True) if result.call_id != id)
            yield _ORDER(request.at_part(first, "call_id"), expected=expected, observed=found)


_FAILURE_MARK = finding(
    "tools/failure-is-marked-on-the-wire/mark",
    "The request marks a failed tool as successful, or a successful one as failed.",
    "the result of the call {call} marked as {expected:words}",
    "marked as {observed:words}",
)


@check("tools/failure-is-marked-on-the-wire")
def failure_is_marked_on_the_wire(view: View) -> Findings:
    """A failed tool is told from one that returned something, in either direction."""
    for request in read_requests(view):
        for own, sent in matched_results(request.session_messages, request.wire.messages):
            if own.is_error == sent.is_error:
                yield Compared("failed results" if own.is_error else "good results")
            else:
                yield _FAILURE_MARK(
                    request.at_part(sent, "is_error"),
                    expected=_outcome(own),
                    observed=_outcome(sent),
                    related=(request.at_session(own, "is_error"),),
                    call=own.call_id,
                )


def _outcome(result: ToolResult) -> str:
    return "failed" if result.is_error else "succeeded"


_UNANSWERED = finding(
    "tools/unknown-and-failing-tools-are-answered/missing",
    "A call whose tool failed, or does not exist, has no result.",
    "a result for the failed call {call} of the tool {tool}",
    "results for {observed}",
)


@check("tools/unknown-and-failing-tools-are-answered")
def unknown_and_failing_tools_are_answered(view: View) -> Findings:
    """The session answers such a call with an error; the adapter sends it like any other result."""
    for request, calls in _answers(view):
        expected = {result.call_id for result in request.session_messages[-1].results if result.is_error}
        found = {result.call_id for result in results_in(request.wire.messages)}
        for call in (each for each in calls if each.id in expected):
            if call.id in found:
                yield Compared("results of tools that failed or do not exist")
            else:
                yield _UNANSWERED(
                    _at_results(request),
                    observed=sorted(found),
                    related=(request.at_session(call),),
                    call=call.id,
                    tool=call.name,
                )


def is_unquoted(own: ToolResult, sent: ToolResult) -> bool:
    """Whether the text of a result is the value that was sent, or one in it, at any depth: an API that wants objects
    gets a list of content blocks from some libraries. Lines of other words may stand around it, such as that a picture
    follows, and white space around it is no quote. An error may be introduced as one."""
    values, text = leaves(sent.result), str(own.result)
    return own.result in values or any(
        _stands_alone(text.strip(), value) or (own.is_error and text in value) for value in values
    )


def _is_within(text: str, sent: ToolResult) -> bool:
    """Whether a text is in the result that was sent, as it is or with the escapes of JSON."""
    escaped = [json.dumps(text, ensure_ascii=ascii)[1:-1] for ascii in (True, False)]
    return any(form in value for value in leaves(sent.result) for form in (text, *escaped))


def _stands_alone(text: str, value: str) -> bool:
    """Whether a text stands in a value as it is, on lines of its own: with words around it, but with no quotes."""
    return bool(re.search(rf"(?:\A|[\n\r])[ \t]*{re.escape(text)}[ \t]*(?:[\n\r]|\Z)", value))


_TEXT_CHANGED = finding(
    "tools/string-results-go-out-unquoted/changed", "The text that a tool returned went out as something else."
)


@check("tools/string-results-go-out-unquoted")
def string_results_go_out_unquoted(view: View) -> Findings:
    """A tool that returns text has returned that text, without quotes or escapes around it.

    Where the API wants results as objects, the text is a member of one. A text that is not in its result at all was not
    quoted: what became of it is for `core/wire-is-what-the-session-holds` to tell.
    """
    for request in read_requests(view):
        for own, sent in matched_results(request.session_messages, request.wire.messages):
            if not isinstance(own.result, str) or not own.result.strip():
                continue
            if is_unquoted(own, sent):
                yield Compared("text results")
            elif _is_within(own.result.strip(), sent):
                yield _TEXT_CHANGED(
                    request.at_part(sent, "result"),
                    expected=own.result,
                    observed=sent.result,
                    related=(request.at_session(own, "result"),),
                )
