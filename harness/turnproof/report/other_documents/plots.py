"""Plots that a benchmark drew, as pictures that stand in the page itself."""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

from ..._base.foreign_files import read_regular
from ...errors import UsageError
from ..limits import PLOT_BYTES, PLOT_NAME_CHARACTERS

_WORDS = re.compile(r"[-_]+")


@dataclass(frozen=True, slots=True)
class Plot:
    """A picture: its file, what it shows in words, and the whole of it as a `data:` address.

    A browser runs no script in a picture and fetches nothing for it.
    """

    file: str
    alt: str
    address: str


def plots_of(folder: Path, bench: Path, problems: list[str]) -> Iterator[Plot]:
    """The plots beside a benchmark: `bench-*.svg`. What is no picture is added to the problems."""
    for file in sorted(bench.parent.glob("bench-*.svg")):
        place = file.relative_to(folder).as_posix()
        try:
            content = read_regular(file, PLOT_BYTES)
            yield Plot(place, _alt(content, file), f"data:image/svg+xml;base64,{b64encode(content).decode()}")
        except (OSError, ValueError, UsageError, ElementTree.ParseError) as error:
            problems.append(f"{place} is not shown: {error}")


def _alt(content: bytes, file: Path) -> str:
    """What the picture says of itself in its label, title or description; else its name and the words that it shows."""
    if b"<!ENTITY" in content:
        raise ValueError("it declares entities")
    root = ElementTree.fromstring(content)
    if root.tag.rpartition("}")[2] != "svg":
        raise ValueError(f"it is a <{root.tag.rpartition('}')[2]}>, and no picture")
    texts = [root.get("aria-label") or ""]
    texts += [child.text or "" for child in root if child.tag.rpartition("}")[2] in ("title", "desc")]
    name = _WORDS.sub(" ", file.stem.removeprefix("bench-"))
    shown = dict.fromkeys(text.strip() for text in root.itertext() if any(map(str.isalpha, text)))
    words = f"plot of {name}: {', '.join(shown)}" if shown else f"plot of {name}"
    return next((text.strip() for text in texts if text.strip()), words[:PLOT_NAME_CHARACTERS])
