"""Runs the commands of the pages: `python -m website.run_blocks [PAGE...]`, by `nox -s docs -- --commands`.

The blocks of a page run in a folder that has what pages assume: packages with bindings, an installed adapter `mine`, a
scenario, stored runs. The words of the page are run, with a few more at their end that make a command short. A command
of turnproof must end as a measurement does (0, 1 or 3), any other with 0. Where a page names a key, the real service
is an emulator of this machine.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import groupby
from operator import attrgetter
from pathlib import Path

from turnproof.dialects import dialect, dialect_names

from .console_blocks import Block, blocks
from .repository import ROOT
from .sample_traffic import CASSETTE, HAR

ELSEWHERE: Mapping[str, str] = {
    "README.md:1": ".ci/run",
    "README.md:2": ".ci/run",
    "CONTRIBUTING.md:1": ".ci/run",
    "docs/install.md:4": "tests/commands/cli/test_completion.py",
    "CONTRIBUTING.md:3": "tests/test_outsiders.py",
    **{f"examples/migration/README.md:{number}": "tests/examples/test_migration.py" for number in range(1, 13)},
    **{f"docs/adapter-from-nothing.md:{n}": "tests/examples/test_adapter_from_nothing.py" for n in range(1, 20)},
    "examples/httpx_chat/README.md:1": "tests/examples/test_httpx_chat.py",
}
"""Blocks that CI runs anyway, and where."""

NOT_RUN: Mapping[str, str] = {
    "docs/acp.md:1": "needs the program of Codex; nox -s agents certifies it",
    "docs/add-a-requirement.md:1": "the requirement of the page is one that its reader adds",
    "docs/add-a-requirement.md:2": "measures every reference adapter at full depth: more than seven minutes",
    "docs/benchmarks.md:2": "installs four libraries from a package index; nox -s bench_peers",
    "docs/bind-your-agent.md:1": "the page's agent is a program of the reader",
    "docs/claude-cli.md:1": "needs the program of Claude Code; nox -s agents certifies it",
    "docs/gates.md:3": "needs a stored run of phase 2 at full depth: minutes",
    "docs/reproduce.md:1": "needs an adapter that breaks this requirement; tests/commands/reproduce",
    "docs/sessions.md:1": "needs the program of Claude Code and a stored session",
    "docs/sessions.md:2": "asks the real API, which needs a key",
}
"""Blocks that nothing runs, and why."""

BY_NAME = ("nox", "pip", "python -m tests.")
"""Commands whose sessions, extras or modules are looked up instead: what they do, CI does."""

SHORTER: Mapping[str, tuple[str, ...]] = {
    "certify": ("--scenario", "tools/one"),
    "compare": ("--scenario", "tools/one"),
    "gate": ("--scenario", "tools/one"),
    "mutants": ("--only", "result-sent-twice"),
    "explore": ("-n", "2"),
    "bench": ("--quick",),
    "handoff": ("--after", "1"),
    "import": ("--yes",),
}
"""What is added to a command that does not have this option."""

_ASSIGNMENTS = re.compile(r"^(?:[A-Z_]+=\S* )*")

_PREFIXES = {"openai-chat": "/v1"}
"""What clients expect in the base URL."""

_PLACEHOLDERS = {"PATH_OF_THE_CHECKOUT": str(ROOT), "--dialect <name>": "--dialect openai-chat", "<name>": "openai"}

_FILES: Mapping[str, str] = {
    "my_pkg/__init__.py": "from turnproof.session.binding import REFERENCE as SESSION\n",
    "my_pkg/binding.py": "from turnproof_adapters.anthropic.binding import BINDING\n",
    "my_pkg/turnproof_binding.py": "from my_pkg import SESSION\nfrom my_pkg.binding import BINDING\n",
    "my_binding.py": "from my_pkg import SESSION\n",
    "other_pkg/__init__.py": "from my_pkg import SESSION\n",
    "other_pkg/binding.py": "from turnproof_adapters.openai.binding import BINDING\n",
    "pkg.py": "from my_pkg.binding import BINDING\n",
    "pkg_old.py": "from my_pkg.binding import BINDING\n",
    "mine-1.0.dist-info/METADATA": "Metadata-Version: 2.1\nName: mine\nVersion: 1.0\n",
    "mine-1.0.dist-info/entry_points.txt": "[turnproof.adapters]\nmine = my_pkg.binding:BINDING\n",
    "my_scenario.yaml": "title: One question\nturns:\n  - {user: Hello?, model: Hello.}\n",
    "turnproof.toml": "[gates]\nphase = 1\n",
    "sessions/4be1c0.jsonl": "{}\n",
    "production.har": json.dumps(HAR),
    "tests/cassettes/hello.yaml": json.dumps(CASSETTE),  # JSON is YAML
}

_RUNS = ("reports", "before", "after", "my/folder/a", "reports/kept/first")
"""Folders with a run of `my_pkg.binding:BINDING`."""


def run_page(some: Sequence[Block]) -> list[str]:
    """Run the blocks of a page, one after the other in a new folder; what went wrong, one line each."""
    problems = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for file, text in _FILES.items():
            (folder / file).parent.mkdir(parents=True, exist_ok=True)
            (folder / file).write_text(text, "utf-8")
        for run in _RUNS:
            shutil.copytree(stored_run(), folder / run)
        path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        env = {**os.environ, "PYTHONPATH": name, "PATH": path}
        for block in some:
            started = time.monotonic()
            found = []
            for command in filter(_is_run, block.commands):
                folder, problem = _run(command, folder, env)
                found += [f"{block}: {command}: {problem}"] if problem else []
            print(f"{block}: {'FAILED' if found else 'ok'} ({time.monotonic() - started:.0f} s)", flush=True)
            problems += found
    return problems


def _is_run(command: str) -> bool:
    return not _ASSIGNMENTS.sub("", command).startswith(BY_NAME)


def _run(command: str, folder: Path, env: Mapping[str, str]) -> tuple[Path, str]:
    command = _filled(command)
    bare = _ASSIGNMENTS.sub("", command)
    assigned = dict(word.split("=", 1) for word in command.removesuffix(bare).split())
    words = shortened(bare)
    if "&& cd " in command:
        subprocess.run(["bash", "-c", shlex.join(words).replace("'&&'", "&&")], cwd=folder, env=env, check=True)
        return folder / words[-1], ""
    is_server = words[:2] == ["turnproof", "serve"]
    limit = 8 if is_server else 600
    words = [found for word in words for found in _expanded(word, folder)]
    with _service(assigned) as address:
        env = {**env, **assigned, **address}
        try:
            done = subprocess.run(
                words, cwd=folder, env=env, capture_output=True, text=True, timeout=limit, check=False
            )
        except subprocess.TimeoutExpired:
            return folder, "" if is_server else f"it takes more than {limit} s"
    good = (0, 1, 3) if words[0] in ("turnproof", "pytest") else (0,)
    return folder, "" if done.returncode in good else f"exit {done.returncode}: {done.stderr.strip()[-300:]}"


def _expanded(word: str, folder: Path) -> list[str]:
    """The files that a pattern stands for, as a shell has it; a word that stands for none is left as it is."""
    return (sorted(map(str, folder.glob(word))) if "*" in word else []) or [word]


@contextmanager
def _service(assigned: Mapping[str, str]) -> Iterator[Mapping[str, str]]:
    """The base URL of an emulator of the dialect whose key is named; empty where none is."""
    dialects = [dialect(name) for name in dialect_names()]
    named = [one for one in dialects if set(one.service.key_variables) & assigned.keys()]
    if not named:
        yield {}
        return
    command = [sys.executable, "-m", "turnproof", "serve", "--dialect", named[0].name]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    try:
        assert server.stdout is not None
        yield {named[0].service.base_url_variable: server.stdout.readline().strip() + _PREFIXES.get(named[0].name, "")}
    finally:
        server.terminate()
        server.wait()


def _filled(command: str) -> str:
    """A command with values for its placeholders."""
    for placeholder, value in _PLACEHOLDERS.items():
        command = command.replace(placeholder, value)
    return command


def shortened(command: str) -> list[str]:
    """The words of a command, with what makes it short."""
    words = shlex.split(_filled(command))
    if words[0] != "turnproof" or (words[1] == "compare" and set(words) & set(_RUNS)):
        return words
    more = ("--only", "accepts-events") if "--right" in words else SHORTER.get(words[1], ())
    if words[1:] == ["handoff"]:
        words += ["anthropic", "openai"]
    if words[1] == "explore" and "-n" in words:
        words[words.index("-n") + 1] = "2"
    return words if set(more[:1]) & set(words) else [*words, *more]


_folders: list[Path] = []


def stored_run() -> Path:
    """A folder with a small run of an adapter; it is made once."""
    if not _folders:
        folder = Path(tempfile.mkdtemp()) / "reports"
        command = ["turnproof", "certify", "anthropic", "--backend", "emulate", "--out", str(folder)]
        part = ["--only", "core/turns-come-to-an-end", "--scenario", "tools/one", "--scenario", "cancel/*"]
        program = str(Path(sys.executable).parent / "turnproof")
        subprocess.run([program, *command[1:], *part], cwd=folder.parent, capture_output=True, check=False)
        _folders.append(folder)
    return _folders[0]


def main(pages: list[str]) -> int:
    """Run the blocks of these pages, or of all; 2 where a page is named that has no block."""
    everywhere = list(blocks())
    if unknown := sorted(set(pages) - {block.page for block in everywhere}):
        print(f"no page with console blocks: {', '.join(unknown)}; a page is named by its path, as docs/install.md")
        return 2
    runnable = [
        block
        for block in everywhere
        if str(block) not in NOT_RUN and str(block) not in ELSEWHERE and (not pages or block.page in pages)
    ]
    problems = [line for _, some in groupby(runnable, attrgetter("page")) for line in run_page(list(some))]
    print("\n".join(problems) or "every command ran")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
