"""The scripts in `benchmarks/` that are run by hand: they begin, and the one about chains measures what it says."""

from __future__ import annotations

import runpy
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SCRIPTS = sorted((ROOT / "benchmarks").glob("*.py"))


@pytest.fixture(autouse=True)
def importable(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    known = set(sys.modules)
    monkeypatch.syspath_prepend(ROOT / "benchmarks")
    yield
    for name in {path.stem for path in SCRIPTS} & (sys.modules.keys() - known):
        del sys.modules[name]


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)
def test_all_that_a_script_imports_is_there(script: Path) -> None:
    runpy.run_path(str(script), run_name="imported")


def test_a_chain_sends_fewer_bytes_and_is_billed_for_the_same_tokens(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    script = ROOT / "benchmarks" / "bench_chains.py"
    monkeypatch.setattr(sys, "argv", [str(script), "--turns", "3", "--rounds", "1", "--markdown"])
    with pytest.raises(SystemExit) as ended:
        runpy.run_path(str(script), run_name="__main__")
    assert not ended.value.code
    _, _, *lines = capsys.readouterr().out.splitlines()
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    assert [row[2] for row in rows] == ["the session", "the service"] * 2
    for whole, chained in (rows[:2], rows[2:]):
        assert int(chained[3].replace(",", "")) < int(whole[3].replace(",", ""))
        assert chained[4:7] == whole[4:7]
