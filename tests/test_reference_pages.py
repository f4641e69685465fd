"""A reference page has every key, command and code that the program has."""

from __future__ import annotations

import re
from pathlib import Path

import msgspec
import pytest

from turnproof._base.exit_codes import Exit
from turnproof._base.settings import AgentSettings, DeclaredDifference, Exemption, GateSettings, KnownIssue, Settings

DOCS = Path(__file__).resolve().parents[1] / "docs"


def keys_of(page: str, heading: str) -> set[str]:
    """The keys in the first column of the table under a heading."""
    section = re.search(rf"^#+ {re.escape(heading)}$(.*?)(?=^#|\Z)", page, flags=re.MULTILINE | re.DOTALL)
    assert section is not None, heading
    cells = re.findall(r"^\| (`[^|]*) \|", section[1], flags=re.MULTILINE)
    return {key for cell in cells for key in re.findall(r"`([^`]+)`", cell)}


@pytest.mark.parametrize(
    ("heading", "struct"),
    [
        ("`[tool.turnproof]`", Settings),
        ("`[[tool.turnproof.known-issue]]`", KnownIssue),
        ("`[[tool.turnproof.declared-difference]]`", DeclaredDifference),
        ("`[tool.turnproof.gates]`", GateSettings),
        ("`[[tool.turnproof.gates.exemption]]`", Exemption),
        ("`[tool.turnproof.agents.NAME]`", AgentSettings),
    ],
)
def test_the_page_of_settings_has_each_key_and_no_other(heading: str, struct: type[msgspec.Struct]) -> None:
    page = (DOCS / "settings.md").read_text("utf-8")
    assert keys_of(page, heading) == {field.encode_name for field in msgspec.structs.fields(struct)}


def test_the_page_of_commands_has_every_exit_code_and_command() -> None:
    from turnproof.commands.cli.app import app

    page = (DOCS / "commands.md").read_text("utf-8")
    assert all(f"\n| {int(code)} | " in page for code in Exit)
    commands = {command.name or command.callback.__name__ for command in app.registered_commands if command.callback}
    commands |= {str(group.name) for group in app.registered_groups if group.name}
    assert {"certify", "explain", "gate"} <= commands
    assert [command for command in sorted(commands) if f"`turnproof {command}" not in page] == []
