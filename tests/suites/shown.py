"""Which scenarios show which requirement: the suite's index, made from certifications of subjects that hold everything.

`python -m tests.suites.shown --write` certifies the reference adapters with all that they claim, the reference session,
one with a window and an agent with a process of its own, every scenario at any depth but no point of a sweep, and
writes `shown.json`.
It takes some minutes. `--only REQUIREMENT ...` behind it certifies the adapters by these alone (the reference session
where all are of sessions), and leaves other rows as they are: enough where requirements are new and no scenario has
changed for others. A requirement that the index did not have before is measured twice: a subject without what it is
about has it not claimed the first time, and undecided the second.
"""

from __future__ import annotations

import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from turnproof._base.exit_codes import Exit
from turnproof.commands.certify.engine import certify
from turnproof.commands.certify.options import CertifyOptions
from turnproof.commands.certify.scenarios import suite_scenarios
from turnproof.judge.requirements import SHOWN_FILE, ShownFile, load_suite
from turnproof.judge.requirements.scenario_index import EVERYWHERE, Side
from turnproof.judge.run_log import Run, read_run
from turnproof.judge.verdict import Status

FILE = Path(__file__).resolve().parents[2] / "suites" / "turnproof_suites" / SHOWN_FILE

ADAPTERS = (
    "anthropic",
    "antigravity",
    "copilot",
    "copilot_responses",
    "github_models",
    "google_genai",
    "ollama",
    "openai",
    "openai_responses",
    "turnproof_adapters.openai_responses.binding:WEBSOCKET",
    "zai",
)
REFERENCE = "reference@anthropic"
WINDOWED = "tests.commands.certify.windowed_sessions:TURNS"
SUBJECTS = (*ADAPTERS, REFERENCE, WINDOWED, "tests.session.agents.in_a_child:AGENT")

RUNS = {(path, mode) for path in ("stateless", "legacy") for mode in ("stream", "batch")}

Entry = tuple[str, Side, str]
"""A requirement, by which side it was compared, and a scenario."""


@dataclass
class Compared:
    """Where something was compared: the modes by dialect; and in which dialects the scenario was there to be judged."""

    modes: dict[Entry, dict[str, set[str]]] = field(default_factory=lambda: defaultdict(lambda: defaultdict(set)))
    judged: dict[tuple[str, Side], set[str]] = field(default_factory=lambda: defaultdict(set))
    dialects_by_scenario: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    dialects: set[str] = field(default_factory=set)

    def add(self, run: Run) -> None:
        """Take in what a run compared."""
        dialects = {name: adapter.dialect for name, adapter in run.adapters.items()}
        self.dialects |= set(dialects.values())
        for line in run.transcripts:
            self.dialects_by_scenario[line.key.scenario].add(dialects[line.adapter])
        for result in run.results:
            dialect = dialects[result.adapter]
            side: Side = "parity" if result.path == "parity" else "alone"
            if result.verdict.status is not Status.NOT_CLAIMED:
                self.judged[result.requirement, side].add(dialect)
            for scenario, mode in compared_in(result.verdict.compared):
                self.modes[result.requirement, side, scenario][dialect].add(mode)


def compared_in(compared: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Scenario and mode of each run in which something was compared: each text begins with the key of its run."""
    for text in compared:
        scenario, path, mode = text.partition(" ")[0].rstrip(":").partition("#")[0].rsplit("/", 2)
        assert (path, mode) in RUNS, text
        yield scenario, mode


def index(compared: Compared, known: Mapping[str, tuple[str, ...]]) -> ShownFile:
    """The index of what was compared. `known` are the scenarios of the suite, each with its modes."""
    shown: dict[str, dict[Side, dict[str, list[str]]]] = {}
    for (requirement, side, scenario), dialects in sorted(compared.modes.items()):
        if scenario not in known:
            continue
        by_modes: dict[str, set[str]] = defaultdict(set)
        for dialect, modes in dialects.items():
            one = next(iter(modes)) if len(modes) == 1 and len(known[scenario]) > 1 else ""
            by_modes[one].add(dialect)
        could = compared.dialects_by_scenario[scenario] & compared.judged[requirement, side]
        for mode, where in by_modes.items():
            key = EVERYWHERE if where >= could else " ".join(sorted(where))
            entry = f"{scenario}:{mode}" if mode else scenario
            shown.setdefault(requirement, {}).setdefault(side, {}).setdefault(key, []).append(entry)
    return msgspec.convert({"dialects": sorted(compared.dialects), "shown": shown}, ShownFile)


def text(found: ShownFile) -> str:
    """The file: a line for each requirement, side and set of dialects."""

    def quoted(value: object) -> str:
        return msgspec.json.encode(value).decode()

    blocks = []
    for requirement, sides in sorted(found.shown.items()):
        rows = [
            f"  {quoted(side)}: {{\n"
            + ",\n".join(f"   {quoted(key)}: {quoted(entries)}" for key, entries in sorted(table.items()))
            + "\n  }"
            for side, table in sorted(sides.items())
        ]
        blocks.append(f" {quoted(requirement)}: {{\n" + ",\n".join(rows) + "\n }")
    return f'{{"dialects": {quoted(found.dialects)}, "shown": {{\n' + ",\n".join(blocks) + "\n}}\n"


def certified(subject: str, folder: Path, only: tuple[str, ...] = ()) -> Run:
    """A certification of a subject with every scenario by name: so no point of a sweep is made."""
    names = tuple(scenario.name for scenario in suite_scenarios(load_suite()))
    code = certify(CertifyOptions((subject,), scenarios=names, only=only, backend="emulate", depth="full", out=folder))
    run = read_run(folder / "run.ndjson")
    claims_none = all(result.verdict.status is Status.NOT_CLAIMED for result in run.results)
    if code != Exit.OK and not (only and claims_none):
        raise SystemExit(f"{subject} is not right (exit {code}): an index of what it shows would be wrong")
    return run


def measured(subjects: Iterable[str], only: tuple[str, ...] = ()) -> ShownFile:
    """The index that certifications of these subjects give, by all requirements or by some."""
    compared = Compared()
    for subject in subjects:
        with tempfile.TemporaryDirectory() as folder:
            compared.add(certified(subject, Path(folder), only))
    known = {scenario.name: scenario.modes for scenario in suite_scenarios(load_suite())}
    return index(compared, known)


def with_rows_of(found: ShownFile, only: Iterable[str], file: Path = FILE) -> ShownFile:
    """The index as it stands, with what was found for some requirements instead of what it has for them."""
    before = msgspec.json.decode(file.read_bytes(), type=ShownFile)
    others = {one: sides for one, sides in before.shown.items() if one not in set(only)}
    return msgspec.structs.replace(before, shown={**others, **found.shown})


def subjects_of(only: Sequence[str]) -> tuple[str, ...]:
    """Who is asked for these requirements: the adapters, or the reference session where all are of sessions, with a
    window where all are about one."""
    requirements = [load_suite().catalogue[one] for one in only]
    if all("window" in one.capability for one in requirements):
        return (WINDOWED,)
    kinds = {one.subject for one in requirements}
    return (REFERENCE,) if kinds == {"session"} else ADAPTERS


def main(arguments: Sequence[str]) -> None:
    """Print the index, or write it."""
    words = [word for word in arguments if word not in ("--write", "--only")]
    found = measured(subjects_of(words) if words else SUBJECTS, tuple(words))
    page = text(with_rows_of(found, words) if words else found)
    if "--write" in arguments:
        FILE.write_text(page)
    else:
        print(page, end="")


if __name__ == "__main__":
    main(sys.argv[1:])
