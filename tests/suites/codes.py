"""The codes of findings that are in use. A code is an address: it is never renamed, and never given to anything else.

`python -m tests.suites.codes --write` adds new ones to the list; it takes none away.
"""

from __future__ import annotations

import sys
from pathlib import Path

from turnproof.judge.requirements import load_suite

LIST = Path(__file__).parent / "finding_codes.txt"


def listed() -> list[str]:
    """The codes that were ever in use."""
    return LIST.read_text("utf-8").split()


def registered() -> list[str]:
    """The codes that the suite has now."""
    return sorted(load_suite().registry.templates)


def main(*, write: bool) -> None:
    """Count the codes, and list the new ones if asked to."""
    codes = sorted({*(listed() if LIST.exists() else ()), *registered()})
    if write:
        LIST.write_text("".join(f"{code}\n" for code in codes), "utf-8")
    print(f"{len(codes)} codes")


if __name__ == "__main__":
    main(write="--write" in sys.argv)
