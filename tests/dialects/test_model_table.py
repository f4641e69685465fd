"""The table of models is what its sources say, and has every model that this project drives."""

from __future__ import annotations

import json
from importlib.metadata import version
from pathlib import Path
from types import ModuleType

import pytest
from scripts import load_script

from turnproof.dialects import api_of, dialect
from turnproof.run.bindings import binding_names, resolve_binding

ROOT = Path(__file__).parents[2]


@pytest.fixture
def build() -> ModuleType:
    """The script that writes the table; it is in no package."""
    return load_script("models/build.py")


def test_table_is_reproduced_from_the_kept_sources(build: ModuleType) -> None:
    assert build.TABLE.read_text("utf-8") == build.build(), "run `nox -s models`"


def test_kept_windows_are_those_of_the_package(build: ModuleType) -> None:
    pytest.importorskip("genai_prices")
    windows = json.loads(build.PUBLISHED.read_text("utf-8"))
    if windows["version"] != version("genai-prices"):
        pytest.skip(f"the windows are those of genai-prices {windows['version']}")
    windows.pop("date")
    assert build.published_windows() == windows


def test_every_row_names_and_dates_its_sources(build: ModuleType) -> None:
    for row in json.loads(build.TABLE.read_text("utf-8"))["models"]:
        for source in (row["facts"], row["window"]):
            assert source.rpartition(", ")[2].startswith("20"), row


@pytest.mark.parametrize(
    ("own", "error"),
    [
        ({"id": "unknown"}, "no window is published"),
        ({"id": "listed", "context": 1000}, "leave `context` out"),
        ({"id": "listed", "context": 999}, "say why in `because`"),
    ],
)
def test_sources_that_contradict_each_other_are_refused(build: ModuleType, own: dict[str, object], error: str) -> None:
    published = {"package": "p", "version": "1", "date": "2026-11-25"}
    with pytest.raises(build.SourceError, match=error):
        build._row("zai", "2026-11-22", own, {"listed": 1000}, published)


@pytest.mark.parametrize("name", binding_names())
def test_model_of_every_binding_is_in_the_table(name: str) -> None:
    binding = resolve_binding(name)
    assert binding.model in dialect(api_of(binding.dialect)).models
