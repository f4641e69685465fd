"""Examines a built site: `python -m website.check build/site` prints what is wrong with it, and exits 1 if anything is.

Every link leads to a file and an anchor that are there; no page loads anything from another host; no page is heavier
than `MOST` with everything that it loads first.
"""

from __future__ import annotations

import gzip
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

MOST = 300_000
"""Bytes of a page with its styles, scripts and pictures, as a server sends them (texts compressed)."""

_TEXTS = {".html", ".css", ".js", ".svg", ".json", ".xml"}


@dataclass
class Links(HTMLParser):
    """What a page links to, what it loads, and the anchors it has."""

    links: list[str] = field(default_factory=list)
    loads: list[str] = field(default_factory=list)
    anchors: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        super().__init__()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = dict(attrs)
        if name := found.get("id"):
            self.anchors.add(name)
        if tag == "a" and (target := found.get("href")):
            self.links.append(target)
        if tag in ("script", "img", "iframe", "source") and (target := found.get("src")):
            self.loads.append(target)
        if tag == "link" and found.get("rel") in ("stylesheet", "icon", "preload") and (target := found.get("href")):
            self.loads.append(target)


@cache
def read(file: Path) -> Links:
    """The links of a page."""
    links = Links()
    links.feed(file.read_text("utf-8"))
    return links


def problems(site: Path) -> Iterator[str]:
    """Everything that is wrong, one line each."""
    pages = sorted(site.rglob("*.html"))
    if not pages:
        yield f"{site}: no page is there"
    for file in pages:
        name = file.relative_to(site)
        if (
            file.name == "404.html"
        ):  # served from any address: its links are those of the address that it is served from
            continue
        found = read(file)
        yield from (f"{name}: {target}: {wrong}" for target in found.links if (wrong := _broken(file, target)))
        for target in found.loads:
            if urlsplit(target).netloc:
                yield f"{name}: loads {target} from another host"
            elif wrong := _broken(file, target):
                yield f"{name}: {target}: {wrong}"
        if (size := weight(file)) > MOST:
            yield f"{name}: {size:,} bytes with what it loads; at most {MOST:,}"


def _broken(page: Path, target: str) -> str:
    """Why a link leads nowhere; empty for one that is good or leads to another host."""
    parts = urlsplit(target)
    if parts.scheme or parts.netloc:
        return ""
    file = _file(page, parts.path)
    if not file.is_file():
        return "there is no such file"
    if parts.fragment and file.suffix == ".html" and unquote(parts.fragment) not in read(file).anchors:
        return "there is no such anchor"
    return ""


def _file(page: Path, path: str) -> Path:
    file = (page.parent / unquote(path)).resolve() if path else page
    return file / "index.html" if file.is_dir() else file


def weight(page: Path) -> int:
    """Bytes of a page with what it loads."""
    loaded = {_file(page, urlsplit(target).path) for target in read(page).loads if not urlsplit(target).netloc}
    return sum(_sent(file) for file in {page, *loaded} if file.is_file())


@cache
def _sent(file: Path) -> int:
    return len(gzip.compress(file.read_bytes(), 6)) if file.suffix in _TEXTS else file.stat().st_size


def main(site: Path) -> int:
    """Print the problems, and what the heaviest page weighs."""
    found = list(problems(site))
    print("\n".join(found[:50]) + f"\n{len(found)} problems" if found else "no broken link", file=sys.stderr)
    pages = list(site.rglob("*.html"))
    heaviest = max(pages, key=weight, default=None)
    if heaviest is not None:
        print(f"{len(pages)} pages; the heaviest: {heaviest.relative_to(site)}, {weight(heaviest):,} bytes")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]).resolve()))
