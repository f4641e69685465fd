"""JSON as models and tools write it, and the pieces in which arguments arrive."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import cache
from typing import Any, Final

from hypothesis import strategies as st

from ._texts import split_at, texts
from ._weights import seldom

_SCALARS: Final = (
    "3", 3, None, True, False, 0, -1, 0.5, -12.5, 1.0, 1e-07, 2**53 + 1, 10**20, "", " ", "01234", "1e5", "true",
    "null", '"', "\\", "{}", '{"result": 1}', "[1, 2]", "größer 🌱", "a\x00b", "\u2028",
)  # fmt: skip

_KEY: Final = st.sampled_from(("bed", "n", "größe", "a.b", "result", "error", "id", "name", "", "$ref", "_hidden"))

_SPELLING: Final = st.sampled_from([(", ", ": "), (",", ":"), (" ,\n", " : ")])

VALUES: Final = st.recursive(
    st.sampled_from(_SCALARS),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_KEY, inner, max_size=3),
    max_leaves=5,
)
"""Any JSON value, small."""

ARGUMENTS: Final = st.dictionaries(_KEY, VALUES, max_size=3)
"""The arguments of a call: an object, often with one member, and now and then empty."""

_PICTURES: Final = st.lists(st.sampled_from([{"image": "png"}, {"image": "jpeg"}]), min_size=1, max_size=2)


@st.composite
def argument_pieces(draw: st.DrawFn, args: dict[str, Any]) -> list[str]:
    """Arguments as JSON, in one of its spellings, cut anywhere: within a key, a number or an escape."""
    written = json.dumps(args, ensure_ascii=draw(st.booleans()), separators=draw(_SPELLING))
    return split_at(written, sorted(draw(st.sets(st.integers(1, len(written) - 1), max_size=4))))


@st.composite
def results(draw: st.DrawFn, called_with: Sequence[dict[str, Any]], *, attachments: bool) -> dict[str, Any]:
    """What a tool returns, as a scenario file says it. Called several times, it may answer the calls differently."""
    script = draw(_outcomes(attachments=attachments))
    telling = [args for args in called_with if args]
    if len(called_with) < 2 or not telling or draw(st.booleans()):
        return script
    case = {"when": draw(st.sampled_from(telling)), **draw(_outcomes(attachments=attachments))}
    return {**script, "cases": [case]}


@cache
@st.composite
def _outcomes(draw: st.DrawFn, *, attachments: bool) -> dict[str, Any]:
    if draw(seldom(5)):
        return {"error": draw(texts(2))}
    outcome: dict[str, Any] = {"result": draw(texts(2) | VALUES)}
    if attachments and draw(seldom(8)):
        outcome["attachments"] = draw(_PICTURES)
    return outcome
