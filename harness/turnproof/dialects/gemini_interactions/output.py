"""A scripted reply as the steps of an interaction, made up once, so that batch and stream say the same.

Each scripted part is a step of its own: a text a `model_output`, a thought a `thought` with its signature, which seals
what nobody may read. A summary of the thought shows only if the request asks for it. A call is its own step and has no
signature: that of the thought in front of it is what has to go back (seen by allenhutchison/obsidian-gemini#1269).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from ...errors import HarnessError
from ...messages import FunctionCall, Text, Thought, thaw
from ..base import Reply, ReplyPart
from ..lenient_reading import json_of
from ..naming import spoken_name
from .addresses import InteractionsCall
from .models import LEGAL_NAME
from .rules import NAME
from .store import sign
from .writing import call_id

Json = dict[str, Any]

_OWN_DIALECTS = (NAME, "scenario")
"""Dialects whose provider data a scripted part may carry: our own, and that of scenarios, which serve every dialect."""


@dataclass(frozen=True, slots=True)
class SpokenStep:
    """One step of an answer, and the scripted part that it says. A step that is not `whole` was cut off in its
    arguments."""

    step: Json
    source: ReplyPart
    whole: bool = True


def spoken_steps(reply: Reply, call: InteractionsCall, model: str, seed: str) -> list[SpokenStep]:
    """The steps of an interaction, in order."""
    return [step for n, part in enumerate(reply.parts) for step in _steps(part, n, call, model, f"{seed}\0{n}")]


def _steps(reply_part: ReplyPart, n: int, call: InteractionsCall, model: str, seed: str) -> Iterator[SpokenStep]:
    part = reply_part.part
    data: Mapping[str, Any] = (
        part.provider_data.data if part.provider_data and part.provider_data.dialect in _OWN_DIALECTS else {}
    )
    match part:
        case Text(text=text):
            if text:
                step: Json = {"content": [{"text": text, "type": "text"}], "type": "model_output"}
                yield SpokenStep(step, reply_part)
        case Thought(text=text):
            hidden = text + str(data.get("redacted", ""))
            step = {
                "signature": data.get("signature") or data.get("encrypted") or sign(hidden, model, seed),
                "type": "thought",
            }
            if text and call.shows_thoughts:
                step["summary"] = [{"text": text, "type": "text"}]
            yield SpokenStep(step, reply_part)
        case FunctionCall():
            step = {
                "id": part.id or call_id(seed, n),
                "name": spoken_name(part.name, call.tools, LEGAL_NAME),
                "arguments": thaw(part.args),
                "type": "function_call",
            }
            yield SpokenStep(step, reply_part, whole=_is_whole(reply_part))
        case _ if (own := reply_part.own_block(NAME)) is not None:
            yield SpokenStep(own, reply_part)
        case _:
            raise HarnessError(f"{NAME} cannot answer with a part of type {type(part).__name__}: {part!r:.80}")


def _is_whole(reply_part: ReplyPart) -> bool:
    """Whether a scripted call comes to its end, with arguments that are an object."""
    text = "".join(reply_part.pieces)
    return not reply_part.broken and (not text or isinstance(json_of(text), dict))
