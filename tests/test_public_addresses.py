"""The addresses that others import stay, and what has moved says where it is now."""

from __future__ import annotations

import ast
import importlib
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import turnproof.judge.verdict
from turnproof._base import moved

ROOT = Path(__file__).resolve().parents[1]
PAGE = (ROOT / "docs" / "api.md").read_text("utf-8")
PUBLIC = re.findall(r"^\| `(turnproof[\w.]+)` \|", PAGE, re.MULTILINE)
USERS = ("adapters", "examples", "docs", "suites", "README.md")


def imported(source: str) -> Iterator[str]:
    """What absolute imports name of turnproof's own modules."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ImportFrom) and not node.level and node.module:
            yield node.module
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)


def sources(where: str) -> Iterator[str]:
    """Python files, and the Python blocks of pages."""
    path = ROOT / where
    for file in [path] if path.is_file() else sorted((*path.rglob("*.py"), *path.rglob("*.md"))):
        text = file.read_text("utf-8")
        yield from (
            re.findall(r"^```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL) if file.suffix == ".md" else [text]
        )


def used(where: str) -> set[str]:
    found: set[str] = set()
    for source in sources(where):
        try:
            found |= {name for name in imported(source) if name.startswith("turnproof.")}
        except SyntaxError:  # a block of a page may be a fragment
            found |= set(re.findall(r"^(?:from|import) (turnproof\.[\w.]+)", source, re.MULTILINE))
    return found


@pytest.mark.parametrize("address", PUBLIC)
def test_each_public_address_can_be_imported(address: str) -> None:
    importlib.import_module(address)


@pytest.mark.parametrize("where", USERS)
def test_what_adapters_suites_examples_and_docs_import_is_public(where: str) -> None:
    assert used(where) - set(PUBLIC) == set()


def test_the_page_is_not_empty() -> None:
    assert len(PUBLIC) > 30
    assert {"turnproof.messages", "turnproof.compare", "turnproof.certify.fixtures"} <= set(PUBLIC)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("turnproof.driver.lab", "turnproof.run.driver.runner"),
        ("turnproof.certify.engine", "turnproof.commands.certify.engine"),
        ("turnproof.compare.engine", "turnproof.commands.compare.engine"),
        ("turnproof.config", "turnproof._base.settings"),
        ("turnproof.session.room", "turnproof.session.context_window"),
    ],
)
def test_an_old_address_says_the_new_one(old: str, new: str) -> None:
    with pytest.raises(ImportError, match=r"rewrites imports") as failure:
        importlib.import_module(old)
    # The first of its packages that has moved is what the import stumbles over.
    assert moved.new_address(old) == new
    assert " is turnproof." in str(failure.value)


def test_every_new_address_is_there() -> None:
    moved.new_address("turnproof.driver")
    missing = [new for new in moved._table.values() if importlib.util.find_spec(new) is None]
    assert missing == []


def test_no_old_address_is_in_use_again() -> None:
    moved.new_address("turnproof.driver")
    for old in moved._table.keys() - set(moved.STAYED):
        steps = old.split(".")[1:]
        place = (ROOT / "harness" / "turnproof").joinpath(*steps)
        assert not place.exists(), old
        assert not place.with_suffix(".py").exists(), old


def test_what_suites_of_others_import_leads_to_the_new_address() -> None:
    for name in [name for name in sys.modules if name.startswith(moved.FOR_SUITES)]:
        del sys.modules[name]
    with pytest.warns(DeprecationWarning, match=r"turnproof\.verdict is turnproof\.judge\.verdict now"):
        old = importlib.import_module("turnproof.verdict")
    assert old is turnproof.judge.verdict
    assert old.__spec__ is not None
    assert old.__spec__.name == "turnproof.judge.verdict"
    with pytest.warns(DeprecationWarning, match="judge.requirements.judge now"):
        assert importlib.import_module("turnproof.requirements.judging").judge


@pytest.mark.parametrize(("module", "name"), [(module, name) for module in moved.NAMES for name in moved.NAMES[module]])
def test_a_name_that_stands_in_another_module_says_which(module: str, name: str) -> None:
    new = moved.NAMES[module][name]
    with pytest.raises(ImportError, match=re.escape(f"{module}.{name} is {new}.{name} now")):
        exec(f"from {module} import {name}")
    assert hasattr(importlib.import_module(new), name)
    with pytest.raises(ImportError, match="cannot import name 'NoSuchName'"):
        exec(f"from {module} import NoSuchName")


def test_an_import_of_names_that_moved_is_split() -> None:
    before = "from turnproof.dialects.base import (\n    Dialect as D,\n    Rule,\n)\nimport turnproof.messages\n"
    after = (
        "from turnproof.dialects.contract import Dialect as D\n"
        "from turnproof.dialects.base import Rule\n"
        "import turnproof.messages\n"
    )
    assert moved.rewritten(before) == after
    assert moved.rewritten(after) == after


def test_a_name_that_never_was_is_not_found_as_ever() -> None:
    with pytest.raises(ModuleNotFoundError, match=r"turnproof\.nosuch"):
        importlib.import_module("turnproof.nosuch")


def test_the_rewriting_changes_imports_and_nothing_else(tmp_path: Path) -> None:
    file = tmp_path / "suite.py"
    file.write_text(
        "from turnproof.verdict import held\n    import turnproof.driver.lab\nfrom turnproof.compare import compare\n"
        'SCHEMA = "turnproof.verdict/1"  # from turnproof.verdict\nimport os\n'
    )
    done = subprocess.run(
        [sys.executable, "-m", "turnproof._base.moved", str(tmp_path)], capture_output=True, text=True, check=True
    )
    assert done.stdout == f"{file}\n"
    assert file.read_text() == (
        "from turnproof.judge.verdict import held\n    import turnproof.run.driver.runner\n"
        "from turnproof.compare import compare\n"
        'SCHEMA = "turnproof.verdict/1"  # from turnproof.verdict\nimport os\n'
    )
    again = subprocess.run([sys.executable, "-m", "turnproof._base.moved", str(file)], capture_output=True, text=True)
    assert (again.returncode, again.stdout) == (0, "")
    assert subprocess.run([sys.executable, "-m", "turnproof._base.moved"], capture_output=True).returncode == 2
