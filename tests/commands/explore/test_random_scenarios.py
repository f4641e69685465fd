"""What is drawn: scenarios that the loader takes, that stay within the claims, and that follow from the seed alone."""

from __future__ import annotations

import importlib
import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import chain, islice, pairwise
from pathlib import Path

import pytest

from turnproof.commands.certify.decide import lacking_for
from turnproof.commands.explore.random_scenarios import draw_documents
from turnproof.messages import Message
from turnproof.provider import Capabilities
from turnproof.run.bindings import resolve_subject
from turnproof.scenarios import from_data, to_yaml
from turnproof.scenarios._document import parse_document
from turnproof.scenarios.documents import Document, calls_of, parts_of
from turnproof.scenarios.strategies import Means, documents
from turnproof.scenarios.strategies._windows import messages_of, windows
from turnproof.tokens import message_tokens

pytestmark = pytest.mark.long

SUBJECT = resolve_subject("reference")
EVERYTHING = Means(SUBJECT.claims(), SUBJECT.operations)
NOTHING = Means(Capabilities(), frozenset())


@pytest.fixture(scope="module")
def many() -> list[Document]:
    """What a subject that claims everything is tried with."""
    return list(islice(draw_documents(documents(EVERYTHING), seeded=0), 500))


def happenings(document: Document) -> Iterator[str]:
    """Words for what happens in a scenario."""
    yield from (key for key in ("cache", "probes") if key in document)
    yield from document.get("options", ())
    for entry in document.get("given", ()):
        yield from (f"given {key}" for key in entry)
    for turn in document["turns"]:
        yield from turn.get("before", ())
        yield from (key for key in ("revert", "inject", "system", "tools", "child") if key in turn)
        yield from (key for key in ("interject", "response_schema", "error") if key in turn)
        if any("id" in call for answer in turn["model"] for call in calls_of(answer)):
            yield "ids that come again"
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
    assert seen >= {"thinking", "context_tokens", "cache", "probes", "system", "tools", "response_schema", "error"}
    assert seen >= {"gc", "save-load", "save-load-other-path", "new-provider", "reset", "damaged-load", "tamper"}
    assert seen >= {"revert", "inject", "interject", "child", "ids that come again"}
    assert seen >= {"given user", "given system", "given unanswered"}
    assert seen >= {"cancel at event", "cancel at tool", "cancel at batch", "cancel at backoff"}
    assert seen >= {"status", "split", "drip", "respelled"}


def test_every_turn_fits_into_a_window_that_all_of_them_outgrow() -> None:
    turn = {"user": "Bed 3 is dry. " * 40, "model": [["So it is."]]}
    document = {"title": "Long", "turns": [turn, turn, turn]}
    turns = [list(messages_of(turn)) for turn in from_data(document, "explored/long").turns]
    for found in islice(draw_documents(windows(document).map(lambda tokens: {"window": tokens}), seeded=0), 10):
        assert max(map(weight, turns)) < found["window"] < weight(chain.from_iterable(turns))


def weight(messages: Iterable[Message]) -> int:
    return sum(map(message_tokens, messages))


def test_what_a_child_is_told_is_said_to_nobody_else(many: list[Document]) -> None:
    prompts = [turn["child"]["user"] for document in many for turn in document["turns"] if "child" in turn]
    assert prompts
    for document in many:
        others = [{**turn, "child": None} for turn in document["turns"]]
        assert not any(text in json.dumps(others, ensure_ascii=False) for text in prompts)


def test_a_file_says_what_was_drawn(many: list[Document]) -> None:
    for document in many:
        read, _ = parse_document(to_yaml(document, ["by chance\x07\nfound"]), "drawn.yaml")
        assert (read, repr(read)) == (document, repr(document))


@pytest.mark.parametrize("adapter", ["anthropic", "google_genai"])
def test_nothing_needs_what_the_subject_does_not_claim(adapter: str) -> None:
    subject = resolve_subject(adapter)
    means = Means(subject.claims(), subject.operations)
    for document in islice(draw_documents(documents(means), seeded=1), 6):
        scenario = from_data(document, "explored/drawn")
        assert not lacking_for(scenario, subject.claims(), subject.operations)


def test_who_claims_nothing_is_asked_for_words_in_one_piece() -> None:
    for document in islice(draw_documents(documents(NOTHING), seeded=0), 8):
        scenario = from_data(document, "explored/drawn")
        assert (scenario.features, scenario.operations, scenario.modes) == ((), (), ("batch",))


def test_a_service_pauses_only_in_a_tool_of_its_own() -> None:
    sample = list(islice(draw_documents(documents(EVERYTHING), seeded=5), 150))
    answers = [pair for each in sample for turn in each["turns"] for pair in pairwise([*turn["model"], None])]
    paused = [pair for pair in answers if isinstance(pair[0], dict) and pair[0].get("finish") == "paused"]
    assert paused
    for answer, following in paused:
        assert any("block" in part for part in answer["parts"] if isinstance(part, dict))
        assert any("block" in part for part in parts_of(following)), following
    ids = [re.findall(r'"id": "(srvtoolu_\w+)"', json.dumps(each)) for each in sample]
    assert max(map(len, ids)) > 1
    assert all(len(set(each)) == len(each) for each in ids), "two turns have one id"
    plain = replace(EVERYTHING, claims=replace(EVERYTHING.claims, wire=frozenset()))
    assert not any("paused" in json.dumps(each) for each in islice(draw_documents(documents(plain), seeded=5), 150))


def test_a_tool_whose_name_is_rewritten_says_which_one_it_is(many: list[Document]) -> None:
    tools = [tool for document in many for tool in document.get("tools", ()) if isinstance(tool, dict)]
    odd = [tool for tool in tools if not re.fullmatch("[a-zA-Z0-9_-]{2,64}|a", tool["name"])]
    assert odd
    assert all(tool["description"].endswith(tool["name"]) for tool in odd)


def first(seed: int) -> list[Document]:
    return list(islice(draw_documents(documents(NOTHING), seeded=seed), 4))


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
