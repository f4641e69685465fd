"""Settings and known issues: read strictly, and what is accepted stays true or goes."""

from __future__ import annotations

import tomllib
from datetime import date
from pathlib import Path

import msgspec
import pytest

from turnproof._base.settings import AgentSettings, KnownIssue, Settings, load_config
from turnproof.errors import UsageError
from turnproof.judge.finding import Finding, Place, Side
from turnproof.judge.known_issues import accept, append_accepted, apply_known_issues
from turnproof.judge.run_log import ResultLine
from turnproof.judge.verdict import MOST_FINDINGS, Status, Verdict, failed, held, inconclusive, not_claimed, violated
from turnproof.judge.verdict_words import message_of

TODAY = date(2026, 11, 21)
ISSUE = KnownIssue("mine", "tools/order", "legacy", "results come sorted", date(2026, 12, 31), "https://example.org/7")
BROKEN = violated("c2 before c1")


def line(verdict: Verdict, requirement: str = "tools/order", path: str = "legacy") -> ResultLine:
    return ResultLine(adapter="mine", requirement=requirement, path=path, verdict=verdict)


PYPROJECT = """
[project]
name = "x"
[tool.turnproof]
adapters = ["my_pkg.binding:BINDING"]
depth = "full"
jobs = 2
[[tool.turnproof.known-issue]]
adapter = "mine"
requirement = "tools/order"
path = "legacy"
reason = "results come sorted"
link = "https://example.org/7"
expires = 2026-12-31
"""


def test_settings_come_from_pyproject(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text(PYPROJECT)
    config = load_config(tmp_path)
    assert config.settings == Settings(adapters=("my_pkg.binding:BINDING",), depth="full", jobs=2, known_issue=(ISSUE,))
    assert config.file == tmp_path / "pyproject.toml"
    assert config.table == "tool.turnproof"


def test_a_file_of_our_own_has_the_same_keys_at_the_top(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text('[project]\nname = "x"\n')
    (tmp_path / "turnproof.toml").write_text(PYPROJECT.partition("[tool.turnproof]")[2].replace("tool.turnproof.", ""))
    config = load_config(tmp_path)
    assert config.settings.known_issue == (ISSUE,)
    assert config.table == ""


def test_the_nearest_file_above_counts_up_to_the_root_of_the_repository(tmp_path: Path) -> None:
    (tmp_path / "turnproof.toml").write_text("seed = 1")
    inside = tmp_path / "repo" / "src" / "deep"
    inside.mkdir(parents=True)
    assert load_config(inside).settings.seed == 1
    (tmp_path / "repo" / ".git").mkdir()
    assert load_config(inside).settings.seed is None
    (tmp_path / "repo" / "turnproof.toml").write_text("seed = 2")
    assert load_config(inside).settings.seed == 2


def test_nothing_configured_is_no_error(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / "pyproject.toml").write_text("[tool.other]\nx = 1\n")
    assert load_config(tmp_path).settings == Settings()


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("deph = 'full'", r"\$: unknown key 'deph'; did you mean 'depth'\?"),
        ("zzz = 1", r"\$: unknown key 'zzz'; known: adapters, backend, depth"),
        ("[[known-issue]]\nadaptor = 'x'", r"\$\.known-issue\[0\]: unknown key 'adaptor'; did you mean 'adapter'\?"),
        ("depth = 'deep'", r"\$\.depth: Invalid enum value 'deep'"),
        ("jobs = 'two'", r"\$\.jobs: Expected `int \| null`, got `str`"),
        ("[[known-issue]]\nadapter = 'x'", r"\$\.known-issue\[0\]: Object missing required field `requirement`"),
        ("known-issue = 3", r"\$\.known-issue: Expected `array`"),
        ("depth =", "cannot read it as TOML"),
    ],
)
def test_a_mistake_is_refused_with_its_place(tmp_path: Path, content: str, says: str) -> None:
    (tmp_path / "turnproof.toml").write_text(content)
    with pytest.raises(UsageError, match=rf"turnproof\.toml: {says}"):
        load_config(tmp_path)


