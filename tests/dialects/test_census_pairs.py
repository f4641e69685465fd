"""The census sends the pairs of the tables of refusals, as plain data in the package."""

from __future__ import annotations

from operator import attrgetter
from pathlib import Path
from typing import Any

import pytest

from turnproof.commands.census.pairs import pairs_of

from . import census_pairs
from .census_pairs import LARGEST, census_kits, file_of, text_of
from .refusals import RefusalKit


@pytest.mark.parametrize("kit", census_kits(), ids=attrgetter("name"))
def test_the_data_is_up_to_date(kit: RefusalKit[Any]) -> None:
    assert file_of(kit).read_text(encoding="utf-8") == text_of(kit), "python -m tests.dialects --write"


def test_an_old_file_is_named_and_written_only_on_demand(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kit = census_kits()[0]
    old = tmp_path / "pairs.json"
    old.write_text("as it was", "utf-8")
    monkeypatch.setattr(census_pairs, "census_kits", lambda: [kit])
    monkeypatch.setattr(census_pairs, "file_of", lambda kit: old)

    assert census_pairs.update(write=False) == [old]
    assert old.read_text("utf-8") == "as it was"
    assert census_pairs.update(write=True) == [old]
    assert old.read_text("utf-8") == text_of(kit)


@pytest.mark.parametrize("kit", census_kits(), ids=attrgetter("name"))
def test_each_pair_is_sent_or_says_why_not(kit: RefusalKit[Any]) -> None:
    data = pairs_of(kit.name)

    assert {pair.id for pair in data.pairs} | data.left_out.keys() == {pair.id for pair in kit.pairs}
    assert all(len(one.body) <= LARGEST + 100 for pair in data.pairs for one in (pair.illegal, pair.legal))


@pytest.mark.parametrize("kit", census_kits(), ids=attrgetter("name"))
def test_no_key_is_in_the_data(kit: RefusalKit[Any]) -> None:
    assert "key-of-the-pairs" not in file_of(kit).read_text(encoding="utf-8")
