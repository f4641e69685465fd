"""The JSON Schema of the settings agrees with the reader, and the files in the package are the ones that it makes."""

from __future__ import annotations

import json
import re
import tomllib
from datetime import date
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from website.repository import ROOT
from website.schemas import FILES, schemas

from turnproof._base.settings import load_config
from turnproof.errors import UsageError

ISSUE = "[[known-issue]]\nadapter = 'a'\nrequirement = 'r'\npath = 'legacy'\nreason = 'x'\nexpires = 2027-01-31\n"
EXEMPTION = "[[gates.exemption]]\nadapter = 'a'\ncriterion = 'c'\nreason = 'x'\nexpires = 2027-01-31\n"

BAD = [
    "deph = 'full'",
    "depth = 'deep'",
    "depth = 3",
    "backend = 'real'",
    "adapters = 'one'",
    "adapters = [1]",
    "out = 1",
    "jobs = 'two'",
    "jobs = 1.5",
    "seed = '1'",
    "docs-url = 'docs.example.org'",
    "docs_url = 'https://example.org'",
    "known-issue = 3",
    "[known-issue]\nadapter = 'x'",
    "[[known-issue]]\nadapter = 'x'",
    "[[known-issue]]\nadaptor = 'x'",
    ISSUE + "zzz = 1",
    ISSUE + "code = 7",
    ISSUE + "code = [7]",
    ISSUE.replace("2027-01-31", "'soon'"),
    ISSUE.replace("'legacy'", "1"),
    "[[declared-difference]]\nadapter = 'x'\nname = 'y'",
    "[[declared-difference]]\nadapter = 'x'\nname = 'y'\nreason = 'z'\nexpires = 2027-01-31",
    "gates = []",
    "[gates]\nphases = 2",
    "[gates]\nphase = 'two'",
    "[gates]\nflip_phase = 5",
    "[gates]\nmode = 'warn'",
    "[gates]\nexisting_tests_seconds = 0",
    "[gates]\nflag = 'not a name'",
    "[gates]\nproviders = 'one'",
    EXEMPTION + "path = 'legacy'",
    EXEMPTION.replace("reason = 'x'\n", ""),
    "[agents.mine]\napi_key = 'k'",
    "[agents.mine]\ncontinue_last = 'yes'",
    "[agents]\nmine = 'x'",
]

GOOD = ["", ISSUE, ISSUE + "code = 'a/b/c'", ISSUE + "code = ['a/b/c']", EXEMPTION, "[agents.mine]\noptions = {a = 1}"]


def settings_of_pages() -> list[str]:
    """Every block of a page with settings, as turnproof.toml has it."""
    pages = [file.read_text("utf-8") for file in sorted((ROOT / "docs").glob("*.md"))]
    blocks = [block for page in pages for block in re.findall(r"^```toml\n(.*?)^```", page, re.MULTILINE | re.DOTALL)]
    return [block for block in blocks if "tool.turnproof" in block]


def plain(value: Any) -> Any:
    """TOML as JSON: a date is its text."""
    match value:
        case dict():
            return {key: plain(each) for key, each in value.items()}
        case list():
            return [plain(each) for each in value]
        case date():
            return value.isoformat()
        case _:
            return value


def is_valid(settings: dict[str, Any]) -> bool:
    schema = json.loads(FILES["settings"].read_text("utf-8"))
    check = jsonschema.Draft202012Validator(schema, format_checker=jsonschema.FormatChecker())
    return bool(check.is_valid(plain(settings)))


@pytest.mark.parametrize("text", BAD)
def test_what_the_reader_refuses_the_schema_refuses(text: str, tmp_path: Path) -> None:
    (tmp_path / "turnproof.toml").write_text(text, "utf-8")
    with pytest.raises(UsageError):
        load_config(tmp_path)
    assert not is_valid(tomllib.loads(text))


@pytest.mark.parametrize("text", GOOD)
def test_what_the_reader_takes_fits(text: str, tmp_path: Path) -> None:
    (tmp_path / "turnproof.toml").write_text(text, "utf-8")
    assert load_config(tmp_path).file
    assert is_valid(tomllib.loads(text))


def test_the_settings_of_pages_and_examples_fit() -> None:
    blocks = settings_of_pages()
    assert len(blocks) > 3
    for block in blocks:
        assert is_valid(tomllib.loads(block)["tool"]["turnproof"]), block
    for file in (ROOT / "examples").rglob("turnproof.toml"):
        assert is_valid(tomllib.loads(file.read_text("utf-8")))


@pytest.mark.parametrize("name", FILES)
def test_the_file_in_the_package_is_made_from_the_code_and_the_pages(name: str) -> None:
    schema = schemas()[name]
    assert FILES[name].read_text("utf-8") == schema, "python -m website.schemas --write"
    jsonschema.Draft202012Validator.check_schema(json.loads(schema))


def test_every_setting_and_key_of_a_scenario_is_described() -> None:
    scenario, settings = (json.loads(text) for text in schemas().values())
    keys = scenario["properties"] | scenario["$defs"]["turn"]["properties"] | settings["properties"]
    assert [key for key, value in keys.items() if not value.get("description")] == []
