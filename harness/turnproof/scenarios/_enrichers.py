"""What changes the user's texts on their way to the model, in a scenario."""

from __future__ import annotations

from collections.abc import Iterator

from ._located_value import LocatedValue
from .model import TextChange


def read_enrichers(spot: LocatedValue) -> tuple[TextChange, ...]:
    """A list of `{priority: n, adds: TEXT}` and `{priority: n, replaces: TEXT, by: TEXT}`. Raises ScenarioError."""
    found = tuple(_enrichers(spot))
    if not found:
        spot.refuse("needs at least one: {priority: 20, adds: 'pumps.md: bed 3 has pump 2.'}")
    return found


def _enrichers(spot: LocatedValue) -> Iterator[TextChange]:
    for item in spot.items("a list of changes"):
        item.mapping(("priority", "adds", "replaces", "by"), ("priority",), "a change of the user's texts")
        adds, replaces, by = item.get("adds"), item.get("replaces"), item.get("by")
        if (adds is None) == (replaces is None) or (replaces is None) != (by is None):
            item.refuse("has 'adds', or 'replaces' with 'by'")
        yield TextChange(
            priority=item.at("priority").integer(0),
            adds=adds.nonempty_text("a text to be added") if adds else None,
            replaces=replaces.nonempty_text("a text to be replaced") if replaces else None,
            by=by.nonempty_text("a text in its place") if by else "",
        )
