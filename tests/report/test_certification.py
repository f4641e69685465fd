"""`certification.json`: the numbers by hand, the schema, and claims no larger than their proof."""

from __future__ import annotations

import json
import shlex
from importlib.resources import files
from pathlib import Path
from typing import Any

import jsonschema
import msgspec
import pytest

from turnproof.dialects.base import Evidence
from turnproof.judge.run_log import Processes, ResultLine, TranscriptLine
from turnproof.judge.verdict import Status, Verdict, held, violated
from turnproof.report import Certification, certification, certification_json
from turnproof.report.badge import badge_json
from turnproof.report.standing import profile_standing, proof_of, standing, wire_of
from turnproof.run.transcript import RunKey

from .runs import ADAPTER, CATALOGUE, GOOD, HEADER, RESULTS, requirement, result, write_run
from .verdicts import BAD, BAD_IN_WORDS, OK, UNCLAIMED, UNSURE

KNOWN = Verdict(Status.KNOWN_ISSUE, message="accepted until 2027-01-01: known")
SCHEMA = json.loads((files("turnproof.report") / "certification.schema.json").read_text())


def certified(tmp_path: Path, results: Any = RESULTS, **more: Any) -> Certification:
    return certification(write_run(tmp_path / "run.ndjson", results, **more))


def swapped(requirement: str, path: str, verdict: Verdict) -> list[ResultLine]:
    """The good results with one of them changed."""
    return [
        msgspec.structs.replace(line, verdict=verdict) if (line.requirement, line.path) == (requirement, path) else line
        for line in GOOD
    ]


def test_the_numbers_of_a_run_with_violations(tmp_path: Path) -> None:
    adapter = certified(tmp_path).adapters["anthropic"]
    core, tools, thinking = (adapter.profiles[name] for name in ("core", "tools", "thinking"))

    assert not adapter.certified
    assert (core.must, core.should, core.certified) == ((1, 2), (1, 1), False)
    assert (tools.must, tools.should, tools.certified) == ((0, 1), (0, 0), False)
    assert (thinking.must, thinking.certified, thinking.unmeasured) == ((0, 0), False, 0)
    assert list(adapter.profiles) == ["core", "tools", "thinking"]


def test_a_requirement_has_the_heaviest_status_of_its_paths_and_that_paths_words(tmp_path: Path) -> None:
    found = certified(tmp_path).adapters["anthropic"].requirements["tools/results-answer-every-call"]
    assert found.status == "violated"
    assert found.paths == {"stateless": "held", "legacy": "violated", "parity": "inconclusive"}
    assert found.message == BAD_IN_WORDS
    assert [one.finding for one in found.findings] == list(BAD.findings)
    assert (found.findings[0].expected, found.total) == ('results for ["c1", "c2"]', 1)
    assert found.reproduce == "turnproof certify anthropic --only tools/results-answer-every-call"


def test_everything_claimed_and_held_is_certified(tmp_path: Path) -> None:
    adapter = certified(tmp_path, GOOD, exit_code=0).adapters["anthropic"]
    assert adapter.certified
    assert adapter.profiles["core"].certified
    assert not adapter.profiles["thinking"].certified  # not claimed, which is no obstacle and no certificate
    assert profile_standing(adapter.profiles["thinking"], complete=True) == "not claimed"


@pytest.mark.parametrize(
    ("verdict", "certified_", "conditional"),
    [(OK, True, False), (KNOWN, False, True), (BAD, False, False), (UNSURE, False, False), (UNCLAIMED, True, False)],
)
def test_one_must_decides(tmp_path: Path, verdict: Verdict, certified_: bool, conditional: bool) -> None:
    results = [line for line in swapped("core/order-kept", "legacy", verdict) if line.requirement == "core/order-kept"]
    if verdict is UNCLAIMED:
        results = [msgspec.structs.replace(line, verdict=UNCLAIMED) for line in results]
    others = [line for line in GOOD if line.requirement != "core/order-kept"]
    adapter = certified(tmp_path, [*others, *results]).adapters["anthropic"]
    assert (adapter.profiles["core"].certified, adapter.profiles["core"].conditional) == (certified_, conditional)
    assert (adapter.certified, adapter.conditional) == (certified_, conditional)


@pytest.mark.parametrize("verdict", [BAD, UNSURE, KNOWN])
def test_a_should_never_decides(tmp_path: Path, verdict: Verdict) -> None:
    adapter = certified(tmp_path, swapped("core/nice-names", "legacy", verdict)).adapters["anthropic"]
    assert adapter.certified
    assert adapter.profiles["core"].should == (0, 1)


