"""Plots are drawn of what was held against the floor at more than one length, and need nothing from outside."""

from __future__ import annotations

import re
from pathlib import Path
from xml.etree import ElementTree

import pytest

from turnproof.commands.bench import plots
from turnproof.commands.bench.floor import FLOOR
from turnproof.commands.bench.plots import draw
from turnproof.commands.bench.report import Bench, Ratio
from turnproof.errors import UsageError

from .sample_outcomes import adapter, outcome


def with_ratios(*expected: tuple[str, int, float]) -> Bench:
    ratios = tuple(
        Ratio("turn", caller, messages, FLOOR, messages, value, value / 2, value * 2)
        for caller, messages, value in expected
    )
    return outcome(adapters={"mine": adapter(ratios=ratios)})


def test_a_figure_becomes_an_svg_that_stands_for_itself(tmp_path: Path) -> None:
    bench = with_ratios(("stateless", 2, 1.5), ("stateless", 200, 1.6), ("<sdk>", 2, 3.0), ("<sdk>", 200, 90.0))
    (tmp_path / "bench-peak.svg").write_text("of an earlier run")
    [file] = draw(bench, tmp_path / "bench.json")
    assert file == tmp_path / "bench-turn.svg"
    assert [path.name for path in tmp_path.iterdir()] == ["bench-turn.svg"]
    text = file.read_text("utf-8")
    root = ElementTree.fromstring(text)
    assert root.tag.endswith("svg")
    assert not re.findall(r"""(?:href|src)\s*=|url\(|<script|<image|@import""", text)
    shown = " ".join(part.strip() for part in root.itertext())
    assert all(word in shown for word in ("mine", "stateless", "<sdk>", "times the floor", "messages of history"))


def test_the_paths_have_the_same_colours_whoever_else_is_there() -> None:
    alone = plots._coloured([{"caller": "legacy"}])
    colours = plots._coloured([{"caller": name} for name in ("a", "legacy", "stateless", "b")])
    assert list(colours) == ["stateless", "legacy", "a", "b"]
    assert alone == {"legacy": colours["legacy"]}
    assert len(set(colours.values())) == 4


def test_one_length_is_no_line(tmp_path: Path) -> None:
    assert draw(with_ratios(("stateless", 2, 1.5)), tmp_path / "bench.json") == []
    assert draw(outcome(), tmp_path / "bench.json") == []


@pytest.mark.parametrize(
    ("values", "marks"),
    [
        ((1.5, 90.0), [1.0, 10.0, 100.0]),
        ((1.5, 6.0), [1.0, 2.0, 5.0, 10.0]),
        ((0.5, 6.0), [0.1, 1.0, 10.0]),
        ((1.0, 1.0), [1.0]),
    ],
)
def test_the_axis_is_marked_at_powers_of_ten(values: tuple[float, ...], marks: list[float]) -> None:
    assert plots._decades([{"ratio": value} for value in values]) == pytest.approx(marks)


def test_a_folder_that_is_none_is_refused(tmp_path: Path) -> None:
    bench = with_ratios(("stateless", 2, 1.5), ("stateless", 200, 1.6))
    with pytest.raises(UsageError, match="cannot write the plot"):
        draw(bench, tmp_path / "nowhere" / "bench.json")
