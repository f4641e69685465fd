"""The gates of a project that stands in several folders, one for each change that was made to it.

    python gating.py FOLDER...

Of the folder with n changes the gates of the phases n and n + 1 are decided, as `turnproof gate` decides them, and
written to its `reports/gate-N.json`. What the gates ask for is left as it is; the scenarios are fewer, and run in the
folder's process, which is forked so that nothing has to be imported twice.
"""

from __future__ import annotations

import os
import sys
from multiprocessing import get_context
from pathlib import Path

from turnproof._base.settings import load_config
from turnproof.commands.certify.scenarios import suite_scenarios
from turnproof.commands.gates import GateOptions, gate
from turnproof.judge.requirements import load_suite
from turnproof.scenarios import Scenario

SCENARIOS = frozenset(
    {
        "cancel/in_text",
        "faults/server_error_in_tool_loop",
        "gc/large_result",
        "gc/tool_pairs",
        "history/reset",
        "persistence/save_load_tools",
        "tools/one",
    }
)
"""Turns, tools, a cancel, a failure, a result that does not fit, and each operation of a session."""


def main(folders: list[str]) -> None:
    """Decide the gates of all folders; ends with 1 if one could not be decided."""
    expected = [scenario for scenario in suite_scenarios(load_suite()) if scenario.name in SCENARIOS]
    assert len(expected) == len(SCENARIOS)
    processes = get_context("fork")
    for step, folder in enumerate(folders):
        phases = [phase for phase in (step, step + 1) if 1 <= phase < len(folders)]
        process = processes.Process(target=decide, args=(folder, phases, expected))
        process.start()
        process.join()
        if process.exitcode:
            sys.exit(f"{folder}: the gates of phases {phases} could not be decided")


def decide(folder: str, phases: list[int], expected: list[Scenario]) -> None:
    """Decide these gates of the project in a folder."""
    os.chdir(folder)
    config = load_config(Path.cwd())
    for phase in phases:
        gate(GateOptions(phase, out=Path("reports"), in_process=True, config=config), expected)


if __name__ == "__main__":
    main(sys.argv[1:])
