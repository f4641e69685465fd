"""What the model answers: rounds of texts, thoughts and calls, in pieces, and how they end."""

from __future__ import annotations

import json
from functools import cache
from typing import Any, Final

from hypothesis import strategies as st

from ..documents import Part, Round
from ._payloads import ARGUMENTS, argument_pieces
from ._texts import BLANKS, pieces, texts
from ._tools import UNKNOWN
from ._weights import Setting, often, seldom, weighted

SCHEMA: Final[dict[str, Any]] = {
    "type": "object",
    "properties": {"bed": {"type": "string"}, "dry": {"type": "boolean"}},
    "required": ["bed", "dry"],
    "additionalProperties": False,
}
"""What structured output is asked for with."""

_BED: Final = st.fixed_dictionaries({"bed": texts(2), "dry": st.booleans()})

STRUCTURED: Final[st.SearchStrategy[Round]] = (
    _BED.map(lambda bed: json.dumps(bed, ensure_ascii=False)).flatmap(pieces).map(lambda text: [{"text": text}])
)
"""An answer that is JSON of that schema."""

_FINISH: Final = st.sampled_from(("stop", "max_tokens", "stop_sequence", "refusal", "unknown", "context_limit"))
_FEW: Final = weighted({1: 8, 2: 2, 3: 1})
_NO_ARGUMENTS: Final = st.sampled_from([[""], ["{}"], ["{", "}"]])
_FIGURE: Final = st.sampled_from((0, 1, 17, 4242))


@st.composite
def rounds(draw: st.DrawFn, setting: Setting) -> list[Round]:
    """A whole turn of the model: rounds with calls, and an answer without."""
    count = draw(weighted({0: 5, 1: 4, 2: 2, 3: 1})) if setting.tools else 0
    found = [draw(_calling(setting)) for _ in range(count)]
    if not count and setting.means.claims.claims("wire:server-tools") and draw(seldom(25)):
        number = setting.turn + 1
        paused = {"parts": [*draw(_visible()), _search(number)], "finish": "paused"}
        return [paused, [_search_result(number), *draw(_visible())]]
    return [*found, draw(ending(setting))]


@cache
@st.composite
def earlier(draw: st.DrawFn, setting: Setting) -> list[Round]:
    """A whole turn of a model elsewhere, as it stands in a history: nothing streams, and nothing was cut off."""
    count = draw(weighted({0: 3, 1: 2, 2: 1})) if setting.tools else 0
    return [*(draw(calling_elsewhere(setting)) for _ in range(count)), draw(_said_elsewhere())]


@cache
@st.composite
def calling_elsewhere(draw: st.DrawFn, setting: Setting) -> list[Part]:
    """An answer with calls of a model elsewhere."""
    most = 3 if setting.means.claims.parallel_tools else 1
    calls = [{"call": draw(_tool_of(setting)), "args": draw(ARGUMENTS)} for _ in range(draw(st.integers(1, most)))]
    return [*draw(_said_elsewhere()), *calls]


@cache
@st.composite
def _said_elsewhere(draw: st.DrawFn) -> list[Part]:
    """Whatever this model can do: the other one may have thought."""
    thoughts = [{"thinking": draw(texts())}] if draw(seldom(4)) else []
    return [*thoughts, *draw(_visible())]


@cache
@st.composite
def _calling(draw: st.DrawFn, setting: Setting) -> Round:
    """An answer with calls. Where thinking is on, the service demands some in front of them later."""
    parts = draw(_thoughts(setting)) if setting.thinking else []
    if draw(st.booleans()):
        parts += draw(_visible())
    count = draw(weighted({1: 4, 2: 2, 3: 1, 9: 1})) if setting.means.claims.parallel_tools else 1
    calls = [draw(_call(setting)) for _ in range(count)]
    if draw(seldom(10)):  # ids that come again in later answers, which is legal
        calls = [call | {"id": f"call_{number}"} for number, call in enumerate(calls)]
    return [*parts, *calls]


