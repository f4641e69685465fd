"""What an interrupted certification behind a real service can be gone on with.

A model draws its words anew, so both paths of a conversation have to rest on one answer. A path that is missing is
given the answers that are in the evidence of the other one; where they are not whole there, both are asked for again.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace as with_changes

from msgspec.structs import replace

from ...dialects import dialect
from ...dialects.base import Rendered
from ...dialects.contract import Dialect
from ...judge.run_log import TranscriptLine
from ...judge.view import View
from ...judge.view.exchange import HARMLESS_FAULTS, Exchange
from ...run.backends import Backends
from ...run.driver import RunSpec
from ...run.evidence import EvidenceStore
from ...run.transcript import RunKey
from ...subject import Subject
from ...wire.emulator.live_answers import LiveAnswers
from ...wire.emulator.responders import due, rounds_since_user
from .resume import Earlier


def answered_by_service(
    earlier: Earlier,
    runs: Iterable[RunSpec],
    subjects: Mapping[str, Subject],
    backends: Backends,
    store: EvidenceStore,
) -> Earlier:
    """What is there, less the runs that the service failed and those whose other path could not be compared with them.

    `backends` then give the planned `runs` that are missing the answers of the others. Runs that no service answered
    stay as they are.
    """
    lines = dict(earlier.lines)
    planned: dict[str, dict[RunKey, RunSpec]] = {}
    for run in runs:
        if backends.backend_of(run.adapter) == "live":
            planned.setdefault(run.adapter, {})[run.key] = run
    for spec, own_runs in planned.items():
        name, wire = subjects[spec].name, dialect(subjects[spec].dialect)
        for place in [one for one, line in lines.items() if one[0] == name and line.how == "service-fault"]:
            del lines[place]
        for key, run in own_runs.items():
            if key.path == "stateless":
                _pair(lines, name, run, own_runs.keys(), wire, backends, store)
    return with_changes(earlier, lines=lines)


def _pair(
    lines: dict[tuple[str, RunKey], TranscriptLine],
    name: str,
    run: RunSpec,
    planned: Iterable[RunKey],
    wire: Dialect,
    backends: Backends,
    store: EvidenceStore,
) -> None:
    """Take over both paths of a conversation, or the first one with its answers for the other, or none."""
    line = lines.get((name, run.key))
    legacy = [replace(run.key, path="legacy", repeat=repeat) for repeat in (0, 1)]
    answers = None
    if line is not None:
        answers = answers_in(View(store.get(line.digest), wire, run.scenario, line.digest), wire)
    if answers is not None:
        backends.take_over(run, answers)
    elif line is None or (legacy[0] in planned and (name, legacy[0]) not in lines):
        for key in (run.key, *legacy):
            lines.pop((name, key), None)


def answers_in(view: View, wire: Dialect) -> LiveAnswers | None:
    """What the service answered in a run; None where the evidence of an answer is not whole."""
    answers = LiveAnswers()
    for exchange in view.exchanges:
        response = exchange.response
        if exchange.request.extra or not exchange.generates or (response is not None and not response.origin):
            continue
        answer = _whole_answer(exchange, wire)
        if answer is None or exchange.call is None:
            return None
        turns = view.scenario.turns
        turn = turns[exchange.request.turn] if 0 <= exchange.request.turn < len(turns) else None
        round_ = rounds_since_user(exchange.call, due(exchange.call, turn))
        answers.add(wire, exchange.call, (exchange.request.turn, round_), answer)
    return answers


def _whole_answer(exchange: Exchange, wire: Dialect) -> Rendered | None:
    response = exchange.response
    if response is None or response.ended != "completed" or response.fault not in (None, *HARMLESS_FAULTS):
        return None
    return Rendered(response.status, response.headers, wire.split_stream(response.headers, response.data))
