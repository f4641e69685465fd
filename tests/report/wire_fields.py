"""Makes `wire_fields.json`, what the coverage of a dialect is held against, from runs of the reference adapters.

`python -m tests.report.wire_fields FOLDER... ` writes it from the runs in these folders; `docs/report.md` says which.
With `--add` in front, what is there of other dialects stays.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path

import msgspec
from msgspec.structs import replace

from turnproof._base.canonical import canonical
from turnproof.report.run_folders import unedited_run
from turnproof.report.wire_coverage import FIELDS_FILE, coverage, made_yardstick, yardstick
from turnproof.run.evidence import EvidenceStore

ADAPTERS = re.compile(r"the traffic of (.+) in the scenarios")


def main(arguments: Sequence[str]) -> None:
    """Write the file from these runs, all of which have to be of reference adapters."""
    folders = [each for each in arguments if each != "--add"]
    runs = [(Path(folder), unedited_run(Path(folder))) for folder in folders]
    reports = [coverage(run, EvidenceStore(folder / "evidence")) for folder, run in runs]
    day = max(run.header.started for _, run in runs)[:10]
    names = sorted({name for _, run in runs for name in run.adapters})
    known = yardstick() if "--add" in arguments else None
    if known is not None and (before := ADAPTERS.match(known.made_from)):
        names = sorted({*before[1].split(", "), *names})
    found = made_yardstick(reports, f"the traffic of {', '.join(names)} in the scenarios of the suite, {day}")
    if known is not None:
        requests = dict(sorted({**known.requests, **found.requests}.items()))
        answers = dict(sorted({**known.answers, **found.answers}.items()))
        found = replace(found, requests=requests, answers=answers)
    target = Path(str(files("turnproof.report") / FIELDS_FILE))
    target.write_bytes(msgspec.json.format(canonical(found), indent=1) + b"\n")
    for name, places in found.requests.items():
        print(f"{name}: {len(places)} fields of requests, {len(found.answers.get(name, ()))} of answers")


if __name__ == "__main__":
    main(sys.argv[1:])
