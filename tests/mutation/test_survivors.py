"""An entry speaks of the mutants that it fits, and the entries that there are speak of something."""

from __future__ import annotations

import re
from pathlib import Path

import msgspec
import pytest

import turnproof_adapters
from mutation.mutant import Mutant
from mutation.survivors import Review, Survivor, load_review

ADAPTERS = Path(next(iter(turnproof_adapters.__path__)))
REVIEW = load_review(Path(__file__).with_name("survivors.toml"))


def mutant(function: str = "Reader.read", text: str = "if limit < 1:", change: str = "< -> <=") -> Mutant:
    return Mutant("one/sample.py", function, "swap_op", 11, text, change, range(11, 12), 0, str)


def entry(**fields: str) -> Survivor:
    return Survivor(**{"file": "one/sample.py", "why": "equivalent", "reason": "It is so.", **fields})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("fields", "fits"),
    [
        ({}, True),
        ({"function": "Reader"}, True),
        ({"function": "Reader.read", "line": "if limit < 1:", "change": "< -> <="}, True),
        ({"function": "Read"}, False),
        ({"line": "if limit < 2:"}, False),
        ({"change": "1 -> 2"}, False),
        ({"file": "two/sample.py"}, False),
    ],
)
def test_an_entry_stands_for_all_that_it_does_not_rule_out(fields: dict[str, str], fits: bool) -> None:
    assert entry(**fields).fits(mutant()) is fits


def test_the_first_entry_that_fits_speaks() -> None:
    narrow, wide = entry(change="< -> <="), entry()
    assert Review((narrow, wide)).of(mutant()) is narrow
    assert Review((narrow, wide)).of(mutant(change="1 -> 2")) is wide
    assert Review((narrow,)).of(mutant(change="1 -> 2")) is None


def test_an_entry_that_fits_no_mutant_of_its_file_is_gone() -> None:
    obsolete, elsewhere = entry(line="while True:"), entry(file="two/sample.py")
    assert Review((entry(), obsolete, elsewhere)).obsolete([mutant()]) == [obsolete]


def test_an_entry_is_disproved_when_every_mutant_that_it_fits_is_killed() -> None:
    one, other = mutant(), mutant(change="1 -> 2")
    review = Review((entry(),))
    assert review.disproved([one, other], [one]) == []
    assert review.disproved([one, other], [one, other]) == [entry()]


def test_an_entry_without_its_reason_is_refused() -> None:
    with pytest.raises(ValueError, match="survivor"):
        entry(reason=" ")


def test_a_key_that_means_nothing_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "survivors.toml"
    path.write_text('[[survivor]]\nfile = "a.py"\nwhy = "equivalent"\nreason = "It is so."\nlines = "x"\n')
    with pytest.raises(msgspec.ValidationError, match="lines"):
        load_review(path)


@pytest.mark.parametrize("known", REVIEW.survivor, ids=str)
def test_what_is_reviewed_is_still_there(known: Survivor) -> None:
    lines = [line.strip() for line in (ADAPTERS / known.file).read_text("utf-8").splitlines()]
    assert known.line is None or known.line in lines
    for name in (known.function or "").split("."):
        assert re.search(rf"^(def|class) {name}\b", "\n".join(lines), re.MULTILINE) or not name
