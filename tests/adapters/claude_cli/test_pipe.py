"""What is written to a program that is gone, or does not read: what it said on its way out is what counts."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Protocol

import pytest

from turnproof.errors import OverloadedError, TransportError
from turnproof_adapters._child_process import Child
from turnproof_adapters.claude_cli.lines import Line, Result
from turnproof_adapters.claude_cli.pipe import Pipe, user_line

READY = '{"type": "control_response", "response": {"subtype": "success", "request_id": "open"}}'
FAILED = '{"type": "result", "is_error": true, "api_error_status": 529, "result": "Overloaded"}'


class Start(Protocol):
    def __call__(self, program: str, *, silence: float = ...) -> Pipe: ...


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    """Starts Python programs, and ends them after the test."""
    with ExitStack() as ending:

        def started(program: str, *, silence: float = 60) -> Pipe:
            command = [sys.executable, "-I", "-S", "-c", program]
            child = Child(command, environment={}, folder=tmp_path, silence=silence)
            ending.callback(child.end, grace=0)
            return Pipe(child, "key")

        yield started


def wait_for_exit(pipe: Pipe) -> Pipe:
    """The same when its program has run and ended."""
    pipe.child._process.wait(60)
    return pipe


def lines(pipe: Pipe) -> Iterator[Line]:
    return pipe.lines(lambda number, request: None)


def begin(pipe: Pipe) -> None:
    pipe.open(lines(pipe))


def test_words_that_are_no_line_are_told(start: Start) -> None:
    with pytest.raises(TransportError, match="none of its protocol: Hello!"):
        begin(wait_for_exit(start("print('Hello!')")))


def test_a_failure_that_it_told_is_typed(start: Start) -> None:
    with pytest.raises(OverloadedError, match="Overloaded"):
        begin(wait_for_exit(start(f"print({FAILED!r})")))


def test_a_failure_that_it_told_before_it_was_asked_is_found_behind_the_question(start: Start) -> None:
    pipe = wait_for_exit(start(f"print({READY!r}); print({FAILED!r})"))
    output = lines(pipe)
    pipe.open(output)
    pipe.write(user_line({"role": "user", "content": "1?"}))
    assert [line.result for line in output if isinstance(line, Result)] == ["Overloaded"]


def test_the_way_it_ended_is_told_where_it_said_nothing(start: Start) -> None:
    with pytest.raises(TransportError, match="ended with exit code 4 in the middle of its answer; on stderr: no room"):
        begin(wait_for_exit(start("import sys; sys.stderr.write('no room'); sys.exit(4)")))


def test_a_line_that_broke_off_is_no_word_of_it(start: Start) -> None:
    with pytest.raises(TransportError, match="ended with exit code 4"):
        begin(wait_for_exit(start('import sys; sys.stdout.write(\'{"type": "sys\'); sys.exit(4)')))


def test_a_program_that_hangs_up_without_ending_is_not_said_to_have_been_ended(
    start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("turnproof_adapters._child_process.GRACE", 0.2)
    pipe = start('import os, time; os.close(0); os.write(1, b\'{"type": "deaf"}\\n\'); os.close(1); time.sleep(60)')
    output = lines(pipe)
    assert next(output).type == "deaf"
    with pytest.raises(TransportError, match="hung up without ending"):
        pipe.open(output)


def test_a_program_that_does_not_read_is_lost(start: Start) -> None:
    pipe = start("import time; time.sleep(60)", silence=0.2)
    with pytest.raises(TransportError, match=r"has read nothing for 0\.2 s"):
        pipe.write(user_line({"role": "user", "content": "x" * (1 << 20)}))
