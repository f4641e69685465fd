"""The model's side of a turn: rounds of parts, with the pieces in which they stream."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Final

from .._base.suggestions import did_you_mean
from ..dialects.base import FIGURES, ReplyPart
from ..messages import FinishReason, FunctionCall, Opaque, ProviderData, Text, Thought
from ._arguments import call_arguments
from ._content import head_of, read_pieces
from ._located_value import LocatedValue
from .model import RecordedAnswer, ScriptRound

STOP_SEQUENCE: Final = "stop_sequence"
FINISHES: Final = (*(str(reason) for reason in FinishReason if reason not in ("error", "cancelled")), STOP_SEQUENCE)
_LIMITS: Final = ("max_tokens", "context_limit")
_MODEL_PARTS: Final = ("text", "thinking", "redacted", "call", "block")
_SCRIPTED: Final = "scenario"


@dataclass(slots=True)
class RoundReader:
    """Reads the rounds of one turn. `declared` are the tools in force: a call must name one, or say `unknown`."""

    declared: Collection[str]
    unknown: set[str] = field(default_factory=set)
    """The undeclared tools that calls named so far."""

    def read(self, spot: LocatedValue) -> tuple[ScriptRound, ...]:
        """One text for one round, or a list of rounds."""
        if spot.is_text:
            return (self._round(spot),)
        rounds = tuple(map(self._round, spot.items("a list of rounds")))
        if not rounds:
            spot.refuse("needs at least one round; an empty answer is written [[]]")
        return rounds

    def _round(self, spot: LocatedValue) -> ScriptRound:
        body, finish, raw, usage, recorded = spot, None, None, None, None
        again: tuple[ScriptRound, ...] = ()
        if isinstance(spot.value, dict) and not spot.is_text:
            if "parts" not in spot.value and set(spot.value) & set(_MODEL_PARTS):
                spot.refuse("a round is a list of parts; put this part into [ ]")
            spot.mapping(("parts", "finish", "raw_finish", "usage", "recorded", "again"), ("parts",), "a round")
            body, finish, raw, usage = spot.at("parts"), spot.get("finish"), spot.get("raw_finish"), spot.get("usage")
            recorded = _recorded(answer) if (answer := spot.get("recorded")) else None
            again = self._again(others) if (others := spot.get("again")) else ()
        parts = tuple(map(self._part, body.one_or_many()))
        _check_parts(body, parts)
        reason, raw_finish = self._finish(finish, raw is not None, parts)
        return ScriptRound(
            parts=parts,
            finish=reason,
            raw_finish=raw.nonempty_text("the provider's word") if raw else raw_finish,
            usage=_figures(usage) if usage else {},
            recorded=recorded,
            again=again,
        )

    def _again(self, spot: LocatedValue) -> tuple[ScriptRound, ...]:
        """What is answered when the same is asked again."""
        answers = spot.items("a list of answers")
        if not answers:
            spot.refuse("needs at least one answer")
        for answer in answers:
            if isinstance(answer.value, dict) and not answer.is_text:
                answer.refuse("is a text or a list of parts")
        return tuple(map(self._round, answers))

    def _finish(
        self, spot: LocatedValue | None, raw: bool, parts: tuple[ReplyPart, ...]
    ) -> tuple[FinishReason, str | None]:
        calls = [part for part in parts if isinstance(part.part, FunctionCall)]
        if spot is None:
            if any(part.broken for part in calls):
                return FinishReason.MAX_TOKENS, None
            return (FinishReason.TOOL_USE if calls else FinishReason.STOP), None
        word = spot.choice(FINISHES)
        if word == FinishReason.UNKNOWN and not raw:
            spot.refuse("an unknown reason needs 'raw_finish', the provider's word for it")
        if word == STOP_SEQUENCE:
            return FinishReason.STOP, word
        if word == FinishReason.TOOL_USE and not calls:
            spot.refuse("'tool_use' needs a call in this round")
        if any(part.broken for part in calls) and word not in _LIMITS:
            spot.refuse(f"a broken call is what a limit leaves behind: {' or '.join(_LIMITS)}")
        return FinishReason(word), None

    def _part(self, spot: LocatedValue) -> ReplyPart:
        if spot.is_text:
            return ReplyPart(Text(spot.text()))
        match head_of(spot, _MODEL_PARTS, "a part of the answer"):
            case "text":
                text, pieces = read_pieces(spot.mapping(("text", "data")).at("text"))
                return ReplyPart(Text(text, provider_data=_data(spot)), pieces)
            case "thinking":
                text, pieces = read_pieces(spot.mapping(("thinking",)).at("thinking"))
                return ReplyPart(Thought(text), pieces)
            case "redacted":
                data = {"redacted": spot.mapping(("redacted",)).at("redacted").nonempty_text("the encrypted thinking")}
                return ReplyPart(Thought("", provider_data=ProviderData(_SCRIPTED, "", data)))
            case "block":
                each = spot.mapping(("block",)).at("block").members("blocks by dialect")
                blocks = {name: block.json_object("a block in that dialect's spelling") for name, block in each}
                return ReplyPart(Opaque(_SCRIPTED, "block", blocks))
            case _:
                return self._call(spot)

    def _call(self, spot: LocatedValue) -> ReplyPart:
        spot.mapping(("call", "args", "pieces", "id", "broken", "malformed", "unknown", "data"))
        name = self._tool_name(spot)
        pieces = (
            tuple(piece.text("a piece of JSON") for piece in spot.at("pieces").items()) if spot.get("pieces") else ()
        )
        broken = (flag := spot.get("broken")) is not None and flag.flag()
        malformed = (flag := spot.get("malformed")) is not None and flag.flag()
        args = call_arguments(spot, pieces, "broken" if broken else "malformed" if malformed else None)
        id_spot = spot.get("id")
        # Without an id the dialect issues one, in the service's own style.
        call_id = id_spot.nonempty_text("an id") if id_spot else ""
        call = FunctionCall(id=call_id, name=name, args=args, provider_data=_data(spot))
        return ReplyPart(call, pieces, broken)

    def _tool_name(self, spot: LocatedValue) -> str:
        called = spot.at("call")
        name = called.nonempty_text("a tool name")
        flag = spot.get("unknown")
        if flag is not None and flag.flag():
            if name in self.declared:
                flag.refuse(f"the tool {name!r} is declared, so it is not unknown")
            self.unknown.add(name)
        elif name not in self.declared:
            hint = did_you_mean(name, self.declared) or "; declare it, or add 'unknown: true'"
            called.refuse(f"no tool {name!r} is declared for this turn{hint}")
        return name


def _recorded(spot: LocatedValue) -> RecordedAnswer:
    spot.mapping(("body", "asked", "status", "headers", "stream"), ("body", "asked"), "a recorded answer")
    status, headers, stream = (spot.get(key) for key in ("status", "headers", "stream"))
    return RecordedAnswer(
        body=spot.at("body").text("the body as it came"),
        asked=spot.at("asked").nonempty_text("how it was asked for, as chat"),
        status=status.integer(200, 599) if status else 200,
        headers={name: value.text() for name, value in headers.members("headers by name")} if headers else {},
        stream=stream is not None and stream.flag(),
    )


def _data(spot: LocatedValue) -> ProviderData | None:
    data_spot = spot.get("data")
    if data_spot is None:
        return None
    return ProviderData(_SCRIPTED, "", data_spot.json_object("what goes with it, in the service's own spelling"))


def _check_parts(spot: LocatedValue, parts: tuple[ReplyPart, ...]) -> None:
    if any(part.broken for part in parts[:-1]):
        spot.refuse("nothing can follow a broken call")
    ids = [part.part.id for part in parts if isinstance(part.part, FunctionCall) and part.part.id]
    if len(set(ids)) < len(ids):
        spot.refuse("two calls of one answer have the same id")


def _figures(spot: LocatedValue) -> dict[str, int]:
    return {name: figure.integer(0) for name, figure in spot.mapping(FIGURES, (), "figures of usage").members()}