def test_a_run_of_a_few_requirements_certifies_no_more_than_them(tmp_path: Path) -> None:
    adapter = certified(tmp_path, [result("core/text-arrives", "stateless", OK)]).adapters["anthropic"]
    assert not adapter.certified
    assert (adapter.profiles["core"].must, adapter.profiles["core"].unmeasured) == ((1, 1), 1)
    assert not adapter.profiles["core"].certified
    assert standing(adapter, complete=True) == "not certified: not everything was measured"


def test_a_violation_in_a_part_is_not_a_lack_of_measurement(tmp_path: Path) -> None:
    adapter = certified(tmp_path, [result("core/text-arrives", "stateless", BAD)]).adapters["anthropic"]
    assert adapter.profiles["core"].unmeasured == 1
    assert standing(adapter, complete=True) == "not certified"


def test_a_path_that_was_left_out_is_not_certified_with_the_other(tmp_path: Path) -> None:
    both = msgspec.structs.replace(ADAPTER, paths=("stateless", "legacy"))
    only = [line for line in GOOD if line.path == "stateless"]
    adapter = certified(tmp_path, only, adapters=[both]).adapters["anthropic"]
    assert not adapter.certified
    assert adapter.profiles["core"].unmeasured == 2
    assert adapter.profiles["thinking"].unmeasured == 0  # not claimed on one path is not claimed
    assert certified(tmp_path, GOOD, adapters=[both]).adapters["anthropic"].certified


def test_a_cut_run_certifies_nothing(tmp_path: Path) -> None:
    report = certified(tmp_path, GOOD, exit_code=None)
    assert not report.complete
    assert not report.adapters["anthropic"].certified
    assert not any(profile.certified for profile in report.adapters["anthropic"].profiles.values())
    assert (report.exit_code, report.digest, report.duration_s) == (None, None, None)
    assert "cut" in standing(report.adapters["anthropic"], complete=False)


def test_nothing_measured_is_not_certified(tmp_path: Path) -> None:
    adapter = certified(tmp_path, ()).adapters["anthropic"]
    assert not adapter.certified
    assert adapter.requirements == {}


@pytest.mark.parametrize(
    ("backend", "recorded", "words"),
    [
        ("emulate", None, "emulated"),
        ("live", None, "live"),
        ("replay", "emulated", "replayed (recorded from emulated)"),
        ("replay", "live, 2026-11-02", "replayed (recorded from live, 2026-11-02)"),
        ("replay", None, "replayed (recorded from unknown)"),
    ],
)
def test_a_claim_is_no_larger_than_its_proof(tmp_path: Path, backend: str, recorded: str | None, words: str) -> None:
    adapter = msgspec.structs.replace(ADAPTER, backend=backend, recorded=recorded)
    assert certified(tmp_path, adapters=[adapter]).adapters["anthropic"].claim == words


def test_the_command_to_reproduce_survives_a_shell_and_keeps_the_options(tmp_path: Path) -> None:
    header = msgspec.structs.replace(HEADER, reproduce=("--depth", "full", "--seed", "7"))
    adapter = msgspec.structs.replace(ADAPTER, spec="my pkg:B'")
    report = certified(tmp_path, header=header, adapters=[adapter])
    command = report.adapters["anthropic"].requirements["core/text-arrives"].reproduce
    assert shlex.split(command) == [
        "turnproof", "certify", "my pkg:B'", "--only", "core/text-arrives", "--depth", "full", "--seed", "7"
    ]  # fmt: skip


@pytest.mark.parametrize("exit_code", [0, 1, 3, None])
@pytest.mark.parametrize("results", [GOOD, RESULTS, ()], ids=["good", "mixed", "empty"])
def test_the_document_keeps_its_schema(tmp_path: Path, results: Any, exit_code: int | None) -> None:
    digest = "0" * 64
    seen = msgspec.structs.replace(violated("x", rests_on=Evidence.RECORDED), evidence=(digest,))
    report = certified(tmp_path, [*results, result("core/order-kept", "extra", seen)], exit_code=exit_code)
    document = json.loads(certification_json(report))
    jsonschema.validate(document, SCHEMA)
    assert next(iter(document)) == "schema"
    found = document["adapters"]["anthropic"]["requirements"]["core/order-kept"]
    assert (found["rests_on"], found["evidence"]) == ("REC", [digest])


def test_the_schema_itself_is_sound_and_refuses_what_is_not_in_it(tmp_path: Path) -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    document = json.loads(certification_json(certified(tmp_path)))
    document["adapters"]["anthropic"]["profiles"]["core"]["must"] = [1, 2, 3]
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(document, SCHEMA)


def test_equal_runs_are_equal_bytes(tmp_path: Path) -> None:
    assert certification_json(certified(tmp_path)) == certification_json(certified(tmp_path))


