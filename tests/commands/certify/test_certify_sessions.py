"""Sessions are certified as adapters are: ours, and one that has never heard of us, with what it cannot do by name."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from run.driver.foreign_session import FOREIGN

from turnproof.commands.certify.engine import certify
from turnproof.commands.certify.options import CertifyOptions
from turnproof.commands.certify.verify import verify_run
from turnproof.errors import CassetteError
from turnproof.judge.run_log import Run, read_run
from turnproof.messages import Message, Text
from turnproof.run.evidence import EvidenceStore

REFERENCE = "turnproof.session.binding:REFERENCE"

FEW = (
    "history/*",
    "basics/plain",
    "basics/four_turns",
    "tools/one",
    "cancel/in_text",
    "faults/refusals",
    "gc/tool_pairs",
)

NOT_SHOWN = (
    "errors/silence-ends-the-call",
    "gc/headroom-is-left",
    "recovery/other-words-are-not-joined",
    "recovery/results-are-cut-to-fit",
    "recovery/rejected-results-are-gone",
    "streaming/text-is-passed-on-in-pieces",
)
"""What none of these scenarios shows: it is left out, since it could not be decided."""

FORGETFUL = replace(FOREIGN, name="forgetful", reset=lambda handle: None)
"""The framework, bound by somebody who thought that nothing had to be done to reset it."""


@dataclass(frozen=True)
class Certified:
    """What a certification left behind."""

    code: int
    folder: Path

    @property
    def run(self) -> Run:
        return read_run(self.folder / "run.ndjson")

    @property
    def report(self) -> dict[str, Any]:
        """The report of its one subject."""
        found = json.loads((self.folder / "certification.json").read_text())["adapters"]
        (report,) = found.values()
        return dict(report)

    def status(self, requirement: str) -> tuple[str, str]:
        found = self.report["requirements"][requirement]
        return found["status"], found["message"]


def certified(folder: Path, subject: str, **options: Any) -> Certified:
    expected = CertifyOptions(adapters=(subject,), out=folder, jobs=1, **{"scenarios": FEW, **options})
    return Certified(certify(expected), folder)


@pytest.fixture(scope="module", autouse=True)
def tests_on_the_path() -> Any:
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(Path(__file__).parents[2]))
        yield


@pytest.fixture(scope="module")
def foreign(tmp_path_factory: pytest.TempPathFactory) -> Certified:
    return certified(tmp_path_factory.mktemp("foreign"), "run.driver.foreign_session:FOREIGN", skip=NOT_SHOWN)


@pytest.fixture(scope="module")
def bare(tmp_path_factory: pytest.TempPathFactory) -> Certified:
    return certified(tmp_path_factory.mktemp("bare"), "run.driver.foreign_session:BARE", skip=NOT_SHOWN)


def test_a_framework_with_its_own_provider_is_certified_for_its_history(foreign: Certified) -> None:
    assert foreign.code == 0
    profile = foreign.report["profiles"]["history"]
    assert profile["certified"]
    assert profile["must"] == [14, 14]


def test_the_report_says_what_was_certified_and_with_whose_provider(foreign: Certified) -> None:
    assert (foreign.report["kind"], foreign.report["run_with"]) == ("session", "framework-wire")
    assert "session run with framework-wire" in (foreign.folder / "summary.md").read_text()
    assert "session run with framework-wire" in (foreign.folder / "index.html").read_text()


def test_what_only_a_call_itself_would_show_is_not_claimed(foreign: Certified) -> None:
    others = {name: found["status"] for name, found in foreign.report["requirements"].items()}
    assert others.pop("core/connections-are-reused") == "violated"  # the framework opens one for each request
    assert {name for name, status in others.items() if status not in ("held", "not-claimed")} == set()
    unseen = "the session does not show its provider calls"
    for name, what_lacks in (
        ("core/arguments-are-left-alone", ""),
        ("core/finish-reason-says-why", ", and its replies have no response"),
        ("errors/one-request-per-attempt", ", and does not claim reports_retries"),
        ("streaming/calls-are-announced-once", ", and does not claim shows_calls"),
        ("parity/same-number-of-requests", ", and does not claim path()"),
    ):
        assert foreign.status(name) == ("not-claimed", unseen + what_lacks)


def test_what_can_be_seen_without_calls_is_judged(foreign: Certified) -> None:
    for name in (
        "core/turns-come-to-an-end",
        "security/key-is-nowhere-else",
        "persistence/loaded-history-is-the-saved-one",
        "core/wire-is-what-the-session-holds",
        "core/text-is-what-the-wire-carried",
        "tools/results-answer-every-call",
        "tools/arguments-keep-their-values",
        "cancellation/connection-is-closed",
        "cancellation/partial-text-is-kept",
        "streaming/no-callback-after-the-return",
        "accounting/output-is-what-the-wire-says",
        "errors/failures-are-typed",
        "gc/pairs-stay-whole",
    ):
        assert foreign.status(name)[0] == "held", name


FORGETTING_TEXT = replace(
    FOREIGN,
    name="forgetting-text",
    history=lambda handle: [
        replace_parts(message) if message.role == "model" else message for message in FOREIGN.history(handle)
    ],
)


def replace_parts(message: Message) -> Message:
    """The message as a session keeps it that loses the last letter of every answer."""
    parts = [Text(part.text[:-1]) if isinstance(part, Text) else part for part in message.parts]
    return Message(message.role, tuple(parts), message.message_id)


def test_what_a_session_makes_of_an_answer_is_told_of_the_session(tmp_path: Path) -> None:
    found = certified(
        tmp_path, "commands.certify.test_certify_sessions:FORGETTING_TEXT", scenarios=("basics/four_turns",)
    )
    status, message = found.status("core/text-is-what-the-wire-carried")
    assert status == "violated"
    assert message.startswith("The session returned another text than the API sent.")
    assert verify_run(found.run, EvidenceStore(found.folder / "evidence")).problems == ()


@pytest.mark.parametrize(
    ("requirement", "lacking"),
    [
        ("history/reset-empties-it", "reset()"),
        ("history/reset-asks-nobody", "reset()"),
        ("history/revert-keeps-the-earlier-turns", "revert()"),
        ("history/collection-drops-the-oldest-turns", "collect()"),
        ("history/damaged-save-is-refused", "save(), load()"),
        ("history/swap-keeps-it", "swap()"),
        ("history/provider-holds-the-same", "provider_history()"),
        ("cancellation/stop-ends-the-turn", "stop()"),
        ("gc/pairs-stay-whole", "collect()"),
    ],
)
def test_what_a_session_cannot_do_it_does_not_claim_by_name(bare: Certified, requirement: str, lacking: str) -> None:
    assert bare.code == 0
    assert bare.status(requirement) == ("not-claimed", f"the session lacks {lacking}")


def test_scenarios_that_a_session_cannot_act_in_are_left_out(bare: Certified) -> None:
    run = {line.key.scenario for line in bare.run.transcripts}
    assert {"history/handed_out", "basics/plain"} <= run
    assert not run & {"history/reset", "history/reverted", "history/saved", "history/stopped", "gc/tool_pairs"}


def test_a_wrong_session_is_found_by_the_requirement_that_says_so(tmp_path: Path) -> None:
    found = certified(tmp_path, "commands.certify.test_certify_sessions:FORGETFUL", scenarios=("history/reset",))
    assert found.code == 1
    status, message = found.status("history/reset-empties-it")
    assert status == "violated"
    assert "expected no messages; got" in message
    violated = {name for name, one in found.report["requirements"].items() if one["status"] == "violated"}
    assert violated == {"history/reset-empties-it"}


@pytest.mark.parametrize("which", ["foreign", "bare"])
def test_the_verdicts_are_reached_again_from_the_evidence(which: str, request: pytest.FixtureRequest) -> None:
    found: Certified = request.getfixturevalue(which)
    verification = verify_run(found.run, EvidenceStore(found.folder / "evidence"))
    assert verification.problems == ()
    assert verification.verdicts > 100


def test_the_reference_session_shows_its_calls_on_both_paths(tmp_path: Path) -> None:
    found = certified(tmp_path, REFERENCE, scenarios=("history/*", "basics/plain"))
    assert found.code in (0, 3)
    assert found.report["run_with"] == "anthropic"
    for name in (
        "history/provider-holds-the-same",
        "history/wire-is-what-the-session-holds",
        "core/no-request-is-refused",
    ):
        assert found.status(name)[0] == "held", name
    assert {line.key.path for line in found.run.transcripts} == {"stateless", "legacy"}


def test_no_adapter_is_certified_by_what_is_required_of_sessions(tmp_path: Path) -> None:
    found = certified(tmp_path, "anthropic", scenarios=("history/reset", "basics/plain"))
    assert found.report["kind"] == "adapter"
    assert not any(name.startswith("history/") for name in found.report["requirements"])
    assert "history" not in found.report["profiles"]
    assert {line.key.scenario for line in found.run.transcripts} == {"basics/plain"}


def test_sessions_are_not_replayed(tmp_path: Path) -> None:
    with pytest.raises(CassetteError, match="'reference' is a session, and no cassettes are kept of sessions"):
        certified(tmp_path, REFERENCE, backend="replay")
