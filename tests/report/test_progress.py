"""How far a command has come: on a terminal, without one, and when it is stopped."""

from __future__ import annotations

import io
import re
import threading

import pytest

from turnproof.judge.verdict import Status
from turnproof.report.progress import Progress, Silence, progress
from turnproof.report.progress_rate import Pace, in_words, time_text


class Clock:
    """Time as the test says."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture(autouse=True)
def _terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("COLUMNS", "80")


def frames(file: io.StringIO) -> list[str]:
    """What the terminal showed, one after the other, without colours."""
    parts = re.split(r"\r\x1b\[2K(?:\x1b\[1A\x1b\[2K)*", file.getvalue())
    return [re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", part) for part in parts]


def on(file: io.StringIO, clock: Clock) -> Progress:
    return progress("certify", ticks=False, file=file, clock=clock)


def run_through(tracker: Progress, clock: Clock, count: int, seconds: float) -> None:
    for number in range(1, count + 1):
        tracker.started(f"run {number}")
        clock.now += seconds
        tracker(number, count, f"run {number}")


def stopped(progress: Progress, clock: Clock, done: int, of: int) -> None:
    """Somebody presses Ctrl-C when so many of them are done."""
    with progress as tracker:
        for number in range(1, done + 1):
            clock.now += 1
            tracker(number, of, f"run {number}")
        raise KeyboardInterrupt


# -- on a terminal -----------------------------------------------------------------------------------------------


def test_a_terminal_shows_what_runs_how_many_and_how_long() -> None:
    file, clock = Terminal(), Clock()
    with on(file, clock) as tracker:
        tracker.stage("runs")
        tracker.started("anthropic tools/one")
        tracker.started("anthropic tools/two")
        clock.now += 2
        tracker(20, 100, "anthropic tools/one")
        clock.now += 2
        tracker(40, 100, "another")
    last = frames(file)[-2]
    assert "certify  40/100 runs  0:04, a few seconds left" in last
    assert "anthropic tools/two" in last
    assert "anthropic tools/one" not in last
    assert "━" in last


def test_verdicts_are_counted_as_they_fall() -> None:
    file, clock = Terminal(), Clock()
    with on(file, clock) as tracker:
        tracker.stage("verdicts")
        for status in (Status.HELD, Status.HELD, Status.VIOLATED):
            tracker.count(status)
        clock.now += 1
        tracker(3, 9, "a::core/x[legacy]")
    assert "✗ 1 violated  ✓ 2 held" in frames(file)[-2]


def test_nothing_is_left_of_it_but_what_came_before() -> None:
    file, clock = Terminal(), Clock()
    with on(file, clock) as tracker:
        run_through(tracker, clock, 3, 1)
    cleared = file.getvalue().rpartition("\x1b[?25h")[2]
    assert re.sub(r"\r|\x1b\[(?:1A|2K)", "", cleared) == ""
    assert cleared.count("\x1b[1A") == 2
    assert file.getvalue().count("\x1b[?25l") == file.getvalue().count("\x1b[?25h") == 1


def test_an_interrupt_gives_the_cursor_back() -> None:
    file, clock = Terminal(), Clock()
    with pytest.raises(KeyboardInterrupt):
        stopped(on(file, clock), clock, 1, of=9)
    assert file.getvalue().rindex("\x1b[?25h") > file.getvalue().rindex("\x1b[?25l")


def test_what_comes_late_does_not_start_it_again() -> None:
    """A worker's thread may tell of its run when an interrupt has ended everything."""
    file, clock = Terminal(), Clock()
    with on(file, clock) as tracker:
        tracker(1, 2, "a run")
    before = file.getvalue()
    tracker.started("another")
    tracker(2, 2, "another")
    assert file.getvalue() == before


@pytest.mark.parametrize("columns", [20, 60, 120])
def test_no_line_is_wider_than_the_terminal(monkeypatch: pytest.MonkeyPatch, columns: int) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    file, clock = Terminal(), Clock()
    with on(file, clock) as tracker:
        for number in range(7):
            tracker.started(f"run {number} of an adapter with a long name: {'x' * 200}")
        clock.now += 1
        tracker(1, 9, "other")
    shown = frames(file)[-2]
    assert "and 3 more" in shown
    assert all(len(line) <= columns for line in shown.splitlines())


