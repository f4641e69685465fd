"""Recorded traffic of others, as scenarios: how many of the recordings become some."""

from __future__ import annotations

from pathlib import Path

import pytest
from shared_material import recordings_dir

from turnproof.commands.imports.engine import ImportOptions, prepare

from .material import har_files

APIS = ("anthropic", "gemini", "openai-chat", "ollama", "zai", "mixed", "openai-responses", "gemini-interactions")


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[Path]]:
    folder = tmp_path_factory.mktemp("har")
    return {api: har_files(recordings_dir(), api, folder / api) for api in APIS}


def test_four_of_five_recordings_become_scenarios(files: dict[str, list[Path]], tmp_path: Path) -> None:
    become, every = 0, 0
    for api, paths in files.items():
        plan = prepare(ImportOptions(tuple(paths), tmp_path / api))
        stems = {one.path.stem for one in plan.scenarios}
        become += sum(any(stem == path.stem or stem.startswith(f"{path.stem}-") for stem in stems) for path in paths)
        every += len(paths)
    assert every >= 450
    assert become / every >= 0.9, f"{become} of {every}"


def test_nearly_every_answer_of_a_model_is_kept_as_it_came(files: dict[str, list[Path]], tmp_path: Path) -> None:
    plan = prepare(ImportOptions(tuple(files["anthropic"]), tmp_path))

    assert sum(one.draft.recorded for one in plan.scenarios) >= 120
