"""The layers hold, the contract that says so can fail, and importing turnproof drags nothing in."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from operator import attrgetter
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
SOURCES = ("harness", "adapters", "suites", "cassettes")


def lint_imports(root: Path) -> subprocess.CompletedProcess[str]:
    """Hold the contracts of `root/pyproject.toml` against the packages below `root`."""
    path = os.pathsep.join(str(root / source) for source in SOURCES)
    return subprocess.run(
        [
            sys.executable,
            "-c",
            "from importlinter.cli import lint_imports_command; lint_imports_command()",
            "--no-cache",
        ],
        cwd=root,
        env={**os.environ, "PYTHONPATH": path, "NO_COLOR": "1"},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The packages and their contracts, to be broken."""
    folder = tmp_path_factory.mktemp("copy")
    for source in SOURCES:
        shutil.copytree(ROOT / source, folder / source, ignore=shutil.ignore_patterns("__pycache__", "*.yaml"))
    shutil.copy(ROOT / "pyproject.toml", folder)
    return folder


@dataclass(frozen=True)
class Breach:
    """An import that must not be, the file that makes it, and the contract that refuses it."""

    id: str
    file: str
    line: str
    contract: str


BREACHES = [
    Breach(
        "a lower layer uses a higher one",
        "harness/turnproof/provider/__init__.py",
        "from turnproof.session import session",
        "Layers of turnproof, highest first",
    ),
    Breach(
        "a new module stands in no layer",
        "harness/turnproof/somewhere.py",
        "",
        "Layers of turnproof, highest first",
    ),
    Breach(
        "turnproof knows an adapter",
        "harness/turnproof/run/driver/drive.py",
        "import turnproof_adapters.anthropic",
        "turnproof imports no adapter, no suite, no cassette",
    ),
    Breach(
        "turnproof uses an SDK",
        "harness/turnproof/wire/emulator/http_server.py",
        "def later():\n    import anthropic",
        "turnproof imports no provider SDK and no HTTP client of one",
    ),
    Breach(
        "an adapter borrows a dialect",
        "adapters/turnproof_adapters/anthropic/stateless.py",
        "from turnproof.dialects import dialect",
        "Adapters know the neutral types and the provider contract, nothing of the judge",
    ),
    Breach(
        "a suite knows an adapter",
        "suites/turnproof_suites/checks_core_runs.py",
        "import turnproof_adapters.anthropic",
        "Suites judge adapters without knowing them",
    ),
    Breach(
        "one path is made of the other",
        "adapters/turnproof_adapters/anthropic/legacy.py",
        "from turnproof_adapters.anthropic import stateless",
        "A legacy path knows no stateless one",
    ),
]


def test_every_contract_is_kept() -> None:
    done = lint_imports(ROOT)
    assert done.returncode == 0, done.stdout
    assert " 0 broken." in done.stdout


def test_the_architecture_page_shows_the_layers_of_the_contract() -> None:
    contract = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["importlinter"]["contracts"][0]
    page = (ROOT / "docs" / "architecture.md").read_text("utf-8")
    block = page[page.index("```text\n__main__") :].split("```")[1].removeprefix("text\n")
    shown = [re.findall(r"\w+", line.partition(" (")[0]) for line in block.splitlines()]
    assert shown == [layer.split(" | ") for layer in contract["layers"]]


@pytest.fixture(scope="module")
def refusals(copy: Path) -> Mapping[str, str]:
    """What is said of each contract in which something is wrong, where every breach is made at once."""
    for breach in BREACHES:
        with (copy / breach.file).open("a", encoding="utf-8") as file:
            file.write(f"\n{breach.line}\n")
    done = lint_imports(copy)
    assert done.returncode == 1, done.stdout
    _, *sections = re.split(r"\n(.+)\n-{5,}\n", done.stdout.split("Broken contracts")[1])
    return dict(zip(sections[::2], sections[1::2], strict=True))


@pytest.mark.parametrize("breach", BREACHES, ids=attrgetter("id"))
def test_each_contract_refuses_what_it_is_there_for(refusals: Mapping[str, str], breach: Breach) -> None:
    module = breach.file.partition("/")[2].removesuffix(".py").removesuffix("/__init__").replace("/", ".")
    assert module in refusals[breach.contract]


def test_importing_turnproof_and_its_command_imports_no_provider_sdk() -> None:
    script = (
        "import sys, turnproof, turnproof.provider, turnproof.session, turnproof.pytest_plugin\n"
        "import turnproof.commands.cli\n"
        "print(sorted({name.partition('.')[0] for name in sys.modules}))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=True)
    for sdk in ("anthropic", "google", "httpx", "httpx2", "openai", "pydantic_ai", "vcr", "hypothesis"):
        assert f"'{sdk}'" not in done.stdout
