"""Steps with an agent's sessions: what they become, and every mistake in them is refused at its place."""

from __future__ import annotations

from operator import attrgetter
from pathlib import Path
from textwrap import dedent

import pytest

from turnproof.scenarios import Scenario, load
from turnproof.scenarios.model import Cut, SessionStep
from turnproof.scenarios.sweep import points

from .bad import Bad, check_refused, file, turn


def steps(id: str, written: str, path: str, reason: str) -> Bad:
    """One list of steps in front of a turn; `path` continues that of the list."""
    return turn(id, f"sessions: {written}\nuser: a\nmodel: b", f".sessions{path}", reason)


STEPS = [
    steps("no-list", "{new: second}", "", "expected a list of steps with sessions"),
    steps("a-word", "[later]", "[0]", "expected a step with sessions"),
    steps("unknown", "[{reopen: first}]", "[0].reopen", "unknown key 'reopen'"),
    steps("misspelt", "[{resum: first}]", "[0].resum", "did you mean 'resume'?"),
    steps("two-in-one", "[{new: second, resume: first}]", "[0]", "is one step: one of"),
    steps("none", "[{}]", "[0]", "is one step: one of"),
    steps("later-than-what", "[{later: 3}]", "[0].later", "takes nothing: {later: null}"),
    steps("new-without-a-label", "[{new: null}]", "[0].new", "expected a label"),
    steps("new-is-the-first", "[{new: first}]", "[0].new", "'first' is another session's label"),
    steps("new-is-nobody", "[{new: nobody}]", "[0].new", "'nobody' is another session's label"),
    steps("new-is-everywhere", "[{new: everywhere}]", "[0].new", "'everywhere' is another session's label"),
    steps("label-given-twice", "[{new: second}, {fork: second}]", "[1].fork", "'second' is another session's label"),
    steps("resume-of-what", "[{resume: null}]", "[0].resume", "expected the label of a session"),
    steps(
        "resume-of-a-later-one", "[{resume: second}, {new: second}]", "[0].resume", "no session is labelled 'second'"
    ),
    steps("resume-misspelt", "[{resume: frist}]", "[0].resume", "did you mean 'first'?"),
    steps("deleted-unknown", "[{delete: second}]", "[0].delete", "no session is labelled 'second'"),
    steps("damage-to-nobody", "[{damage: nobody}]", "[0].damage", "no session is labelled 'nobody'"),
    steps("list-of-a-number", "[{list: 3}]", "[0].list", "expected a working directory"),
    steps("continue-in-a-list", "[{continue: [a]}]", "[0].continue", "expected a working directory"),
    steps("open-with-a-word", "[{open: first}]", "[0].open", "expected what an agent is opened with"),
    steps("open-with-more", "[{open: {sesion: first}}]", "[0].open.sesion", "did you mean 'session'?"),
    steps("open-unknown", "[{open: {session: second}}]", "[0].open.session", "no session is labelled 'second'"),
    steps("open-relabelled", "[{open: {label: first}}]", "[0].open.label", "'first' is another session's label"),
    steps("open-nowhere", "[{open: {cwd: 3}}]", "[0].open.cwd", "expected a working directory"),
    steps("open-last-of-what", "[{open: {last: second}}]", "[0].open.last", "expected true or false"),
]

AROUND = [
    turn("denied-unknown", "user: a\nmodel: b\ndenied: wtaer", ".denied", "did you mean 'water'?"),
    turn("denied-number", "user: a\nmodel: b\ndenied: [read, 3]", ".denied[1]", "expected a word"),
    turn("denied-to-nobody", "sessions: [{new: second}]\ndenied: read", ".denied", "nothing is said in this turn"),
    turn(
        "killed-before-it-began",
        "user: a\nmodel: b\ncancel: {at: before-start, by: kill}",
        ".cancel.by",
        "there is no turn yet that could be stopped",
    ),
    turn(
        "killed-and-answered",
        "user: a\nmodel: b\ncancel: {after: 'text:1', by: kill}\nexpect: answer",
        "",
        "or whose agent is killed, ends with 'expect: error'",
    ),
    turn(
        "killed-and-cancelled",
        "user: a\nmodel: b\ncancel: {after: 'text:1', by: kill}\nexpect: cancelled",
        "",
        "a turn whose agent is killed ends with an error",
    ),
    turn(
        "killed-in-a-tool-that-is-not-called",
        "user: a\nmodel: b\ncancel: {at: tool, by: kill}",
        ".cancel",
        "but round 0 calls 0",
    ),
    file("sweep-of-what", "title: T\nsweep: {only: murder}\nturns: [{user: a, model: [[{text: [b, c]}]]},"
         " {user: d, model: e}]", "$.sweep.only", "unknown word 'murder'"),
    file("sweep-twice", "title: T\nsweep: {only: [kill, kill]}\nturns: [{user: a, model: [[{text: [b, c]}]]},"
         " {user: d, model: e}]", "$.sweep.only[1]", "'kill' stands here twice"),
]  # fmt: skip


