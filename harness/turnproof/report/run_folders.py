"""Folders that a certification wrote, read back; a folder that holds something else is told from one by name.

Whoever points a command at the wrong folder learns what is in it, and which command reads that.
"""

from __future__ import annotations

from pathlib import Path

import msgspec

from .._base.foreign_files import read_regular
from ..errors import UsageError
from ..judge.run_log import Run, read_run
from .certification import SCHEMA, Certification

RUN_FILE = "run.ndjson"
CERTIFICATION_FILE = "certification.json"

_decoder = msgspec.json.Decoder(Certification)

_OTHERS = (
    ("comparison.json", "the report of a comparison", "turnproof compare DIR shows it again"),
    ("gate-*.json", "the reports of a gate", "its runs are in the folder gate-N"),
    ("handoff.json", "the report of a hand-off", "turnproof handoff makes a new one"),
    ("matrix.json", "many certifications", "name the folder of one of its cells"),
    (f"*/{CERTIFICATION_FILE}", "folders with certifications", "name one of them"),
    ("mutants.json", "a kill matrix", "turnproof mutants makes a new one"),
    ("explored", "scenarios that were explored", "turnproof certify --scenario FILE runs one"),
    ("*.yaml", "scenarios", "turnproof certify --scenario FILE runs one"),
)
"""What other commands write, by the files it is known by."""


class _Head(msgspec.Struct):
    schema: str = ""


def certified_run(folder: Path) -> Run:
    """The run of a certification in a folder; one that was cut is read as far as it goes.

    Raises UsageError where there is no run, where it is damaged, edited or of another format, and for the runs of a
    comparison or a gate, which have no verdicts on requirements.
    """
    run = unedited_run(folder)
    if run.header.compares or not (run.requirements or run.results):
        what = "a gate" if run.header.command[1:2] == ("gate",) else "a comparison"
        raise UsageError(
            f"{folder} has the runs of {what}, which have no verdicts on requirements; "
            f"turnproof compare {folder} shows them side by side"
        )
    return run


def unedited_run(folder: Path) -> Run:
    """The run in a folder, whatever made it. Raises UsageError also where lines are not what they were."""
    run = run_in(folder)
    if run.footer is not None and run.footer.lines and run.footer.lines != run.lines:
        file = folder / RUN_FILE
        raise UsageError(
            f"{file} was edited since it was written; turnproof verify {folder} tells what does not follow"
        )
    return run


def run_in(folder: Path) -> Run:
    """The run in a folder, whatever made it. Raises UsageError that says what else there is."""
    if not (folder / RUN_FILE).exists():
        raise UsageError(_without_run(folder))
    return read_run(folder / RUN_FILE)


def read_certification(file: Path) -> Certification:
    """A `certification.json`. Raises UsageError for one that is missing, damaged, or of another schema."""
    try:
        data = read_regular(file)
        schema = msgspec.json.decode(data, type=_Head).schema
        if not schema:
            raise UsageError(f"{file} is no certification: it names no schema")
        if schema != SCHEMA:
            raise UsageError(f"{file} is of schema {schema!r}; this turnproof reads {SCHEMA!r}")
        return _decoder.decode(data)
    except OSError as error:
        raise UsageError(f"{file}: cannot be read: {error.strerror}") from error
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise UsageError(f"{file} is no certification: {error}") from error


def _without_run(folder: Path) -> str:
    if not folder.exists():
        return f"{folder}: there is no such folder; turnproof certify --out {folder} makes a run there"
    if not folder.is_dir():
        return f"{folder} is a file: name the folder that has {RUN_FILE}"
    for pattern, what, hint in _OTHERS:
        if next(folder.glob(pattern), None) is not None:
            return f"{folder} has no {RUN_FILE}, but {what}: {hint}"
    return f"{folder} has no {RUN_FILE}: nothing was run there; turnproof certify --out {folder} does"
