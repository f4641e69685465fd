"""Making scenarios smaller, with a question about the document in place of a conversation."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from itertools import islice
from operator import attrgetter

import pytest

from turnproof.commands.explore.random_scenarios import draw_documents
from turnproof.commands.explore.shrink import PASSES, smallest
from turnproof.errors import ScenarioError
from turnproof.run.bindings import resolve_subject
from turnproof.scenarios import from_data
from turnproof.scenarios.documents import Document, calls_of, events, parts_of
from turnproof.scenarios.strategies import Means, documents

SUBJECT = resolve_subject("reference")


def loads(document: Document) -> bool:
    try:
        from_data(document, "explored/smaller")
    except ScenarioError:
        return False
    return True


def answers_as_json(document: Document) -> str:
    return json.dumps([turn["model"] for turn in document["turns"]], ensure_ascii=False)


@dataclass(frozen=True)
class Case:
    """What fails, and what is left of a scenario in which much else happens."""

    id: str
    fails: Callable[[Document], bool]
    left: list[Document]


YES = {"user": "Yes.", "model": [["Yes."]]}

CASES = [
    Case("everything", lambda document: True, [YES]),
    Case(
        "a turn after a cancelled one",
        lambda document: any("cancel" in turn for turn in document["turns"][:-1]),
        [{"user": "Yes.", "model": [[{"text": [".", "."]}]], "cancel": {"after": "text:2"}}, YES],
    ),
    Case(
        "a letter in an answer",
        lambda document: "\u2028" in answers_as_json(document),
        [{"user": "Yes.", "model": [["y\u2028"]]}],
    ),
    Case(
        "two calls at once",
        lambda document: any(len(calls_of(answer)) > 1 for turn in document["turns"] for answer in turn["model"]),
        [{"user": "Yes.", "model": [[{"call": "a"}, {"call": "b"}], ["Yes."]],
          "results": {"a": {"result": "ok"}, "b": {"result": "ok"}}}],
    ),
    Case(
        "a collection after a tool that fails",
        lambda document: any(
            "gc" in later.get("before", ()) and "error" in json.dumps(turn.get("results", {}))
            for turn, later in zip(document["turns"], document["turns"][1:], strict=False)
        ),
        [{"user": "Yes.", "model": [[{"call": "a"}], ["Yes."]], "results": {"a": {"error": "no"}}},
         {**YES, "before": ["gc"]}],
    ),
]  # fmt: skip

BIG: Document = {
    "title": "Much at once",
    "modes": ["stream"],
    "system": "Be brief, {n}.",
    "keep_turns": 2,
    "tools": [{"name": "a", "description": "\x07", "takes": {"bed": "string"}}, {"name": "b"}, {"name": "c"}],
    "turns": [
        {"user": "Once.", "model": [[{"text": ["On", "ce."]}]], "faults": {"kind": "split"}},
        {
            "user": ["Look", {"image": "png"}, "here."],
            "model": [
                [{"call": "a", "args": {"bed": [1, {"n": "3"}]}, "pieces": ['{"bed": [1, {"n"', ': "3"}]}']},
                 {"call": "b", "args": {"x": None}}],
                [{"parts": ["So."], "finish": "max_tokens"}][0],
            ],
            "results": {"a": {"error": "lost", "cases": [{"when": {"bed": 1}, "result": {"k": [2]}}]},
                        "b": {"result": 3, "attachments": [{"image": "gif"}]}},
            "system": "Now at length.",
        },
        {"before": ["gc", "save-load"], "revert": 1, "user": "Mid.", "model": [[{"text": ["Mo", "re", "."]}]],
         "cancel": {"after": "text:2", "by": "stop"}},
        {"user": "And?", "model": [["Well", {"text": ["then", " y\u2028es", "."]}]]},
    ],
}  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=attrgetter("id"))
def test_what_does_not_matter_is_gone(case: Case) -> None:
    assert loads(BIG)
    assert case.fails(BIG)
    found, attempts = smallest(BIG, lambda document: loads(document) and case.fails(document))
    assert found["turns"] == case.left
    assert attempts < 120


def test_nothing_is_asked_twice_and_no_more_than_allowed() -> None:
    calls: list[str] = []

    def fails(document: Document) -> bool:
        calls.append(json.dumps(document))
        return False

    assert smallest(BIG, fails, most=25) == (BIG, 25)
    assert len(set(calls)) == len(calls) == 25
    assert json.dumps(BIG) not in calls


def attempts(document: Document) -> list[Document]:
    return [smaller for passing in PASSES for smaller in passing(document)]


THINKING = {"thinking", "redacted"}


def sensible(document: Document) -> None:
    """What no scenario may come to, though the loader takes it."""
    for turn in document["turns"]:
        for answer in turn["model"]:
            thoughts = [
                isinstance(part, dict) and ("thinking" in part or "redacted" in part) for part in parts_of(answer)
            ]
            has_thinking = "thinking" in document.get("options", {})
            assert has_thinking or not any(thoughts), "nobody asked for thinking"
            assert not has_thinking or not calls_of(answer) or thoughts[0], "a call that nobody thought about"
        for happening in (turn.get("cancel"), turn.get("faults")):
            if isinstance(happening, dict) and "after" in happening:
                there = events(turn["model"][happening.get("round", 0)])
                assert happening["after"] in (*there, "usage:1"), "it waits for what never comes"


def test_every_attempt_at_a_scenario_that_was_drawn_makes_sense() -> None:
    means = Means(SUBJECT.claims(), SUBJECT.operations)
    count = 0
    for document in islice(draw_documents(documents(means), seeded=2), 6):
        for smaller in attempts(document)[::13]:
            if loads(smaller):
                count += 1
                sensible(smaller)
    assert count > 20


def test_an_attempt_is_always_another_document_and_leaves_the_first_alone() -> None:
    before = json.dumps(BIG)
    tried = attempts(BIG)
    assert json.dumps(BIG) == before
    assert all(json.dumps(smaller) != before for smaller in tried)


ASIDES: Document = {
    "title": "Much beside it",
    "modes": ["stream"],
    "options": {"context_tokens": 5000},
    "tools": [{"name": "a"}],
    "given": [
        {"user": "Elsewhere.", "model": [["So", {"call": "a", "args": {"n": 1}}], [{"thinking": "Hm."}, "Well."]],
         "results": {"a": {"result": {"k": [2]}}}},
        {"system": "Name them by their plants."},
        {"user": "And?", "model": [["See", {"call": "a"}]], "unanswered": True},
    ],
    "turns": [
        {"user": "One.", "model": [[{"text": ["On", "ly ", "one."]}], ["Both."]],
         "interject": {"say": "And the pots.", "after": "text:2"}, "inject": {"command": "/beds", "outcome": "3 beds"}},
        {"user": "Two.", "model": ["Yes."], "child": {"user": "Count the pots.", "model": "Twelve."}},
    ],
}  # fmt: skip

CHILD = {"user": "Count the pots.", "model": "Twelve."}

ASIDE_CASES = [
    Case(
        "an interjection",
        lambda document: any("interject" in turn for turn in document["turns"]),
        [{"user": "Yes.", "model": [[{"text": [".", "."]}], ["Yes."]],
          "interject": {"say": "And the pots.", "after": "text:2"}}],
    ),
    Case("a child", lambda document: any("child" in turn for turn in document["turns"]), [{**YES, "child": CHILD}]),
    Case(
        "a command",
        lambda document: any("inject" in turn for turn in document["turns"]),
        [{**YES, "inject": {"command": "Yes.", "outcome": "Yes."}}],
    ),
    Case("a call that nobody answered", lambda document: "unanswered" in json.dumps(document.get("given")), [YES]),
    Case("a window", lambda document: "context_tokens" in document.get("options", {}), [YES]),
]  # fmt: skip


@pytest.mark.parametrize("case", ASIDE_CASES, ids=attrgetter("id"))
def test_of_what_is_said_beside_the_turns_only_what_matters_is_left(case: Case) -> None:
    assert loads(ASIDES)
    found, attempts = smallest(ASIDES, lambda document: loads(document) and case.fails(document))
    assert found["turns"] == case.left
    assert attempts < 120


def test_a_conversation_from_elsewhere_is_made_smaller_too() -> None:
    found, _ = smallest(ASIDES, lambda document: loads(document) and "unanswered" in json.dumps(document))
    assert found["given"] == [{"user": "Yes.", "model": [[{"call": "a"}]], "unanswered": True}]
    assert "options" not in found
