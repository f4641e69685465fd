"""What of a dialect the traffic of a run had, and what that is held against."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest

from turnproof.commands.cli import main
from turnproof.dialects import dialect, dialect_names
from turnproof.judge.run_log import Run, TranscriptLine
from turnproof.report import wire_coverage
from turnproof.report.wire_coverage import (
    Yardstick,
    coverage,
    coverage_json,
    documents,
    field_places,
    made_yardstick,
    yardstick,
)
from turnproof.report.wire_coverage_text import coverage_text
from turnproof.run.evidence import EvidenceStore

from .exchanges import transcript, user
from .runs import HOSTILE, write_run

BROKEN = {"rule": "anthropic-messages/orphan-result", "evidence": "REC", "status": 400, "path": "$"}


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """A run with one exchange, held against a yardstick that has two fields which it does not have."""
    known = Yardstick(
        "a test",
        {"anthropic-messages": ("max_tokens", "messages", "messages[].role", "model", "system")},
        {"anthropic-messages": ("(content_block_delta).delta", "(ping).type")},
    )
    monkeypatch.setattr(wire_coverage, "yardstick", lambda: known)
    found = transcript("stateless", ["hi"], [user("hi")], (BROKEN, BROKEN))
    digest = EvidenceStore(tmp_path / "evidence").put(found)
    line = TranscriptLine(adapter="anthropic", key=found.key, digest=digest)
    return write_run(tmp_path / "run.ndjson", transcripts=[line])


def test_fields_are_places_without_values() -> None:
    document = {"model": "m", "messages": [{"role": "user", "content": [{"type": "text", "text": "a.b[]"}]}]}
    assert set(field_places(document)) == {
        "model",
        "messages",
        "messages[].role",
        "messages[].content",
        "messages[].content[](text).type",
        "messages[].content[](text).text",
    }


@pytest.mark.parametrize(
    "document",
    [
        {"input": {"bed": {"deep": 1}}},
        {"input": {}},
    ],
)
def test_what_users_and_models_choose_is_one_field(document: Any) -> None:
    assert list(field_places(document)) == ["input"]


def test_the_input_of_an_api_is_no_argument_where_it_is_a_list() -> None:
    assert "input[](message).role" in set(field_places({"input": [{"type": "message", "role": "user"}]}))


def test_the_result_of_a_function_is_one_field_and_another_response_is_not() -> None:
    assert list(field_places({"functionResponse": {"response": {"a": 1}}})) == [
        "functionResponse",
        "functionResponse.response",
    ]
    assert "response.a" in set(field_places({"response": {"a": 1}}))


def test_a_very_deep_document_has_an_end() -> None:
    deep: Any = {}
    for _ in range(500):
        deep = {"a": deep}
    assert len(list(field_places(deep))) < 50


@pytest.mark.parametrize(
    ("body", "found"),
    [
        (b'{"a": 1}', [{"a": 1}]),
        (b'{"a": 1}\n{"b": 2}\n', [{"a": 1}, {"b": 2}]),
        (b'event: x\ndata: {"a": 1}\r\n\r\ndata:{"b": 2}\n\n: ping\n\ndata: [DONE]\n', [{"a": 1}, {"b": 2}]),
        (b"<html>", []),
        (b"", []),
        (b"\xff{", []),
    ],
)
def test_documents_of_every_framing_are_read(body: bytes, found: list[Any]) -> None:
    assert list(documents(body)) == found


def test_what_was_seen_never_seen_and_beyond_is_told_apart(run: Run, tmp_path: Path) -> None:
    found = coverage(run, EvidenceStore(tmp_path / "evidence")).adapters["anthropic"]
    assert found.requests.seen == ("max_tokens", "messages", "messages[].role", "model")
    assert found.requests.never_seen == ("system",)
    assert "messages[].content[](text).text" in found.requests.beyond
    assert found.answers.seen == ("(content_block_delta).delta",)
    assert found.answers.never_seen == ("(ping).type",)
    assert found.exchanges == 1


def test_a_rule_counts_by_the_requests_that_broke_it(run: Run, tmp_path: Path) -> None:
    rules = coverage(run, EvidenceStore(tmp_path / "evidence")).adapters["anthropic"].rules
    assert rules.broken == {"anthropic-messages/orphan-result": 1}
    every = {rule.id for rule in dialect("anthropic-messages").rules}
    assert set(rules.never_broken) | set(rules.broken) == every


def test_evidence_that_is_gone_is_named_and_not_counted(run: Run, tmp_path: Path) -> None:
    found = coverage(run, EvidenceStore(tmp_path / "nowhere")).adapters["anthropic"]
    assert found.exchanges == 0
    assert len(found.missing) == 1


def test_a_yardstick_has_all_that_any_of_its_runs_had(run: Run, tmp_path: Path) -> None:
    report = coverage(run, EvidenceStore(tmp_path / "evidence"))
    reference = made_yardstick([report], "here")
    assert set(reference.requests["anthropic-messages"]) > {"max_tokens", "messages[].content[](text).text"}
    assert "system" not in reference.requests["anthropic-messages"]


def test_the_command_says_what_it_counts(run: Run, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["coverage", str(tmp_path)]) == 0
    text = capsys.readouterr().out
    for words in ("4 of 5 seen", "never seen: system", "1 of ", "compared with a test", "not against everything"):
        assert words in text
    assert main(["coverage", str(tmp_path), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["schema"] == "turnproof.coverage/1"
    assert main(["coverage", str(tmp_path / "none")]) == 2


def test_names_from_the_wire_do_not_steer_the_terminal(run: Run, tmp_path: Path) -> None:
    report = coverage(run, EvidenceStore(tmp_path / "evidence"))
    fields = msgspec.structs.replace(report.adapters["anthropic"].requests, beyond=(HOSTILE,))
    hostile = msgspec.structs.replace(report.adapters["anthropic"], requests=fields)
    text = coverage_text(msgspec.structs.replace(report, adapters={HOSTILE: hostile}), verbose=True)
    assert "\x1b" not in text
    assert b"\x1b" not in coverage_json(report)


def test_every_dialect_has_a_yardstick_with_the_fields_that_every_request_has() -> None:
    known = yardstick()
    names = {name.partition("@")[0] for name in dialect_names()}
    assert set(known.requests) == set(known.answers) == names
    assert "messages[].content[](tool_use).id" in known.requests["anthropic-messages"]
    assert "contents[].parts[].functionCall.name" in known.requests["gemini"]
    assert len(known.answers["openai-responses"]) > 50
