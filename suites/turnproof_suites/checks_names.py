"""Tools, by name: what the wire had to call a tool is the adapter's affair, and stays between it and the wire."""

from __future__ import annotations

import re
from collections import Counter

from turnproof.dialects.base import Call
from turnproof.dialects.stored_calls import StoredCall
from turnproof.judge.finding import Compared
from turnproof.judge.requirements import Findings, check, finding
from turnproof.judge.view import View
from turnproof.messages import Message

from .content import calls_made, matched_calls
from .reading import answered_calls, names_on_the_wire, read_requests

_NAME_CHANGED = finding(
    "tools/names-come-back/changed",
    "The adapter returned a call of a tool under another name than the session's.",
    "a call of {expected}, which has the name {wire} in the request",
    "a call of {observed}",
)


@check("tools/names-come-back")
def names_come_back(view: View) -> Findings:
    """A call names the tool as the session knows it, whatever the wire had to call it."""
    for one in answered_calls(view):
        own = one.call.session_names
        for sent, response_call in matched_calls(
            [Message.model(*one.wire.parts)], [Message.model(*one.response.parts)]
        ):
            meant = own.get(sent.name, sent.name)
            if response_call.name == meant:
                yield Compared("names of called tools")
            else:
                yield _NAME_CHANGED(
                    one.at_part(response_call, "name"),
                    expected=meant,
                    observed=response_call.name,
                    related=(one.at_wire(sent),),
                    wire=sent.name,
                )


_TOOL_LOST = finding(
    "tools/names-stay-apart/tool-missing",
    "Tools with similar names did not all go out.",
    "each of the tools {expected} under a different name",
    "the names {observed}",
)
_ONE_NAME = finding(
    "tools/names-stay-apart/one-name",
    "Two tools went out under one name.",
    "one tool with the name {name}",
    "{observed}",
)


@check("tools/names-stay-apart")
def names_stay_apart(view: View) -> Findings:
    """No two tools under one name on the wire: the model could not choose between them."""
    for request in read_requests(view):
        names = [tool.name for tool in request.wire.tools]
        if len(names) < 2:
            continue
        double = {name: times for name, times in sorted(Counter(names).items()) if times > 1}
        own = [tool.name for tool in request.call.began.tools]
        rewritten = sorted(set(own) - set(names))
        if len(rewritten) > 1 and len(names) < len(own):
            # Some library between adapter and wire keeps tools by name: of those that look alike one is left.
            yield _TOOL_LOST(request.at("tools"), expected=own, observed=sorted(names))
            continue
        for name, times in double.items():
            second = [n for n, each in enumerate(names) if each == name][1]
            yield _ONE_NAME(request.at("tools", second, "name"), expected=1, observed=times, name=name)
        if not double:
            yield Compared("tool names")


def _called_by_the_service(wire: Call, legal: re.Pattern[str]) -> frozenset[int]:
    """The calls, by identity, that a service holds under names that it takes from nobody: it called them so itself, and
    they stand in no request."""
    if not isinstance(wire, StoredCall):
        return frozenset()
    held = calls_made(wire.messages[: wire.managed_messages])
    return frozenset([id(call) for call in held if not legal.fullmatch(call.name)])


_ILLEGAL = finding(
    "tools/names-are-legal/illegal",
    "A tool went out under a name that the API does not take.",
    "a name that matches {expected:words}",
    "{observed}",
)


@check("tools/names-are-legal")
def names_are_legal(view: View) -> Findings:
    """In the characters and the length that the API takes. What a service holds under another name it called so."""
    legal = view.dialect.legal_name
    for request in read_requests(view):
        for tool in request.wire.tools:
            if legal.fullmatch(tool.name):
                yield Compared("tool names")
            else:
                yield _ILLEGAL(request.at_tool(tool.name, "name"), expected=legal.pattern, observed=tool.name)
        foreign = _called_by_the_service(request.wire, legal)
        for call in calls_made(request.wire.messages):
            if id(call) in foreign:
                continue
            if legal.fullmatch(call.name):
                yield Compared("tool names")
            else:
                yield _ILLEGAL(request.at_part(call, "name"), expected=legal.pattern, observed=call.name)


_OTHER_NAME = finding(
    "tools/replayed-calls-use-declared-names/another-name",
    "A call in the history has another name than its tool in the definitions.",
    "a call of {expected}, the name of {tool} in the definitions",
    "a call of {observed}",
)


@check("tools/replayed-calls-use-declared-names")
def replayed_calls_use_declared_names(view: View) -> Findings:
    """In the history a tool has the same name as in the definitions beside it; one that is gone, as in the last."""
    for request in read_requests(view):
        names, declared = request.call.wire_names, names_on_the_wire(view, request)
        foreign = _called_by_the_service(request.wire, view.dialect.legal_name)
        for own, sent in matched_calls(request.session_messages, request.wire.messages):
            if own.name not in declared or id(sent) in foreign:
                continue  # a tool that never was in force here, or a name that nobody offered
            if sent.name == declared[own.name]:
                yield Compared("names of replayed calls")
            else:
                definition = (request.at_tool(names[own.name], "name"),) if own.name in names else ()
                yield _OTHER_NAME(
                    request.at_part(sent, "name"),
                    expected=declared[own.name],
                    observed=sent.name,
                    related=(request.at_session(own, "name"), *definition),
                    tool=own.name,
                )
