"""The table of `docs/right-adapters.md`, made from the right adapters themselves.

`python -m tests.suites.right.page` writes it; a test holds the page against the code.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from turnproof_suites.right import RIGHT

PAGE = Path(__file__).resolve().parents[3] / "docs" / "right-adapters.md"
BEGIN, END = "<!-- Made by `python -m tests.suites.right.page`. -->\n", "<!-- End. -->\n"


def table() -> str:
    """The right adapters by freedom: what each does, and the library that does it."""
    return "".join(_lines())


def _lines() -> Iterator[str]:
    yield "| freedom | right adapter | what it does | seen in |\n|---|---|---|---|\n"
    for one in sorted(RIGHT.values(), key=lambda one: (one.freedom.lower(), one.name)):
        does = " ".join(one.breaks.split()).replace("|", "\\|")
        where = f"[{one.seen_in.repository}]({one.seen_in.address})" if one.seen_in is not None else ""
        yield f"| {one.freedom} | `{one.name}` | {does} | {where} |\n"


def main() -> None:
    """Write the table into the page."""
    before, rest = PAGE.read_text("utf-8").split(BEGIN)
    PAGE.write_text(f"{before}{BEGIN}{table()}{END}{rest.split(END)[1]}", "utf-8")


if __name__ == "__main__":
    main()
