"""The JSON Schemas of scenarios and settings, with the descriptions that the pages have, as editors read them.

`python -m website.schemas --write` brings the files in the package up to date.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Mapping
from typing import Any

import msgspec

from turnproof._base.settings import Settings
from turnproof.scenarios.schema import scenario_schema

from .repository import ROOT

PACKAGE = ROOT / "harness" / "turnproof"
FILES = {"scenario": PACKAGE / "scenarios/scenario.schema.json", "settings": PACKAGE / "_base/settings.schema.json"}

_SCENARIO_TABLES: Mapping[str, tuple[str, ...]] = {
    "The scenario": (),
    "A turn": ("$defs", "turn"),
}
_SETTINGS_TABLES: Mapping[str, str] = {
    "`[tool.turnproof]`": "Settings",
    "`[[tool.turnproof.known-issue]]`": "KnownIssue",
    "`[[tool.turnproof.declared-difference]]`": "DeclaredDifference",
    "`[tool.turnproof.gates]`": "GateSettings",
    "`[[tool.turnproof.gates.exemption]]`": "Exemption",
    "`[tool.turnproof.agents.NAME]`": "AgentSettings",
    "`[tool.turnproof.workers]`": "WorkerSettings",
    "`[tool.turnproof.cluster]`": "ClusterSettings",
}


def schemas() -> dict[str, str]:
    """The text of each schema's file."""
    return {"scenario": _written(_scenario()), "settings": _written(_settings())}


def _written(schema: Any) -> str:
    return json.dumps(schema, indent=1, ensure_ascii=False) + "\n"


def _scenario() -> Any:
    schema = scenario_schema()
    for heading, place in _SCENARIO_TABLES.items():
        target = schema
        for key in place:
            target = target[key]
        _describe(target, _meanings("scenarios.md", heading, column=1))
    return schema


def _settings() -> Any:
    schema = msgspec.json.schema(Settings)
    for heading, name in _SETTINGS_TABLES.items():
        _describe(schema["$defs"][name], _meanings("settings.md", heading, column=3))
    definitions = {name: _plain(each) for name, each in schema["$defs"].items()}
    top = definitions.pop("Settings")
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Settings of turnproof",
        "description": "turnproof.toml; the same keys are in [tool.turnproof] of pyproject.toml.",
        **top,
        "$defs": definitions,
    }


def _plain(schema: Any) -> Any:
    """A schema without what says nothing to a writer of TOML: null, names of classes, their docstrings, defaults."""
    match schema:
        case {"anyOf": [one, {"type": "null"}], **rest}:
            return _plain(one | {key: value for key, value in rest.items() if key == "description"})
        case {"properties": properties}:
            fields = {
                key: schema[key]
                for key in ("type", "required", "additionalProperties")
                if schema.get(key) not in (None, [])
            }
            return fields | {"properties": {key: _plain(value) for key, value in properties.items()}}
        case dict():
            return {key: _plain(value) for key, value in schema.items() if key != "default"}
        case list():
            return [_plain(each) for each in schema]
        case _:
            return schema


def _describe(schema: Any, meanings: Mapping[str, str]) -> None:
    for key, value in schema["properties"].items():
        if key in meanings:
            schema["properties"][key] = {"description": meanings[key], **value}


def _meanings(name: str, heading: str, column: int) -> dict[str, str]:
    """What the table under a heading of a page says about each key."""
    page = (ROOT / "docs" / name).read_text("utf-8")
    section = page.partition(f"# {heading}\n")[2].partition("\n#")[0]
    found = {}
    for row in re.findall(r"^\| (`.*) \|$", section, flags=re.MULTILINE):
        cells = re.split(r"(?<!\\) \| ", row)
        for key in re.findall(r"`([^`]+)`", cells[0]):
            found[key] = _text(cells[column])
    return found


def _text(markdown: str) -> str:
    """A cell as plain text."""
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", markdown).replace("`", "").replace("*", "")
    return text[:1].upper() + text[1:]


if __name__ == "__main__":
    for name, text in schemas().items():
        if sys.argv[1:] == ["--write"]:
            FILES[name].write_text(text, "utf-8")
        elif FILES[name].read_text("utf-8") != text:
            sys.exit(f"{FILES[name]} is out of date: python -m website.schemas --write")
