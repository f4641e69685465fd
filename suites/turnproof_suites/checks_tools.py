"""Tools, outgoing: definitions are in force each turn, and every call gets its result, in place and as it was."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from turnproof.dialects.base import Call
from turnproof.messages import JSON, FunctionCall, Message, ToolSchema
from turnproof.requirements import Findings, check
from turnproof.verdict import violated
from turnproof.view import ProviderCall, View
from turnproof.view.diff import show

from .reading import Requested, by_place, matched_results, requested, results_in


@check("tools/definitions-are-sent-each-turn")
def definitions_are_sent_each_turn(view: View) -> Findings:
    """The tools in force, each with its description and parameters, and no tool that is gone."""
    for request in requested(view):
        held = request.call.began.tools
        if not held and not request.sent.tools:
            continue
        wrong = _wrong_definition(request)
        if wrong is not None:
            yield violated(f"{request.where}: {wrong}")
        else:
            yield "tool definitions"


def _wrong_definition(request: Requested) -> str | None:
    sent = {tool.name: tool for tool in request.sent.tools}
    names = request.call.wire_names
    for tool in request.call.began.tools:
        if tool.name not in names:
            return f"the tool {tool.name!r} is not in the request, which has {sorted(sent)}"
        if wrong := _changed_definition(tool, sent[names[tool.name]]):
            return f"the tool {tool.name!r} {wrong}"
    extra = sorted(set(sent) - set(names.values()))
    # A schema for the answer may be sent as a tool of its own.
    if extra and request.call.began.response_schema is None:
        return f"the request has a tool that is not in force: {extra[0]!r}"
    return None


def _changed_definition(held: ToolSchema, sent: ToolSchema) -> str | None:
    """What of a definition was lost. Additions such as `additionalProperties` are the adapter's right."""
    if held.description and held.description not in sent.description:
        return f"has the description {show(sent.description)} instead of {show(held.description)}"
    for field in ("properties", "required"):
        wanted, found = held.parameters.get(field), sent.parameters.get(field)
        lost = set(wanted or ()) - set(found or ())
        if lost:
            return f"lost {sorted(lost)[0]!r} of its parameters' {field}"
    return None


def _answers(view: View) -> Iterator[tuple[ProviderCall, Requested, tuple[FunctionCall, ...]]]:
    """Each request that carries the results of the answer before it, with the calls that the session holds there."""
    for request in requested(view):
        held = request.held
        if len(held) >= 2 and held[-1].role == "tool" and held[-2].role == "model" and held[-2].calls:
            yield request.call, request, held[-2].calls


@check(
    "tools/results-answer-every-call",
    aspect=lambda view: by_place(view, ((r.call, _results_on_the_wire(r.sent)) for r in requested(view))),
)
def results_answer_every_call(view: View) -> Findings:
    """Each call of the answer before has exactly one result, under the id that the call came with."""
    for call, request, calls in _answers(view):
        found = Counter(result.call_id for result in results_in(_after_last_answer(request.sent)))
        for made in calls:
            if found[made.id] == 1:
                yield "results against calls"
            else:
                yield violated(
                    f"{call.where}: the request has {found[made.id]} results for the call {made.id!r} of "
                    f"{made.name!r} instead of one; it has results for {sorted(found)}"
                )


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


@check("tools/results-follow-their-calls")
def results_follow_their_calls(view: View) -> Findings:
    """Directly behind the message that called, before any other content; anywhere in the conversation."""
    for request in requested(view):
        messages = _merged(request.sent.messages)
        if not any(message.results for message in messages):
            continue
        wrong = _misplaced(messages)
        if wrong is not None:
            yield violated(f"{request.where}: {wrong}", detail=" ".join(message.role for message in messages))
        else:
            yield "places of results"


def _merged(messages: tuple[Message, ...]) -> list[Message]:
    """Neighbours of one role as one message, the way the API reads them."""
    merged: list[Message] = []
    for message in messages:
        if merged and merged[-1].role == message.role:
            merged[-1] = Message(message.role, merged[-1].parts + message.parts)
        else:
            merged.append(message)
    return merged


def _misplaced(messages: list[Message]) -> str | None:
    """A result that stands somewhere else than behind its call. Missing ones are not looked for here."""
    behind: dict[str, int] = {}
    for position, message in enumerate(messages):
        for result in message.results:
            at = behind.get(result.call_id)
            if at is None:
                return f"the result for {result.call_id!r} stands before its call, or has none"
            if position != at + 1:
                between = messages[at + 1].role
                return f"between the call {result.call_id!r} and its result stands a message of role {between!r}"
        for call in message.calls:
            behind[call.id] = position
    return None


@check("tools/results-keep-the-order-of-calls")
def results_keep_the_order_of_calls(view: View) -> Findings:
    """The results of parallel calls come in call order, however long each tool took."""
    for call, request, calls in _answers(view):
        wanted = [made.id for made in calls]
        got = [result.call_id for result in results_in(_after_last_answer(request.sent))]
        if len(wanted) < 2 or sorted(wanted) != sorted(got):
            continue
        if wanted == got:
            yield "orders of results"
        else:
            yield violated(f"{call.where}: the calls came as {wanted}, their results went out as {got}")


@check("tools/failure-is-marked-on-the-wire")
def failure_is_marked_on_the_wire(view: View) -> Findings:
    """A failed tool is told from one that returned something, in either direction."""
    for request in requested(view):
        for own, sent in matched_results(request.held, request.sent.messages):
            if own.is_error == sent.is_error:
                yield "failed results" if own.is_error else "good results"
            else:
                said = "failed" if own.is_error else "did not fail"
                yield violated(f"{request.where}: the tool of call {own.call_id!r} {said}; the wire says otherwise")


@check("tools/unknown-and-failing-tools-are-answered")
def unknown_and_failing_tools_are_answered(view: View) -> Findings:
    """The session answers such a call with an error; the adapter sends it like any other result."""
    for call, request, calls in _answers(view):
        wanted = {result.call_id for result in request.held[-1].results if result.is_error}
        found = {result.call_id for result in results_in(request.sent.messages)}
        for made in (made for made in calls if made.id in wanted):
            if made.id in found:
                yield "results of tools that failed or do not exist"
            else:
                yield violated(
                    f"{call.where}: the failed call {made.id!r} of {made.name!r} has no result in the request"
                )


@check("tools/string-results-go-out-unquoted")
def string_results_go_out_unquoted(view: View) -> Findings:
    """A tool that returns text has returned that text, without quotes or escapes around it.

    Where the API wants results as objects, the text is a member of one.
    """
    for request in requested(view):
        for own, sent in matched_results(request.held, request.sent.messages):
            if not isinstance(own.result, str) or not own.result.strip():
                continue
            said = sent.result.values() if isinstance(sent.result, dict) else [sent.result]
            if own.result in said:
                yield "text results"
            elif own.is_error and any(isinstance(one, str) and own.result in one for one in said):
                yield "text results"  # an error may be introduced as one
            else:
                yield violated(
                    f"{request.where}: the tool returned {show(own.result)}, the wire carried {show(sent.result)}"
                )
