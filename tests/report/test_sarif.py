"""`turnproof.sarif`: what code scanning and editors read."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import jsonschema
import msgspec
import pytest

from turnproof.judge.run_log import Run, TranscriptLine
from turnproof.judge.verdict import Status
from turnproof.report.sarif import sarif, sarif_json
from turnproof.run.tracebacks import Frame, Raised
from turnproof.run.transcript import RunKey

from .runs import HOSTILE, result, seen_in, write_run
from .verdicts import BAD, OK, UNSURE

NAME = "tools/results-answer-every-call"
KEY = RunKey("tools/two", "legacy")
OWN = Frame(file="mine/adapter.py", line=88, function="Adapter.read", owner="subject", source="json.loads(line)")
SDK = Frame(file="openai/_base.py", line=7, function="get", owner="sdk", root="site-packages")
RAISED = Raised(type="JSONDecodeError", module="json", message="Unterminated", frames=(OWN, SDK))
CLASS = Frame(file="mine/adapter.py", line=12, function="Adapter", owner="subject")


def raised(verdict: Any, error: Raised = RAISED) -> Any:
    return msgspec.structs.replace(
        verdict, findings=tuple(msgspec.structs.replace(one, raised=error) for one in verdict.findings)
    )


def results(run: Run) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = sarif(run)["runs"][0]["results"]
    return found


def a_run(folder: Path, *lines: Any, opened: Frame | None = CLASS) -> Run:
    transcript = TranscriptLine(adapter="anthropic", key=KEY, digest="d", opened=opened)
    return write_run(folder / "run.ndjson", lines, transcripts=[transcript])


def location(found: dict[str, Any]) -> tuple[str, int]:
    physical = found["locations"][0]["physicalLocation"]
    return physical["artifactLocation"]["uri"], physical["region"]["startLine"]


def test_the_location_is_the_deepest_line_of_the_subjects_own(tmp_path: Path) -> None:
    (found,) = results(a_run(tmp_path, result(NAME, "legacy", raised(seen_in(BAD, KEY)))))
    assert location(found) == ("mine/adapter.py", 88)
    assert found["ruleId"] == f"{NAME}/missing"
    assert found["level"] == "error"
    assert [frame["module"] for frame in found["stacks"][0]["frames"]] == ["sdk", "subject"]
    assert found["properties"]["findings"][0]["place"]["pointer"] == "/messages/2"


def test_without_an_exception_it_is_the_class_that_was_opened(tmp_path: Path) -> None:
    (found,) = results(a_run(tmp_path, result(NAME, "legacy", seen_in(BAD, KEY))))
    assert location(found) == ("mine/adapter.py", 12)
    assert "stacks" not in found


def test_without_either_there_is_no_made_up_file(tmp_path: Path) -> None:
    (found,) = results(a_run(tmp_path, result(NAME, "legacy", seen_in(BAD, KEY)), opened=None))
    assert "physicalLocation" not in found["locations"][0]


def test_a_library_is_named_relative_to_where_it_is_installed(tmp_path: Path) -> None:
    installed = msgspec.structs.replace(CLASS, root="site-packages")
    (found,) = results(a_run(tmp_path, result(NAME, "legacy", seen_in(BAD, KEY)), opened=installed))
    where = found["locations"][0]["physicalLocation"]["artifactLocation"]
    assert where == {"uri": "mine/adapter.py", "uriBaseId": "SITE-PACKAGES"}


def test_findings_of_one_kind_and_line_are_one_result_with_their_number(tmp_path: Path) -> None:
    one = raised(seen_in(BAD, KEY))
    elsewhere = raised(BAD, msgspec.structs.replace(RAISED, frames=(msgspec.structs.replace(OWN, line=9),)))
    both = msgspec.structs.replace(one, findings=(*one.findings * 3, *elsewhere.findings), total=4)
    found = results(a_run(tmp_path, result(NAME, "legacy", both)))
    assert [(location(each)[1], each["occurrenceCount"]) for each in found] == [(88, 3), (9, 1)]


def test_a_known_issue_is_suppressed_and_an_undecided_must_is_open(tmp_path: Path) -> None:
    accepted = msgspec.structs.replace(seen_in(BAD, KEY), status=Status.KNOWN_ISSUE, message="accepted until 2027")
    lines = [
        result(NAME, "legacy", accepted),
        result("core/order-kept", "legacy", UNSURE),
        result("core/nice-names", "legacy", UNSURE),
        result("core/text-arrives", "legacy", OK),
    ]
    suppressed, undecided = results(a_run(tmp_path, *lines))
    assert suppressed["suppressions"][0]["justification"].startswith("accepted until 2027")
    assert (undecided["kind"], undecided["level"], undecided["ruleId"]) == ("open", "none", "core/order-kept")


def test_a_fingerprint_outlives_other_words_values_and_lines(tmp_path: Path) -> None:
    (finding,) = BAD.findings
    moved = msgspec.structs.replace(
        finding, observed=[], place=msgspec.structs.replace(finding.place, pointer="/messages/9")
    )
    same = msgspec.structs.replace(BAD, findings=(moved,))
    first, second = (
        results(a_run(tmp_path, result(NAME, "legacy", seen_in(verdict, KEY))))[0] for verdict in (BAD, same)
    )
    assert first["partialFingerprints"] == second["partialFingerprints"]
    (other,) = results(a_run(tmp_path, result(NAME, "stateless", seen_in(BAD, KEY))))
    assert other["partialFingerprints"] != first["partialFingerprints"]


def logs(folder: Path) -> dict[str, Run]:
    (finding,) = BAD.findings
    strange = msgspec.structs.replace(finding, observed=HOSTILE, facts={"x": HOSTILE}, root=f"raised:{HOSTILE}")
    error = msgspec.structs.replace(
        RAISED, message=HOSTILE, frames=(msgspec.structs.replace(OWN, file=HOSTILE, line=0),)
    )
    hostile = raised(msgspec.structs.replace(BAD, findings=(strange,)), error)
    return {
        "nothing": write_run(folder / "a.ndjson", (), adapters=(), exit_code=3),
        "usual": write_run(folder / "b.ndjson", problems=("known issue x expired",)),
        "raised": a_run(folder / "c", result(NAME, "legacy", raised(seen_in(BAD, KEY)))),
        "cut": write_run(folder / "d.ndjson", exit_code=None),
        "hostile": a_run(folder / "e", result(NAME, "legacy", hostile)),
    }


@pytest.fixture(scope="session")
def multitool() -> Path:
    """Microsoft's own SARIF tool, which has the schema beside it. `nox -s tests` installs it from npm."""
    folder = os.environ.get("TURNPROOF_SARIF_MULTITOOL", "")
    if not folder or not (Path(folder) / "sarif-2.1.0.json").is_file():
        pytest.skip("TURNPROOF_SARIF_MULTITOOL names no folder of @microsoft/sarif-multitool-linux")
    return Path(folder)


@pytest.mark.parametrize("name", ["nothing", "usual", "raised", "cut", "hostile"])
def test_the_log_fits_the_schema_of_sarif(tmp_path: Path, multitool: Path, name: str) -> None:
    schema = json.loads((multitool / "sarif-2.1.0.json").read_text("utf-8-sig"))
    log = json.loads(sarif_json(logs(tmp_path)[name]))
    problems = jsonschema.validators.validator_for(schema)(schema).iter_errors(log)
    assert [f"{list(problem.path)}: {problem.message}" for problem in problems] == []


def test_microsofts_validator_has_nothing_to_object(tmp_path: Path, multitool: Path) -> None:
    file = tmp_path / "turnproof.sarif"
    file.write_bytes(sarif_json(logs(tmp_path)["raised"]))
    program = multitool / "Sarif.Multitool"
    if shutil.which(str(program)) is None:
        pytest.skip(f"{program} cannot be run here")
    env = {**os.environ, "DOTNET_SYSTEM_GLOBALIZATION_INVARIANT": "1"}
    done = subprocess.run(
        [program, "validate", file], capture_output=True, text=True, env=env, timeout=120, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert ": error " not in done.stdout
