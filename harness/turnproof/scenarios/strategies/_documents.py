"""Whole scenarios: the settings of a conversation, and its turns."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

from hypothesis import strategies as st

from ..documents import Document
from ..loader import from_data
from ..model import Scenario
from ._earlier_conversation import conversations_elsewhere
from ._texts import texts
from ._tools import declaration, declarations
from ._turns import turns
from ._weights import Means, Mode, Setting, often, seldom, weighted
from ._windows import windows

_PROBES: Final = st.lists(
    st.sampled_from(("fresh", "reversed", "threads", "loops")), min_size=1, max_size=3, unique=True
)

_LENGTH: Final = " Bed 3 is dry." * 40

_THINKING: Final = {"thinking": {"budget_tokens": 1024}, "max_tokens": 4096}


@st.composite
def documents(draw: st.DrawFn, means: Means, *, most_turns: int = 5) -> Document:
    """A scenario as the data of its file. The loader takes every one of them."""
    claims = means.claims
    modes = draw(_modes(streaming=claims.streaming))
    document: Document = {"title": "Found at random", "modes": list(modes)}
    thinking = claims.thinking and draw(seldom(5))
    if thinking:
        document["options"] = _THINKING
    if draw(often(6)):
        document["system"] = draw(texts())
    tools: list[dict[str, Any]] = []
    if claims.tools and draw(weighted({False: 2, True: 3})):
        tools = document["tools"] = draw(declarations())
    if means.can("collect") and draw(st.booleans()):
        document["keep_turns"] = draw(st.integers(1, 3))
    if claims.claims("cache") and draw(seldom(8)):
        document["cache"] = True
    if draw(seldom(12)):
        document["probes"] = draw(_PROBES)
    declared = tuple(tool["name"] for tool in tools)
    setting = Setting(means, modes, thinking, "cache" in document, declared)
    if means.can("adopt") and draw(seldom(8)):
        document["given"] = draw(conversations_elsewhere(setting))
    document["turns"] = draw(_conversation(setting, most=most_turns))
    if claims.typed_errors and means.can("collect") and draw(seldom(8)):
        document["turns"] = [_at_length(turn) for turn in document["turns"]]
        document["options"] = {**document.get("options", {}), "context_tokens": draw(windows(document))}
    return document


def _at_length(turn: dict[str, Any]) -> dict[str, Any]:
    """The turn with more words, so that what stands around them hardly counts."""
    return {**turn, "user": turn["user"] + _LENGTH} if isinstance(turn["user"], str) else turn


def scenarios(means: Means, *, name: str = "explored/random", most_turns: int = 5) -> st.SearchStrategy[Scenario]:
    """`documents`, loaded under a name."""
    return documents(means, most_turns=most_turns).map(lambda document: from_data(document, name))


def _modes(*, streaming: bool) -> st.SearchStrategy[tuple[Mode, ...]]:
    if not streaming:
        return st.just(("batch",))
    return weighted({("stream",): 3, ("batch",): 1, ("stream", "batch"): 1})


@st.composite
def _conversation(draw: st.DrawFn, setting: Setting, *, most: int) -> list[dict[str, Any]]:
    """The turns; now and then the tools change from one on."""
    conversation: list[dict[str, Any]] = []
    declared = setting.tools
    for number in range(draw(st.integers(1, most))):
        change: dict[str, Any] = {}
        if declared and setting.means.can("configure") and draw(seldom(10)):
            names = draw(st.lists(st.sampled_from(declared), unique=True))
            change = {"tools": [draw(declaration(name)) if draw(seldom(4)) else name for name in names]}
            setting = replace(setting, tools=tuple(names))
        conversation.append(draw(turns(replace(setting, turn=number))) | change)
    return conversation
