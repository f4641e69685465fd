"""Where the site's pages are, so that reports and `turnproof explain` can link to them.

The base is the setting `docs-url`, else the address `Documentation` of the installed distribution. Without both there
is no site, and nothing links to one.
"""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, metadata

from .settings import Settings


def site_base(settings: Settings) -> str:
    """The address of the site, ending in a slash; empty if there is none."""
    found = settings.docs_url or _published()
    return found if not found or found.endswith("/") else f"{found}/"


def explain_page(base: str, name: str) -> str:
    """The page of a requirement, a finding's code or a rule; empty without a site."""
    return f"{base}explain/{name}/" if base else ""


def _published() -> str:
    try:
        urls = metadata("turnproof").get_all("Project-URL") or []
    except PackageNotFoundError:
        return ""
    for url in urls:
        label, _, address = str(url).partition(", ")
        if label == "Documentation":
            return address
    return ""
