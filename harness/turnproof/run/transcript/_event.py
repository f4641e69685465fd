"""What every event of a transcript says of its place."""

from __future__ import annotations

import msgspec


class BaseEvent(msgspec.Struct, frozen=True, kw_only=True, tag_field="event", omit_defaults=True):
    """Where in the run an event happened. Every event has it."""

    turn: int = -1
    """Index of the scenario turn the event belongs to; -1 outside any turn."""
    call: int = -1
    """Index of the provider call within the run; -1 where there is none."""
    probe: str = ""
    """Not empty for what a probe did after the conversation, by the name that scenarios have for it."""
