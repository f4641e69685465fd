"""What a script wants of a model, asked of a real one: by a setting of the request that is passed on.

The adapter's own request is judged as it was sent. Only what it leaves open is set: a tool choice or a limit of its own
stays as it is.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from ...dialects.asked_settings import each_setting, output_limits
from ...dialects.base import Call, HttpRequest, Reply, WantedAnswer
from ...messages import FinishReason, FunctionCall, Text, Thought
from .responders import due
from .server_run import Exchange, ServerRun

SHORT: Final = 4
"""Tokens of an answer that is to end at its limit: a model may end a longer one by itself. An API whose smallest limit
is higher is asked for that."""

_REACHED_SOON: Final = 16

_CHOICES: Final = ("toolchoice", "toolconfig")
_PLAIN: Final = (Text, Thought, FunctionCall)


def with_wanted_answer(run: ServerRun, exchange: Exchange, call: Call, *, imitated: bool) -> HttpRequest:
    """The request as the real service gets it. What is set for the script's sake becomes `asked` of the exchange.

    A service that only imitates the API may not know a choice of one tool by its name (llama.cpp does not). It is also
    offered no other tool than those that the script calls.
    """
    reply = _scripted(run, exchange, call)
    answer = _wanted_answer(reply, call) if reply is not None else None
    if reply is None or answer is None or not isinstance(call.body, Mapping):
        return exchange.request
    body = json.loads(exchange.request.body)
    exchange.asked = run.dialect.ask_for(body, answer)
    if not exchange.asked:
        return exchange.request
    tools = body.get("tools")
    if imitated and answer.tool is not None and isinstance(tools, list):
        called = _called_names(reply)
        exchange.asked["tools"] = [one for one in tools if _name(one) in called] or tools
    return replace(exchange.request, body=json.dumps(body | exchange.asked).encode())


def _scripted(run: ServerRun, exchange: Exchange, call: Call) -> Reply | None:
    """The reply of the armed turn's round under the names of the request; None where there is none, or a model cannot
    be asked for it: what only one service has, or a pause."""
    turn = due(call, run.turn)
    if turn is None or exchange.round >= len(turn.rounds):
        return None
    script = turn.rounds[exchange.round]
    reply = run.dialect.speak(Reply(script.parts, script.finish), run.tools, call)
    return reply if all(isinstance(each.part, _PLAIN) for each in reply.parts) else None


def _wanted_answer(reply: Reply, call: Call) -> WantedAnswer | None:
    """What the reply wants, as far as the request leaves it open; None where that is nothing."""
    names = _called_names(reply)
    declared = {tool.name for tool in call.tools}
    is_open = bool(declared) and not any(name in _CHOICES for name, *_ in each_setting(call.settings))
    answer = WantedAnswer(
        tool=next((name for name in names if is_open and name in declared), None),
        no_call=is_open and not names,
        most_tokens=SHORT if reply.finish is FinishReason.MAX_TOKENS and not _is_short(call) else None,
    )
    return answer if answer != WantedAnswer() else None


def _called_names(reply: Reply) -> list[str]:
    return [each.part.name for each in reply.parts if isinstance(each.part, FunctionCall)]


def _name(tool: Any) -> Any:
    """The name of a tool: its own, or that of the function in it."""
    found = tool.get("function", tool) if isinstance(tool, Mapping) else None
    return found.get("name") if isinstance(found, Mapping) else None


def _is_short(call: Call) -> bool:
    """Whether the request has a limit that an answer reaches soon."""
    return any(isinstance(limit, int) and limit <= _REACHED_SOON for limit in output_limits(call.settings).values())
