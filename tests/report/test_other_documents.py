"""What lies in a report's folder: shown with its own date and claim, and never trusted to be whole."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from turnproof.report import certification
from turnproof.report.other_documents import read_other_documents
from turnproof.report.page import index_html
from turnproof.run.evidence import EvidenceStore

from .page import Page
from .runs import write_run

MUTANTS = {
    "schema": "turnproof.mutants/1",
    "adapter": "anthropic",
    "model": "m",
    "mutants": [
        {
            "mutant": "results-dropped",
            "breaks": "b",
            "expected": "tools/results-answer-every-call",
            "outcome": "caught",
        },
        {
            "mutant": "order-lost",
            "breaks": "b",
            "expected": "core/order-kept",
            "outcome": "survived",
            "detail": "it held",
        },
        {"mutant": "elsewhere", "breaks": "b", "expected": "core/order-kept", "outcome": "not-claimed"},
    ],
    "requirements": {"tools/results-answer-every-call": {"caught": ["results-dropped"]}, "core/order-kept": {}},
    "started": "2026-11-20T08:00:00+00:00",
    "backend": "emulated",
}
GATE = {
    "schema": "turnproof.gate/2",
    "mode": "shadow",
    "out_of_order": ["1/histories-agree"],
    "phase": 2,
    "name": "both paths",
    "goal": "They agree.",
    "state": "closed",
    "depth": "full",
    "started": "2026-11-19T08:00:00+00:00",
    "subjects": [
        {
            "name": "mine",
            "state": "closed",
            "backend": "emulate",
            "criteria": [
                {
                    "id": "2/paths-agree",
                    "side": "exit",
                    "title": "Paths agree",
                    "state": "closed",
                    "message": "$.a differs",
                    "left": ["tools/one is measured on one path only"],
                    "spots": [{"file": "a.py", "line": 7, "what": "self._history = []"}],
                },
                {"id": "2/flag", "side": "exit", "title": "The flag is read", "state": "open", "message": ""},
            ],
        }
    ],
}
BENCH = {
    "schema": "turnproof.bench/2",
    "started": "2026-11-18T08:00:00+00:00",
    "rounds": 7,
    "environment": {"python": "3.11", "platform": "Linux", "packages": {"anthropic": "2.12.0"}},
    "adapters": {"anthropic": {"problems": ["no TLS here"]}},
    "goals": [
        {
            "id": "G1",
            "subject": "anthropic",
            "words": "turn / floor",
            "at_most": 3.0,
            "standing": "reached",
            "value": 2.5,
        },
        {"id": "G2", "subject": "anthropic", "words": "delta / loop", "at_most": 0.4, "standing": "not measured"},
    ],
}
COMPARISON = {
    "schema": "turnproof.comparison/1",
    "compares": "paths",
    "left": "stateless",
    "right": "legacy",
    "backend": "emulate",
    "depth": "quick",
    "started": "2026-11-17T08:00:00+00:00",
    "counts": {"violated": 1, "equal": 4},
    "adapters": ["anthropic"],
    "stale": ["old-difference"],
    "scenarios": [{"scenario": "tools/one", "mode": "stream", "standing": "violated", "problem": "p"}],
}
DOCUMENTS = {"mutants.json": MUTANTS, "gate-2.json": GATE, "bench.json": BENCH, "comparison.json": COMPARISON}
SVG = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 4 4"><title>Cost of a turn</title></svg>'


def lay(folder: Path, **documents: Any) -> None:
    folder.mkdir(exist_ok=True)
    for name, document in documents.items():
        (folder / name).write_text(document if isinstance(document, str) else json.dumps(document))


def shown(folder: Path) -> str:
    run = write_run(folder / "run.ndjson")
    return index_html(run, certification(run), EvidenceStore(folder / "evidence"), read_other_documents(folder))


def test_each_document_is_shown_with_its_own_date_and_claim(tmp_path: Path) -> None:
    lay(tmp_path, **DOCUMENTS)
    text = Page(shown(tmp_path)).text
    for words in (
        "1 of 2 mutants that break something here were caught",
        "emulated 20 November 2026, 08:00 UTC , mutants.json",
        "order-lost b core/order-kept ✗ survived it held",
        "known to catch results-dropped",
        "Phase 2: both paths ✗ closed emulated 19 November 2026, 08:00 UTC , mode shadow, depth full, gate-2.json",
        "Phases are out of order: 1/histories-agree should hold already.",
        "1 thing left tools/one is measured on one path only",
        "1 place in the source a.py:7 self._history = []",
        "Paths agree 2/paths-agree ✗ closed $.a differs",
        "measured 18 November 2026, 08:00 UTC , 7 rounds, bench.json",
        "turn / floor 2.5 3 – ✓ reached",
        "delta / loop – 0.4 – ? not measured",
        "anthropic: no TLS here",
        "stateless and legacy anthropic, emulated 17 November 2026, 08:00 UTC",
        "✗ 1 violated ✓ 4 equal",
        "The declared difference old-difference no longer occurs.",
    ):
        assert words in text


def test_folders_below_are_looked_into_and_pages_beside_linked(tmp_path: Path) -> None:
    lay(tmp_path / "mutants-a b", **{"mutants.json": MUTANTS, "mutants.html": "<p>"})
    lay(tmp_path / "deep")
    lay(tmp_path / "deep" / "er", **{"mutants.json": MUTANTS})
    found = read_other_documents(tmp_path)
    assert [(one.file, one.page) for one in found.mutants] == [("mutants-a b/mutants.json", "mutants-a b/mutants.html")]
    assert "mutants-a%20b/mutants.html" in Page(shown(tmp_path)).attributes("href")


@pytest.mark.parametrize("name", DOCUMENTS)
@pytest.mark.parametrize("content", ["", "{", "[]", "{}", '{"schema":"somebody.else/1"}', "\udcff"])
def test_a_damaged_or_foreign_document_is_named_and_takes_nothing_else_away(
    tmp_path: Path, name: str, content: str
) -> None:
    lay(tmp_path, **DOCUMENTS)
    (tmp_path / name).write_bytes(content.encode("utf-8", "surrogateescape"))
    found = read_other_documents(tmp_path)
    (problem,) = found.problems
    assert problem.startswith(f"{name} is not shown: ")
    assert sum(map(len, (found.mutants, found.benches, found.gates, found.comparisons))) == 3
    text = Page(shown(tmp_path)).text
    assert f"{name} is not shown" in text
    assert "anthropic is not certified" in text


@pytest.mark.parametrize("name", ["mutants.json", "bench-turn.svg"])
@pytest.mark.parametrize("what", ["link", "pipe"])
def test_no_link_is_followed_out_of_the_folder_and_no_pipe_is_waited_for(tmp_path: Path, name: str, what: str) -> None:
    outside = tmp_path / "outside"
    outside.write_text("<svg><title>secret</title></svg>" if name.endswith("svg") else json.dumps(MUTANTS))
    lay(tmp_path / "run", **{"bench.json": BENCH})
    if what == "link":
        (tmp_path / "run" / name).symlink_to(outside)
    else:
        os.mkfifo(tmp_path / "run" / name)
    found = read_other_documents(tmp_path / "run")
    assert (found.mutants, found.plots) == ((), ())
    (problem,) = found.problems
    assert problem.startswith(f"{name} is not shown: ")


def test_a_document_of_another_version_is_named(tmp_path: Path) -> None:
    lay(
        tmp_path,
        **{"bench.json": {**BENCH, "schema": "turnproof.bench/1"}, "gate-1.json": {**GATE, "schema": "x/1"}},
    )
    assert len(read_other_documents(tmp_path).problems) == 2


def test_a_folder_with_nothing_beside_the_run_says_nothing_of_it(tmp_path: Path) -> None:
    page = Page(shown(tmp_path))
    assert not {"#mutants", "#bench", "#gates", "#comparison"} & set(page.attributes("href"))
    assert not read_other_documents(tmp_path).problems


# Plots


def test_a_plot_stands_in_the_page_with_words_for_those_who_cannot_see_it(tmp_path: Path) -> None:
    lay(
        tmp_path,
        **{"bench.json": BENCH, "bench-turn.svg": SVG, "bench-a_b.svg": SVG.replace("Cost of a turn", " ")},
    )
    plots = {plot.file: plot for plot in read_other_documents(tmp_path).plots}
    assert plots["bench-turn.svg"].alt == "Cost of a turn"
    assert plots["bench-a_b.svg"].alt == "plot of a b"
    lay(tmp_path, **{"bench-a_b.svg": SVG.replace("title", "text").replace("</svg>", "<text>9</text></svg>")})
    assert read_other_documents(tmp_path).plots[0].alt == "plot of a b: Cost of a turn"
    page = Page(shown(tmp_path))
    assert [source[:26] for source in page.attributes("src")] == ["data:image/svg+xml;base64,"] * 2
    assert "Cost of a turn" in page.attributes("alt")


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("<svg", "not well-formed"),
        ("<html/>", "it is a <html>, and no picture"),
        ('<!DOCTYPE svg [<!ENTITY a "b">]><svg/>', "it declares entities"),
        ("<svg>" + " " * 2_000_000 + "</svg>", "more than 2,000,000"),
    ],
)
def test_what_is_no_picture_is_told_and_left_out(tmp_path: Path, content: str, says: str) -> None:
    lay(tmp_path, **{"bench.json": BENCH, "bench-turn.svg": content})
    found = read_other_documents(tmp_path)
    assert found.plots == ()
    assert found.problems[0].startswith("bench-turn.svg is not shown: ")
    if "well-formed" not in says:
        assert says in found.problems[0]
