"""Print the counts of the recordings: `python -m tests.recordings.count [FOLDER]`."""

from __future__ import annotations

import sys
from pathlib import Path

from .judge import judge, table
from .material import recordings


def main() -> int:
    """The table on stdout; 1 if any exchange is judged wrongly."""
    default = Path(__file__).resolve().parents[2] / "../shared/recordings"
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else default
    judged = judge(recordings(folder))
    print(table(judged))
    wrong = [each for each in judged if each.wrong]
    for each in wrong:
        print(f"WRONG {each.where}: {each.wrong}")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
