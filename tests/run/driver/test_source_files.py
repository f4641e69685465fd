"""A binding that is edited while the runs are made accuses nobody: what was run is no version of it."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from turnproof.run.driver import Runner, RunSpec
from turnproof.run.driver.source_files import SourceFiles
from turnproof.run.transcript import RunEnded, RunKey

from .talks import scenario

BINDING = """from turnproof.provider import Binding, Capabilities
from turnproof.messages import *

class Toy:
    def complete(self, messages, system_instruction=None, tools=None, **listeners):
        raise ValueError("no answer")

BINDING = Binding("toy", "anthropic-messages", "claude-sonnet-4-6", Capabilities(), lambda endpoint: Toy())
"""


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A module with a binding in the command's folder."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    file = tmp_path / "edited_binding.py"
    file.write_text(BINDING)
    monkeypatch.delitem(sys.modules, file.stem, raising=False)
    return file


def ended(module: Path, edit: str | None) -> RunEnded:
    script = scenario("answer")
    spec = RunSpec(f"{module.stem}:BINDING", script, RunKey(script.name, "stateless", "batch"))
    with Runner(jobs=1) as runner:
        runner.subject(spec.adapter)
        runner._source_files.note()
        if edit is not None:
            module.write_text(edit)
        return runner.run(spec).end


def test_a_run_of_an_edited_file_that_cannot_be_opened_is_turnproofs(module: Path) -> None:
    end = ended(module, "BINDING = None  # half an edit")
    assert end.how == "harness-fault"
    assert end.detail.startswith("edited_binding.py was changed while the runs were made, and this one ended as ")


def test_a_run_of_a_broken_file_that_nobody_edits_is_the_adapters(module: Path) -> None:
    module.write_text(BINDING.replace("lambda endpoint: Toy()", "lambda endpoint: 1 / 0"))
    assert ended(module, None).how == "open-failed"


def test_a_run_of_an_edited_file_that_ends_is_one(module: Path) -> None:
    assert ended(module, BINDING + "\n# a comment").how == "completed"


def test_files_elsewhere_are_not_looked_at(module: Path, tmp_path: Path) -> None:
    found = SourceFiles()
    found.note()
    assert all(path.is_relative_to(tmp_path) for path in found._stamps)
    assert found.changed() == ""
