"""Which mutants are tried where the service has the conversation: not those of what such a path never sends."""

from __future__ import annotations

import pytest

from turnproof.commands.certify.mutants import Trial, plan
from turnproof.commands.certify.scenarios import suite_scenarios
from turnproof.judge.requirements import load_suite
from turnproof.run.bindings import resolve_subject
from turnproof.run.driver.mutation import mutant_named

SUITE = load_suite()


def trial(adapter: str, name: str) -> Trial:
    (found,) = plan(adapter, resolve_subject(adapter), SUITE, suite_scenarios(SUITE), {name: mutant_named(name)})
    return found


@pytest.mark.parametrize(
    ("adapter", "name", "expected"),
    [
        ("openai_responses", "thinking-not-replayed", {"stateless"}),
        ("google_interactions", "thinking-not-replayed", {"stateless"}),
        ("anthropic", "thinking-not-replayed", {"stateless", "legacy"}),
        ("openai_responses", "chain-from-an-older-answer", {"legacy"}),
    ],
)
def test_earlier_turns_are_changed_where_they_are_sent(adapter: str, name: str, expected: set[str]) -> None:
    assert {spec.key.path for spec in trial(adapter, name).runs} == expected


def test_several_at_once_are_tried_where_each_can_be_seen() -> None:
    name = "system-dropped-with-history+thinking-not-replayed"
    assert not mutant_named(name).chains


def test_a_mutant_whose_requirement_no_run_shows_on_a_wire_api_is_left_out_there() -> None:
    found = trial("openai_responses", "context-figures-dropped")
    assert (found.runs, found.left_out) == ((), "no run shows errors/context-figures-are-kept on openai-responses")
    assert trial("openai", "context-figures-dropped").runs
