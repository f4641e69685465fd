"""Several hooks that change a prompt, one after the other, in order of priority."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..messages import JSON, Part, Text
from .prompt import Enrich, Enriched


@dataclass(frozen=True, slots=True)
class PromptHook:
    """One of several hooks, with its place among them: those of lower `priority` come first.

    `name` stands in the record of a prompt beside what the hook noted of it.
    """

    name: str
    enrich: Enrich
    priority: int = 50


def enrich_in_order(hooks: Sequence[PromptHook]) -> Enrich:
    """One hook of several: each gets what the one before it made. Of equal priority, the one named first comes first.

    The record of a prompt has what each hook noted, by its name. What a hook raises is raised, and nothing is sent.
    """
    ordered = sorted(hooks, key=lambda hook: hook.priority)

    def enrich(typed: tuple[Part, ...]) -> Enriched:
        parts: Sequence[str | Part] = typed
        notes: dict[str, JSON] = {}
        for hook in ordered:
            enriched = hook.enrich(tuple(Text(part) if isinstance(part, str) else part for part in parts))
            parts = enriched.parts
            if enriched.about is not None:
                notes[hook.name] = enriched.about
        return Enriched(parts, notes or None)

    return enrich
