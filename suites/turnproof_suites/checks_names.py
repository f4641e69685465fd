"""Tools, by name: what the wire had to call a tool is the adapter's affair, and stays between it and the wire."""

from __future__ import annotations

from collections import Counter

from turnproof.messages import Message
from turnproof.requirements import Findings, check
from turnproof.verdict import violated
from turnproof.view import View

from .reading import answered, calls_made, matched_calls, requested


@check("tools/names-come-back")
def names_come_back(view: View) -> Findings:
    """A call names the tool as the session knows it, whatever the wire had to call it."""
    for one in answered(view):
        own = one.call.session_names
        for sent, got in matched_calls([Message.model(*one.wire.parts)], [Message.model(*one.response.parts)]):
            meant = own.get(sent.name, sent.name)
            if got.name == meant:
                yield "names of called tools"
            else:
                yield violated(
                    f"{one.where}: the model called {meant!r} ({sent.name!r} on the wire), "
                    f"the adapter returned a call of {got.name!r}"
                )


@check("tools/names-stay-apart")
def names_stay_apart(view: View) -> Findings:
    """No two tools under one name on the wire: the model could not choose between them."""
    for request in requested(view):
        names = [tool.name for tool in request.sent.tools]
        if len(names) < 2:
            continue
        double = sorted(name for name, times in Counter(names).items() if times > 1)
        own = [tool.name for tool in request.call.began.tools]
        rewritten = sorted(set(own) - set(names))
        if len(rewritten) > 1 and len(names) < len(own):
            # Some library between adapter and wire keeps tools by name: of those that look alike one is left.
            yield violated(f"{request.where}: of the session's tools {rewritten} not all went out: {sorted(names)}")
        elif double:
            yield violated(f"{request.where}: two tools went out as {double[0]!r}; the session's are {own}")
        else:
            yield "tool names"


@check("tools/names-are-legal")
def names_are_legal(view: View) -> Findings:
    """In the characters and the length that the API takes."""
    for request in requested(view):
        for name in [tool.name for tool in request.sent.tools] + [
            call.name for call in calls_made(request.sent.messages)
        ]:
            if view.dialect.legal_name.fullmatch(name):
                yield "tool names"
            else:
                yield violated(f"{request.where}: {name!r} went out as the name of a tool")


@check("tools/replayed-calls-use-declared-names")
def replayed_calls_use_declared_names(view: View) -> Findings:
    """In the history a tool has the same name as in the definitions beside it."""
    for request in requested(view):
        names = request.call.wire_names
        for own, sent in matched_calls(request.held, request.sent.messages):
            if own.name not in names:
                continue  # a tool that is no longer in force
            if sent.name == names[own.name]:
                yield "names of replayed calls"
            else:
                yield violated(
                    f"{request.where}: the tool {own.name!r} is defined as {names[own.name]!r}, "
                    f"and called {sent.name!r} in the history"
                )
