"""The `turnproof` command. Data goes to stdout, talk to stderr.

The exit code is also the last line on stderr where it tells something: it is not 0, or the command judges. Such a
command returns an `Exit`; one that only does what it was asked returns None.

Each command is a file here; it imports its engine when it runs, so that help and mistakes are quick.
"""

from __future__ import annotations

import gc
import os
import sys
import traceback
from collections.abc import Sequence
from pathlib import Path

import typer
from typer.exceptions import TyperException

from ..._base.exit_codes import Exit
from ..._base.printable import one_line
from ..._base.secrets import environment_secrets, mask
from ..._base.workflow_commands import runs_on_github
from ...errors import TurnproofError
from . import standard_streams
from .app import app
from .termination import termination_as_interrupt

_NAME = "turnproof"

_COMPLETE = "_TURNPROOF_COMPLETE"
"""Set by the shell function that `--show-completion` prints."""

_TRACEBACK = "TURNPROOF_TRACEBACK"

_SELDOM = (50_000, 10, 10)
"""How often a command's own process collects garbage: nearly all that it makes it keeps to its end, so that collections
find next to nothing.
"""


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command line (that of the process by default) and return its exit code.

    Never raises for what a user or an adapter did. A fault of turnproof is one line too, and a traceback when
    `TURNPROOF_TRACEBACK` is set.
    """
    if argv is None:
        gc.set_threshold(*_SELDOM)
    words = list(sys.argv[1:] if argv is None else argv) or ["--help"]
    standard_streams.prepare(guarded=runs_on_github() or "--annotations" in words)
    if os.environ.get(_COMPLETE):
        return _complete()
    with termination_as_interrupt() as termination:
        code = _run(words)
    if termination.came and code is Exit.INTERRUPTED:
        code = Exit.TERMINATED
    write_error = standard_streams.failure()
    if write_error is not None and not isinstance(write_error, BrokenPipeError):
        code = _fault(f"cannot write the output: {write_error.strerror}")
    if code is not None and not isinstance(write_error, BrokenPipeError):
        standard_streams.write_line(f"exit {code}: {code.words}")
        write_error = standard_streams.failure()
    if argv is None:
        gc.freeze()  # the process ends: a last collection would walk all that the command has made
    return int(Exit.READER_GONE if isinstance(write_error, BrokenPipeError) else code or Exit.OK)


def _run(words: list[str]) -> Exit | None:
    """The command's exit code; None where nothing was judged and nothing went wrong."""
    command = typer.main.get_command(app)
    try:
        # Not command.main(): it ends the process itself in some cases, and with codes of its own.
        with command.make_context(_NAME, words) as context:
            code: Exit | None = command.invoke(context)
            return code
    except typer.Exit:
        return None
    except SystemExit as ended:  # how typer ends --install-completion and --show-completion, and rich without a reader
        return Exit.FAULT if ended.code else None
    except TyperException as error:
        return _fault(error.format_message())
    except TurnproofError as error:
        return _fault(str(error))
    except (KeyboardInterrupt, typer.Abort):
        return Exit.INTERRUPTED
    except Exception as error:
        if standard_streams.failure() is not None:
            return Exit.FAULT
        return _fault(f"turnproof failed: {type(error).__name__}: {error} ({_place(error)}; {_TRACEBACK}=1 shows more)")


def _complete() -> int:
    """Answer a shell that completes a command line: its question is in the environment, the answer in typer's hands."""
    try:
        typer.main.get_command(app).main([], prog_name=_NAME)
    except SystemExit as ended:
        standard_streams.failure()
        return int(ended.code or 0)
    raise AssertionError("typer ends the process when it has answered")


def _place(error: Exception) -> str:
    """The innermost line of a file; generated code, as of dataclasses, has none."""
    files = [(Path(frame.filename), frame.lineno) for frame in traceback.extract_tb(error.__traceback__)]
    file, line = next((at for at in reversed(files) if at[0].is_file()), files[-1])
    return f"{file.name}:{line}"


def _fault(message: str) -> Exit:
    if os.environ.get(_TRACEBACK):
        standard_streams.write_line(traceback.format_exc().rstrip())
    standard_streams.write_line(f"error: {one_line(mask(message, environment_secrets()))}")
    return Exit.FAULT
