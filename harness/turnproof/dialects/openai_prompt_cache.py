"""How OpenAI's newer models cache prompts, the same in both of its APIs (openai 3.57, `PromptCacheOptions`).

Since GPT-5.6 a prefix is found again only where a breakpoint was, and no shorter one is. The service sets one itself,
at the end of the latest message that is not the model's, and a request may mark more (`prompt_cache_breakpoint` on a
block). With the mode `explicit` those are the only ones. The latest four are written, and the latest 80 places where
one may have been are looked at. An entry lives for thirty minutes, or for twelve hours where the request says so.

The service's own breakpoint is in its guide; a recording has 1217 of 1220 tokens written (instructions and one
message), and openai/codex#35300 measured that nothing is read where only the last message changes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final, NamedTuple

from ..messages import JSON
from .prefix_cache import Cell, Limits, Ttl, one_by_one

MODES: Final = ("implicit", "explicit")
LIVES: Final[Mapping[str, Ttl]] = {"30m": "30m", "12h": "12h"}
_MOST_READ = 80
_MOST_WRITTEN = 4


class Piece(NamedTuple):
    """A cell of a prompt, whether the request marks it, and whether it ends a message that is not the model's."""

    cell: Cell
    is_marked: bool = False
    ends_input: bool = False


def with_breakpoints(pieces: Iterable[Piece], options: JSON) -> list[Cell]:
    """The cells of a new prompt with the breakpoints of a request with these options. Changes the cells."""
    row = list(pieces)
    implicit = not (isinstance(options, Mapping) and options.get("mode") == "explicit")
    latest = max((n for n, piece in enumerate(row) if piece.ends_input), default=-1)
    for n, (cell, is_marked, ends_input) in enumerate(row):
        cell.mark = "5m" if is_marked or (implicit and ends_input) else None
        cell.is_written = is_marked or n == latest
    return list(one_by_one(piece.cell for piece in row))


def limits_of(options: JSON) -> Limits:
    """What limits the cache of a request with these options."""
    life = LIVES.get(str(options.get("ttl")), "30m") if isinstance(options, Mapping) else "30m"
    return Limits(_MOST_READ, _MOST_WRITTEN, life)
