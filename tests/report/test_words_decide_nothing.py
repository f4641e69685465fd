"""Every template is replaced by random words, some of which look like places: whatever is no text stays as it was.

Each code that the installed suite registers takes part, with places that are new, fixed, still there and undecided
between two runs.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace
from properties import examples

from turnproof._base.settings import KnownIssue
from turnproof.judge.finding import PATHS_DIFFER, Finding, Place, Side
from turnproof.judge.finding_words import Template
from turnproof.judge.known_issues import accept, apply_known_issues
from turnproof.judge.requirements import Suite, load_suite
from turnproof.judge.run_log import RequirementLine, ResultLine, Run, TranscriptLine
from turnproof.judge.verdict import Status, failed
from turnproof.report.certification import certification, certification_json
from turnproof.report.certification_diff import Kind, diff, diff_json
from turnproof.report.failures import failures, group_rows
from turnproof.report.finding_groups import groups, location
from turnproof.report.sarif import sarif_json
from turnproof.run.tracebacks import Frame
from turnproof.run.transcript import RunKey

from .runs import ADAPTER, result, write_run

pytestmark = pytest.mark.long

TODAY = date(2026, 11, 23)
SCENARIOS = ("tools/one", "tools/two", "tools/late")
"""The later run does not make the last one."""

LIKE_PLACES = (
    "turn 3 round 1 (call 9)",
    "$.messages[3]",
    "/messages/0",
    "tools/one/stateless/stream",
    "{expected}",
    "{",
)
WORDS = st.lists(st.one_of(st.text(max_size=20), st.sampled_from(LIKE_PLACES)), max_size=4).map(" ".join)
TEMPLATES = st.lists(st.builds(Template, WORDS, WORDS, WORDS), min_size=1, max_size=12)


@pytest.fixture(scope="module")
def suite() -> Suite:
    return load_suite()


OPENED = Frame(file="a.py", line=7, function="Adapter", owner="subject")


def codes_of(suite: Suite) -> dict[str, list[str]]:
    """The codes of each requirement that has some of its own, with the one that all of them have."""
    found: dict[str, list[str]] = {}
    for code in suite.registry.templates:
        found.setdefault(code.rpartition("/")[0], []).append(code)
    return {id: [*codes, f"{id}/{PATHS_DIFFER}"] for id, codes in found.items()}


def a_finding(code: str, number: int, scenario: str) -> Finding:
    side = list(Side)[number % len(Side)]
    place = Place(
        side=side,
        scenario=scenario,
        path="stateless",
        mode="stream",
        turn=number % 3,
        round=number % 2,
        call=number,
        pointer=f"/messages/{number}/content",
    )
    return Finding(code=code, place=place, expected=[number], observed="as sent", root="raised:X@y.py:1" * (number % 2))


def results(suite: Suite, later: bool) -> list[ResultLine]:
    """Of each requirement's codes the even ones before, the odd ones after, the first one on both sides."""
    lines = []
    for id, codes in codes_of(suite).items():
        chosen = [code for at, code in enumerate(codes) if at == 0 or at % 2 == later]
        where = SCENARIOS[:2] if later else SCENARIOS
        found = [a_finding(code, codes.index(code), scenario) for code in chosen for scenario in where]
        lines.append(result(id, "stateless", failed(found)))
    return lines


def write(folder: Path, suite: Suite, templates: Mapping[str, Template], *, later: bool) -> Run:
    scenarios = SCENARIOS[:2] if later else SCENARIOS
    keys = [RunKey(name, "stateless") for name in scenarios]
    return write_run(
        folder / "run.ndjson",
        results(suite, later),
        catalogue=[RequirementLine.of(one, templates) for one in suite.requirements],
        transcripts=[TranscriptLine(adapter=ADAPTER.name, key=key, digest=str(key), opened=OPENED) for key in keys],
    )


def issues(suite: Suite) -> list[KnownIssue]:
    """An entry for each requirement in turn: its first code, no code, all that it has, or whatever is found."""
    found = []
    for at, (id, codes) in enumerate(codes_of(suite).items()):
        code = (codes[0], (), tuple(codes), None)[at % 4]
        found.append(KnownIssue(ADAPTER.name, id, "stateless", "known", date(2030, 1, 1), code=code))
    return found


