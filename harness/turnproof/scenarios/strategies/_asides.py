"""What is said beside the usual course of a turn: to a child of the session, by a command, and in between."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any, Final

from hypothesis import strategies as st

from ..documents import Round, calls_of, events, parts_of, running
from ._answers import ending
from ._texts import pieces, texts
from ._weights import Setting, weighted

# What a child is told and answers must not turn up in its parent's conversation, so nothing of it is drawn there.
_CHILD_TASKS: Final = st.sampled_from(("Count the pots.", "How many of the pots are cracked?", "Zähle die Töpfe."))
_REPLIES: Final = st.sampled_from(
    ("There are twelve pots.", "None of them, it seems.", "Zwölf Töpfe\u2028\n🪴")
).flatmap(pieces)
_MORE: Final = st.sampled_from(("And label the pots.", "Stop: the pots first.", "🪴 zuerst\r\n"))

CHILD: Final = st.fixed_dictionaries({"user": _CHILD_TASKS, "model": _REPLIES.map(lambda text: [[{"text": text}]])})
"""A turn of the session's child."""

COMMAND: Final = st.fixed_dictionaries({"command": texts(2), "outcome": texts()})
"""A command that the user gave to the program, and what came of it."""


@cache
def interjecting(setting: Setting, *, tool: bool) -> bool:
    """Whether the user may say something in between, in an answer that runs a tool or in one that does not."""
    possible = setting.means.can("interject") and setting.means.claims.cancel
    return possible and (setting.streamed or tool)


@st.composite
def interjected(draw: st.DrawFn, setting: Setting, answers: Sequence[Round]) -> dict[str, Any]:
    """The keys of a turn in which the user says more: `interject`, and the answers up to there and to that.

    Nothing where there is no place for it.
    """
    places = [
        number
        for number, answer in enumerate(answers)
        if interjecting(setting, tool=bool(running(answer))) and not _clipped(answer)
    ]
    if not places:
        return {}
    number = draw(st.sampled_from(places))
    calls = len(running(answers[number]))
    cut: dict[str, Any] = {"say": draw(_MORE)} | ({"round": number} if number else {})
    if draw(weighted({"event": 3 if setting.streamed else 0, "tool": 2 if calls else 0})) == "event":
        cut["after"] = draw(st.sampled_from(events(answers[number])))
    else:
        cut["at"] = "tool"
        if index := draw(st.integers(0, calls - 1)):
            cut["index"] = index
    return {"interject": cut, "model": [*answers[: number + 1], draw(ending(setting))]}


def _clipped(answer: Round) -> bool:
    """Whether a limit has cut off a call, which nothing can follow."""
    calls = [part for part in parts_of(answer) if isinstance(part, dict) and "call" in part]
    return len(calls) > len(calls_of(answer))
