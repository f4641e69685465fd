"""The control that is not ours: small, held to the same requirements, and accused of nothing that it does not do.

Real runs, judged by the shipped checks; the full list is for `nox -s peers`.
"""

from __future__ import annotations

import importlib.util
import re
import runpy
from collections.abc import Iterator
from dataclasses import dataclass
from operator import attrgetter
from pathlib import Path

import pytest

import turnproof_suites
from turnproof.dialects import dialect
from turnproof.judge.requirements import judge, load_suite
from turnproof.judge.verdict import Status
from turnproof.judge.view import View
from turnproof.run.bindings import resolve_subject
from turnproof.run.driver import Runner, RunSpec
from turnproof.run.transcript import RunKey
from turnproof.scenarios import load_all

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("pydantic_ai") is None, reason="needs pydantic-ai: pip install 'turnproof[pydantic-ai]'"
)

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "examples" / "peers"
SCRIPTS = "../../examples/peers"
REFERENCE = "turnproof_adapters.peers.pydantic_ai:BINDING"
SCENARIOS = load_all(Path(next(iter(turnproof_suites.__path__))) / "scenarios")
MEASURED = (
    "basics/plain",
    "basics/four_turns",
    "faults/overlapping_blocks",
    "tools/parallel",
    "tools/illegal_names",
    "thinking/with_tools",
    "media/image_and_document",
    "cancel/in_text",
    "cancel/in_batch",
    "finish/reasons",
    "faults/rate_limited",
    "faults/no_end",
    "handoff/from_elsewhere",
)
HELD_REQUIREMENTS = (
    "core/wire-is-what-the-session-holds",
    "core/text-is-what-the-wire-carried",
    "core/finish-reason-says-why",
    "streaming/chunks-make-up-the-text",
    "streaming/stream-and-batch-agree",
    "tools/results-answer-every-call",
    "tools/names-come-back",
    "thinking/signed-thinking-goes-back-in-a-tool-loop",
    "multimodal/content-keeps-its-order",
    "cancellation/partial-text-is-kept",
    "cancellation/connection-is-closed",
    "cancellation/batch-calls-can-be-cancelled",
    "errors/class-fits-the-status",
    "recovery/turn-survives-a-passing-fault",
    "accounting/prompt-counts-everything",
    "handoff/foreign-history-is-sent",
    "handoff/foreign-signatures-are-withheld",
    "core/instructions-between-turns-are-sent",
)


@dataclass(frozen=True)
class Confirmed:
    """A violation of the library itself, the script that shows it, and what the script then says."""

    requirement: str
    script: str
    says: str


BY_IDS = ("handoff/foreign-ids-stay-linked", "core/no-request-is-refused", "parity/same-outcome-of-each-turn")
"""What a request violates that is refused for an id in it."""

CONFIRMED = (
    Confirmed(
        "errors/a-stream-without-its-end-is-no-answer", "clean_end.py", "half an answer was taken for a whole one"
    ),
    Confirmed("core/parts-keep-the-models-order", "overlapping_blocks.py", "parts: tool-call, text"),
    Confirmed("tools/names-are-legal", "tool_names.py", "not legal: ['garden.read']"),
    Confirmed("core/event-loops-may-come-and-go", "event_loops.py", "in a second event loop: ModelConnectionError"),
    *[Confirmed(requirement, "foreign_ids.py", "tool_use.id: String should match pattern") for requirement in BY_IDS],
)


@pytest.fixture(scope="module")
def views() -> Iterator[list[View]]:
    """What the library did in a few scenarios, in each mode that they have."""
    with Runner(in_process=True) as runner:
        wire = dialect("anthropic-messages")
        found = []
        for name in MEASURED:
            for mode in SCENARIOS[name].modes:
                spec = RunSpec(REFERENCE, SCENARIOS[name], RunKey(name, "stateless", mode))
                found.append(View(runner.run(spec), wire, SCENARIOS[name]))
        yield found


def test_the_whole_binding_has_less_than_140_lines() -> None:
    binding = ROOT / "adapters" / "turnproof_adapters" / "peers" / "pydantic_ai.py"
    assert len(binding.read_text("utf-8").splitlines()) < 140


@pytest.mark.parametrize("requirement", HELD_REQUIREMENTS)
def test_where_it_is_right_and_different_it_is_not_accused(requirement: str, views: list[View]) -> None:
    claims = resolve_subject(REFERENCE).claims()
    verdict = judge(load_suite().catalogue[requirement], "stateless", views, claims=claims)
    assert verdict.status is Status.HELD, verdict.message


@pytest.mark.parametrize("one", CONFIRMED, ids=attrgetter("requirement"))
def test_where_it_is_wrong_it_is_found_out(one: Confirmed, views: list[View]) -> None:
    verdict = judge(load_suite().catalogue[one.requirement], "stateless", views)
    assert verdict.status is Status.VIOLATED, verdict.message


@pytest.mark.parametrize("one", {one.script: one for one in CONFIRMED}.values(), ids=attrgetter("script"))
def test_a_script_shows_the_violation_with_the_library_and_the_emulator_alone(
    one: Confirmed, capsys: pytest.CaptureFixture[str]
) -> None:
    assert runpy.run_path(str(EXAMPLES / one.script))["main"]() == 1
    assert one.says in capsys.readouterr().out


def test_every_must_that_the_page_calls_violated_is_confirmed_by_a_script_that_its_row_names() -> None:
    (page,) = (ROOT / "docs" / "findings").glob("pydantic-ai-[0-9]*.md")
    violations, _, _ = page.read_text("utf-8").partition("\n## Mended in turnproof\n")
    rows = [line for line in violations.splitlines() if line.startswith("| `")]
    by_the_run_alone = [row for row in rows if "| the run |" in row]
    assert all("(SHOULD)" in row for row in by_the_run_alone)
    named = (re.findall(r"`([a-z]+/[a-z-]+)`", row) for row in rows if row not in by_the_run_alone)
    assert {name for names in named for name in names} == {one.requirement for one in CONFIRMED}
    for one in CONFIRMED:
        assert any(f"`{one.requirement}`" in row and f"({SCRIPTS}/{one.script})" in row for row in rows), one
