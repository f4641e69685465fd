"""Which name on the wire stands for which declared tool.

A service may refuse names that a framework allows, and an adapter may rewrite any name as it likes (a prefix, a hash).
Any legal name will do, as long as each declared tool has one of its own and keeps it in definitions, calls and results.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from difflib import SequenceMatcher

from msgspec.structs import replace as with_fields

from ..messages import FunctionCall, Message, Part, ToolSchema
from .base import Reply, ReplyPart
from .tool_pairing import wire_names


class NameMap:
    """Held names to wire names, one to one; what the definitions leave open is learned from the calls.

    `legal` is the service's pattern. Names of tools that are not declared any more stand on the wire as they are, if
    they are legal and not longer than `safe_length` (clients disagree about the longest legal name), unless the
    declared ones are rewritten too.
    """

    def __init__(
        self, tools: Sequence[ToolSchema], sent: Sequence[ToolSchema], legal: re.Pattern[str], safe_length: int = 64
    ) -> None:
        self._legal = legal
        self._safe_length = safe_length
        self._wire = wire_names(tools, sent)
        self._own_names = {wire: own for own, wire in self._wire.items()}
        self._pair_illegal(tools, sent)
        self._rewrites_all = any(wire != own and self._may_stay(own) for own, wire in self._wire.items())

    def _pair_illegal(self, tools: Sequence[ToolSchema], sent: Sequence[ToolSchema]) -> None:
        """Names that cannot stand on the wire are those that look most like them, where nothing else tells."""
        for tool in tools:
            if tool.name not in self._wire and not self._may_stay(tool.name):
                best = most_similar(tool.name, [each.name for each in sent if each.name not in self._own_names])
                if best is not None:
                    self._bind(tool.name, best)

    def _bind(self, own_name: str, wire: str) -> None:
        self._wire[own_name] = wire
        self._own_names[wire] = own_name

    def _may_stay(self, name: str) -> bool:
        """Whether a name is legal and short enough that there is no reason of the service's to rewrite it."""
        return len(name) <= self._safe_length and self._legal.fullmatch(name) is not None

    def wire_name(self, own_name: str) -> str | None:
        """The name under which a held tool stands on the wire, as far as it is known."""
        return self._wire.get(own_name, own_name if self._may_stay(own_name) else None)

    def with_offered_names(self, messages: Sequence[Message]) -> tuple[Message, ...]:
        """Messages that a service holds, with each call under the name that its tool was offered by. A service may call
        a tool by a name that it takes from nobody; the client cannot change what stands there."""
        return tuple([self._as_offered(message) for message in messages])

    def _as_offered(self, message: Message) -> Message:
        def renamed(part: Part) -> Part:
            if not isinstance(part, FunctionCall) or self._legal.fullmatch(part.name):
                return part
            return with_fields(part, name=self.wire_name(part.name) or part.name)

        parts = tuple(map(renamed, message.parts))
        return message if parts == message.parts else with_fields(message, parts=parts)

    def agree(self, own_name: str, wire: str) -> bool:
        """Whether a call by this wire name is a call of this held tool. A first sight of a rewritten name binds it."""
        if (known := self._wire.get(own_name)) is not None:
            return known == wire
        if self._own_names.get(wire, own_name) != own_name:
            # A session that got a call under the name on the wire holds it under that name.
            return own_name == wire
        if self._may_stay(own_name) and not self._rewrites_all:
            # Without declared tools nothing tells how names are written: one with the held name in it is that.
            return own_name == wire or (not self._wire and own_name in wire)
        if self._legal.fullmatch(wire) is None:
            return False
        self._bind(own_name, wire)
        return True


def most_similar(name: str, candidates: Iterable[str]) -> str | None:
    """The candidate that looks most like a name (the first of equals), or None without candidates."""
    plain = _plain(name)
    return max(candidates, key=lambda each: SequenceMatcher(None, plain, _plain(each)).ratio(), default=None)


def _plain(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name.lower())


def spoken_name(name: str, tools: Sequence[ToolSchema], legal: re.Pattern[str]) -> str:
    """A scripted name as the model would say it. A legal name is said as it is, also when no tool has it.

    So is an illegal one that was offered all the same: whether it may be is for `validate`. Any other was rewritten,
    and the offered tool that looks most like it is meant. (Where two tools could be meant, `speak`, which knows the
    declared tools, has settled it before.)
    """
    offered = [tool.name for tool in tools]
    if legal.fullmatch(name) or name in offered:
        return name
    if (meant := most_similar(name, offered)) is not None:
        return meant
    written = "".join(character if legal.fullmatch(f"_{character}") else "_" for character in name)
    return written if legal.fullmatch(written) else f"_{written}"


def speak(reply: Reply, tools: Sequence[ToolSchema], sent: Sequence[ToolSchema], legal: re.Pattern[str]) -> Reply:
    """A scripted reply with its calls under the names that the request gave to the declared tools."""
    names = NameMap(tools, sent, legal)

    def with_wire_name(part: ReplyPart) -> ReplyPart:
        if not isinstance(part.part, FunctionCall):
            return part
        wire = names.wire_name(part.part.name)
        return replace(part, part=with_fields(part.part, name=wire)) if wire else part

    return replace(reply, parts=tuple(map(with_wire_name, reply.parts)))
