"""A program as a child process, with small Python programs of each kind, well behaved and not."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import NamedTuple, Protocol

import pytest

from turnproof.errors import UsageError
from turnproof_adapters._child_process import Child, ChildLost
from turnproof_adapters._interrupt import Cut, CutOff

LONG = 60.0
"""A silence that no test comes to."""

SHORT = 0.2

MEGABYTE = 1 << 20

ASLEEP = "import time; time.sleep(60)"

ECHO = "import sys\nfor line in sys.stdin.buffer: sys.stdout.buffer.write(line); sys.stdout.buffer.flush()"


@pytest.fixture(autouse=True)
def _nobody_is_hurried(monkeypatch: pytest.MonkeyPatch) -> None:
    """A program that has said its last word may take its time to end: one that is killed instead has another code."""
    monkeypatch.setattr("turnproof_adapters._child_process.GRACE", LONG)


class Start(Protocol):
    def __call__(self, program: str, *, silence: float = LONG, environment: Mapping[str, str] = ...) -> Child: ...


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    """Starts Python programs, and ends them after the test."""
    with ExitStack() as ending:

        def started(program: str, *, silence: float = LONG, environment: Mapping[str, str] | None = None) -> Child:
            # Bare: as little of Python is loaded as can be.
            command = [sys.executable, "-I", "-S", "-c", program]
            child = Child(command, environment=environment or {}, folder=tmp_path, silence=silence)
            ending.callback(child.end, grace=0)
            return child

        yield started


def eventually(what: Callable[[], bool]) -> bool:
    until = time.monotonic() + LONG
    while not what():
        if time.monotonic() > until:
            return False
        time.sleep(0.005)
    return True


def runs(number: int) -> bool:
    """Whether there is such a process. One that is dead and only waits for its parent is none."""
    try:
        os.kill(number, 0)
        state = Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()[0]
    except (ProcessLookupError, FileNotFoundError):
        return False
    return state not in "ZX"


def read_number(child: Child) -> int:
    """The next line, a number."""
    return int(next(child.lines()))


class Resources(NamedTuple):
    """Threads and open files of this process. What earlier tests have left to the garbage collector may go meanwhile,
    and their threads may end: only what has come since counts."""

    threads: frozenset[threading.Thread]
    files: frozenset[str]

    def is_more_than(self, before: Resources) -> bool:
        return bool(self.threads - before.threads or self.files - before.files)


def current_resources() -> Resources:
    """What this process has, apart from the look at it."""
    opened = []
    for entry in Path("/proc/self/fd").iterdir():
        try:
            opened.append(f"{entry.name} {entry.readlink()}")
        except FileNotFoundError:
            continue
    return Resources(frozenset(threading.enumerate()), frozenset(opened))


# -- lines that come out --------------------------------------------------------------------------------------------


def test_lines_come_in_order_without_the_blank_ones(start: Start) -> None:
    child = start(r"print('\none\n\n  \n two \nthree\n\n')")
    assert list(child.lines()) == [b"one", b" two ", b"three"]


def test_a_last_line_needs_no_end(start: Start) -> None:
    assert list(start("print('one'); print('two', end='')").lines()) == [b"one", b"two"]


def test_a_program_that_says_nothing_has_no_lines(start: Start) -> None:
    assert list(start("pass").lines()) == []


def test_the_end_stays_the_end_for_whoever_asks_again(start: Start) -> None:
    child = start("print('one')")
    assert [list(child.lines()), list(child.lines())] == [[b"one"], []]


def test_long_and_many_lines_arrive_whole_although_nobody_reads_at_first(start: Start) -> None:
    child = start(
        f"""
import sys
print("x" * {10 * MEGABYTE})
for number in range(200_000): print(number)
sys.stdout.close()
sys.stderr.write("all said\\n")
"""
    )
    # It can only end, with nobody reading its lines, because a thread takes them.
    assert child.end(grace=LONG) == 0
    long, *many = child.lines()
    assert long == b"x" * (10 * MEGABYTE)
    assert many == [str(number).encode() for number in range(200_000)]


def test_bytes_may_be_split_anywhere(start: Start) -> None:
    words = "eins\nzwei ä€😀\n\ndrei\n"
    child = start(
        f"""
import os, sys
for byte in {words.encode()!r}:
    os.write(1, bytes([byte]))
    sys.stdin.buffer.readline()  # the next byte only when this one has been taken
