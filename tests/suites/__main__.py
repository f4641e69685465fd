"""`python -m tests.suites --write`: what follows from the catalogue is brought up to date, as after a new requirement.

The newest profile, the list of finding codes and `traceability.toml`. The index of scenarios takes minutes and has a
command of its own: `python -m tests.suites.shown --write`.
"""

from __future__ import annotations

import sys

from . import codes, profile, trace

if __name__ == "__main__":
    write = "--write" in sys.argv
    profile.main(write=write)
    codes.main(write=write)
    trace.main(write=write)
