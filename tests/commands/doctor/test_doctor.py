"""What a doctor finds of an installation and a machine, and what the command makes of it."""

from __future__ import annotations

import io
import json
import os
from collections.abc import Iterator, Sequence
from importlib.metadata import PackageNotFoundError
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from turnproof import __version__
from turnproof._base.exit_codes import Exit
from turnproof._base.loopback import is_loopback
from turnproof.commands.cli import main
from turnproof.commands.doctor import (
    Diagnosis,
    Diagnostic,
    DoctorOptions,
    State,
    diagnosis_json,
    engine,
    examine,
    installation,
    machine,
)
from turnproof.commands.doctor import binding as binding_part
from turnproof.commands.doctor import emulator as emulator_part
from turnproof.commands.doctor.outbound_connections import MARK, addresses, watch
from turnproof.commands.doctor.text import print_diagnosis
from turnproof.errors import BindingError, CatalogueError
from turnproof.report._inline_text import printable
from turnproof.run.driver import Runner
from turnproof.run.transcript import RunEnded, RunKey, Transcript
from turnproof.wire.controls import CONTROLS

FINE = Diagnostic("machine", "clock", State.OK, "2026-11-22")
ODD = Diagnostic("machine", "encoding", State.WARNING, "ascii", "use UTF-8")
OURS = Diagnostic("machine", "loopback", State.WRONG, "refused", "open it")
THEIRS = Diagnostic("mine:B", "stateless", State.WRONG, "401", "send the key")


def of(findings: Iterator[Diagnostic] | Sequence[Diagnostic], what: str) -> Diagnostic:
    """The one finding about something."""
    (found,) = (finding for finding in findings if finding.what == what)
    return found


# -- the verdict -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("findings", "code"),
    [
        ([FINE], Exit.OK),
        ([FINE, ODD], Exit.OK),
        ([FINE, THEIRS], Exit.VIOLATIONS),
        ([OURS], Exit.FAULT),
        ([THEIRS, OURS], Exit.FAULT),
    ],
)
def test_a_wrong_binding_is_told_from_a_wrong_installation(findings: list[Diagnostic], code: Exit) -> None:
    found = Diagnosis(bindings=("mine:B",), findings=tuple(findings))
    assert found.exit_code is code
    assert json.loads(diagnosis_json(found))["exit_code"] == code


def shown(*findings: Diagnostic) -> str:
    out = io.StringIO()
    print_diagnosis(Diagnosis(findings=findings), out)
    return out.getvalue()


def test_each_wrong_is_told_with_what_to_do() -> None:
    text = shown(FINE, ODD, OURS, THEIRS)
    assert "✓ ok       clock" in text
    assert "→ use UTF-8" in text
    assert "mine:B\n✗ wrong    stateless  401" in text
    assert text.rstrip().endswith("1 ok, 1 warning, 2 wrong")


def test_hostile_text_does_not_steer_the_terminal() -> None:
    text = shown(Diagnostic("a\x1b[31m", "b\x07", State.WRONG, "c\x1b]0;x\x07\nd", "e\x00"))
    assert printable(text) == text


# -- the installation ------------------------------------------------------------------------------------------------