"""
    )
    for _ in words.encode():
        child.write(b"")
    assert [line.decode() for line in child.lines()] == ["eins", "zwei ä€😀", "drei"]


# -- lines that go in -----------------------------------------------------------------------------------------------


def test_what_is_written_arrives_line_by_line(start: Start) -> None:
    child = start(ECHO)
    lines = child.lines()
    for line in (b"one", "zwölf".encode(), b"three"):
        child.write(line)
        assert next(lines) == line


def test_a_big_line_arrives_whole_and_its_answer_too(start: Start) -> None:
    big = bytes(range(32, 127)) * (10 * MEGABYTE // 95)
    child = start(ECHO)
    child.write(big)
    assert next(child.lines()) == big


def test_a_program_that_never_reads_is_lost(start: Start) -> None:
    child = start(ASLEEP, silence=SHORT)
    with pytest.raises(ChildLost, match=r"has read nothing for 0\.2 s"):
        child.write(b"x" * MEGABYTE)


def test_writing_to_a_program_that_is_gone_is_an_error(start: Start) -> None:
    child = start("import sys; sys.exit('no room')")
    assert list(child.lines()) == []
    with pytest.raises(ChildLost, match=r"ended with exit code 1 .*; on stderr: no room$"):
        child.write(b"x" * MEGABYTE)


def test_writing_after_the_end_is_an_error(start: Start) -> None:
    child = start(ECHO)
    child.end(grace=LONG)
    with pytest.raises(ChildLost, match="ended with exit code 0"):
        child.write(b"too late")


def test_writing_works_with_more_files_open_than_select_can_count(start: Start) -> None:
    with ExitStack() as closing:
        for _ in range(1100):
            try:
                closing.callback(os.close, os.dup(0))
            except OSError:
                pytest.skip("this process may not open so many files")
        child = start(ECHO)
        child.write(b"one")
        assert next(child.lines()) == b"one"


# -- programs that cannot be run ------------------------------------------------------------------------------------


def refused(program: Path, folder: Path) -> str:
    before = current_resources()
    with pytest.raises(UsageError) as failure:
        Child([str(program), "--print"], environment={}, folder=folder, silence=SHORT)
    assert not current_resources().is_more_than(before)
    return str(failure.value)


def test_a_program_that_is_missing_is_named(tmp_path: Path) -> None:
    assert refused(tmp_path / "gone", tmp_path) == f"{tmp_path}/gone cannot be run: No such file or directory"


def test_a_folder_is_no_program(tmp_path: Path) -> None:
    assert refused(tmp_path, tmp_path) == f"{tmp_path} cannot be run: Permission denied"


def test_a_file_that_is_not_executable_is_named(tmp_path: Path) -> None:
    (tmp_path / "text").write_text("#!/bin/sh\n")
    assert refused(tmp_path / "text", tmp_path) == f"{tmp_path}/text cannot be run: Permission denied"


def test_a_file_of_no_known_kind_is_named(tmp_path: Path) -> None:
    (tmp_path / "text").write_text("hello\n")
    (tmp_path / "text").chmod(0o755)
    assert refused(tmp_path / "text", tmp_path) == f"{tmp_path}/text cannot be run: Exec format error"


def test_a_folder_that_is_missing_is_not_blamed_on_the_program(tmp_path: Path) -> None:
    folder = tmp_path / "gone"
    assert (
        refused(Path(sys.executable), folder)
        == f"{sys.executable} cannot be run in {folder}: No such file or directory"
    )


# -- programs that fail on the way ----------------------------------------------------------------------------------


def test_silence_is_told_with_its_seconds_and_the_end_of_stderr(start: Start) -> None:
    child = start("import sys; print('waiting', file=sys.stderr, flush=True); print(1, flush=True); input()")
    lines = child.lines()
    assert next(lines) == b"1"
    assert eventually(lambda: "waiting" in str(child.last_words))
    child.silence = SHORT  # not before: Python may take longer to start
    with pytest.raises(ChildLost, match=r"has said nothing for 0\.2 s; on stderr: waiting$"):
        next(lines)


def test_an_exit_in_the_middle_is_told_with_its_code_and_the_end_of_stderr(start: Start) -> None:
    child = start("import os; print('half', flush=True); os.write(2, b'no '); os.write(2, b'memory'); os._exit(3)")
    assert list(child.lines()) == [b"half"]
    loss = str(child.loss())
    assert loss.endswith(" ended with exit code 3 in the middle of its answer; on stderr: no memory")
    assert loss.startswith(Path(sys.executable).name)


@pytest.mark.parametrize(
    ("number", "name"),
    [
        (int(signal.SIGTERM), "SIGTERM"),
        (int(signal.SIGKILL), "SIGKILL"),
        (signal.SIGRTMIN + 3, f"signal {signal.SIGRTMIN + 3}"),
    ],
)
def test_an_end_by_a_signal_is_told_with_its_name(start: Start, number: int, name: str) -> None:
    child = start(f"import os; print('half', flush=True); os.kill(os.getpid(), {number})")
    assert list(child.lines()) == [b"half"]
    assert f" was ended by {name} in the middle of its answer" in str(child.loss())


def test_a_program_that_closes_its_output_and_stays_is_not_said_to_have_died(
    start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("turnproof_adapters._child_process.GRACE", SHORT)
    child = start(f"import os; os.close(1); {ASLEEP}")
    assert list(child.lines()) == []
    assert ["hung up without ending" in str(child.loss()) for _ in range(2)] == [True, True]


def test_much_on_stderr_blocks_nothing_and_its_end_is_told(start: Start) -> None:
    child = start("import sys; sys.stderr.write('hm, well\\n' * 120_000 + 'the reason\\n'); print('done'); sys.exit(1)")
    assert list(child.lines()) == [b"done"]
    loss = str(child.loss())
    assert loss.endswith("hm, well\nthe reason")
    assert set(loss.partition("on stderr: ")[2].splitlines()) == {"hm, well", "the reason"}  # none is cut in two
    assert len(loss) < 10_000


# -- its end --------------------------------------------------------------------------------------------------------

STUBBORN = (
    "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); signal.signal(signal.SIGHUP, signal.SIG_IGN); "
    "print('deaf', flush=True); time.sleep(60)"
)

PARENT = f"""
import subprocess, sys
grandchild = subprocess.Popen([sys.executable, "-I", "-S", "-c", {STUBBORN!r}], stdout=subprocess.PIPE)
grandchild.stdout.readline()
print(grandchild.pid, flush=True)
"""


@pytest.mark.parametrize(
    ("then", "grace", "code"),
    [("import time; time.sleep(60)", 0, -signal.SIGKILL), ("sys.stdin.read(); sys.exit(5)", LONG, 5)],
    ids=["killed", "by itself"],
)
def test_the_end_leaves_no_process_of_its_group(start: Start, then: str, grace: float, code: int) -> None:
    child = start(PARENT + then)
    grandchild = read_number(child)
    assert runs(grandchild)
    assert child.end(grace=grace) == code
    assert not runs(child._process.pid)
    assert eventually(lambda: not runs(grandchild))


def test_what_a_program_left_behind_when_it_ended_by_itself_is_ended_too(start: Start) -> None:
    child = start(PARENT + "import os; os._exit(0)")
    grandchild = read_number(child)
    assert list(child.lines()) == []
    assert child.end(grace=LONG) == 0
    assert eventually(lambda: not runs(grandchild))


def test_a_program_may_finish_its_words_when_its_input_ends(start: Start) -> None:
    child = start("import sys; sys.stdin.read(); print('bye'); sys.exit(4)")
    assert child.end(grace=LONG) == 4
    assert list(child.lines()) == [b"bye"]


def test_the_end_may_come_twice_and_signals_nobody_the_second_time(
    start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    child = start("import sys; sys.exit(6)")
    assert child.end(grace=LONG) == 6
    # The number of a group that is gone may be another's.
    signalled: list[int] = []
    monkeypatch.setattr(os, "killpg", lambda group, number: signalled.append(group))
    assert child.end() == 6
    child.kill()
    assert signalled == []


@pytest.mark.parametrize("program", [ASLEEP, "pass", "print(1)", ECHO])
def test_no_thread_and_no_file_is_left(start: Start, program: str) -> None:
    before = current_resources()
    child = start(program)
    assert current_resources().is_more_than(before)
    child.end(grace=0)
    assert not current_resources().is_more_than(before)


def test_a_process_out_of_reach_that_holds_the_pipes_keeps_no_thread_and_no_file(start: Start) -> None:
    before = current_resources()
    child = start(
        f"""
