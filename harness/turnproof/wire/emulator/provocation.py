"""What a script wants of a model, asked of a real one: by a setting of the request that is passed on.

The adapter's own request is judged as it was sent. Only what it leaves open is set: a tool choice or a limit of its own
stays as it is.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from ...dialects.asked_settings import each_setting, output_limits
from ...dialects.base import Call, HttpRequest, Reply, WantedAnswer
from ...messages import FinishReason, FunctionCall, Text, Thought
from .responders import due
from .server_run import Exchange, ServerRun

SHORT: Final = 16
"""Tokens of an answer that is to end at its limit. The Responses API takes no smaller limit."""

_CHOICES: Final = ("toolchoice", "toolconfig")
_PLAIN: Final = (Text, Thought, FunctionCall)


def with_wanted_answer(run: ServerRun, exchange: Exchange, call: Call) -> HttpRequest:
    """The request as the real service gets it. What is set for the script's sake becomes `asked` of the exchange."""
    wanted = _wanted(run, exchange, call)
    if wanted is None or not isinstance(call.body, Mapping):
        return exchange.request
    body = json.loads(exchange.request.body)
    exchange.asked = run.dialect.ask_for(body, wanted)
    if not exchange.asked:
        return exchange.request
    return replace(exchange.request, body=json.dumps(body | exchange.asked).encode())


def _wanted(run: ServerRun, exchange: Exchange, call: Call) -> WantedAnswer | None:
    """What the armed turn's round wants, as far as the request leaves it open; None where that is nothing."""
    turn = due(call, run.turn)
    if turn is None or exchange.round >= len(turn.rounds):
        return None
    script = turn.rounds[exchange.round]
    reply = run.dialect.speak(Reply(script.parts, script.finish), run.tools, call)
    if not all(isinstance(each.part, _PLAIN) for each in reply.parts):
        return None  # what only one service has, or a pause
    names = [each.part.name for each in reply.parts if isinstance(each.part, FunctionCall)]
    declared = {tool.name for tool in call.tools}
    is_open = bool(declared) and not any(name in _CHOICES for name, *_ in each_setting(call.settings))
    wanted = WantedAnswer(
        tool=next((name for name in names if is_open and name in declared), None),
        no_call=is_open and not names,
        most_tokens=SHORT if script.finish is FinishReason.MAX_TOKENS and not _is_short(call) else None,
    )
    return wanted if wanted != WantedAnswer() else None


def _is_short(call: Call) -> bool:
    """Whether the request has a limit that an answer reaches soon."""
    return any(isinstance(limit, int) and limit <= SHORT for limit in output_limits(call.settings).values())
