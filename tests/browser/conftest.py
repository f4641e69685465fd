"""Headless Chromium, as the machine has it, and the pages that are looked at in it.

Each test gets a page of its own and fails for anything that the console says, and for every request that is made. Not
part of an ordinary test run: `nox -s browser`.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from turnproof.report import write_reports
from turnproof.run.evidence import EvidenceStore

from . import made

Open = Callable[..., Any]


@pytest.fixture(scope="session")
def chromium() -> Iterator[Any]:
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed: run `nox -s browser`")
    found = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
    if found is None:
        pytest.skip("no Chromium on this machine: install the package `chromium`, or set CHROMIUM to its path")
    with playwright.sync_playwright() as driver:
        # As root, as in most containers, Chromium starts without its sandbox only.
        browser = driver.chromium.launch(executable_path=found, args=["--no-sandbox"] if os.geteuid() == 0 else [])
        yield browser
        browser.close()


@pytest.fixture
def open_page(chromium: Any) -> Iterator[Open]:
    """Opens a file of a report, with a fragment; options are those of a browser context (`color_scheme`...)."""
    page_events: list[str] = []
    contexts = []

    def dismiss(dialog: Any) -> None:
        page_events.append(f"dialog: {dialog.message}")
        dialog.dismiss()

    def opened(file: Path, fragment: str = "", **options: Any) -> Any:
        context = chromium.new_context(reduced_motion="reduce", **options)
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(5000)
        page.on("console", lambda message: page_events.append(f"console: {message.text}"))
        page.on("pageerror", lambda error: page_events.append(f"error: {error}"))
        page.on("dialog", dismiss)
        page.on("request", lambda request: page_events.append(f"request: {request.url[:100]}"))
        page.goto(f"{file.as_uri()}{fragment}")
        return page

    yield opened
    for context in contexts:
        context.close()
    # The page itself, and the pictures that stand in it.
    assert [event for event in page_events if not event.startswith(("request: file:", "request: data:"))] == []
    assert len([event for event in page_events if event.startswith("request: file:")]) == len(contexts)


@pytest.fixture(scope="session")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A report with a violation on both paths, its conversation, and something of every kind beside it."""
    return made.failing(tmp_path_factory.mktemp("failing"))


@pytest.fixture(scope="session")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A report in which everything that others write tries to run a script."""
    return made.hostile(tmp_path_factory.mktemp("hostile"))


@pytest.fixture(scope="session")
def certified(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A report of a broken adapter in the scenario whose every text is markup: measured, with nothing made up."""
    folder = tmp_path_factory.mktemp("certified")
    words = "certify browser.broken:BINDING --depth full --scenario basics/markup --only core/* --only tools/* --out"
    subprocess.run(
        [sys.executable, "-m", "turnproof", *words.split(), str(folder)],
        cwd=Path(__file__).parents[1],
        check=False,
        capture_output=True,
    )
    return folder / "index.html"


@pytest.fixture(scope="session")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """20 adapters and 150 requirements."""
    folder = tmp_path_factory.mktemp("large")
    write_reports(made.large(folder), folder, EvidenceStore(folder / "evidence"))
    return folder / "index.html"
