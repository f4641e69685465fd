"""Recorded traffic of others, as scenarios: how many of the recordings become some."""

from __future__ import annotations

from pathlib import Path

import pytest
from shared_material import recordings_dir

from turnproof.commands.imports.engine import Import, ImportOptions, prepare

from .material import har_files

APIS = ("anthropic", "gemini", "openai-chat", "ollama", "zai", "mixed", "openai-responses", "gemini-interactions")


@pytest.fixture(scope="module")
def plans(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[list[Path], Import]]:
    """The recordings of each API, and what would be written of them."""
    folder = tmp_path_factory.mktemp("har")
    files = {api: har_files(recordings_dir(), api, folder / api) for api in APIS}
    return {api: (paths, prepare(ImportOptions(tuple(paths), folder / "out" / api))) for api, paths in files.items()}


def test_four_of_five_recordings_become_scenarios(plans: dict[str, tuple[list[Path], Import]]) -> None:
    become, every = 0, 0
    for paths, plan in plans.values():
        stems = {one.path.stem for one in plan.scenarios}
        become += sum(any(stem == path.stem or stem.startswith(f"{path.stem}-") for stem in stems) for path in paths)
        every += len(paths)
    assert every >= 450
    assert become / every >= 0.9, f"{become} of {every}"


def test_nearly_every_answer_of_a_model_is_kept_as_it_came(plans: dict[str, tuple[list[Path], Import]]) -> None:
    _, plan = plans["anthropic"]
    assert sum(one.draft.recorded for one in plan.scenarios) >= 120