@pytest.fixture
def packages(monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """What is installed, by name; `requires` says what turnproof needs."""
    versions = {"turnproof": __version__, "msgspec": "0.20", "anthropic": "1.2"}

    def version(name: str) -> str:
        try:
            return versions[name]
        except KeyError:
            raise PackageNotFoundError(name) from None

    needs = ["msgspec>=0.19", 'anthropic>=1.0; extra == "anthropic"', 'anthropic>=1.0; extra == "all"']
    monkeypatch.setattr(installation, "version", version)
    monkeypatch.setattr(installation, "requires", lambda _: needs)
    return versions


def test_what_is_there_and_new_enough_is_ok(packages: dict[str, str]) -> None:
    (found,) = installation._needs("", "")
    assert found.state is State.OK
    assert list(installation._of_adapter("anthropic", required=True)) == []


@pytest.mark.parametrize(
    ("installed", "message"), [(None, "not installed; anthropic>=1.0 is needed"), ("0.84", "0.84 is installed; >=1.0")]
)
@pytest.mark.parametrize("expected", [True, False])
def test_what_an_adapter_lacks_is_told_with_the_command(
    packages: dict[str, str], installed: str | None, message: str, expected: bool
) -> None:
    del packages["anthropic"]
    packages.update({"anthropic": installed} if installed else {})
    (found,) = installation._of_adapter("anthropic", required=expected)
    assert message in found.said
    assert found.do == "pip install 'turnproof[anthropic]'"
    assert found.state is (State.WRONG if expected else State.WARNING)


def test_what_adapters_lack_that_nobody_named_is_one_line(
    packages: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    del packages["anthropic"]
    monkeypatch.setattr(installation, "binding_names", lambda: ["anthropic"])
    (found,) = installation._adapters(["my_pkg.binding:BINDING"])
    assert (found.state, found.said) == (State.OK, "1 lack packages: anthropic (`turnproof doctor`)")
    assert [one.state for one in installation._adapters([])] == [State.WARNING]
    assert [one.state for one in installation._adapters(["anthropic=claude-haiku-4-5"])] == [State.WRONG]


def test_what_turnproof_itself_lacks_is_wrong(packages: dict[str, str]) -> None:
    packages["msgspec"] = "0.18"
    assert of(list(installation._needs("", "do")), "msgspec").state is State.WRONG


def test_an_installation_without_metadata_is_wrong(packages: dict[str, str]) -> None:
    del packages["turnproof"]
    (found,) = installation._turnproof()
    assert found.state is State.WRONG
    assert "pip install" in found.do


def test_two_versions_over_each_other_are_wrong(packages: dict[str, str]) -> None:
    packages["turnproof"] = "0.0.1"
    (found,) = installation._turnproof()
    assert "0.0.1" in found.said
    assert found.state is State.WRONG


def test_another_python_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    assert installation._python().state is State.OK
    monkeypatch.setattr(installation, "_OLDEST", (99, 0))
    assert "99.0 or newer" in installation._python().do


@pytest.mark.parametrize("error", [CatalogueError("two requirements 'x/y'"), ImportError("no module x")])
def test_a_collection_that_does_not_load_is_wrong(error: Exception) -> None:
    def load() -> str:
        raise error

    found = installation._loaded("suites", load)
    assert found.state is State.WRONG
    assert str(error) in found.said


def test_an_adapter_whose_binding_does_not_load_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    def resolve(name: str) -> Any:
        raise BindingError(f"{name!r} needs the module 'x'")

    monkeypatch.setattr(installation, "resolve_binding", resolve)
    (found,) = installation._of_adapter("mine", required=True)
    assert "needs the module 'x'" in found.said


def entry(name: str, value: str, package: str) -> Any:
    return SimpleNamespace(name=name, value=value, dist=SimpleNamespace(name=package))


OWN = entry("turnproof", "turnproof.pytest_plugin", "turnproof")


@pytest.mark.parametrize(
    ("entries", "message"),
    [
        ([OWN, entry("recording", "a", "pytest_recording"), entry("vcr", "b", "pytest-vcr")], "cannot load them"),
        ([OWN, entry("turnproof", "other.plugin", "other")], "calls itself 'turnproof' too"),
        ([], "is not registered"),
        ([OWN], "1 are installed"),
    ],
)
def test_plugins_in_each_others_way_are_told(monkeypatch: pytest.MonkeyPatch, entries: list[Any], message: str) -> None:
    monkeypatch.setattr(installation, "entry_points", lambda group: entries)
    assert any(message in finding.said for finding in installation._plugins())


# -- the machine -----------------------------------------------------------------------------------------------------


def test_a_folder_that_cannot_be_written_is_wrong(tmp_path: Path) -> None:
    assert machine.folder(tmp_path / "not" / "yet").state is State.OK
    file = tmp_path / "file"
    file.write_text("")
    assert machine.folder(file).state is State.WRONG


@pytest.mark.parametrize(
    ("variables", "state"),
    [
        ({}, State.OK),
        ({"http_proxy": "http://user:secret@proxy:3128"}, State.WARNING),
        ({"http_proxy": "http://user:secret@proxy:3128", "no_proxy": "127.0.0.1,localhost"}, State.OK),
        ({"all_proxy": "socks5://proxy"}, State.WARNING),
    ],
)
def test_a_proxy_that_would_catch_loopback_is_told_without_its_password(
    monkeypatch: pytest.MonkeyPatch, variables: dict[str, str], state: State
) -> None:
    for name in [name for name in os.environ if name.lower().endswith("_proxy")]:
        monkeypatch.delenv(name)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    found = machine.proxies()
    assert found.state is state
    assert "secret" not in found.said + found.do


def test_the_emulator_is_reached_on_loopback() -> None:
    assert machine._loopback().state is State.OK


def test_a_worker_that_does_not_start_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    class Context:
        def Pipe(self) -> Any:  # noqa: N802
            return SimpleNamespace(close=lambda: None), SimpleNamespace(close=lambda: None)

        def Process(self, **_: Any) -> Any:  # noqa: N802
            def start() -> None:
                raise OSError("Resource temporarily unavailable")

            return SimpleNamespace(start=start, pid=None)

    monkeypatch.setattr("multiprocessing.get_context", lambda _: Context())
    found = machine.workers()
    assert found.state is State.WRONG
    assert "Resource temporarily unavailable" in found.said
    assert "--in-process" in found.do


def test_a_clock_that_is_behind_is_told() -> None:
    assert machine.the_clock(0).state is State.WARNING
    assert machine.the_clock(4e9).state is State.OK


@pytest.mark.parametrize(("name", "state"), [("utf-8", State.OK), ("ascii", State.WARNING), ("", State.WARNING)])
def test_output_that_cannot_show_symbols_is_told(name: str, state: State) -> None:
    assert machine.encoding(name).state is state


# -- the emulator ----------------------------------------------------------------------------------------------------


def test_the_control_of_a_dialect_is_asked_in_one_plain_talk() -> None:
    with Runner(in_process=True) as runner:
        (found,) = emulator_part.emulator(runner, ["openai-chat@azure"])
    assert (found.area, found.what, found.state) == ("emulator", "openai-chat", State.OK)


def test_a_control_that_fails_is_no_adapters_fault() -> None:
    scenario = emulator_part.plain_scenario()
    run = Transcript("c", "gemini", "m", "emulate", RunKey(scenario.name, "legacy"), 0, (RunEnded(how="hung"),))
    found = emulator_part.judge_emulator("gemini", scenario, [run])
    assert found.state is State.WRONG
    assert "hung" in found.said
    assert "no adapter is to blame" in found.do


# -- all of it -------------------------------------------------------------------------------------------------------


@pytest.fixture
def parts(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """The parts of an examination, each with one finding; `state` has what they were asked for."""
    state: dict[str, Any] = {"machine": FINE}
    monkeypatch.setattr(engine, "installation", lambda adapters: iter([FINE]))
    monkeypatch.setattr(engine, "machine", lambda out: iter([state["machine"]]))

    def emulator(runner: Runner, dialects: list[str]) -> Iterator[Diagnostic]:
        state["dialects"] = dialects
        yield FINE

    def binding(runner: Runner, spec: str) -> Iterator[Diagnostic]:
        yield Diagnostic(spec, "stateless", State.WRONG, "401", "send the key")

    monkeypatch.setattr(emulator_part, "emulator", emulator)
    monkeypatch.setattr(binding_part, "binding", binding)
    return state


def make_runner() -> Runner:
    return Runner(in_process=True)


def test_only_the_dialects_of_the_adapters_asked_for_are_examined(parts: dict[str, Any]) -> None:
    found = examine(DoctorOptions(adapters=("openai", "no:SUCH")), make=make_runner)
    assert parts["dialects"] == ["openai-chat"]
    assert [finding.area for finding in found.findings] == ["machine"] * 3 + ["openai", "no:SUCH"]
    assert found.exit_code is Exit.VIOLATIONS


def test_of_no_adapters_every_dialect_is_examined(parts: dict[str, Any]) -> None:
    examine(DoctorOptions(), make=make_runner)
    assert len(parts["dialects"]) == len(CONTROLS)


def test_nothing_is_run_on_a_machine_that_is_wrong(parts: dict[str, Any]) -> None:
    parts["machine"] = OURS
    found = examine(DoctorOptions(adapters=("openai",)), make=make_runner)
    assert "dialects" not in parts
    assert found.exit_code is Exit.FAULT


def test_the_command_prints_the_list_or_json(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    import turnproof.commands.doctor

    monkeypatch.chdir(tmp_path)
    seen: list[DoctorOptions] = []

    def examined(options: DoctorOptions, tracker: object) -> Diagnosis:
        seen.append(options)
        return Diagnosis(bindings=options.adapters, findings=(FINE, THEIRS))

    monkeypatch.setattr(turnproof.commands.doctor, "examine", examined)
    assert main(["doctor", "mine:B", "mine:B", "--out", "there"]) == 1
    assert seen == [DoctorOptions(adapters=("mine:B",), out=Path("there"))]
    assert "→ send the key" in capsys.readouterr().out
    assert main(["doctor", "mine:B", "--json"]) == 1
    assert json.loads(capsys.readouterr().out)["schema"] == "turnproof.doctor/1"


# -- where a process connects to -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("event", "arguments"),
    [
        ("socket.getaddrinfo", ("api.example.org", 443, 0, 0, 0)),
        ("socket.getaddrinfo", (b"api.example.org", 443, 0, 0, 0)),
        ("socket.connect", (None, ("192.0.2.1", 443))),
        ("socket.connect", (None, ("2001:db8::1", 443, 0, 0))),
    ],
)
def test_what_would_leave_the_machine_is_refused_and_told(
    capsys: pytest.CaptureFixture[str], event: str, arguments: tuple[Any, ...]
) -> None:
    with pytest.raises(ConnectionRefusedError, match="lets nothing leave this machine"):
        watch(event, arguments)
    assert len(addresses(capsys.readouterr().err)) == 1


def test_loopback_is_let_through_and_told(capsys: pytest.CaptureFixture[str]) -> None:
    watch("socket.getaddrinfo", ("localhost", 80, 0, 0, 0))
    watch("socket.connect", (None, ("127.0.0.1", 80)))
    watch("socket.connect", (None, "/run/socket"))
    watch("open", ("file", "r", 0))
    assert addresses(capsys.readouterr().err) == ["localhost:80", "127.0.0.1:80"]


def test_addresses_are_found_among_other_output() -> None:
    assert addresses(f"hello {MARK}a:1\nbye\n{MARK}a:1\n{MARK}b:2") == ["a:1", "b:2"]
    assert is_loopback("::1")
    assert not is_loopback("localhost.example.org")