def decided(
    folder: Path, suite: Suite, before: Mapping[str, Template], after: Mapping[str, Template]
) -> dict[str, str]:
    """All that is decided about two runs whose words come from these templates, without the words."""
    write(folder / "before", suite, before, later=False)
    run = write(folder / "after", suite, after, later=True)
    marked, problems = apply_known_issues(run.results, issues(suite), TODAY, codes=after)
    entries = accept(marked, TODAY, templates=after)
    found = {
        "diff": without_words(diff_json(diff(folder / "before", folder / "after")).replace(str(folder).encode(), b"")),
        "certification": without_words(certification_json(certification(run))),
        "known issues": [[str(line.verdict) for line in marked], problems],
        "accepted": [row for row in entries.splitlines() if not row.startswith("#")],
        "places": list(places(run)),
        "sarif": without(sarif_json(run), "text"),
    }
    return {name: json.dumps(value, indent=1) for name, value in found.items()}


def places(run: Run) -> Iterator[Any]:
    """Where reports say that something was found."""
    for line in run.results:
        for group in groups(line.verdict.findings, run.templates):
            yield [group.code, group.root, group.runs, *(location(one.place) for one in group.findings)]
    for failure in failures(run, Status.VIOLATED):
        for group in failure.groups:
            yield [row for row in group_rows(group) if row[0] in ("where", "cause")]


def without_words(document: bytes) -> Any:
    """A report without its rendered texts: those of findings, and messages."""

    def bare(value: Any) -> Any:
        if isinstance(value, list):
            return [bare(item) for item in value]
        if not isinstance(value, dict):
            return value
        texts = {"title", "expected", "got"} if {"title", "got", "where"} <= set(value) else set()
        texts |= {"message", "before_message", "after_message"}
        return {name: bare(item) for name, item in value.items() if name not in texts}

    return bare(json.loads(document))


def without(document: bytes, field: str) -> Any:
    return json.loads(document, object_hook=lambda value: {k: item for k, item in value.items() if k != field})


@pytest.fixture(scope="module")
def unchanged(suite: Suite, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    templates = suite.registry.templates
    return decided(tmp_path_factory.mktemp("unchanged"), suite, templates, templates)


def test_the_runs_have_every_kind_of_finding_to_compare(suite: Suite, tmp_path: Path) -> None:
    templates = suite.registry.templates
    write(tmp_path / "a", suite, templates, later=False)
    write(tmp_path / "b", suite, templates, later=True)
    found = diff(tmp_path / "a", tmp_path / "b")
    assert found.counts[Kind.CHANGED] > 3
    for field in ("new", "fixed", "still", "undecided"):
        assert sum(len(getattr(change, field)) for change in found.changes) > 3
    (verdicts, problems) = apply_known_issues(results(suite, later=True), issues(suite), TODAY, codes=templates)
    assert {line.verdict.status for line in verdicts} == {Status.VIOLATED, Status.KNOWN_ISSUE}
    assert any(line.verdict.accepted for line in verdicts)
    assert problems


@given(words=TEMPLATES)
@settings(
    examples(8),
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
def test_random_words_in_place_of_every_template_change_nothing_but_texts(
    suite: Suite, unchanged: dict[str, str], tmp_path: Path, words: list[Template]
) -> None:
    own = suite.registry.templates
    others = {code: words[at % len(words)] for at, code in enumerate(own)}
    for before in (own, others):
        found = decided(tmp_path, suite, before, others)
        for name, value in found.items():
            if value != unchanged[name]:  # the documents are too long to be shown side by side
                rows = zip(unchanged[name].splitlines(), value.splitlines(), strict=False)
                pytest.fail(f"{name}: {next(pair for pair in rows if pair[0] != pair[1])}")


def test_the_words_are_really_replaced(suite: Suite, tmp_path: Path) -> None:
    """Otherwise the property above would hold for reports that look at no template at all."""
    others = dict.fromkeys(suite.registry.templates, Template("ZEBRA", "ZEBRA", "ZEBRA"))
    run = write(tmp_path, suite, others, later=True)
    for document in (sarif_json(run), certification_json(certification(run))):
        assert b"ZEBRA" in document
    run = write(tmp_path, suite, {code: replace(words, title="GNU") for code, words in others.items()}, later=True)
    assert b"GNU" in sarif_json(run)
