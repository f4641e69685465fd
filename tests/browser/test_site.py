"""Pages of the built site (`nox -s docs`, then `nox -s browser`): readable for everybody, nothing from elsewhere."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

SITE = Path(__file__).resolve().parents[2] / "build" / "site"
PAGES = (
    "",
    "first-certificate/",
    "settings/",
    "reference/commands/certify/",
    "explain/tools/results-answer-every-call/",
    "explain/openai-chat/dangling-call/",
)


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: Any) -> None:
        pass


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    if not (SITE / "index.html").is_file():
        pytest.fail("the site is not built: `nox -s browser` builds it, or `python -m mkdocs build`")
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(SITE)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/"
    server.shutdown()
    server.server_close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("page", PAGES)
def test_axe_finds_nothing_and_no_other_host_is_asked(chromium: Any, address: str, page: str, scheme: str) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    context = chromium.new_context(color_scheme=scheme, viewport={"width": 1280, "height": 900})
    opened, requests = context.new_page(), []
    opened.on("request", lambda request: requests.append(request.url))
    opened.goto(address + page, wait_until="networkidle")
    found = axe.run(opened).response["violations"]
    context.close()
    assert [(each["id"], each["nodes"][0]["html"]) for each in found] == []
    assert [url for url in requests if not url.startswith((address, "data:"))] == []


@pytest.mark.parametrize("width", [390, 820, 1440])
@pytest.mark.parametrize("page", PAGES)
def test_no_page_scrolls_sideways(chromium: Any, address: str, page: str, width: int) -> None:
    context = chromium.new_context(viewport={"width": width, "height": 900})
    opened = context.new_page()
    opened.goto(address + page)
    assert opened.evaluate("document.documentElement.scrollWidth") <= width
    context.close()
