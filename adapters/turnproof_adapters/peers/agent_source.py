"""Source that the files of several agents have alike, for `turnproof reproduce`."""

from __future__ import annotations

from typing import Any

from turnproof.messages import thaw
from turnproof.reproducer import LibrarySession, source_of


def own_options(session: LibrarySession, *names: str) -> str:
    """Those of the endpoint's options that the library is opened with, as keyword arguments behind a comma."""
    own: dict[str, Any] = {name: thaw(session.options[name]) for name in names if name in session.options}
    return "".join(f", {name}={value!r}" for name, value in own.items())


def tool_rows(session: LibrarySession) -> str:
    """The session's tools as source: a list of tuples of name, description and schema."""
    rows = (f"({one.name!r}, {one.description!r}, {source_of(one.parameters)})" for one in session.tools)
    return f"[{', '.join(rows)}]"
