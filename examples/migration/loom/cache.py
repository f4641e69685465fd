"""Where a service may keep the beginning of a prompt for the next request."""

from __future__ import annotations

from collections.abc import Sequence

from .notes import Note

_WORTH_IT = 4096
"""Characters; services keep nothing that is shorter than about a thousand tokens."""


class Breakpoints:
    """Marks the end of each request, which is the beginning of the next one."""

    def __init__(self) -> None:
        self.losses = 0

    def last(self, notes: Sequence[Note]) -> int:
        """The place of the note to be marked; -1 in a conversation that is too short to be kept."""
        return len(notes) - 1 if sum(len(note.text) for note in notes) > _WORTH_IT else -1

    def forget(self) -> None:
        """What was sent is not the beginning of the next request any more."""
        self.losses += 1
