"""One turn: what is done ahead of it, what is said and answered, and what goes wrong."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any, Final

from hypothesis import strategies as st

from ..model import NEEDED, Action
from ._answers import SCHEMA, STRUCTURED, Round, pauses, rounds
from ._happenings import calls_of, cancelled, disturbed
from ._means import Setting, seldom, weighted
from ._payloads import results
from ._texts import texts

_ACTIONS: Final[dict[Action, int]] = {
    "gc": 3, "save-load": 3, "new-provider": 2, "reset": 1, "damaged-load": 1, "tamper": 1,
}  # fmt: skip


@cache
@st.composite
def turns(draw: st.DrawFn, setting: Setting) -> dict[str, Any]:
    """A turn as a scenario file says it, in which the user says something."""
    turn = draw(_ahead(setting))
    turn["user"] = draw(_user(setting))
    answers = draw(rounds(setting))
    if setting.means.claims.structured and draw(seldom(12)):
        turn["response_schema"] = SCHEMA
        answers = [*answers[:-1], draw(STRUCTURED)]
    turn["model"] = answers
    happenings = {"nothing": 12, "fault": 3} | ({"cancel": 4} if setting.means.claims.cancel else {})
    # Not every path takes up a paused answer again, so nothing can happen to what follows it.
    match "nothing" if pauses(answers) else draw(weighted(happenings)):
        case "fault":
            turn |= draw(disturbed(setting, answers))
        case "cancel":
            turn |= draw(cancelled(setting, answers))
    if scripts := draw(_results(setting, turn["model"])):
        turn["results"] = scripts
    return turn


@cache
@st.composite
def _ahead(draw: st.DrawFn, setting: Setting) -> dict[str, Any]:
    """What is done with the session before the user speaks; mostly nothing."""
    if draw(weighted({True: 3, False: 2})):
        return {}
    possible = {action: weight for action, weight in _ACTIONS.items() if setting.means.can(*NEEDED[action])}
    turn: dict[str, Any] = {}
    if possible and (actions := draw(st.lists(weighted(possible), max_size=2))):
        turn["before"] = actions
    if setting.means.can("revert") and draw(seldom(4)):
        turn["revert"] = draw(st.integers(0, 3))
    if setting.means.can("configure") and draw(seldom(6)):
        turn["system"] = draw(texts())
    return turn


@cache
@st.composite
def _user(draw: st.DrawFn, setting: Setting) -> Any:
    claims = setting.means.claims
    media = [{"image": "png"}, {"image": "gif"}] if claims.images else []
    media += [{"document": "pdf"}] if claims.documents else []
    if not media or not setting.means.can("send_parts") or not draw(seldom(8)):
        return draw(texts())
    parts = [draw(texts()), draw(st.sampled_from(media)), *draw(st.lists(texts(2) | st.sampled_from(media), max_size=2))]
    return draw(st.permutations(parts))


@st.composite
def _results(draw: st.DrawFn, setting: Setting, answers: Sequence[Round]) -> dict[str, Any]:
    made: dict[str, list[dict[str, Any]]] = {}
    for call in _declared(answers):
        made.setdefault(call["call"], []).append(call.get("args", {}))
    attachments = setting.means.claims.result_images
    return {name: draw(results(args, attachments=attachments)) for name, args in made.items()}


def _declared(answers: Sequence[Round]) -> Iterator[dict[str, Any]]:
    return (call for answer in answers for call in calls_of(answer) if "unknown" not in call)
