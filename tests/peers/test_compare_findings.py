"""A library's page and its certification: each difference fails, in both directions."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "docs" / "compare_findings.py"
PAGE = """# some 1.0

| | held |
|---|---|
| anthropic | 1 |

| requirement | model | what happens |
|---|---|---|
| `tools/names-are-legal` (SHOULD), `core/no-request-is-refused` | all | names go out as they are |
| same | openai | ids too |
| `errors/failures-are-typed` | openai | a `ValueError` |
| `cancellation/silence-is-no-obstacle` | openai, sometimes | a race |

Not in the table: | `core/text-is-what-the-wire-carried` | all |
"""
VIOLATED = {
    "some-openai": ["tools/names-are-legal", "core/no-request-is-refused", "errors/failures-are-typed"],
    "some-anthropic": ["tools/names-are-legal", "core/no-request-is-refused"],
}


def compare(folder: Path, violated: dict[str, list[str]], *, complete: bool = True) -> tuple[int, str]:
    adapters = {
        name: {"requirements": {"core/a": {"status": "held"}} | {one: {"status": "violated"} for one in requirements}}
        for name, requirements in violated.items()
    }
    (folder / "page.md").write_text(PAGE, "utf-8")
    (folder / "run.json").write_text(json.dumps({"complete": complete, "adapters": adapters}), "utf-8")
    command = [sys.executable, str(SCRIPT), "page.md", "run.json"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=60, check=False)
    return done.returncode, done.stdout + done.stderr


def test_a_page_with_the_violations_of_the_run_passes(tmp_path: Path) -> None:
    assert compare(tmp_path, VIOLATED) == (0, "")


def test_what_only_some_runs_show_passes_with_it_and_without_it(tmp_path: Path) -> None:
    race = "cancellation/silence-is-no-obstacle"
    assert compare(tmp_path, VIOLATED | {"some-openai": [*VIOLATED["some-openai"], race]}) == (0, "")
    assert compare(tmp_path, VIOLATED | {"some-anthropic": [*VIOLATED["some-anthropic"], race]})[0] == 1


@pytest.mark.parametrize("requirement", ["errors/failures-are-typed", "core/text-is-what-the-wire-carried"])
def test_a_violation_that_the_page_lacks_fails(tmp_path: Path, requirement: str) -> None:
    more = VIOLATED | {"some-anthropic": [*VIOLATED["some-anthropic"], requirement]}
    code, text = compare(tmp_path, more)
    assert (code, text) == (1, f"page.md: {requirement} of anthropic is violated, and the page lacks it\n")


def test_a_violation_that_is_gone_fails(tmp_path: Path) -> None:
    code, text = compare(tmp_path, VIOLATED | {"some-openai": VIOLATED["some-openai"][:2]})
    assert code == 1
    assert text == "page.md: errors/failures-are-typed of openai is on the page, and is no longer violated\n"


def test_a_run_that_was_cut_or_measured_nothing_fails(tmp_path: Path) -> None:
    assert compare(tmp_path, VIOLATED, complete=False)[0] == 1
    assert compare(tmp_path, {})[0] == 1