import subprocess, sys
print(subprocess.Popen([sys.executable, "-I", "-S", "-c", {ASLEEP!r}], start_new_session=True).pid, flush=True)
print("and more", flush=True)
sys.stdin.read()
"""
    )
    stranger = read_number(child)
    try:
        assert child.end(grace=LONG) == 0
        assert runs(stranger)
        assert list(child.lines()) == [b"and more"]
        assert not current_resources().is_more_than(before)
    finally:
        os.kill(stranger, signal.SIGKILL)


def test_the_environment_is_exactly_what_is_given(start: Start, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECRET_OF_OURS", "1")
    environment = {"PATH": "/nowhere", "WORD": "grün"}
    # As the kernel handed it over: Python adds to its own.
    child = start("print(ascii(open('/proc/self/environ', 'rb').read()))", environment=environment)
    assert next(child.lines()).decode() == ascii("".join(f"{k}={v}\0" for k, v in environment.items()).encode())


def test_it_runs_in_its_folder_and_in_a_group_of_its_own(start: Start, tmp_path: Path) -> None:
    child = start("import os; print(os.getcwd()); print(os.getpgid(0) == os.getpid() == os.getsid(0))")
    assert list(child.lines()) == [os.fsencode(tmp_path), b"True"]


# -- cuts -----------------------------------------------------------------------------------------------------------


def test_a_cut_before_the_start_leaves_nothing_running(start: Start) -> None:
    before, cut = current_resources(), Cut()
    cut.fire()
    with cut.in_force(), pytest.raises(CutOff):
        start(ASLEEP)
    assert not cut.written
    assert not current_resources().is_more_than(before)


def test_a_cut_before_the_request_keeps_it_from_being_written(start: Start) -> None:
    cut = Cut()
    with cut.in_force():
        child = start(ECHO)
        child.write(b"the way to it")
        assert next(child.lines()) == b"the way to it"
        cut.fire()
        with pytest.raises(CutOff):
            child.write(b"the request", asks=True)
    assert not cut.written
    assert list(child.lines()) == []


def test_a_request_counts_as_written_and_what_came_before_it_does_not(start: Start) -> None:
    cut = Cut()
    with cut.in_force():
        child = start(ECHO)
        child.write(b"the way to it")
        assert not cut.written
        child.write(b"the request", asks=True)
        assert cut.written


@pytest.mark.parametrize("program", [ASLEEP, STUBBORN, PARENT + ASLEEP])
def test_a_cut_while_lines_are_awaited_ends_them_and_the_program(start: Start, program: str) -> None:
    cut = Cut()
    with cut.in_force():
        child = start(f"print(0, flush=True)\n{program}")
        child.write(b"the request", asks=True)
        lines = child.lines()
        assert next(lines) == b"0"
        firing = threading.Thread(target=cut.fire)
        firing.start()
        list(lines)
    firing.join()
    assert eventually(lambda: not runs(child._process.pid))
    assert child.end() == -signal.SIGKILL


def test_a_cut_ends_the_wait_although_a_process_out_of_reach_holds_the_pipes(start: Start) -> None:
    cut = Cut()
    with cut.in_force():
        child = start(
            f"""
