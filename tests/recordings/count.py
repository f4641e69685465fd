"""Print the counts of the recordings: `python -m tests.recordings.count [FOLDER]`."""

from __future__ import annotations

import sys
from pathlib import Path

from . import apis
from .judge import judge, table


def main() -> int:
    """A table for each API on stdout; 1 if any exchange is judged wrongly."""
    default = Path(__file__).resolve().parents[2] / "../shared/recordings"
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else default
    any_wrong = False
    for api in apis.ALL:
        judged = judge(api.recordings(folder), api)
        wrong = [each for each in judged if each.wrong]
        print(f"{api.dialect.name}: {len(judged)} exchanges\n\n{table(judged)}")
        for each in wrong:
            print(f"WRONG {each.where}: {each.wrong}")
        print()
        any_wrong = any_wrong or bool(wrong)
    return any_wrong


if __name__ == "__main__":
    sys.exit(main())
