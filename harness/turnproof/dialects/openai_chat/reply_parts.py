"""What a scripted reply says in this API's words: thinking, a text or a refusal, calls.

However the script mixes them, an answer holds one thinking, then one text, then the calls: that is all its form has
room for. Where a surface shows no thinking, it is thought and counted all the same.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from ...errors import HarnessError
from ...messages import FinishReason, FunctionCall, Opaque, Part, Text, Thought
from ..base import Reply, ReplyPart
from ..naming import spoken_name
from ..seeded_random import seeded_number
from ..stream_cuts import arguments_json, call_pieces, cut_text
from .content import is_refusal
from .models import LEGAL_NAME
from .rules import NAME
from .surface_table import SURFACE_TABLE
from .surfaces import ChatCall
from .writing import call_id

_OWN_DIALECTS = (NAME, "scenario")
"""Dialects whose provider data a scripted part may carry: our own, and that of scenarios, which serve every dialect."""
_SEALS = ("encrypted", "signature", "redacted")


@dataclass(frozen=True, slots=True)
class ReplyCall:
    """One call as it stands on the wire, and the pieces in which its arguments stream.

    `custom` says that it is of a tool that takes a text: its arguments are that text.
    """

    id: str
    name: str
    arguments: str
    pieces: tuple[str, ...]
    custom: bool = False

    def wire_form(self, arguments: str) -> dict[str, Any]:
        """The call with these arguments, under the name of its kind; without its id."""
        kind, field = ("custom", "input") if self.custom else ("function", "arguments")
        return {"type": kind, kind: {"name": self.name, field: arguments}}

    def wire_piece(self, arguments: str) -> dict[str, Any]:
        """A later piece of its arguments."""
        return {"custom": {"input": arguments}} if self.custom else {"function": {"arguments": arguments}}


@dataclass(slots=True)
class Speech:
    """What one answer says. Pieces joined are the whole. `sealed` is the encrypted form of the thinking.

    `fields` are further members of the message, scripted in this API's own words.
    """

    thinking: list[str] = field(default_factory=list)
    text: list[str] = field(default_factory=list)
    refuses: bool = False
    calls: list[ReplyCall] = field(default_factory=list)
    sealed: str | None = None
    fields: dict[str, Any] = field(default_factory=dict)


def speech(reply: Reply, call: ChatCall, seed: str) -> Speech:
    """A reply in this API's words."""
    found = Speech(refuses=reply.finish is FinishReason.REFUSAL)
    shows = SURFACE_TABLE[call.surface].thoughts is not None
    for n, each in enumerate(reply.parts):
        part, cut = each.part, seeded_number(seed, "cut", n)
        match part:
            case Text(text=text):
                found.refuses = found.refuses or is_refusal(part)
                found.text += each.pieces or cut_text(text, cut)
            case Thought(text=text):
                found.thinking += (each.pieces or cut_text(text, cut)) if shows else ()
                found.sealed = _seal(part) or found.sealed
            case FunctionCall():
                found.calls.append(_call(each, part, call, seed, len(found.calls), cut))
            case Opaque() if (own := each.own_block(NAME)) is not None:
                if isinstance(own.get("custom"), dict):
                    found.calls.append(_custom_call(own, each, call, seed, len(found.calls), cut))
                else:
                    found.fields |= own
            case _:
                raise HarnessError(f"{NAME} cannot answer with a part of type {type(part).__name__}: {part!r:.80}")
    return found


def _call(reply_part: ReplyPart, part: FunctionCall, call: ChatCall, seed: str, number: int, cut: int) -> ReplyCall:
    name = spoken_name(part.name, call.tools, LEGAL_NAME)
    pieces = reply_part.pieces or call_pieces(reply_part, cut) or (arguments_json({}, escaped=False),)
    return ReplyCall(part.id or call_id(call.surface, seed, number), name, "".join(pieces), pieces)


def _custom_call(
    own: Mapping[str, Any], reply_part: ReplyPart, call: ChatCall, seed: str, number: int, cut: int
) -> ReplyCall:
    text = str(own["custom"].get("input", ""))
    pieces = reply_part.pieces or tuple(cut_text(text, cut)) or ("",)
    own_id = str(own.get("id") or call_id(call.surface, seed, number))
    return ReplyCall(own_id, str(own["custom"].get("name", "")), "".join(pieces), pieces, custom=True)


def _seal(part: Part) -> str | None:
    data = part.provider_data
    hidden: Mapping[str, Any] = data.data if data is not None and data.dialect in _OWN_DIALECTS else {}
    return _first(str(hidden[name]) for name in _SEALS if hidden.get(name))


def _first(values: Iterable[str]) -> str | None:
    return next(iter(values), None)
