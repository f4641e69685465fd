"""A reference page has every key, command and code that the program has."""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import Any, get_args

import msgspec
import pytest

import turnproof.scenarios
from turnproof._base.exit_codes import Exit
from turnproof._base.settings import AgentSettings, DeclaredDifference, Exemption, GateSettings, KnownIssue, Settings
from turnproof.dialects.base import FIGURES
from turnproof.dialects.sse import Spelling
from turnproof.scenarios import load
from turnproof.scenarios.model import Action, CutPoint, Doing, FaultKind
from turnproof.scenarios.sweep import HAPPENINGS

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


def keys_that_are_read() -> set[str]:
    """What the readers of scenarios name in `at("key")`, `get("key")` and `mapping(keys)`, also by a constant."""
    found: set[str] = set()
    for file in Path(turnproof.scenarios.__file__).parent.glob("*.py"):
        tree = ast.parse(file.read_text("utf-8"))
        constants = {
            target.id: node.value
            for node in tree.body
            if isinstance(node, (ast.Assign, ast.AnnAssign)) and node.value is not None
            for target in (node.targets if isinstance(node, ast.Assign) else [node.target])
            if isinstance(target, ast.Name)
        }
        for node in ast.walk(tree):
            if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute) or not node.args:
                continue
            if node.func.attr in ("at", "get", "mapping"):
                keys: ast.AST = node.args[0]
                keys = constants.get(keys.id, keys) if isinstance(keys, ast.Name) else keys
                named = keys.elts if isinstance(keys, ast.Tuple) else [keys]
                found |= {key.value for key in named if isinstance(key, ast.Constant) and isinstance(key.value, str)}
    return found


def test_the_page_of_scenarios_has_every_key() -> None:
    page = (DOCS / "scenarios.md").read_text("utf-8")
    named = {word for code in re.findall(r"`([^`\n]+)`", page) for word in re.findall(r"[a-z][a-z_-]*", code)}
    keys = keys_that_are_read()
    assert {"user", "cancel", "raw_finish", "retry-after-as", "takes", "unanswered", "each", "cwd"} <= keys
    assert keys - named == set()


@pytest.mark.parametrize(
    "values", [Action, CutPoint, Doing, FaultKind, Spelling, HAPPENINGS, FIGURES], ids=lambda one: str(one)[:40]
)
def test_the_page_of_scenarios_has_every_value(values: Any) -> None:
    page = (DOCS / "scenarios.md").read_text("utf-8")
    assert [value for value in get_args(values) or values if f"`{value}`" not in page] == []


def test_the_examples_of_the_page_of_scenarios_are_scenarios(tmp_path: Path) -> None:
    page = (DOCS / "scenarios.md").read_text("utf-8")
    examples = re.findall(r"^```yaml\n(.*?)^```", page, flags=re.MULTILINE | re.DOTALL)
    assert len(examples) == 3
    for number, example in enumerate(examples):
        file = tmp_path / f"example_{number}.yaml"
        file.write_text(example, "utf-8")
        assert load(file).turns
