"""`python -m tests.dialects --write`: what follows from the rules is brought up to date, as after a new rule.

The page of evidence (`docs/evidence.md`), and the pairs that the census sends (`pairs.json` beside each dialect).
"""

from __future__ import annotations

import sys

from . import census_pairs, evidence

if __name__ == "__main__":
    write = "--write" in sys.argv
    stale = [*evidence.update(write=write), *census_pairs.update(write=write)]
    for path in stale:
        print(f"{path} is {'written' if write else 'out of date: python -m tests.dialects --write'}")
    sys.exit(int(bool(stale) and not write))
