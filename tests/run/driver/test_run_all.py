"""Many runs in a row: taken one by one, stopped at any time, and nothing is kept of one that is over."""

from __future__ import annotations

import gc
import threading
from collections.abc import Iterator

import pytest

from turnproof.run.driver import Runner, RunSpec
from turnproof.run.transcript import RunKey, Transcript
from turnproof.scenarios import Scenario
from turnproof.session.binding import OpenedSession

NOTHING = Scenario(name="scale/nothing", title="Nothing is said", turns=())
SPEC = RunSpec("turnproof.wire.controls.openai_chat:CONTROL", NOTHING, RunKey(NOTHING.name, "stateless"))


@pytest.fixture
def runner() -> Iterator[Runner]:
    with Runner(in_process=True) as runner:
        yield runner


class Specs:
    """Runs that do nothing, and how many of them were taken."""

    def __init__(self, count: int) -> None:
        self.count = 0
        self._count = count

    def __iter__(self) -> Iterator[RunSpec]:
        for _ in range(self._count):
            self.count += 1
            yield SPEC


def test_only_a_few_more_runs_are_taken_than_were_seen(runner: Runner) -> None:
    specs, seen, ahead = Specs(50), 0, []

    def look(spec: RunSpec, transcript: Transcript) -> None:
        nonlocal seen
        assert transcript.end.how == "completed"
        ahead.append(specs.count - seen)
        seen += 1

    runner.run_all(specs, look)
    assert seen == 50
    assert max(ahead) <= 5


def test_no_run_at_all_is_no_error(runner: Runner) -> None:
    runner.run_all([], lambda spec, transcript: pytest.fail("nothing was asked for"))


def test_runs_that_are_stopped_come_to_an_end(runner: Runner) -> None:
    stop, seen = threading.Event(), 0

    def look(spec: RunSpec, transcript: Transcript) -> None:
        nonlocal seen
        seen += 1
        stop.set()

    runner.run_all(Specs(50), look, stop)
    assert 1 <= seen < 50


def test_an_error_of_whoever_names_the_runs_reaches_the_caller(runner: Runner) -> None:
    def specs() -> Iterator[RunSpec]:
        yield SPEC
        raise ValueError("no more scenarios")

    with pytest.raises(ValueError, match="no more scenarios"):
        runner.run_all(specs(), lambda spec, transcript: None)


def test_nothing_goes_on_behind_an_error_of_whoever_looks(runner: Runner) -> None:
    before, specs = set(threading.enumerate()), Specs(50)

    def look(spec: RunSpec, transcript: Transcript) -> None:
        raise ValueError("the disk is full")

    with pytest.raises(ValueError, match="the disk is full"):
        runner.run_all(specs, look)
    for thread in set(threading.enumerate()) - before:
        if thread.name != "turnproof-run" and not thread.name.startswith("turnproof-control"):
            thread.join(5)
            assert not thread.is_alive(), thread
    assert specs.count < 50


def sessions() -> dict[int, OpenedSession]:
    """The opened sessions that the memory of this process has."""
    gc.collect()
    return {id(one): one for one in gc.get_objects() if isinstance(one, OpenedSession)}


def test_the_session_of_a_run_ends_with_it(runner: Runner) -> None:
    """A worker makes thousands of runs; what they leave in its memory has to be nothing."""
    others = sessions()  # what tests before this one hold
    runner.run_all([SPEC] * 10, lambda spec, transcript: None)
    assert len(sessions().keys() - others.keys()) <= 1  # that of the last run, in the frames of the place
