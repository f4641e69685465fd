"""How many scenarios a command runs: those of the default depth, or all of them."""

from __future__ import annotations

from typing import Final, Literal, TypeAlias, get_args

Depth: TypeAlias = Literal["quick", "full"]
"""Of a command: what it runs. Of a scenario: the lowest depth that has it."""

DEPTHS: Final[tuple[Depth, ...]] = get_args(Depth)
DEFAULT_DEPTH: Final[Depth] = "quick"
"""Of every command but `gate`, and of a scenario whose file names none."""
