"""The schemas and reports in the language services that VS Code's editors are made of. `nox -s editors` installs them.

A schema that a validator of Python takes may still be read otherwise there: another draft, a reference that is not
followed, a key that is not completed.
"""

from __future__ import annotations

import json
import os
import subprocess
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
from report.runs import GOOD, HEADER, RESULTS, write_run

import turnproof_suites
from turnproof.report import write_reports
from turnproof.report.history import history, history_json
from turnproof.run.evidence import EvidenceStore

FOLDER = os.environ.get("TURNPROOF_EDITOR_SERVICES", "")
pytestmark = [
    pytest.mark.skipif(not FOLDER, reason="TURNPROOF_EDITOR_SERVICES names no node_modules: run `nox -s editors`"),
    pytest.mark.timeout(300),
]

PACKAGE = Path(str(files("turnproof")))
SCENARIOS = Path(next(iter(turnproof_suites.__path__))) / "scenarios"
SETTINGS = Path(__file__).resolve().parents[2] / "examples" / "migration" / "turnproof.toml"


def schema(name: str) -> Any:
    return json.loads((PACKAGE / name).read_text("utf-8"))


def ask(*questions: dict[str, Any]) -> list[dict[str, Any]]:
    """The answers of the language services, in order."""
    script = Path(__file__).with_name("validate.mjs")
    done = subprocess.run(
        ["node", str(script), FOLDER], input=json.dumps(questions), capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    answers: list[dict[str, Any]] = json.loads(done.stdout)
    return answers


def scenario(text: str, **more: Any) -> dict[str, Any]:
    return {"kind": "yaml", "text": text, "schema": schema("scenarios/scenario.schema.json"), **more}


def settings(text: str) -> dict[str, Any]:
    return {"kind": "toml", "text": text, "schema": schema("_base/settings.schema.json")}


def test_the_yaml_editor_marks_nothing_in_any_scenario_of_the_suite() -> None:
    found = sorted(SCENARIOS.rglob("*.yaml"))
    assert len(found) > 100
    answers = ask(*(scenario(file.read_text("utf-8")) for file in found))
    problems = {file.name: answer["problems"] for file, answer in zip(found, answers, strict=True)}
    assert {name: messages for name, messages in problems.items() if messages} == {}


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("title: x\nturns: [{user: hi, model: hi}]\nturnz: 1\n", "Property turnz is not allowed."),
        ("title: x\nturns: 3\n", 'Incorrect type. Expected "array".'),
        ("title: x\nturns: [{usr: hi, model: hi}]\n", "Property usr is not allowed."),
        (
            "title: x\ndepth: fast\nturns: [{user: hi, model: hi}]\n",
            'Value is not accepted. Valid values: "quick", "full".',
        ),
    ],
)
def test_the_yaml_editor_marks_what_the_command_refuses(text: str, problem: str) -> None:
    (answer,) = ask(scenario(text))
    assert problem in answer["problems"]


def test_the_yaml_editor_completes_keys_and_words() -> None:
    keys, words, of_a_turn = ask(
        scenario("title: x\n\n", line=1, character=0),
        scenario("title: x\ndepth: \n", line=1, character=7),
        scenario("title: x\nturns:\n  - user: hi\n    \n", line=3, character=4),
    )
    assert {"turns", "tools", "system"} <= set(keys["offered"])
    assert {"quick", "full"} <= set(words["offered"])
    assert {"model", "faults", "cancel"} <= set(of_a_turn["offered"])


def test_the_toml_editor_takes_good_settings_and_marks_others() -> None:
    good, unknown, word, kind = ask(
        settings(SETTINGS.read_text("utf-8")),
        settings('depht = "full"\n'),
        settings('depth = "fast"\n'),
        settings('jobs = "many"\n'),
    )
    assert good["problems"] == []
    assert "'depht' was unexpected" in unknown["problems"][0]
    assert '"fast" is not one of' in word["problems"][0]
    assert "jobs" in kind["problems"][0] or "many" in kind["problems"][0]


def test_the_json_editor_marks_nothing_in_the_reports(tmp_path: Path) -> None:
    for number, results in enumerate((GOOD, RESULTS)):
        run = write_run(tmp_path / str(number) / "run.ndjson", results, header=HEADER)
        write_reports(run, tmp_path / str(number), EvidenceStore(tmp_path / "evidence"))
    questions = [
        {"kind": "json", "text": (tmp_path / name).read_text("utf-8"), "schema": schema(f"report/{of}.schema.json")}
        for name, of in (("0/certification.json", "certification"), ("1/certification.json", "certification"))
    ]
    over_time = history_json(history(tmp_path)).decode()
    questions += [{"kind": "json", "text": over_time, "schema": schema("report/history.schema.json")}]
    assert [answer["problems"] for answer in ask(*questions)] == [[], [], []]


def test_the_json_editor_marks_nothing_in_the_sarif_log(tmp_path: Path) -> None:
    folder = Path(FOLDER) / "@microsoft" / "sarif-multitool-linux"
    if not folder.is_dir():
        pytest.skip("Microsoft's validator for SARIF, which has the schema, is not installed: run `nox -s editors`")
    of_sarif = json.loads((folder / "sarif-2.1.0.json").read_text("utf-8-sig"))
    write_reports(write_run(tmp_path / "run.ndjson"), tmp_path, EvidenceStore(tmp_path / "evidence"))
    text = (tmp_path / "turnproof.sarif").read_text("utf-8")
    good, bad = ask(
        {"kind": "json", "text": text, "schema": of_sarif},
        {"kind": "json", "text": text.replace('"runs"', '"rums"', 1), "schema": of_sarif},
    )
    assert good["problems"] == []
    assert 'Missing property "runs".' in bad["problems"]