@cache
@st.composite
def ending(draw: st.DrawFn, setting: Setting) -> Round:
    """An answer without a call, or with one that the output limit has cut."""
    parts = draw(_text_answer(setting))
    if draw(seldom(25)) and setting.tools:
        clipped = {"call": draw(_tool_of(setting)), "pieces": ['{"bed": "3', '", "n'], "broken": True}
        return {"parts": [*parts, clipped], "finish": "max_tokens"}
    answer: dict[str, Any] = {}
    if draw(seldom(8)):
        answer["finish"] = draw(_FINISH)
        if answer["finish"] == "unknown":
            answer["raw_finish"] = "sundown"
    if not setting.caching and draw(seldom(12)):  # what a cache serves is not for a script to say
        answer["usage"] = draw(_figures(cached=setting.means.claims.claims("cache")))
    return {"parts": parts, **answer} if answer else parts


@cache
@st.composite
def _text_answer(draw: st.DrawFn, setting: Setting) -> list[Part]:
    """What an answer without calls says: text, blanks, or nothing; thinking in front, and between two texts."""
    if setting.thinking:
        turns = range(draw(seldom(5)) + 1)
        return [part for _ in turns for part in (*draw(_thoughts(setting)), *draw(_visible()))]
    if draw(seldom(10)):
        return [draw(BLANKS)] if draw(st.booleans()) else []
    return list(draw(_visible()))


@cache
@st.composite
def _visible(draw: st.DrawFn) -> list[Part]:
    return [draw(_text()) for _ in range(draw(_FEW))]


@cache
@st.composite
def _text(draw: st.DrawFn) -> Part:
    text = draw(texts())
    return {"text": draw(pieces(text))} if draw(often(3)) else text


@cache
def _tool_of(setting: Setting) -> st.SearchStrategy[str]:
    return st.sampled_from(setting.tools)


@cache
@st.composite
def _thoughts(draw: st.DrawFn, setting: Setting) -> list[Part]:
    kinds = {"shown": 6, "hidden": 1} | ({"redacted": 1} if setting.means.claims.opaque_thinking else {})
    found: list[Part] = []
    for number in range(draw(seldom(8)) + 1):
        match draw(weighted(kinds)):
            case "hidden":
                found.append({"thinking": ""})
            case "redacted":
                found.append({"redacted": f"EmwKAhgBEgy3va3pzix{number}"})
            case _:
                found.append({"thinking": draw(texts().flatmap(pieces))})
    return found


@cache
@st.composite
def _call(draw: st.DrawFn, setting: Setting) -> Part:
    if draw(seldom(15)):
        return {"call": UNKNOWN, "unknown": True}
    call: dict[str, Any] = {"call": draw(_tool_of(setting))}
    args = draw(ARGUMENTS)
    if args:
        call["args"] = args
    if draw(st.booleans()):
        call["pieces"] = draw(argument_pieces(args) if args else _NO_ARGUMENTS)
    return call


@cache
def _figures(*, cached: bool) -> st.SearchStrategy[dict[str, int]]:
    names = ("output", "fresh", *(("cache_read", "cache_write") if cached else ()))
    return st.dictionaries(st.sampled_from(names), _FIGURE, min_size=1, max_size=3)


def _search(number: int) -> Part:
    """A tool of the service's own is called, under an id that no other turn has. A service pauses in nothing else."""
    call = {"type": "server_tool_use", "id": f"srvtoolu_{number:02}", "name": "web_search", "input": {"query": "a"}}
    code = {"executableCode": {"language": "PYTHON", "code": "print(search('a'))"}}
    return {"block": {"anthropic-messages": call, "gemini": code}}


def _search_result(number: int) -> Part:
    """What that tool found."""
    result = {"type": "web_search_tool_result", "tool_use_id": f"srvtoolu_{number:02}", "content": []}
    output = {"codeExecutionResult": {"outcome": "OUTCOME_OK", "output": "[]\n"}}
    return {"block": {"anthropic-messages": result, "gemini": output}}
