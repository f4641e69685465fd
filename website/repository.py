"""Files outside of `docs` that pages link to: each gets a page of the site, so that no link leaves it.

A file `harness/turnproof/provider.py` is the page `source/harness/turnproof/provider.py/`. Markdown is shown as a page,
everything else as code; a folder is a list of what is in it.
"""

from __future__ import annotations

import os.path
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from .markdown import code, fenced, page

ROOT = Path(__file__).resolve().parents[1]

LINK = re.compile(r"(?<=\]\()(?!https?:|mailto:|#)(?P<target>[^)\s#]+)(?P<anchor>#[^)\s]*)?(?=\))")
"""The target of a link to a file, and its anchor."""

_FENCED = re.compile(r"^( *)(`{3,})[^\n]*\n.*?^\1\2`*$|`[^`\n]+`", re.MULTILINE | re.DOTALL)

_LANGUAGES = {".py": "python", ".toml": "toml", ".yml": "yaml", ".yaml": "yaml", ".json": "json", ".j2": "html"}

IN_NAVIGATION = ("CONTRIBUTING.md", "SECURITY.md", "examples/migration/README.md")

UNSEARCHED = "---\nsearch:\n  exclude: true\n---\n"
"""The head of a page that the search does not find: every reader loads its index, and code would fill it."""

_NOT_LISTED = re.compile(r"^(__pycache__|\..*|.*\.pyc)$")


def source_page(path: str) -> str:
    """The page of the site that shows a file or folder of the repository."""
    # MkDocs leaves out what begins with a dot.
    name = path.rstrip("/").replace("/.", "/").removeprefix(".")
    return f"source/{name}" if path.endswith(".md") else f"source/{name}.md"


def is_on_the_site(path: str) -> bool:
    """Whether a file of the repository is a page or a file of the site by itself."""
    return path.startswith("docs/") and not path.endswith((".py", "vocabulary.toml"))


def linked_files(pages: Iterable[str]) -> list[str]:
    """Every file and folder outside of `docs` that these pages link to, also through Markdown files among them.

    `IN_NAVIGATION` are always among them.
    """
    found: dict[str, None] = dict.fromkeys(IN_NAVIGATION)
    queue = [*pages, *IN_NAVIGATION]
    while queue:
        origin = queue.pop(0)
        for path in _targets(origin):
            if path not in found and not is_on_the_site(path):
                found[path] = None
                if path.endswith(".md"):
                    queue.append(path)
    return sorted(found)


def _targets(origin: str) -> Iterator[str]:
    text = (ROOT / origin).read_text("utf-8")
    for match in LINK.finditer(_FENCED.sub("", text)):
        yield resolve(origin, match["target"])


def resolve(origin: str, target: str) -> str:
    """The path in the repository that a link in the file `origin` leads to."""
    return os.path.normpath(os.path.join(os.path.dirname(origin), target))  # noqa: PTH118, PTH120 (paths of no disk)


def on_the_site(text: str, origin: str, site_page: str) -> str:
    """The text of a repository's Markdown file with links as the page `site_page` of the site has them."""

    def target(match: re.Match[str]) -> str:
        path = resolve(origin, match["target"])
        inside = path.removeprefix("docs/") if is_on_the_site(path) else source_page(path)
        return os.path.relpath(inside, os.path.dirname(site_page) or ".") + (match["anchor"] or "")  # noqa: PTH120

    return LINK.sub(target, text)


def source_text(path: str) -> str:
    """The text of a file's page. Raises FileNotFoundError for a file that is not there."""
    file = ROOT / path
    if file.is_dir():
        names = sorted(each.name + "/" * each.is_dir() for each in file.iterdir() if not _NOT_LISTED.match(each.name))
        return UNSEARCHED + page(
            code(f"{path}/"), "A folder of the repository:", "\n".join(f"- {code(name)}" for name in names)
        )
    text = file.read_text("utf-8")
    if path.endswith(".md"):
        return on_the_site(text, path, source_page(path))
    return UNSEARCHED + page(code(path), fenced(text, _LANGUAGES.get(file.suffix, "text")))


def schema_files() -> list[Path]:
    """The JSON Schemas in the package; the site has them under `schemas/`."""
    return sorted((ROOT / "harness" / "turnproof").rglob("*.schema.json"))
