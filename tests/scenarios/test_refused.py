"""Every mistake in a scenario is refused with the file, the spot, its line and the reason.

A table (`refused.yaml`), because that is what an author needs: this text, this place, these words. A mistake that
passes would be blamed on an adapter later.
"""

from __future__ import annotations

from operator import attrgetter
from pathlib import Path

import pytest

from turnproof.errors import ScenarioError, UsageError
from turnproof.scenarios import load, load_all

from .bad import Bad, bad_files, check_refused


@pytest.mark.parametrize("bad", bad_files(), ids=attrgetter("id"))
def test_a_mistake_is_refused_with_its_place_and_reason(bad: Bad, tmp_path: Path) -> None:
    check_refused(bad, tmp_path)


def test_a_file_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ScenarioError, match="cannot be read: No such file"):
        load(tmp_path / "absent.yaml")


def test_a_file_that_is_not_utf8_is_refused_with_its_byte(tmp_path: Path) -> None:
    (tmp_path / "bad.yaml").write_bytes(b"title: caf\xe9\n")
    with pytest.raises(ScenarioError, match="is not UTF-8: byte 10 is 0xe9"):
        load(tmp_path / "bad.yaml")


def test_an_oversized_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "bad.yaml").write_text("# " + "x" * 1_000_001)
    with pytest.raises(ScenarioError, match=r"larger than 1,000,000 bytes"):
        load(tmp_path / "bad.yaml")


@pytest.mark.parametrize(
    ("files", "reason"),
    [
        ((), r"holds no scenario"),
        (("a/one.yml",), r"scenario files end in \.yaml"),
        (("a/one.yaml", "a/two.yaml"), r"two\.yaml: \$\.title: .*expected a title"),
    ],
    ids=["none", "yml", "one-of-them-wrong"],
)
def test_a_folder_is_refused_with_the_reason(files: tuple[str, ...], reason: str, tmp_path: Path) -> None:
    for name in files:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        title = "1" if "two" in name else "T"
        (tmp_path / name).write_text(f"title: {title}\nturns: [{{user: a, model: b}}]\n")
    with pytest.raises(ScenarioError, match=reason):
        load_all(tmp_path)


def test_a_folder_that_is_not_there_is_a_usage_error(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no such folder"):
        load_all(tmp_path / "absent")


def test_nesting_that_would_exhaust_the_stack_is_refused(tmp_path: Path) -> None:
    """The parser itself may give up first, with a place of its own; which one does depends on its version."""
    file = tmp_path / "bad.yaml"
    file.write_text("a: " + "[" * 50_000, encoding="utf-8")
    with pytest.raises(ScenarioError, match="nest"):
        load(file)


def test_a_call_that_runs_needs_a_result(tmp_path: Path) -> None:
    file = tmp_path / "bad.yaml"
    file.write_text("title: T\ntools: [{name: read}]\nturns: [{user: a, model: [[{call: read}], [b]]}]\n")
    with pytest.raises(
        ScenarioError, match=r"\$\.turns\[0\]\.model: .*neither this turn nor the scenario has results for it"
    ):
        load(file)


def test_the_reason_names_the_line(tmp_path: Path) -> None:
    file = tmp_path / "bad.yaml"
    file.write_text("title: T\nturns:\n  - user: a\n    model:\n      - - text: [b]\n        - {thikning: c}\n")
    with pytest.raises(ScenarioError, match=r"\$\.turns\[0\]\.model\[0\]\[1\]: line 6: "):
        load(file)
