"""Every page that is made from the program."""

from __future__ import annotations

from collections.abc import Iterator

from .api_pages import api_pages
from .command_pages import command_pages
from .explain_pages import explain_pages


def made_pages() -> Iterator[tuple[str, str]]:
    """Path below `docs` and text of each page."""
    yield from explain_pages()
    yield from command_pages()
    yield from api_pages()
