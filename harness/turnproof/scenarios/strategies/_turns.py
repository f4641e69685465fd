"""One turn: what is done ahead of it, what is said and answered, and what goes wrong."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from itertools import chain
from typing import Any, Final

from hypothesis import strategies as st

from ..documents import Round, pauses, running
from ..model import NEEDED, Action
from ._answers import SCHEMA, STRUCTURED, rounds
from ._asides import CHILD, COMMAND, interjected, interjecting
from ._faults import cancelled, disturbed
from ._payloads import results
from ._texts import texts
from ._weights import Setting, seldom, weighted

_ACTIONS: Final[dict[Action, int]] = {
    "gc": 3, "save-load": 3, "new-provider": 2, "save-load-other-path": 2, "reset": 1, "damaged-load": 1, "tamper": 1,
}  # fmt: skip


@cache
@st.composite
def turns(draw: st.DrawFn, setting: Setting) -> dict[str, Any]:
    """A turn as a scenario file says it, in which the user says something."""
    turn = draw(_ahead(setting))
    turn["user"] = draw(_user(setting))
    answers = draw(rounds(setting))
    if setting.means.claims.structured and not pauses(answers) and draw(seldom(12)):
        turn["response_schema"] = SCHEMA
        answers = [*answers[:-1], draw(STRUCTURED)]
    turn["model"] = answers
    happenings = {"nothing": 12, "fault": 3} | ({"cancel": 4} if setting.means.claims.cancel else {})
    if interjecting(setting, tool=True) and "response_schema" not in turn:
        happenings["interjection"] = 2
    # Not every path takes up a paused answer again, so nothing can happen to what follows it.
    match "nothing" if pauses(answers) else draw(weighted(happenings)):
        case "fault":
            turn |= draw(disturbed(setting, answers))
        case "cancel":
            turn |= draw(cancelled(setting, answers))
        case "interjection":
            turn |= draw(interjected(setting, answers))
        case _ if setting.means.can("spawn") and draw(seldom(8)):
            turn["child"] = draw(CHILD)
    if scripts := draw(scripted(turn["model"], attachments=setting.means.claims.result_images)):
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
    if setting.means.can("inject") and draw(seldom(6)):
        turn["inject"] = draw(COMMAND)
    if setting.caching and draw(seldom(4)):
        turn["advance_clock"] = draw(st.sampled_from((301, 3601)))
    return turn


@cache
@st.composite
def _user(draw: st.DrawFn, setting: Setting) -> Any:
    claims = setting.means.claims
    media = [{"image": "png"}, {"image": "jpeg"}] if claims.images else []
    media += [{"document": "pdf"}] if claims.documents else []
    if not media or not setting.means.can("send_parts") or not draw(seldom(8)):
        return draw(texts())
    one = st.sampled_from(media)
    return draw(st.permutations([draw(texts()), draw(one), *draw(st.lists(texts(2) | one, max_size=2))]))


@st.composite
def scripted(draw: st.DrawFn, answers: Sequence[Round], *, attachments: bool) -> dict[str, Any]:
    """What the tools return that these answers call, by name."""
    args_by_tool: dict[str, list[dict[str, Any]]] = {}
    for call in chain.from_iterable(map(running, answers)):
        args_by_tool.setdefault(call["call"], []).append(call.get("args", {}))
    return {name: draw(results(args, attachments=attachments)) for name, args in args_by_tool.items()}