def test_the_place_in_pyproject_is_named_in_full(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text("[tool.turnproof]\ndepth = 3")
    with pytest.raises(UsageError, match=r"pyproject\.toml: \$\.tool\.turnproof\.depth: Expected"):
        load_config(tmp_path)


def test_two_files_side_by_side_are_refused(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text(PYPROJECT)
    (tmp_path / "turnproof.toml").write_text("")
    with pytest.raises(UsageError, match="keep one of them"):
        load_config(tmp_path)


def test_the_same_issue_twice_is_refused(tmp_path: Path) -> None:
    entry = "[[tool.turnproof.known-issue]]" + PYPROJECT.partition("[[tool.turnproof.known-issue]]")[2]
    (tmp_path / "pyproject.toml").write_text(PYPROJECT + entry)
    with pytest.raises(UsageError, match=r"known-issue\[1\]: entry 0 has the same"):
        load_config(tmp_path)


def test_an_accepted_violation_is_a_known_issue_that_keeps_its_message() -> None:
    results, problems = apply_known_issues([line(BROKEN), line(BROKEN, path="stateless")], [ISSUE], TODAY)
    assert problems == []
    assert [str(each.verdict.status) for each in results] == ["known-issue", "violated"]
    assert results[0].verdict.message == "accepted until 2026-12-31: results come sorted (https://example.org/7)"
    assert message_of(results[0].verdict, {}).endswith("example.org/7) — c2 before c1")


def test_the_last_day_still_counts() -> None:
    assert apply_known_issues([line(BROKEN)], [ISSUE], ISSUE.expires)[1] == []


def changed(**fields: object) -> KnownIssue:
    return msgspec.structs.replace(ISSUE, **fields)


@pytest.mark.parametrize(
    ("issue", "verdict", "problem"),
    [
        (changed(expires=date(2026, 11, 20)), BROKEN, "it expired on 2026-11-20"),
        (changed(reason=" \n"), BROKEN, "it has no reason"),
        (ISSUE, held("x", asked=1), r"it no longer occurs \(now held\)"),
        (ISSUE, not_claimed("x"), r"it no longer occurs \(now not-claimed\)"),
        (changed(requirement="tools/ordre"), BROKEN, r"no requirement has this id; did you mean 'tools/order'\?"),
    ],
)
def test_an_entry_that_is_not_true_is_a_problem_and_changes_nothing(
    issue: KnownIssue, verdict: Verdict, problem: str
) -> None:
    import re

    results, problems = apply_known_issues([line(verdict)], [issue], TODAY, {"tools/order"})
    assert results == [line(verdict)]
    assert len(problems) == 1
    assert re.search(problem, problems[0])


def test_what_was_not_measured_or_not_decided_is_left_alone() -> None:
    assert apply_known_issues([], [ISSUE], TODAY, {"tools/order"}) == ([], [])
    unsure = [line(inconclusive("no cassette"))]
    assert apply_known_issues(unsure, [ISSUE], TODAY) == (unsure, [])


def test_only_a_run_with_all_scenarios_says_that_a_violation_no_longer_occurs() -> None:
    assert apply_known_issues([line(held("x", asked=1))], [ISSUE], TODAY, in_part={"tools/order"}) == (
        [line(held("x", asked=1))],
        [],
    )
    _, problems = apply_known_issues([line(held("x", asked=1))], [ISSUE], TODAY, in_part={"tools/other"})
    assert "it no longer occurs" in problems[0]
    _, problems = apply_known_issues([line(not_claimed("x"))], [ISSUE], TODAY, in_part={"tools/order"})
    assert "now not-claimed" in problems[0], "claims are the same in every run"


LATE, LOSS = "tools/order/late", "tools/order/lost"
CODES = (LATE, LOSS, "tools/other/lost")


def found(*codes: str, runs: tuple[str, ...] = ("tools/two",)) -> Verdict:
    """A violation with a finding of each code in each scenario."""
    places = [Place(side=Side.REQUEST, scenario=run, path="legacy", mode="stream") for run in runs]
    return failed([Finding(code=code, place=place) for code in codes for place in places])


def test_an_entry_with_a_code_accepts_no_other_finding() -> None:
    results, problems = apply_known_issues([line(found(LATE, LOSS, LOSS))], [changed(code=LOSS)], TODAY, codes=CODES)
    assert problems == []
    verdict = results[0].verdict
    assert verdict.status is Status.VIOLATED
    assert [one.code for one in verdict.findings] == [LATE]
    assert [one.code for one in verdict.accepted] == [LOSS, LOSS]
    assert (verdict.total, verdict.failing) == (1, {"tools/two/legacy/stream": 1})
    assert verdict.message == (
        "2 of 3 accepted: tools/order/lost accepted until 2026-12-31: results come sorted (https://example.org/7)"
    )


@pytest.mark.parametrize("code", [LOSS, (LOSS,), (LATE, LOSS)])
def test_a_violation_with_no_code_but_the_accepted_ones_is_a_known_issue(code: str | tuple[str, ...]) -> None:
    codes = (code,) if isinstance(code, str) else code
    results, problems = apply_known_issues([line(found(*codes))], [changed(code=code)], TODAY, codes=CODES)
    assert problems == []
    assert results[0].verdict.status is Status.KNOWN_ISSUE
    assert results[0].verdict.findings == found(*codes).findings


def test_entries_with_codes_of_their_own_are_accepted_side_by_side() -> None:
    both = [changed(code=LATE), changed(code=LOSS, reason="one is dropped", link="")]
    results, problems = apply_known_issues([line(found(LATE, LOSS))], both, TODAY, codes=CODES)
    assert problems == []
    assert results[0].verdict.status is Status.KNOWN_ISSUE
    assert "results come sorted" in results[0].verdict.message
    assert results[0].verdict.message.endswith("; accepted until 2026-12-31: one is dropped")


def test_what_was_not_kept_is_accepted_where_every_kind_that_was_cut_is() -> None:
    runs = tuple(f"tools/{n}" for n in range(MOST_FINDINGS + 50))
    verdict = failed([*found(LOSS, runs=runs).findings, *found(LATE).findings])
    whole = msgspec.structs.replace(verdict, total=MOST_FINDINGS + 51, failing={"tools/2/legacy/stream": 51})
    for code, left in ((LOSS, 1), (LATE, MOST_FINDINGS + 50)):
        (marked,), _ = apply_known_issues([line(whole)], [changed(code=code)], TODAY, codes=CODES)
        assert (marked.verdict.status, marked.verdict.total) == (Status.VIOLATED, left)


@pytest.mark.parametrize(
    ("code", "verdict", "problem"),
    [
        ((LATE, LOSS), found(LATE), "tools/order/lost no longer occurs; remove what no longer occurs from its codes"),
        (LOSS, found(LATE), "tools/order/lost no longer occurs; remove the entry"),
        (LOSS, held("x", asked=1), "it no longer occurs (now held); remove the entry"),
        (
            "tools/order/lots",
            found(LOSS),
            "tools/order has no code 'tools/order/lots'; did you mean 'tools/order/lost'?",
        ),
        ("zzz", found(LOSS), "tools/order has no code 'zzz'; it has tools/order/late, tools/order/lost, "),
        ("tools/other/lost", found(LOSS), "'tools/other/lost' is a code of another requirement, tools/other"),
        ("", found(LOSS), "tools/order has no code ''"),
        ((), found(LOSS), "its list of codes is empty"),
    ],
)
def test_a_code_that_is_not_true_is_a_problem_and_accepts_nothing(
    code: str | tuple[str, ...], verdict: Verdict, problem: str
) -> None:
    results, problems = apply_known_issues([line(verdict)], [changed(code=code)], TODAY, {"tools/order"}, codes=CODES)
    assert results == [line(verdict)]
    (text,) = problems
    assert problem in text


@pytest.mark.parametrize("code", ["tools/order/paths-differ", "tools/order/unstructured"])
def test_every_requirement_has_the_codes_that_all_have(code: str) -> None:
    results, problems = apply_known_issues([line(found(code))], [changed(code=code)], TODAY, codes=CODES)
    assert (results[0].verdict.status, problems) == (Status.KNOWN_ISSUE, [])


def test_only_a_run_with_all_scenarios_says_that_a_code_no_longer_occurs() -> None:
    verdict = found(LATE)
    assert apply_known_issues([line(verdict)], [changed(code=LOSS)], TODAY, in_part={"tools/order"}, codes=CODES) == (
        [line(verdict)],
        [],
    )


def test_codes_are_one_or_a_list_in_the_settings(tmp_path: Path) -> None:
    entry = PYPROJECT.partition("[[tool.turnproof.known-issue]]")[2]
    text = "".join(
        f"[[known-issue]]{entry}code = {code}\n" for code in ('"tools/order/late"', '["tools/order/lost", "x"]')
    )
    (tmp_path / "turnproof.toml").write_text(text)
    assert [issue.codes for issue in load_config(tmp_path).settings.known_issue] == [(LATE,), (LOSS, "x")]
    (tmp_path / "turnproof.toml").write_text(text + f'[[known-issue]]{entry}code = "x"')
    with pytest.raises(UsageError, match=r"known-issue\[2\]: entry 1 has the same"):
        load_config(tmp_path)


def test_accept_writes_the_codes_that_were_found(tmp_path: Path) -> None:
    results = [line(found(LOSS, LATE, LOSS)), line(found(LATE), path="stateless")]
    file = tmp_path / "turnproof.toml"
    append_accepted(file, accept(results, TODAY, table="").replace('reason = ""', 'reason = "known"'))
    issues = load_config(tmp_path).settings.known_issue
    assert [issue.code for issue in issues] == [(LATE, LOSS), LATE]
    marked, problems = apply_known_issues(results, issues, TODAY, codes=CODES)
    assert ([one.verdict.status for one in marked], problems) == ([Status.KNOWN_ISSUE] * 2, [])


def test_what_accept_writes_is_read_again_and_fails_until_it_has_reasons(tmp_path: Path) -> None:
    nasty = ResultLine(
        adapter='a "b"\\\n\x7f🌱', requirement="core/x", path="parity", verdict=violated("two\nlines \x00 # '''")
    )
    results = [line(BROKEN), line(held("x", asked=1), path="stateless"), nasty]
    pyproject = tmp_path / "pyproject.toml"
    pyproject.write_text('[project]\nname = "x"')
    append_accepted(pyproject, accept(results, TODAY))

    issues = load_config(tmp_path).settings.known_issue
    assert [issue.key for issue in issues] == [("mine", "tools/order", "legacy"), (nasty.adapter, "core/x", "parity")]
    assert {issue.expires for issue in issues} == {date(2027, 2, 19)}
    again, problems = apply_known_issues(results, issues, TODAY)
    assert again == results
    assert all("it has no reason" in problem for problem in problems)
    assert len(problems) == 2


def test_accept_keeps_characters_beyond_the_basic_multilingual_plane(tmp_path: Path) -> None:
    seedling = ResultLine(
        adapter="my_\U0001f331:\U00020bb7", requirement="core/x", path="legacy", verdict=violated("a \U0001f331 grows")
    )
    file = tmp_path / "turnproof.toml"
    append_accepted(file, accept([seedling], TODAY, table=""))
    text = file.read_text("utf-8")
    assert "\U0001f331" in text
    assert "\\ud83c" not in text.lower()
    assert tomllib.loads(text)["known-issue"][0]["adapter"] == seedling.adapter
    assert load_config(tmp_path).settings.known_issue[0].key == (seedling.adapter, "core/x", "legacy")


def test_accept_writes_for_a_file_of_our_own(tmp_path: Path) -> None:
    file = tmp_path / "turnproof.toml"
    append_accepted(file, accept([line(BROKEN)], TODAY, table=""))
    assert tomllib.loads(file.read_text())["known-issue"][0]["requirement"] == "tools/order"
    assert load_config(tmp_path).settings.known_issue[0].adapter == "mine"


def test_nothing_violated_accepts_nothing() -> None:
    assert accept([line(held("x", asked=1))], TODAY) == ""


def test_agents_are_settings_by_name(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text(
        '[tool.turnproof.agents.claude_agent]\nhome = "own"\ncontinue_last = true\n'
        '[tool.turnproof.agents."my.agent:AGENT"]\nsession = "s"\noptions = { depth = 2 }\n'
    )
    assert load_config(tmp_path).settings.agents == {
        "claude_agent": AgentSettings(home="own", continue_last=True),
        "my.agent:AGENT": AgentSettings(session="s", options={"depth": 2}),
    }


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("seession = 's'", r"\$\.tool\.turnproof\.agents\.mine: unknown key 'seession'; did you mean 'session'\?"),
        ("api_key = 'k'", r"\$\.tool\.turnproof\.agents\.mine: unknown key 'api_key'; known: home, base_url"),
        ("continue_last = 1", r"continue_last: Expected `bool`, got `int`"),
    ],
)
def test_an_agents_settings_are_read_strictly(tmp_path: Path, line: str, says: str) -> None:
    (tmp_path / "pyproject.toml").write_text(f"[tool.turnproof.agents.mine]\n{line}\n")
    with pytest.raises(UsageError, match=says):
        load_config(tmp_path)
