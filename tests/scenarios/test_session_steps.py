"""Steps with an agent's sessions: what they become, and every mistake in them is refused at its place."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

from turnproof.scenarios import Scenario, load
from turnproof.scenarios.model import Cut, SessionStep
from turnproof.scenarios.sweep import points


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
