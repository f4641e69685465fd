"""The table of `docs/equality.md`: which requirements ask which relation, measured in a certification.

`python -m tests.suites.equality` writes it; `test_equality_page.py` holds what the page names against the code.
"""

from __future__ import annotations

import importlib
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from turnproof.commands.certify.engine import certify
from turnproof.commands.certify.options import CertifyOptions

PAGE = Path(__file__).resolve().parents[2] / "docs" / "equality.md"
BEGIN, END = "<!-- Measured by `python -m tests.suites.equality`. -->\n", "<!-- End. -->\n"
SUBJECTS = ("anthropic", "openai", "google_genai")

RELATIONS: Mapping[str, tuple[str, ...]] = {
    "texts, whatever blocks they stand in": (
        "turnproof_suites.words:without_blanks",
        "turnproof_suites.words:users_say",
        "turnproof_suites.reading:spoken_text",
        "turnproof.dialects.text_equality:same_but_for_borders",
    ),
    "calls, whatever their ids are": (
        "turnproof.dialects.call_pairing:pair_calls",
        "turnproof.dialects.call_pairing:with_held_ids",
    ),
    "tools, whatever their names and additions are": (
        "turnproof.dialects.tool_pairing:wire_names",
        "turnproof.dialects.tool_pairing:without_additions",
        "turnproof_suites.reading:names_on_the_wire",
    ),
    "schemas, in whatever form": ("turnproof.dialects.schema_members:lost_members",),
    "values, whatever their spelling is": (
        "turnproof.dialects.atoms:same_json",
        "turnproof.dialects.text_equality:parses_to",
    ),
    "thoughts without a signature, in one part or several": ("turnproof_suites.content:thought_runs",),
    "signatures, whatever key they are kept under": ("turnproof.dialects.atoms:tokens_of",),
    "media, inline or by reference": ("turnproof.dialects.atoms:media_key",),
    "pictures, written again or without their type": ("turnproof.dialects.pictures:with_held_pictures",),
    "instructions, in the system text or between messages": (
        "turnproof.dialects.preamble:system_differences",
        "turnproof.dialects.preamble:settled_instructions",
        "turnproof_suites.content:instructs",
    ),
    "messages, with neighbours of one role joined": (
        "turnproof_suites.part_rows:part_row",
        "turnproof_suites.part_rows:continued_row",
        "turnproof_suites.content:in_two_roles",
    ),
    "a history that was shortened for its window": (
        "turnproof_suites.context_room:makes_room",
        "turnproof_suites.context_room:outgrew_window",
    ),
}
"""What is equal -> the functions that decide it, as `module:function`."""


def measure() -> dict[str, set[str]]:
    """Each function of `RELATIONS` -> the requirements whose checks called it in a certification of `SUBJECTS`."""
    judging: Any = importlib.import_module("turnproof.judge.requirements.judge")
    watched = {address for addresses in RELATIONS.values() for address in addresses}
    callers: dict[str, set[str]] = defaultdict(set)
    run_check = judging._run

    def run(check: Any, function: Any, *views: Any) -> Any:
        def note(frame: Any, event: str, _: Any) -> None:
            if event == "call":
                address = f"{frame.f_globals.get('__name__')}:{frame.f_code.co_name}"
                if address in watched:
                    callers[address].add(check.id)

        sys.setprofile(note)
        try:
            return run_check(check, function, *views)
        finally:
            sys.setprofile(None)

    judging._run = run
    try:
        with tempfile.TemporaryDirectory() as folder:
            certify(CertifyOptions(SUBJECTS, backend="emulate", out=Path(folder), in_process=True))
    finally:
        judging._run = run_check
    return callers


def rows(callers: Mapping[str, set[str]]) -> Iterator[str]:
    """The table's lines."""
    yield "| what is equal | decided by | asked by |\n|---|---|---|\n"
    for what, addresses in RELATIONS.items():
        requirements = sorted({requirement for address in addresses for requirement in callers.get(address, ())})
        functions = ", ".join(f"`{address}`" for address in addresses)
        yield f"| {what} | {functions} | {', '.join(f'`{requirement}`' for requirement in requirements)} |\n"


def main() -> None:
    """Measure, and write the table into the page."""
    before, rest = PAGE.read_text().split(BEGIN)
    PAGE.write_text(f"{before}{BEGIN}{''.join(rows(measure()))}{END}{rest.split(END)[1]}")


if __name__ == "__main__":
    main()
