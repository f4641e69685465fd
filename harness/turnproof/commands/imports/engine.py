"""`turnproof import`: reads files of recorded traffic, shows what would be written, and writes scenarios."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from ..._base.counts import counted
from ..._base.printable import one_line
from ..._base.whole_files import write_whole
from ...errors import ScenarioError, UsageError
from ...scenarios import from_data, to_yaml
from .apis import Reader
from .client import remarks
from .conversations import conversations
from .documents import Draft, NotAScenario, scenario_of, scenario_of_trace
from .exchanges import RecordedExchange, TracedCall, Traffic, Unreadable
from .read import read_traffic
from .scrub import Scrubber
from .traces import traced_conversations


@dataclass(frozen=True, slots=True)
class ImportOptions:
    """What to import, and where to. `masks` are texts that are masked wherever they stand."""

    files: tuple[Path, ...]
    out: Path
    dialect: str | None = None
    masks: tuple[str, ...] = ()
    force: bool = False


@dataclass(frozen=True, slots=True)
class Imported:
    """A scenario that is ready to be written to `path`."""

    path: Path
    text: str
    draft: Draft
    remarks: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Import:
    """What comes of some files: scenarios, what was left out and why, and what was masked by kind."""

    scenarios: tuple[Imported, ...]
    left_out: tuple[str, ...]
    masked: Counter[str]


def prepare(options: ImportOptions) -> Import:
    """Read the files and make the scenarios. Nothing is written.

    Raises UsageError for a file that cannot be read, and where a scenario would replace a file without `force`.
    """
    scenarios: list[Imported] = []
    left_out: list[str] = []
    masked: Counter[str] = Counter()
    for file in options.files:
        traffic = read_traffic(file)
        scrubber = Scrubber(traffic, options.masks)
        drafts = list(_drafts(file, traffic, options.dialect, left_out))
        for number, (draft, draft_remarks) in enumerate(drafts, 1):
            name = _name(file) + (f"-{number}" if len(drafts) > 1 else "")
            path = options.out / f"{name}.yaml"
            try:
                scenarios.append(_finished(path, draft, draft_remarks, scrubber, file))
            except ScenarioError as error:
                left_out.append(f"{file}: a conversation is no scenario: {error}")
        masked += scrubber.found
    _check_places([one.path for one in scenarios], options.force)
    return Import(tuple(scenarios), tuple(left_out), +masked)


def write(result: Import) -> None:
    """Write the scenarios. Raises UsageError where one cannot be written."""
    for one in result.scenarios:
        write_whole(one.path, one.text)


def show(result: Import, out: Callable[[str], None]) -> None:
    """Print a preview: each scenario with its notes, the conversations that are left out, and how many secrets are
    masked."""
    for one in result.scenarios:
        data = one.draft.data
        origin = data.get("origin")
        where = f" of {origin['host']}, {origin.get('day', 'day unknown')}" if origin else ", from a trace"
        answers = f"{counted(one.draft.recorded, 'recorded answer')}{where}"
        out(one_line(f"{one.path}: {counted(len(data['turns']), 'turn')}, {answers}"))
        for remark in one.remarks:
            out(one_line(f"  client: {remark}"))
        for note in one.draft.notes:
            out(one_line(f"  note: {note}"))
    for line in result.left_out:
        out(one_line(f"left out: {line}"))
    for kind, number in sorted(result.masked.items()):
        out(f"masked: {kind}, {counted(number, 'time')}")
    if not result.masked:
        out("masked: nothing that looks like a secret was found; texts of people are kept as they are")


def _drafts(
    file: Path, traffic: Sequence[Traffic], dialect: str | None, left_out: list[str]
) -> Iterator[tuple[Draft, tuple[str, ...]]]:
    left_out += [one.reason for one in traffic if isinstance(one, Unreadable)]
    reader = Reader(dialect)
    exchanges = [one for one in traffic if isinstance(one, RecordedExchange)]
    read = [found for one in exchanges if (found := reader.read(one)) is not None]
    if exchanges and not read:
        left_out.append(
            f"{file}: no request asks a model in an API that turnproof knows (list: turnproof list dialects)"
        )
    for conversation in conversations(read):
        try:
            title = f"Recorded traffic: {file.name}"
            yield scenario_of(conversation, title), tuple(remarks(conversation))
        except NotAScenario as reason:
            left_out.append(f"{conversation.steps[0].recorded.where}: {reason}")
    for calls in traced_conversations(one for one in traffic if isinstance(one, TracedCall)):
        try:
            yield scenario_of_trace(calls, f"Traced conversation: {file.name}"), ()
        except NotAScenario as reason:
            left_out.append(f"{calls[0].where}: {reason}")


def _finished(path: Path, draft: Draft, notes: tuple[str, ...], scrubber: Scrubber, file: Path) -> Imported:
    draft.data = scrubber.clean(draft.data)
    from_data(draft.data, f"{path.absolute().parent.name}/{path.stem}", str(path))
    comments = [f"Imported from {file.name}. Answers under 'recorded' are those of the real service.", *draft.notes]
    return Imported(path, to_yaml(draft.data, map(scrubber.clean, comments)), draft, tuple(map(scrubber.clean, notes)))


def _name(file: Path) -> str:
    return re.sub(r"[^\w.-]+", "_", file.stem).strip(".") or "imported"


def _check_places(paths: Sequence[Path], force: bool) -> None:
    twice = [path for path, number in Counter(paths).items() if number > 1]
    if twice:
        raise UsageError(f"two files would become {twice[0]}: import them into different folders (--out)")
    there = [path for path in paths if path.exists()]
    if there and not force:
        raise UsageError(f"{there[0]} exists: give another folder (--out), or --force to replace it")
