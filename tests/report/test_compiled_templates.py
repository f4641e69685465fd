"""The code of templates is made once, and never taken for that of another template."""

from __future__ import annotations

import sys
from pathlib import Path
from types import CodeType

import pytest
from jinja2 import Environment, FileSystemLoader

from turnproof.report.compiled_templates import CompiledTemplates


@pytest.fixture(autouse=True)
def code_is_written(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    monkeypatch.setattr(sys, "pycache_prefix", None)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "page.html.j2").write_text("Hello {{ name }}.")
    return tmp_path


class Counting(Environment):
    """An environment that counts what it compiles."""

    compiled = 0

    def _compile(self, source: str, filename: str) -> CodeType:
        self.compiled += 1
        return super()._compile(source, filename)


def compiled_for(folder: Path, made_with: str = "jinja2 3") -> int:
    """How many templates a new environment compiles for one page, whose text is right."""
    environment = Counting(loader=FileSystemLoader(folder), bytecode_cache=CompiledTemplates(made_with))
    expected = (folder / "page.html.j2").read_text().replace("{{ name }}", "Ada")
    assert environment.get_template("page.html.j2").render(name="Ada") == expected
    return environment.compiled


def code_of(folder: Path) -> Path:
    (found,) = (folder / "__pycache__").iterdir()
    return found


def test_a_template_is_compiled_once_for_all_commands(folder: Path) -> None:
    assert [compiled_for(folder), compiled_for(folder)] == [1, 0]
    assert code_of(folder).name == f"page.html.j2.{sys.implementation.cache_tag}.pyc"


def test_another_text_is_compiled_again(folder: Path) -> None:
    compiled_for(folder)
    (folder / "page.html.j2").write_text("Good evening, {{ name }}.")
    assert [compiled_for(folder), compiled_for(folder)] == [1, 0]


def test_code_that_was_made_with_something_else_is_not_read(folder: Path) -> None:
    compiled_for(folder)
    assert compiled_for(folder, "jinja2 4") == 1


@pytest.mark.parametrize("left", [0, 10, -200, -1])
def test_code_that_was_cut_is_made_again(folder: Path, left: int) -> None:
    compiled_for(folder)
    code_of(folder).write_bytes(code_of(folder).read_bytes()[:left])
    assert [compiled_for(folder), compiled_for(folder)] == [1, 0]


def test_nothing_is_written_where_python_writes_no_code(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    assert [compiled_for(folder), compiled_for(folder)] == [1, 1]
    assert not (folder / "__pycache__").exists()


def test_a_folder_that_cannot_be_written_to_is_no_error(folder: Path) -> None:
    (folder / "__pycache__").write_text("a file")
    assert [compiled_for(folder), compiled_for(folder)] == [1, 1]


def test_code_is_where_python_has_its_own(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    elsewhere = tmp_path / "elsewhere"
    monkeypatch.setattr(sys, "pycache_prefix", str(elsewhere))
    assert [compiled_for(folder), compiled_for(folder)] == [1, 0]
    assert not (folder / "__pycache__").exists()
    assert len([*elsewhere.rglob("*.pyc")]) == 1
