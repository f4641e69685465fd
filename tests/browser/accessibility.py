"""What axe finds on a page, with everything on it opened."""

from __future__ import annotations

from typing import Any

import pytest

OPEN = "document.querySelectorAll('details').forEach((one) => { one.open = true; })"


def violations(page: Any) -> list[tuple[str, list[str]]]:
    """The rules that the page breaks, each with the first elements that do."""
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    page.evaluate(OPEN)
    found = axe.run(page).response["violations"]
    return [(one["id"], [node["html"][:200] for node in one["nodes"][:3]]) for one in found]
