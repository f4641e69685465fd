"""Somebody with this repository alone can work on it: nothing ends in a traceback, and what is skipped is named."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from suites.trace import SOURCES, threads

from turnproof.commands.explanations import known_sources
from turnproof.judge.requirements import load_suite

ROOT = Path(__file__).resolve().parents[1]
TEMPLATES = sorted((ROOT / ".github" / "ISSUE_TEMPLATE").glob("*.yml"))


def test_the_table_of_sources_is_checked_without_the_lists_and_says_what_it_leaves_out(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tests.suites.trace"],
        cwd=ROOT,
        env={**os.environ, "TURNPROOF_SHARED": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("skipped, because ")
    assert "sources.toml" in done.stdout


def test_every_source_that_a_requirement_names_has_its_text_in_the_package() -> None:
    named = {source for one in load_suite().requirements for source in one.sources}
    kinds = ("defects:", "behaviours:", "wire:", "stored:")
    assert {source for source in named if source.startswith(kinds)} == known_sources().keys()
    assert sum(bool(source.links) for source in known_sources().values()) > 80
    assert SOURCES.is_file()


def test_threads_are_found_by_repository_also_where_it_is_named_once() -> None:
    assert list(threads("a/b PR#1, PR#2, #3; c-d/e.f#4 **T**; other `1a2b`, open")) == [
        "https://github.com/a/b/pull/1",
        "https://github.com/a/b/pull/2",
        "https://github.com/a/b/issues/3",
        "https://github.com/c-d/e.f/issues/4",
    ]


def test_ci_knows_no_other_argument() -> None:
    done = subprocess.run(["bash", ".ci/run", "--inside"], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "usage: .ci/run [--outside]" in done.stderr


def test_ci_names_the_way_of_those_who_lack_the_recordings(tmp_path: Path) -> None:
    env = {**os.environ, "TURNPROOF_SHARED": str(tmp_path)}
    done = subprocess.run(["bash", ".ci/run"], cwd=ROOT, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert ".ci/run --outside" in done.stderr


@pytest.mark.parametrize("file", TEMPLATES, ids=lambda file: file.stem)
def test_templates_of_issues_are_forms(file: Path) -> None:
    form = yaml.safe_load(file.read_text("utf-8"))
    if file.stem == "config":
        return
    assert {"name", "description", "body"} <= form.keys()
    ids = [item["id"] for item in form["body"]]
    assert len(set(ids)) == len(ids)
    assert all(item["type"] in ("input", "textarea") and item["attributes"]["label"] for item in form["body"])


def test_a_false_accusation_comes_with_its_reproducer() -> None:
    form = yaml.safe_load((ROOT / ".github" / "ISSUE_TEMPLATE" / "false-accusation.yml").read_text("utf-8"))
    reproducer = next(item for item in form["body"] if item["id"] == "reproducer")
    assert reproducer["validations"]["required"]
    assert "turnproof reproduce" in reproducer["attributes"]["description"]
