"""With the address of a site, reports and `explain` link to its pages; without one they link to none."""

from __future__ import annotations

import json
from importlib.metadata import Distribution
from pathlib import Path

import msgspec
import pytest
from typer.testing import CliRunner

from turnproof._base import site_address
from turnproof._base.settings import Settings
from turnproof._base.site_address import explain_page, site_base
from turnproof.commands.cli.app import app
from turnproof.judge.run_log import Run
from turnproof.report.certification import certification
from turnproof.report.page import index_html
from turnproof.report.sarif import sarif
from turnproof.run.evidence import EvidenceStore

from .runs import HEADER, result, write_run
from .verdicts import BAD

NAME = "tools/results-answer-every-call"


def run_of(folder: Path, docs: str) -> Run:
    header = msgspec.structs.replace(HEADER, docs=docs)
    folder.mkdir(exist_ok=True)
    return write_run(folder / "run.ndjson", [result(NAME, "stateless", BAD)], header=header)


@pytest.fixture
def published(monkeypatch: pytest.MonkeyPatch) -> None:
    """The installed distribution says where the site is."""
    urls = ["Source, https://example.org/code", "Documentation, https://example.org/docs"]
    monkeypatch.setattr(site_address, "metadata", lambda name: _Metadata(urls))


class _Metadata:
    def __init__(self, urls: list[str]) -> None:
        self._urls = urls

    def get_all(self, name: str) -> list[str] | None:
        return self._urls if name == "Project-URL" else None


@pytest.mark.usefixtures("published")
def test_the_setting_wins_over_the_distribution() -> None:
    assert site_base(Settings()) == "https://example.org/docs/"
    assert site_base(Settings(docs_url="http://localhost:8000")) == "http://localhost:8000/"


def test_without_either_there_is_no_site(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(site_address, "metadata", lambda name: _Metadata([]))
    assert site_base(Settings()) == ""
    assert explain_page("", NAME) == ""


def test_the_distribution_names_no_site_that_is_not_there() -> None:
    """An address in pyproject.toml is one that somebody has published."""
    urls = Distribution.from_name("turnproof").metadata.get_all("Project-URL") or []
    assert not any("example" in url for url in urls)


def test_sarif_has_the_page_of_each_rule(tmp_path: Path) -> None:
    (rule,) = sarif(run_of(tmp_path / "a", "https://x.org/"))["runs"][0]["tool"]["driver"]["rules"]
    assert rule["helpUri"].startswith(f"https://x.org/explain/{NAME}/")
    (rule,) = sarif(run_of(tmp_path / "b", ""))["runs"][0]["tool"]["driver"]["rules"]
    assert "helpUri" not in rule


@pytest.mark.parametrize(("docs", "links"), [("https://x.org/", 1), ("", 0)])
def test_the_page_links_each_requirement(tmp_path: Path, docs: str, links: int) -> None:
    run, store = run_of(tmp_path, docs), EvidenceStore(tmp_path / "evidence")
    page = index_html(run, certification(run, store), store)
    assert page.count(f'href="https://x.org/explain/{NAME}/"') == links


def test_explain_ends_with_the_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "turnproof.toml").write_text('docs-url = "https://x.org/turnproof"\n', "utf-8")
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(app, ["explain", "gemini/call-turn"])
    assert done.stdout.endswith("\nhttps://x.org/turnproof/explain/gemini/call-turn/\n")
    found = json.loads(CliRunner().invoke(app, ["explain", NAME, "--json"]).stdout)
    assert found["page"] == f"https://x.org/turnproof/explain/{NAME}/"