@pytest.mark.parametrize("bad", [*STEPS, *AROUND], ids=attrgetter("id"))
def test_a_mistake_is_refused_at_its_place(bad: Bad, tmp_path: Path) -> None:
    check_refused(bad, tmp_path)


def read(folder: Path, text: str) -> Scenario:
    path = folder / "one.yaml"
    path.write_text(dedent(text), encoding="utf-8")
    return load(path)


def test_every_step_becomes_what_it_says(tmp_path: Path) -> None:
    scenario = read(
        tmp_path,
        """
        title: T
        subject: agent
        turns:
          - sessions:
              - new: second
              - fork: branch
              - resume: branch
              - resume: nobody
              - continue: null
              - continue: nowhere
              - list: everywhere
              - later: null
              - damage: second
              - delete: nobody
              - open: {session: second, last: true, cwd: elsewhere, label: third}
              - resume: third
              - open: {}
            user: a
            model: b
        """,
    )
    assert scenario.turns[0].sessions == (
        SessionStep("new", label="second"),
        SessionStep("fork", label="branch"),
        SessionStep("resume", session="branch"),
        SessionStep("resume", session="nobody"),
        SessionStep("continue"),
        SessionStep("continue", cwd="nowhere"),
        SessionStep("list", cwd="everywhere"),
        SessionStep("later"),
        SessionStep("damage", session="second"),
        SessionStep("delete", session="nobody"),
        SessionStep("open", session="second", label="third", cwd="elsewhere", last=True),
        SessionStep("resume", session="third"),
        SessionStep("open"),
    )


def test_labels_are_known_from_one_turn_to_the_next(tmp_path: Path) -> None:
    text = "title: T\nturns: [{sessions: [{new: second}], user: a, model: b}, {sessions: [{resume: second}], user: c,"
    scenario = read(tmp_path, text + " model: d}]")
    assert scenario.turns[1].sessions == (SessionStep("resume", session="second"),)


def test_a_turn_may_be_steps_alone(tmp_path: Path) -> None:
    only, _ = read(tmp_path, "title: T\nturns: [{sessions: [{list: null}]}, {user: a, model: b}]").turns
    assert (only.user, only.sessions) == ((), (SessionStep("list"),))


def test_a_turn_whose_agent_is_killed_ends_with_an_error(tmp_path: Path) -> None:
    (only,) = read(
        tmp_path, "title: T\nturns: [{user: a, model: [[{text: [b, c]}]], cancel: {after: 'text:1', by: kill}}]"
    ).turns
    assert only.cancel == Cut("event", after="text:1", by="kill")
    assert (only.expect, only.error) == ("error", None)


def test_tools_are_denied_one_or_many(tmp_path: Path) -> None:
    tools = "title: T\ntools: [{name: read}, {name: water}]\nresults: {read: 1, water: 2}\nturns: "
    call = "user: a, model: [[{call: read}, {call: water}], [b]]"
    one, many = read(tmp_path, f"{tools}[{{{call}, denied: read}}, {{{call}, denied: [read, water]}}]").turns
    assert (one.denied, many.denied) == (("read",), ("read", "water"))


def test_a_sweep_of_kills_has_nothing_else(tmp_path: Path) -> None:
    scenario = read(
        tmp_path,
        """
        title: T
        sweep: {only: [kill]}
        turns: [{user: a, model: [[{text: [b, c]}]]}, {user: d, model: e}]
        """,
    )
    found = list(points(scenario, 3))
    assert found
    assert {point.name.partition("#")[2].partition("@")[0] for point in found} == {"kill"}
    for point in found:
        assert point.turns[0].cancel is not None
        assert (point.turns[0].cancel.by, point.turns[0].expect, point.modes) == ("kill", "error", ("stream",))


def test_nobody_is_killed_in_a_sweep_that_does_not_say_so(tmp_path: Path) -> None:
    scenario = read(tmp_path, "title: T\nsweep: {}\nturns: [{user: a, model: [[{text: [b, c]}]]}, {user: d, model: e}]")
    kinds = {point.name.partition("#")[2].partition("@")[0] for point in points(scenario, 3)}
    assert "cancel" in kinds
    assert "kill" not in kinds