@pytest.mark.parametrize(
    ("results", "exit_code", "message", "colour"),
    [
        (GOOD, 0, "certified (2026.11, emulated)", "brightgreen"),
        (swapped("core/order-kept", "legacy", KNOWN), 0, "conditional, 2/3 MUSTs held (2026.11, emulated)", "yellow"),
        (RESULTS, 1, "not certified, 1/3 MUSTs held (2026.11, emulated)", "red"),
        (GOOD[:2], 0, "partial run, 1/1 MUSTs held (2026.11, emulated)", "lightgrey"),
        (GOOD, None, "run was cut", "lightgrey"),
    ],
)
def test_the_badge_is_a_shields_endpoint(
    tmp_path: Path, results: Any, exit_code: int | None, message: str, colour: str
) -> None:
    badge = json.loads(badge_json(certified(tmp_path, results, exit_code=exit_code), "anthropic"))
    assert badge == {
        "schemaVersion": 1,
        "label": "turnproof anthropic",
        "message": message,
        "color": colour,
        "isError": colour in ("red", "lightgrey"),
    }


def test_profiles_come_in_the_order_of_the_catalogue_of_profiles(tmp_path: Path) -> None:
    catalogue = [*CATALOGUE, requirement("streaming/chunks"), requirement("zeta/own-profile")]
    results = [
        *GOOD,
        result("streaming/chunks", "stateless", held("x", asked=1)),
        result("zeta/own-profile", "stateless", OK),
    ]
    profiles = certified(tmp_path, results, catalogue=catalogue).adapters["anthropic"].profiles
    assert list(profiles) == ["core", "streaming", "tools", "thinking", "zeta"]


SESSION = msgspec.structs.replace(ADAPTER, name="chat", kind="session", run_with="anthropic")
ASKED_OF_SESSIONS = requirement("history/reset-empties-it", subject="session")


def test_a_session_is_shown_as_one_with_the_adapter_it_was_run_with(tmp_path: Path) -> None:
    report = certified(tmp_path, (), adapters=[ADAPTER, SESSION]).adapters
    assert (report["anthropic"].kind, report["anthropic"].run_with) == ("adapter", "")
    assert (report["chat"].kind, report["chat"].run_with) == ("session", "anthropic")
    assert wire_of(report["anthropic"]) == "anthropic-messages"
    assert wire_of(report["chat"]) == "session run with anthropic, anthropic-messages"


def test_an_agent_is_shown_with_each_program_that_was_behind_it(tmp_path: Path) -> None:
    agent = msgspec.structs.replace(ADAPTER, name="cli", kind="agent")
    programs = ("", "Some Code 2.1", "Some Code 2.2", "Some Code 2.1")
    runs = [
        TranscriptLine(adapter="cli", key=RunKey("sessions/resumed", "legacy", "batch", n), digest=str(n), program=name)
        for n, name in enumerate(programs)
    ]
    report = certified(tmp_path, (), adapters=[ADAPTER, agent], transcripts=runs).adapters
    assert report["cli"].programs == ("Some Code 2.1", "Some Code 2.2")
    assert report["anthropic"].programs == ()
    assert wire_of(report["cli"]) == "agent that owns its history, Some Code 2.1, Some Code 2.2, anthropic-messages"


@pytest.mark.parametrize(
    ("counts", "proof"),
    [
        ((), "emulated"),
        ((None, Processes(3)), "emulated, 3 processes, none left behind"),
        (
            (Processes(3, 1), Processes(4, 2, 1)),
            "emulated, 7 processes, 3 of them killed in a turn, 1 left behind",
        ),
    ],
)
def test_the_processes_of_an_agent_are_counted_over_all_its_runs(
    tmp_path: Path, counts: tuple[Processes | None, ...], proof: str
) -> None:
    agent = msgspec.structs.replace(ADAPTER, name="cli", kind="agent")
    runs = [
        TranscriptLine(adapter=name, key=RunKey("sessions/resumed", "legacy", "batch", n), digest=str(n), processes=one)
        for n, (name, one) in enumerate([*(("cli", one) for one in counts), ("another", Processes(9))])
    ]
    report = certified(tmp_path, (), adapters=[ADAPTER, agent], transcripts=runs)
    assert proof_of(report.adapters["cli"]) == proof
    jsonschema.validate(json.loads(certification_json(report)), SCHEMA)


def test_what_is_asked_of_sessions_is_not_missing_in_an_adapter(tmp_path: Path) -> None:
    catalogue = [*CATALOGUE, ASKED_OF_SESSIONS]
    report = certified(tmp_path, GOOD, adapters=[ADAPTER, SESSION], catalogue=catalogue).adapters
    assert report["anthropic"].certified
    assert "history" not in report["anthropic"].profiles
    assert report["chat"].profiles["history"].unmeasured == 1
    assert not report["chat"].certified
