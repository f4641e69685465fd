"""Differences that follow from others, and are not told again."""

from __future__ import annotations

import re

from ...messages import JSON
from .aspect_readings import Reading, figures
from .difference_case import Case

_CONTENT = re.compile(r"\$\.response\.(parts|finish)\b")
_ERROR_MESSAGE = "$.response.error.message"
_FIGURES = ("$.limit", "$.requested", "$.message")


def is_consequence(case: Case) -> bool:
    """Whether a difference follows from one that is told elsewhere: at the same place, or in the session's copy."""
    if case.one is None or case.other is None:
        return False
    match case.aspect:
        case "wire":
            return _follows_on_the_wire(case, case.one.value, case.other.value)
        case "usage":
            return bool(_strays(case.one, case.path) == _strays(case.other, case.path))
        case "errors":
            return case.path in _FIGURES and all(_is_as_answered(side, case.path) for side in (case.one, case.other))
        case "history":
            # The session's copy differs in the same way.
            in_kept_history = case.path.startswith("$.kept")
            return in_kept_history and all(
                side.value["kept"] == side.value["session"] for side in (case.one, case.other)
            )
        case _:
            return False


def _follows_on_the_wire(case: Case, one: JSON, other: JSON) -> bool:
    if _CONTENT.match(case.path):
        # What a cut answer had brought by then is chance.
        return bool(one["response"]["ended"] != other["response"]["ended"])
    if case.path == _ERROR_MESSAGE and one["request"] != other["request"]:
        # A request in another form is counted otherwise, and refused with that count.
        return _without_figures(case.left) == _without_figures(case.right)
    return False


def _without_figures(message: object) -> str:
    return re.sub(r"\d+", "0", str(message))


def _strays(side: Reading, path: str) -> JSON:
    """How far a figure is from what the wire said, if it did: other requests may well be counted otherwise."""
    name = path.removeprefix("$.")
    last = side.call.last if side.call is not None else None
    answer = last.answer if last is not None else None
    wire = figures(answer.usage) if answer is not None and answer.usage is not None else {}
    return side.value[name] - wire.get(name, 0)


def _is_as_answered(side: Reading, path: str) -> bool:
    """Whether an error says what stood in the service's own words."""
    last = side.call.last if side.call is not None else None
    answer = last.answer if last is not None else None
    api_message = answer.error_message if answer is not None else None
    figure = side.value[path.removeprefix("$.")]
    return api_message is not None and figure is not None and str(figure) in api_message