import subprocess, sys
print(subprocess.Popen([sys.executable, "-I", "-S", "-c", {ASLEEP!r}], start_new_session=True).pid, flush=True)
sys.stdin.read()
"""
        )
        stranger = read_number(child)
        try:
            cut.fire()
            assert list(child.lines()) == []
        finally:
            os.kill(stranger, signal.SIGKILL)


def test_a_cut_while_a_program_does_not_read_ends_the_writing(start: Start) -> None:
    cut = Cut()
    with cut.in_force():
        child = start(f"print(0, flush=True); {ASLEEP}")
        assert next(child.lines()) == b"0"

        def fire() -> None:
            assert eventually(lambda: cut.written)
            cut.fire()

        firing = threading.Thread(target=fire)
        firing.start()
        with pytest.raises(ChildLost, match="was ended by SIGKILL"):
            child.write(b"x" * MEGABYTE, asks=True)
    firing.join()


def test_a_call_that_takes_a_child_up_is_the_only_one_that_can_end_it(start: Start) -> None:
    first, second = Cut(), Cut()
    with first.in_force():
        child = start(ECHO)
    with second.in_force():
        child.take_up()
        first.fire()
        child.write(b"one", asks=True)
        assert next(child.lines()) == b"one"
        second.fire()
        assert list(child.lines()) == []


def test_a_call_that_was_cut_takes_no_child_up(start: Start) -> None:
    child, cut = start(ECHO), Cut()
    cut.fire()
    with cut.in_force(), pytest.raises(CutOff):
        child.take_up()
    child.write(b"one")
    assert next(child.lines()) == b"one"


def test_a_child_that_is_started_outside_of_a_call_is_not_cut(start: Start) -> None:
    cut = Cut()
    with cut.in_force():
        pass
    child = start(ECHO)
    cut.fire()
    child.write(b"one", asks=True)
    assert next(child.lines()) == b"one"
