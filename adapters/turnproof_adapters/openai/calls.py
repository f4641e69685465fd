"""Tool calls put together from their pieces.

Pieces of a call belong together by `index`. Servers that imitate the API were seen to give all parallel calls the same
index and tell them apart by their ids alone, or to send calls without index, id or both: another id begins another
call, and so does a name where the call before it is whole.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from turnproof.errors import PayloadError, TransportError
from turnproof.messages import FunctionCall

from .._characters import whole_characters
from .._decoding import decode_arguments
from .._names import made_up_id
from . import wire


@dataclass(slots=True)
class _Call:
    """What has been said of one call."""

    id: str = ""
    name: str = ""
    pieces: list[str] = field(default_factory=list)
    whole: dict[str, Any] | None = None

    def add(self, piece: wire.Call) -> None:
        self.id = self.id or piece.id or ""
        function = piece.function or wire.Function()
        self.name = self.name or function.name or ""
        if isinstance(function.arguments, str):
            self.pieces.append(function.arguments)
        elif function.arguments is not None:
            self.whole = function.arguments

    def arguments(self) -> Any:
        """The arguments; none at all count as an empty object. Raises ValueError for what is no JSON."""
        if self.whole is not None:
            return self.whole
        written = "".join(self.pieces)
        return decode_arguments(written) if written.strip() else {}

    def is_whole(self) -> bool:
        """Whether its arguments have been said, from beginning to end."""
        if self.whole is None and not "".join(self.pieces).strip():
            return False
        try:
            return isinstance(self.arguments(), dict)
        except ValueError:
            return False


class Calls:
    """The calls of one answer, in the order in which they began."""

    def __init__(self, restore: Callable[[str], str]) -> None:
        self._restore = restore
        self._calls: list[_Call] = []
        self._at: dict[tuple[int, int | None], _Call] = {}

    def add(self, choice: int, piece: wire.Call) -> None:
        """One piece, or a whole call, of a choice. Raises TransportError for a call that is no function's."""
        if piece.type not in (None, "", "function"):
            raise TransportError(f"the service sent a call of type {piece.type!r:.80}, which it was not offered")
        place = choice, piece.index
        known = self._at.get(place)
        if known is None or _begins_another(known, piece):
            known = self._at[place] = _Call()
            self._calls.append(known)
        known.add(piece)

    def parts(self, answer: str, *, cut: bool) -> Iterator[FunctionCall]:
        """The calls. `answer` tells this answer from all others, for calls without an id.

        Of an answer that was cut only those are given that were said to their end. Raises TransportError for arguments
        that are not a JSON object, and for a call without a name.
        """
        for place, call in enumerate(self._calls):
            if not cut or call.is_whole():
                yield self._part(call, answer, place)

    def _part(self, call: _Call, answer: str, place: int) -> FunctionCall:
        own = whole_characters(self._restore(call.name))
        try:
            args = call.arguments()
            if not isinstance(args, dict) or not own:
                raise ValueError("not a call")
            return FunctionCall(whole_characters(call.id) or made_up_id(answer, place), own, args)
        except (ValueError, PayloadError):
            raise TransportError(f"the service sent malformed arguments for a call of {own!r:.80}") from None


def _begins_another(known: _Call, piece: wire.Call) -> bool:
    if piece.id and known.id:
        return piece.id != known.id
    named = piece.function is not None and bool(piece.function.name)
    return named and bool(known.name) and known.is_whole()
