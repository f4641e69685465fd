"""The settings of gates: what may stand there, who has to pass, and what a mistake is told."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from turnproof._base.settings import DeclaredDifference, GateSettings, load_config
from turnproof.commands.gates.flag import FlagPlan
from turnproof.commands.gates.phases import Setting
from turnproof.commands.gates.subjects import gate_subjects
from turnproof.errors import BindingError, CatalogueError, UsageError
from turnproof.judge.declarations import excused_for
from turnproof.session.binding import REFERENCE
from turnproof_adapters.anthropic.binding import BINDING as ANTHROPIC

ALL = """
[tool.turnproof.gates]
phase = 2
session = "commands.gates.sessions:FLIPPED"
pilot = "anthropic"
flag = "MY_FLAG"
flag_off = "false"
flag_on = "true"
flip_phase = 2
existing_tests = "pytest -q"
existing_tests_seconds = 60
"""


def test_everything_that_may_be_set_is_read(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text(ALL)
    gates = load_config(tmp_path).settings.gates
    assert gates == GateSettings(
        2, "commands.gates.sessions:FLIPPED", "anthropic", "MY_FLAG", "false", "true", 2, "pytest -q", 60.0
    )


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("exisitng_tests = 'x'", "$.gates: unknown key 'exisitng_tests'; did you mean 'existing_tests'?"),
        ("tests = 'x'", "$.gates: unknown key 'tests'"),
        ("flip_phase = 1", "$.gates.flip_phase: Expected `int` >= 2"),
        ("flip_phase = 5", "$.gates.flip_phase: Expected `int` <= 4"),
        ("mode = 'loud'", "$.gates.mode: Invalid enum value 'loud'"),
        ("providers = 'my_pkg:Mine'", "$.gates.providers: Expected `array`, got `str`"),
        ("flag = 'MY FLAG'", "$.gates.flag: Expected `str` matching regex"),
        ("phase = 'two'", "$.gates.phase: Expected `int | null`, got `str`"),
        ("existing_tests_seconds = 0", "$.gates.existing_tests_seconds: Expected `float` > 0"),
    ],
)
def test_a_mistake_is_refused_with_its_place(tmp_path: Path, content: str, says: str) -> None:
    (tmp_path / "turnproof.toml").write_text(f"[gates]\n{content}\n")
    with pytest.raises(UsageError) as failure:
        load_config(tmp_path)
    assert f"{tmp_path / 'turnproof.toml'}: {says}" in str(failure.value)


# -- the flag ------------------------------------------------------------------------------------------------------


def test_the_settings_name_the_flag_or_else_the_sessions_binding_does() -> None:
    assert FlagPlan.from_settings(GateSettings(), REFERENCE).flag == REFERENCE.flag
    assert FlagPlan.from_settings(GateSettings(flag="MINE"), REFERENCE).flag.variable == "MINE"


@pytest.mark.parametrize(
    ("setting", "phase", "flip", "path"),
    [
        ("off", 2, 2, "legacy"),
        ("on", 2, 3, "stateless"),
        ("default", 1, 3, "legacy"),
        ("default", 2, 3, "legacy"),
        ("default", 3, 3, "stateless"),
        ("default", 2, 2, "stateless"),
    ],
)
def test_where_the_flag_has_to_lead(setting: Setting, phase: int, flip: int, path: str) -> None:
    assert FlagPlan.from_settings(GateSettings(flip_phase=flip), REFERENCE).path(setting, phase) == path


@pytest.mark.parametrize(("off", "on"), [("1", "1"), ("", "1"), ("0", "")])
def test_on_and_off_have_to_be_two_values(off: str, on: str) -> None:
    with pytest.raises(UsageError, match="two different values"):
        FlagPlan.from_settings(GateSettings(flag_off=off, flag_on=on), REFERENCE)


# -- who has to pass -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("names", "settings", "spec", "name"),
    [
        ((), GateSettings(), "anthropic", "anthropic"),
        ((), GateSettings(session="commands.gates.sessions:MUTE"), "commands.gates.sessions:MUTE", "mute"),
        (
            (),
            GateSettings(session="commands.gates.sessions:MUTE", pilot="anthropic"),
            "commands.gates.sessions:MUTE@anthropic",
            "mute",
        ),
        (
            ("anthropic",),
            GateSettings(session="commands.gates.sessions:MUTE"),
            "commands.gates.sessions:MUTE@anthropic",
            "mute",
        ),
        (
            ("commands.gates.sessions:DRIFTS",),
            GateSettings(session="commands.gates.sessions:MUTE"),
            "commands.gates.sessions:DRIFTS",
            "drifts",
        ),
        (
            ("commands.gates.sessions:DRIFTS@anthropic",),
            GateSettings(),
            "commands.gates.sessions:DRIFTS@anthropic",
            "drifts",
        ),
    ],
)
def test_a_session_on_an_adapter_has_to_pass(
    names: tuple[str, ...], settings: GateSettings, spec: str, name: str
) -> None:
    (found,) = gate_subjects(names, settings, ()).items()
    assert (found[0], found[1].name) == (spec, name)


@pytest.mark.parametrize(
    ("names", "settings", "says"),
    [
        ((), GateSettings(pilot="antropic"), "gates: pilot = 'antropic': unknown adapter 'antropic'; did you mean"),
        ((), GateSettings(pilot="reference"), "gates: pilot = 'reference': unknown adapter"),
        ((), GateSettings(session="refernce"), "gates: session = 'refernce': unknown session 'refernce'"),
        (
            (),
            GateSettings(session="commands.gates.sessions:NO_SESSION"),
            "'commands.gates.sessions:NO_SESSION' is a dict",
        ),
        ((), GateSettings(session="no_such:THING"), "there is no module 'no_such'"),
        (("anthropic",), GateSettings(session="refernce"), "gates: session = 'refernce': unknown session"),
        (("nobody",), GateSettings(), "unknown adapter, session or agent 'nobody'"),
    ],
)
def test_who_does_not_exist_is_told_by_name(names: tuple[str, ...], settings: GateSettings, says: str) -> None:
    with pytest.raises(BindingError) as failure:
        gate_subjects(names, settings, ())
    assert says in str(failure.value)


def test_two_subjects_of_one_name_are_refused() -> None:
    with pytest.raises(UsageError, match="two subjects are named 'mute@anthropic'"):
        gate_subjects(("commands.gates.sessions:MUTE", "commands.gates.sessions:MUTE@anthropic"), GateSettings(), ())


# -- what is declared ----------------------------------------------------------------------------------------------


def test_the_settings_declare_for_a_session_too() -> None:
    entry = DeclaredDifference("mute", "usage-differs", "counted elsewhere")
    (subject,) = gate_subjects(("commands.gates.sessions:MUTE",), GateSettings(), [entry]).values()
    assert [difference.name for difference in subject.declared] == ["usage-differs"]


def test_a_session_is_excused_for_what_its_adapter_declares_but_need_not_show_it() -> None:
    (subject,) = gate_subjects(("commands.gates.sessions:DECLARES",), GateSettings(), ()).values()
    excused = {difference.name for difference in excused_for(subject, ())}
    assert excused == {"stream-usage-late", *(difference.name for difference in ANTHROPIC.declared)}
    assert [difference.name for difference in subject.declared] == ["stream-usage-late"]


def test_a_declaration_of_something_unknown_is_refused() -> None:
    with pytest.raises(CatalogueError, match=re.escape("'usage-differ': no kind of difference has this name")):
        gate_subjects(("anthropic",), GateSettings(), [DeclaredDifference("anthropic", "usage-differ", "so be it")])
