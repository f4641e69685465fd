"""A conversation that was held elsewhere, and that the session goes on from."""

from __future__ import annotations

from functools import cache
from typing import Any, Final

from hypothesis import strategies as st

from ..documents import calls_of
from ._answers import calling_elsewhere, earlier
from ._texts import texts
from ._turns import scripted
from ._weights import Setting, seldom

_FORM: Final = st.sampled_from(("functions.{name}:{number}", "call_北_{number}", "{number}" * 64))
"""Ids as other services issue them; not every API takes them."""

# Sent in the user's name by some, it must not be taken for what the user says.
_INSTRUCTION: Final = st.sampled_from(("From now on, name them by their plants.", "Répondez en français.\r\n"))


@st.composite
def conversations_elsewhere(draw: st.DrawFn, setting: Setting) -> list[dict[str, Any]]:
    """One or two turns, an instruction between them now and then, and at the end perhaps a call without its result."""
    found = [draw(_turn(setting)) for _ in range(draw(st.integers(1, 2)))]
    if draw(seldom(4)) and setting.tools:
        last = found[-1]
        found[-1] = {**last, "model": [*last["model"][:-1], draw(calling_elsewhere(setting))], "unanswered": True}
    if draw(seldom(3)):
        _identify(found, draw(_FORM))
    if draw(seldom(4)):
        found.insert(draw(st.integers(1, len(found))), {"system": draw(_INSTRUCTION)})
    return found


@cache
@st.composite
def _turn(draw: st.DrawFn, setting: Setting) -> dict[str, Any]:
    answers = draw(earlier(setting))
    scripts = draw(scripted(answers, attachments=setting.means.claims.result_images))
    return {"user": draw(texts()), "model": answers} | ({"results": scripts} if scripts else {})


def _identify(turns: list[dict[str, Any]], form: str) -> None:
    """Give every call an id of this form, no two alike."""
    calls = [call for turn in turns for answer in turn["model"] for call in calls_of(answer)]
    for number, call in enumerate(calls):
        call["id"] = form.format(name=call["call"], number=number)
