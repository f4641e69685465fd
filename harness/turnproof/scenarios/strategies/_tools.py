"""Tools: names that APIs take, names that they do not, and names that look alike once they are made legal."""

from __future__ import annotations

from typing import Any, Final

from hypothesis import strategies as st

from ._texts import texts
from ._weights import often, weighted

_LEGAL: Final = ("read_sensor", "water_bed", "a", "a_b", "get-weather", "x" * 64)
_ILLEGAL: Final = ("a.b", "a:b", "garten/größe", "read sensor", "1st", "_", "x" * 65, "x" * 70, "🌱", "a__b", "-")

UNKNOWN: Final = "divining_rod"
"""A name that is never declared."""

_NAME: Final = weighted({**dict.fromkeys(_LEGAL, 3), **dict.fromkeys(_ILLEGAL, 1)})
_NAMES: Final = st.lists(_NAME, min_size=1, max_size=4, unique=True)

_TYPE: Final = st.sampled_from(("string", "integer", "number", "boolean", "array", "object"))
_TAKES: Final = st.dictionaries(st.sampled_from(("bed", "n?", "größe", "result?")), _TYPE, max_size=3)

_SCHEMA: Final = st.sampled_from(
    (
        {"type": "object", "properties": {}},
        {"type": "object", "properties": {"day": {"enum": ["Monday", "Tuesday"]}}, "additionalProperties": False},
        {"type": "object", "properties": {"size": {"type": ["number", "null"], "description": "In m², größer als 0"}}},
        {
            "type": "object",
            "properties": {
                "beds": {"type": "array", "items": {"type": "object", "properties": {"n": {"type": "integer"}}}}
            },
            "required": ["beds"],
        },
    )
)


@st.composite
def declarations(draw: st.DrawFn) -> list[dict[str, Any]]:
    """One to four tools as a scenario file declares them, of different names."""
    return [draw(declaration(name)) for name in draw(_NAMES)]


@st.composite
def declaration(draw: st.DrawFn, name: str) -> dict[str, Any]:
    """A tool of this name. One whose name has to be rewritten is known by what it says of itself, as no two are alike
    that are of any use."""
    tool: dict[str, Any] = {"name": name}
    if name in _ILLEGAL:
        tool["description"] = f"{draw(texts(2))} {name}"
    elif draw(often(4)):
        tool["description"] = draw(texts(2))
    match draw(weighted({"nothing": 1, "takes": 2, "parameters": 1})):
        case "takes":
            tool["takes"] = draw(_TAKES)
        case "parameters":
            tool["parameters"] = draw(_SCHEMA)
    return tool
