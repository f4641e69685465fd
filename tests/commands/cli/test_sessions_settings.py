"""What the settings of a project say to `turnproof sessions`."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

import pytest

from turnproof._base.settings import load_config

from .kit import AGENT, Run, conversation, start_session


def configured(folder: Path, **settings: Any) -> None:
    lines = [f"{name} = {json.dumps(value)}" for name, value in settings.items()]
    (folder / "turnproof.toml").write_text("\n".join([f"[agents.{json.dumps(AGENT)}]", *lines]))


def test_the_session_of_the_settings_is_gone_on_with_and_a_single_word_is_the_prompt(folder: Path, run: Run) -> None:
    first, second = start_session(folder, "one"), start_session(folder, "two")
    configured(folder, session=first)
    assert run("resume", AGENT, "by name").err[0] == f"session: {first}"
    configured(folder, continue_last=True)
    start_session(folder, "three")
    assert run("resume", AGENT, stdin="the last").err[0] == "session: s3-cccccc"
    assert run("resume", AGENT, second, "another").err[0] == f"session: {second}"
    assert conversation(folder, first) == ["one", "by name"]
    assert conversation(folder, "s3-cccccc") == ["three", "the last"]


def test_a_session_of_the_settings_that_is_gone_costs_a_line_and_no_turn(folder: Path, run: Run) -> None:
    start_session(folder, "one")
    configured(folder, session="gone")
    done = run("resume", AGENT, "hello")
    assert done == (0, "You said: hello\n", ["session: s2-bbbbbb (requested: gone)"])
    configured(folder, session="gone", continue_last=True)
    assert run("resume", AGENT, "and on").err[0] == "session: s2-bbbbbb (requested: gone)"


def test_settings_are_relative_to_their_folder_and_the_command_line_wins(
    folder: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "turnproof.toml").write_text(
        '[agents."their_echo:NOTED"]\n'
        'home = "agents/mine"\nprogram = "bin/parrot"\nsystem = "be kind"\nbase_url = "http://127.0.0.1:8"\n'
        "[agents.\"their_echo:NOTED\".options]\ndepth = 5\nflags = ['a', 'b']\n"
    )
    (folder / "below").mkdir()
    monkeypatch.syspath_prepend(str(folder))
    monkeypatch.chdir(folder / "below")
    run("list", "their_echo:NOTED=other")
    run("list", "their_echo:NOTED", "--option", "depth=6", "--option", "program=mine", "--base-url", "http://h")
    first, second = sys.modules["their_echo"].SEEN
    assert (first.home, first.system) == (str(folder / "agents" / "mine"), "be kind")
    assert first.endpoint.base_url == "http://127.0.0.1:8"
    assert first.endpoint.options == {"depth": 5, "flags": ["a", "b"], "program": str(folder / "bin" / "parrot")}
    assert second.endpoint.base_url == "http://h"
    assert second.endpoint.options == {"depth": 6, "flags": ["a", "b"], "program": "mine"}


def test_a_program_by_its_bare_name_is_left_to_the_agent(folder: Path, run: Run) -> None:
    (folder / "turnproof.toml").write_text('[agents."their_echo:NOTED"]\nprogram = "parrot"\n')
    run("list", "their_echo:NOTED")
    assert sys.modules["their_echo"].SEEN[0].endpoint.options == {"depth": 1, "program": "parrot"}


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("[agents.x]\nhom = 'a'", "$.agents.x: unknown key 'hom'; did you mean 'home'?"),
        ("[agents.x]\nhome = 3", "$.agents[...].home: Expected `str`, got `int`"),
        ("[agents]\nx = 3", "$.agents[...]: Expected `object`, got `int`"),
    ],
)
def test_settings_are_read_strictly(folder: Path, run: Run, line: str, says: str) -> None:
    (folder / "turnproof.toml").write_text(line)
    done = run("list", AGENT)
    assert done.code == 2
    assert done.err[0] == f"error: {folder / 'turnproof.toml'}: {says}"


def test_the_settings_on_the_page_are_read(folder: Path) -> None:
    page = (Path(__file__).parents[3] / "docs" / "sessions.md").read_text("utf-8")
    (text,) = re.findall(r"```toml\n(.*?)```", page, flags=re.DOTALL)
    (folder / "pyproject.toml").write_text(text)
    settings = load_config(folder).settings.agents["claude_agent"]
    assert (settings.program, settings.continue_last) == ("tools/claude", True)
    assert all(getattr(settings, name) for name in settings.__struct_fields__), "every key is on the page"
