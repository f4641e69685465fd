"""`certify --resume` behind a real service: what it answered is taken over, and only the rest is asked for."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from foreign_service import ForeignService, serving

from turnproof._base.canonical import canonical
from turnproof._base.counts import counted
from turnproof.commands.certify.engine import certify
from turnproof.commands.certify.options import CertifyOptions
from turnproof.commands.certify.verify import verify_run
from turnproof.commands.compare.engine import compare
from turnproof.commands.compare.options import CompareOptions
from turnproof.errors import UsageError
from turnproof.judge.run_log import Run, read_run
from turnproof.judge.verdict import Status
from turnproof.run.evidence import EvidenceStore

from .live_runs import ADAPTER, KEY

LOG = "run.ndjson"
SAME_HISTORY = "parity/same-history-after-each-turn"


@dataclass(frozen=True)
class Live:
    """A service on loopback that an adapter is certified behind, and the folder of the run."""

    service: ForeignService
    folder: Path

    def certify(self, *scenarios: str, resume: bool = False) -> Run:
        certify(
            CertifyOptions(
                adapters=(ADAPTER,),
                scenarios=scenarios,
                only=(SAME_HISTORY, "core/text-is-what-the-wire-carried"),
                backend="live",
                out=self.folder,
                resume=resume,
                in_process=True,
            )
        )
        return read_run(self.folder / LOG)

    def forget(self, path: str) -> None:
        """Leave a log as a process does that was killed before it made the runs of this path."""
        rows = (self.folder / LOG).read_bytes().splitlines(keepends=True)
        (self.folder / LOG).write_bytes(
            b"".join(
                row
                for row in rows
                if b'"line":"result"' not in row
                and b'"line":"footer"' not in row
                and not (b'"line":"transcript"' in row and f'"path":"{path}"'.encode() in row)
            )
        )


@pytest.fixture
def live(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Live]:
    with serving(ForeignService(seed=7)) as service:
        monkeypatch.setenv("OPENAI_API_KEY", KEY)
        monkeypatch.setenv("OPENAI_BASE_URL", service.url)
        yield Live(service, tmp_path / "run")


def runs(run: Run, how: str) -> set[str]:
    return {str(line.key) for line in run.transcripts if line.how == how}


def statuses(run: Run) -> dict[tuple[str, str], Status]:
    return {(line.requirement, line.path): line.verdict.status for line in run.results}


def test_a_certification_whose_quota_was_used_up_is_gone_on_with(
    live: Live, capsys: pytest.CaptureFixture[str]
) -> None:
    scenarios = ("basics/plain", "tools/one")
    live.service.troubles.update(dict.fromkeys(range(5, 99), "quota"))
    cut = live.certify(*scenarios)
    answered, failed = runs(cut, "completed"), runs(cut, "service-fault")
    assert answered
    assert failed
    assert "the same command with --resume makes only the runs that are missing" in capsys.readouterr().err
    asked_before = [canonical(body) for body in live.service.requests[:5]]

    live.service.troubles.clear()
    live.service.requests.clear()
    whole = live.certify(*scenarios, resume=True)
    assert runs(whole, "completed") == answered | failed
    assert f"resumed: {counted(len(answered), 'run')} taken over" in capsys.readouterr().err
    taken_over = {str(line.key): line.digest for line in cut.transcripts if str(line.key) in answered}
    assert {str(line.key): line.digest for line in whole.transcripts if str(line.key) in answered} == taken_over
    asked_again = [canonical(body) for body in live.service.requests if canonical(body) in asked_before]
    assert len(asked_again) < 4  # those of the run that the quota broke off
    assert whole.header.started == cut.header.started
    assert statuses(whole)[SAME_HISTORY, "parity"] is Status.HELD
    assert Status.VIOLATED not in statuses(whole).values()
    assert not verify_run(whole, EvidenceStore(live.folder / "evidence")).problems


def test_a_path_that_is_missing_is_given_the_answers_of_the_other(live: Live) -> None:
    before = live.certify("tools/one")
    live.forget("legacy")
    live.service.requests.clear()
    again = live.certify("tools/one", resume=True)
    assert live.service.requests == []
    assert statuses(again) == statuses(before)
    assert statuses(again)[SAME_HISTORY, "parity"] is Status.HELD


def test_a_conversation_whose_answers_are_not_whole_in_the_evidence_is_asked_for_again(live: Live) -> None:
    before = live.certify("cancel/in_text", "tools/one")
    live.forget("legacy")
    live.service.requests.clear()
    again = live.certify("cancel/in_text", "tools/one", resume=True)
    assert live.service.requests
    digests = [{str(line.key): line.digest for line in run.transcripts} for run in (before, again)]
    same_keys = {key for key, digest in digests[0].items() if digests[1].get(key) == digest}
    assert {key for key in same_keys if "/stateless/" in key} == {
        "tools/one/stateless/batch",
        "tools/one/stateless/stream",
    }
    assert Status.VIOLATED not in statuses(again).values()


@pytest.mark.long
def test_a_path_whose_other_path_is_missing_is_asked_for_again(live: Live) -> None:
    live.certify("tools/one")
    live.forget("stateless")
    live.service.requests.clear()
    again = live.certify("tools/one", resume=True)
    assert live.service.requests
    assert statuses(again)[SAME_HISTORY, "parity"] is Status.HELD


@pytest.mark.long
def test_the_runs_of_another_service_are_made_again(live: Live, monkeypatch: pytest.MonkeyPatch) -> None:
    live.certify("basics/plain")
    with serving(ForeignService(seed=8)) as other:
        monkeypatch.setenv("OPENAI_BASE_URL", other.url)
        live.certify("basics/plain", resume=True)
        assert other.requests


def test_a_comparison_behind_a_service_is_not_gone_on_with(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="does not go on with a comparison behind a real service"):
        compare(CompareOptions((ADAPTER,), backend="live", out=tmp_path, resume=True, in_process=True))
