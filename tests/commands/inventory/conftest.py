"""Small classes as somebody would write them, imported from files of their own."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from importlib import import_module, invalidate_caches
from itertools import count
from pathlib import Path
from textwrap import dedent

import pytest

from turnproof.commands.inventory import take_inventory

from .kit import InventoryFacts, Take

_numbers = count()


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., type]]:
    """Writes modules, imports the last one, and gives the class asked for."""
    monkeypatch.syspath_prepend(str(tmp_path))
    written: list[str] = []

    def write(source: str, cls: str = "Provider", **modules: str) -> type:
        for name, text in modules.items():
            (tmp_path / f"{name}.py").write_text(dedent(text))
        name = f"written_{next(_numbers)}"
        (tmp_path / f"{name}.py").write_text(dedent(source))
        written.extend((name, *modules))
        # Python knows a folder's files by the time at which it was changed, which may be as coarse as a clock's tick.
        invalidate_caches()
        found = import_module(name)
        for step in cls.split("."):
            found = getattr(found, step)
        assert isinstance(found, type)
        return found

    yield write
    for name in written:
        sys.modules.pop(name, None)


@pytest.fixture
def take(module: Callable[..., type]) -> Take:
    """The inventory of a class, from its source."""
    return lambda source, cls="Provider", **files: InventoryFacts(take_inventory(module(source, cls, **files)))
