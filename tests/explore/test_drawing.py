"""What is drawn: scenarios that the loader takes, that stay within the claims, and that follow from the seed alone."""

from __future__ import annotations

import importlib
import json
from collections.abc import Iterator
from itertools import chain, islice
from pathlib import Path

import pytest

from turnproof.bindings import resolve_subject
from turnproof.certify.deciding import lacking_for
from turnproof.explore.drawing import drawn
from turnproof.provider import Capabilities
from turnproof.scenarios import from_data, to_yaml
from turnproof.scenarios._document import parse_document
from turnproof.scenarios.documents import Document
from turnproof.scenarios.strategies import Means, documents

SUBJECT = resolve_subject("reference")
EVERYTHING = Means(SUBJECT.claims(), SUBJECT.operations)
NOTHING = Means(Capabilities(), frozenset())


@pytest.fixture(scope="module")
def many() -> list[Document]:
    """What a subject that claims everything is tried with."""
    return list(islice(drawn(documents(EVERYTHING), seeded=0), 80))


def happenings(document: Document) -> Iterator[str]:
    """Words for what happens in a scenario."""
    yield from (key for key in ("options", "cache", "given", "probes") if key in document)
    for turn in document["turns"]:
        yield from turn.get("before", ())
        yield from (key for key in ("revert", "system", "tools", "response_schema", "error") if key in turn)
        if isinstance(cut := turn.get("cancel"), dict):
            yield f"cancel at {cut.get('at', 'event')}"
        if "faults" in turn:
            yield turn["faults"]["kind"]


def test_every_one_is_a_scenario_that_the_loader_takes(many: list[Document]) -> None:
    for document in many:
        assert from_data(document, "explored/drawn").turns


def test_no_two_are_alike(many: list[Document]) -> None:
    assert len({json.dumps(document) for document in many}) == len(many)


def test_among_many_there_is_everything_that_can_happen(many: list[Document]) -> None:
    seen = set(chain.from_iterable(map(happenings, many)))
    assert seen >= {"options", "cache", "given", "probes", "revert", "system", "tools", "response_schema", "error"}
    assert seen >= {"gc", "save-load", "new-provider", "reset", "damaged-load", "tamper"}
    assert seen >= {"cancel at event", "cancel at tool", "cancel at batch", "cancel at backoff"}
    assert seen >= {"status", "split", "drip"}


def test_a_file_says_what_was_drawn(many: list[Document]) -> None:
    for document in many:
        read, _ = parse_document(to_yaml(document, ["by chance\x07\nfound"]), "drawn.yaml")
        assert (read, repr(read)) == (document, repr(document))


@pytest.mark.parametrize("adapter", ["anthropic", "google_genai"])
def test_nothing_needs_what_the_subject_does_not_claim(adapter: str) -> None:
    subject = resolve_subject(adapter)
    means = Means(subject.claims(), subject.operations)
    for document in islice(drawn(documents(means), seeded=1), 20):
        scenario = from_data(document, "explored/drawn")
        assert not lacking_for(scenario, subject.claims(), subject.operations)


def test_who_claims_nothing_is_asked_for_words_in_one_piece() -> None:
    for document in islice(drawn(documents(NOTHING), seeded=0), 20):
        scenario = from_data(document, "explored/drawn")
        assert (scenario.features, scenario.operations, scenario.modes) == ((), (), ("batch",))


def first(seed: int) -> list[Document]:
    return list(islice(drawn(documents(NOTHING), seeded=seed), 12))


def test_the_same_seed_draws_the_same_and_another_one_draws_others() -> None:
    assert first(3) == first(3)
    assert first(3) != first(4)


def test_what_else_is_imported_does_not_change_what_is_drawn(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """hypothesis likes to draw the constants that it finds in a project's own source."""
    before = first(3)
    numbers = ", ".join(map(str, range(40)))
    (tmp_path / "full_of_constants.py").write_text(f"NUMBERS = [{numbers}]\nWORDS = ['{'a' * 12}', 'gc']\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    importlib.import_module("full_of_constants")
    assert first(3) == before


def test_drawing_leaves_nothing_where_the_user_stands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    first(5)
    assert not list(tmp_path.iterdir())


AWKWARD = [
    "3",
    "1e5",
    "true",
    "no",
    "~",
    "",
    " ",
    "a: b",
    "- x",
    "#",
    "\x00\x85\u2028",
    "🌱",
    "é",
    "x" * 300,
]


@pytest.mark.parametrize("text", AWKWARD)
def test_a_text_stays_a_text_in_a_file_whatever_it_looks_like(text: str) -> None:
    document = {"title": text, "turns": [{"user": text, "results": {text: {"when": [text, None, 1, 1.5, True]}}}]}
    assert parse_document(to_yaml(document), "awkward.yaml")[0] == document
