"""What the README promises is what CI runs, and what it names is there."""

from __future__ import annotations

import os
import re
import subprocess
import tomllib
from pathlib import Path

import pytest

import turnproof

ROOT = Path(__file__).resolve().parents[1]
README = (ROOT / "README.md").read_text("utf-8")
CI = (ROOT / ".ci" / "run").read_text("utf-8")


def commands() -> list[str]:
    """The commands of the README that set everything up."""
    return re.findall(r"^python3 -m venv .*$", README, flags=re.MULTILINE)


def test_the_readme_has_two_commands_that_do_everything() -> None:
    first, second = commands()
    assert first.endswith("nox -s certify")
    assert second.endswith("nox -s tests")


def test_ci_runs_the_readmes_commands_word_for_word() -> None:
    runs = re.findall(r'^run "([^"]*)"(?: 2>&1 \| tee "\$log")?$', CI, flags=re.MULTILINE)
    assert runs[-2:] == commands()


def test_ci_is_executable_and_refuses_to_run_without_the_recordings(tmp_path: Path) -> None:
    script = ROOT / ".ci" / "run"
    assert os.access(script, os.X_OK)
    done = subprocess.run(
        ["bash", str(script)],
        env={**os.environ, "TURNPROOF_SHARED": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 1
    assert "recordings is missing or empty" in done.stderr


def test_every_link_of_the_pages_leads_to_a_file() -> None:
    others = ("README.md", "CONTRIBUTING.md", "SECURITY.md", "reports/README.md")
    for page in (*(ROOT / name for name in others), *(ROOT / "docs").glob("*.md")):
        words = re.sub(r"^```.*?^```|`[^`\n]+`", "", page.read_text("utf-8"), flags=re.MULTILINE | re.DOTALL)
        for target in re.findall(r"\]\((?!https?:|#)([^)#]+)", words):
            if not target.startswith(("explain/", "reference/", "schemas/")):  # made for the site: tests/website_pages
                assert (page.parent / target).exists(), f"{page.name} links to {target}"


def test_the_sessions_that_are_named_exist() -> None:
    noxfile = (ROOT / "noxfile.py").read_text("utf-8")
    sessions = set(re.findall(r"^@nox\.session\ndef (\w+)", noxfile, flags=re.MULTILINE))
    named = {name for names in re.findall(r"nox -s ([a-z ]+)", README + CI) for name in names.split()}
    assert named <= sessions
    assert 'nox.options.sessions = ["certify"]' in noxfile


def test_the_version_stands_in_one_place() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    assert "version" in project["dynamic"]
    assert re.fullmatch(r"\d+\.\d+\.\d+", turnproof.__version__)


@pytest.mark.parametrize(
    "extra", ["all", "anthropic", "explore", "google-genai", "openai", "pydantic-ai", "telemetry", "vcr"]
)
def test_the_extras_that_sessions_install_exist(extra: str) -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    assert extra in project["optional-dependencies"]


def test_supported_pythons_are_those_of_the_matrix_and_of_the_release_page() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    prefix = "Programming Language :: Python :: "
    named = [row.removeprefix(prefix) for row in project["classifiers"] if re.match(rf"{prefix}3\.", row)]
    noxfile = (ROOT / "noxfile.py").read_text("utf-8")
    assert f"@nox.session(python={named})".replace("'", '"') in noxfile
    assert f"| Python | {', '.join(named)} " in (ROOT / "docs" / "release.md").read_text("utf-8")


def test_cassettes_are_no_part_of_the_wheel_and_found_by_their_own_distribution() -> None:
    built = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    assert not any("cassettes" in folder for folder in built["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"])
    assert "turnproof.cassettes" not in built["project"]["entry-points"]
    cassettes = tomllib.loads((ROOT / "cassettes" / "pyproject.toml").read_text("utf-8"))["project"]
    assert cassettes["entry-points"] == {"turnproof.cassettes": {"standard": "turnproof_cassettes"}}
