"""What the error answers of all dialects have in common: the usual error of a status, and the usual refusal."""

from __future__ import annotations

from collections.abc import Mapping

from .base import Refusal, Rule


def usual_error(kinds: Mapping[int, tuple[str, str]], status: int) -> tuple[str, str]:
    """The kind and usual message of a status; a status that the table does not have takes that of 400 or of 500."""
    return kinds.get(status) or (kinds[500] if status >= 500 else kinds[400])


def bad_request(rule: Rule, kind: str, message: str, path: str = "$") -> Refusal:
    """A refusal with status 400. `path` is one into the body, with or without the `$.` in front."""
    return Refusal(rule, 400, kind, message, path if path.startswith("$") else f"$.{path}")
