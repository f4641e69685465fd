"""Shell completion, asked for as the shells do it: through the environment of a process."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from turnproof.commands.certify.scenarios import suite_scenarios
from turnproof.commands.cli import completion, main
from turnproof.dialects import dialect_names
from turnproof.judge.requirements import load_suite
from turnproof.run.bindings import agent_names, binding_names, session_names
from turnproof.run.driver.mutation import all_mutants

MAIN = [sys.executable, "-c", "import sys; from turnproof.commands.cli import main; sys.exit(main())"]


@dataclass
class Shell:
    """Asks as a shell does, for a command line with the cursor at its end."""

    monkeypatch: pytest.MonkeyPatch
    capsys: pytest.CaptureFixture[str]

    def complete(self, shell: str, line: str, **more: str) -> tuple[int, str]:
        """The exit code, and what the shell gets."""
        variables = {"COMP_WORDS": line, "COMP_CWORD": str(line.count(" "))}
        if shell != "bash":
            variables = {"_TYPER_COMPLETE_ARGS": line}
        for name, value in {**variables, **more, "_TURNPROOF_COMPLETE": f"complete_{shell}"}.items():
            self.monkeypatch.setenv(name, value)
        code = main([])
        out, err = self.capsys.readouterr()
        assert err == ""
        return code, out


@pytest.fixture
def shell(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Shell:
    return Shell(monkeypatch, capsys)


@pytest.mark.parametrize(
    ("line", "offered"),
    [
        ("turnproof cert", ["certify"]),
        ("turnproof certify open", ["openai", "openai_responses"]),
        ("turnproof certify openai anthr", ["anthropic"]),
        ("turnproof certify reference@zai", ["reference@zai"]),
        ("turnproof certify --only tools/results-answer", ["tools/results-answer-every-call"]),
        ("turnproof certify --profile tele", ["telemetry"]),
        ("turnproof certify --scenario basics/four", ["basics/four_turns"]),
        ("turnproof certify --dep", ["--depth"]),
        ("turnproof certify --depth f", ["full"]),
        ("turnproof explain tools/results-answer", ["tools/results-answer-every-call"]),
        ("turnproof list req", ["requirements"]),
        ("turnproof mutants --only result-sent", ["result-sent-twice"]),
        ("turnproof serve --dialect gem", ["gemini", "gemini-interactions"]),
        ("turnproof sessions del", ["delete"]),
        ("turnproof sessions info codex", ["codex_acp"]),
        ("turnproof sessions info codex_acp cod", []),
        ("turnproof report rep", []),
    ],
)
def test_bash_is_offered_the_names(shell: Shell, line: str, offered: list[str]) -> None:
    code, out = shell.complete("bash", line)
    assert (code, out.split()) == (0, offered)


def test_zsh_and_fish_are_offered_the_names(shell: Shell) -> None:
    line = "turnproof certify --only tools/results-answer"
    assert '"tools/results-answer-every-call"' in shell.complete("zsh", line)[1]
    fish = shell.complete("fish", line, _TYPER_COMPLETE_FISH_ACTION="get-args")
    assert fish == (0, "tools/results-answer-every-call\n")


@pytest.mark.parametrize(("line", "code"), [("turnproof certify open", 0), ("turnproof report rep", 1)])
def test_fish_learns_from_the_exit_code_whether_there_are_names(shell: Shell, line: str, code: int) -> None:
    assert shell.complete("fish", line, _TYPER_COMPLETE_FISH_ACTION="is-args") == (code, "")


def complete_option(home: Path, *words: str) -> str:
    """What the command writes for an option of completion, whatever the shell that runs it."""
    environment = {**os.environ, "HOME": str(home), "_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION": "1"}
    command = [*MAIN, *words]
    process = subprocess.run(
        command, cwd=home, env=environment, capture_output=True, text=True, timeout=60, check=False
    )
    assert (process.returncode, process.stderr) == (0, "")
    return process.stdout


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_script_for_a_shell_is_one_that_it_can_read(tmp_path: Path, shell: str) -> None:
    script = complete_option(tmp_path, "--show-completion", shell)
    assert "_TURNPROOF_COMPLETE" in script
    if shutil.which(shell) is None:
        pytest.skip(f"no {shell} here to read it")
    subprocess.run([shell, "-n"], input=script, text=True, timeout=60, check=True)


def test_completion_is_installed_into_the_users_home(tmp_path: Path) -> None:
    complete_option(tmp_path, "--install-completion", "bash")
    assert ".bash_completions/turnproof.sh" in (tmp_path / ".bashrc").read_text()
    assert "_TURNPROOF_COMPLETE" in (tmp_path / ".bash_completions" / "turnproof.sh").read_text()


@pytest.mark.parametrize(
    ("offered", "exists"),
    [
        (completion.adapters, binding_names),
        (completion.agents, agent_names),
        (completion.subjects, lambda: [*binding_names(), *session_names(), *agent_names()]),
        (completion.requirements, lambda: [each.id for each in load_suite().requirements]),
        (completion.profiles, lambda: load_suite().profiles.profiles),
        (completion.scenarios, lambda: [each.name for each in suite_scenarios(load_suite())]),
        (completion.mutants, all_mutants),
        (completion.dialects, dialect_names),
    ],
    ids=["adapters", "agents", "subjects", "requirements", "profiles", "scenarios", "mutants", "dialects"],
)
def test_what_is_offered_is_what_exists(offered: Callable[[str], list[str]], exists: Callable[[], list[str]]) -> None:
    """Names are read where they are read quickest, which must not be another place than where they come from."""
    assert offered("") == sorted(exists())


def test_to_offer_names_imports_no_engine() -> None:
    heavy = ("aiohttp", "anthropic", "pytest", "jinja2", "turnproof.judge.requirements", "turnproof.run.driver")
    script = (
        "import sys; from turnproof.commands.cli import completion as c\n"
        "assert c.subjects('') and c.requirements('') and c.profiles('') and c.scenarios('')\n"
        f"print([name for name in {heavy!r} if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout == "[]\n"