def test_colour_respects_no_color(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    file, clock = Terminal(), Clock()
    with on(file, clock) as tracker:
        tracker.count(Status.VIOLATED)
        tracker(1, 2, "x")
    assert not re.search(r"\x1b\[[0-9;]*3[0-9]m", file.getvalue())


def test_many_threads_may_tell_at_once() -> None:
    file, clock = Terminal(), Clock()
    with on(file, clock) as tracker:
        threads = [threading.Thread(target=run_through, args=(tracker, clock, 50, 0.001)) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert tracker.state.running == {}


# -- without one -------------------------------------------------------------------------------------------------


def test_what_is_short_says_nothing_without_a_terminal() -> None:
    file, clock = io.StringIO(), Clock()
    with on(file, clock) as tracker:
        run_through(tracker, clock, 100, 0.05)
    assert file.getvalue() == ""


@pytest.mark.parametrize("dumb", [False, True])
def test_without_a_terminal_there_are_a_few_plain_lines(monkeypatch: pytest.MonkeyPatch, dumb: bool) -> None:
    monkeypatch.setenv("TERM", "dumb" if dumb else "xterm")
    file, clock = Terminal() if dumb else io.StringIO(), Clock()
    with on(file, clock) as tracker:
        tracker.stage("runs")
        tracker.count(Status.HELD)
        run_through(tracker, clock, 400, 0.25)
    lines = file.getvalue().splitlines()
    assert lines[0] == "certify: 40 of 400 runs, 0:10, about 2 min left (1 held)"
    assert lines[-1] == "certify: done after 1:40"
    assert 10 <= len(lines) <= 12
    assert "\x1b" not in file.getvalue()


def test_a_line_comes_also_when_hardly_anything_moves() -> None:
    file, clock = io.StringIO(), Clock()
    with on(file, clock) as tracker:
        for number in range(1, 8):
            clock.now += 31
            tracker(number, 10_000, "slow")
    assert len(file.getvalue().splitlines()) == 8


def test_what_was_stopped_says_where() -> None:
    file, clock = io.StringIO(), Clock()
    with pytest.raises(KeyboardInterrupt):
        stopped(on(file, clock), clock, 20, of=90)
    assert file.getvalue().splitlines()[-1] == "certify: stopped at 20 of 90 runs after 0:20"


def test_a_new_stage_counts_from_nothing() -> None:
    file, clock = io.StringIO(), Clock()
    with on(file, clock) as tracker:
        run_through(tracker, clock, 20, 1)
        tracker.stage("verdicts")
        clock.now += 6
        tracker(1, 2, "a verdict")
    assert "certify: 1 of 2 verdicts, 0:26" in file.getvalue()


def test_silence_can_be_told_everything() -> None:
    tracker = Silence()
    tracker.stage("runs")
    tracker.started("x")
    tracker.count(Status.HELD)
    tracker(1, 1, "x")


# -- the estimate ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("seconds", "done", "total"), [(2.0, 50, 100), (10.0, 4, 100), (10.0, 20, 1000), (0.0, 0, 100)]
)
def test_no_time_left_is_told_before_it_can_be_known(seconds: float, done: int, total: int) -> None:
    pace = Pace(0)
    pace.mark(seconds, done)
    assert pace.left(seconds, done, total) is None


def test_time_left_follows_the_rate_of_late() -> None:
    pace = Pace(0)
    for second in range(1, 31):  # slow at first, as imports are
        pace.mark(second, second)
    assert pace.left(30, 30, 100) == pytest.approx(70)
    for second in range(31, 61):
        pace.mark(second, 30 + (second - 30) * 2)
    assert pace.left(60, 90, 100) == pytest.approx(5)


def test_nothing_is_promised_where_nothing_moves() -> None:
    pace = Pace(0)
    for second in range(1, 11):
        pace.mark(second, second)
    assert pace.left(15, 10, 20) == pytest.approx(15)
    assert pace.left(31, 10, 20) is None


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(0.4, "a few seconds left"), (14, "about 10 s left"), (89, "about 90 s left"), (150, "about 2 min left")],
)
def test_estimates_are_coarse(seconds: float, words: str) -> None:
    assert in_words(seconds) == words


def test_time_gone_by() -> None:
    assert [time_text(seconds) for seconds in (0.9, 65, 3723)] == ["0:00", "1:05", "1:02:03"]


def test_on_a_cluster_the_workers_and_the_rate_are_told() -> None:
    clock, file = Clock(), Terminal()
    with on(file, clock) as tracker:
        tracker.workers(4)
        run_through(tracker, clock, 20, 0.5)
        tracker.workers(3)
        tracker(20, 20, "run 20")
    assert any("20/20 runs on 4 workers, 2.0 a second" in frame for frame in frames(file))
    assert any("20/20 runs on 3 workers" in frame for frame in frames(file))


def test_on_this_machine_no_workers_are_told() -> None:
    clock, file = Clock(), Terminal()
    with on(file, clock) as tracker:
        run_through(tracker, clock, 20, 0.5)
    assert not any("worker" in frame for frame in frames(file))
