"""Templates of the pages are compiled once for all commands, as far as files may be written."""

from __future__ import annotations

import sys
from pathlib import Path
from types import CodeType

import pytest
from jinja2 import Environment, FileSystemLoader

from turnproof.report.html import _compiled_templates


class Counting(Environment):
    """An environment that counts what it compiles."""

    compiled = 0

    def _compile(self, source: str, filename: str) -> CodeType:
        self.compiled += 1
        return super()._compile(source, filename)


@pytest.fixture(autouse=True)
def code_is_written(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "dont_write_bytecode", False)


def compiled_for(template: Path, folder: Path) -> int:
    """How many templates a new environment compiles for one page, whose text is right."""
    environment = Counting(loader=FileSystemLoader(template.parent), bytecode_cache=_compiled_templates(folder))
    expected = template.read_text().replace("{{ name }}", "Ada")
    assert environment.get_template(template.name).render(name="Ada") == expected
    return environment.compiled


@pytest.fixture
def template(tmp_path: Path) -> Path:
    found = tmp_path / "page.html.j2"
    found.write_text("Hello {{ name }}.")
    return found


def test_a_template_is_compiled_once_and_another_text_again(template: Path, tmp_path: Path) -> None:
    assert [compiled_for(template, tmp_path) for _ in range(2)] == [1, 0]
    template.write_text("Good evening, {{ name }}.")
    assert [compiled_for(template, tmp_path) for _ in range(2)] == [1, 0]


def test_a_folder_that_cannot_be_written_to_is_no_error(template: Path, tmp_path: Path) -> None:
    assert [compiled_for(template, tmp_path / "missing") for _ in range(2)] == [1, 1]


def test_nothing_is_written_where_python_writes_no_code(
    template: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    assert [compiled_for(template, tmp_path) for _ in range(2)] == [1, 1]
    assert [*tmp_path.iterdir()] == [template]
