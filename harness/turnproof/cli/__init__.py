"""The `turnproof` command. Data goes to stdout, talk to stderr; the exit code is also the last line said.

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

from .._printable import one_line
from ..errors import TurnproofError
from ..exits import Exit
from .app import app

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
    _write_anything()
    words = list(sys.argv[1:] if argv is None else argv) or ["--help"]
    try:
        code = _run(words)
        sys.stdout.flush()
    except BrokenPipeError:
        # Whoever read us has gone; Python would complain once more while it closes stdout.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = Exit.FAULT
    if code is None:
        return 0
    print(f"exit {code}: {code.words}", file=sys.stderr)
    return int(code)


def _run(words: list[str]) -> Exit | None:
    """The command's exit code; None where it only told about itself (`--help`, `--version`)."""
    command = typer.main.get_command(app)
    try:
        # Not command.main(): it ends the process itself in some cases, and with codes of its own.
        with command.make_context("turnproof", words) as context:
            code: Exit = command.invoke(context)
            return code
    except typer.Exit:
        return None
    except TyperException as error:
        return _fault(error.format_message())
    except TurnproofError as error:
        return _fault(str(error))
    except (KeyboardInterrupt, typer.Abort):
        return Exit.INTERRUPTED
    except BrokenPipeError:
        raise
    except Exception as error:
        return _fault(f"turnproof failed: {type(error).__name__}: {error} ({_place(error)}; {_TRACEBACK}=1 shows more)")


def _place(error: Exception) -> str:
    """The innermost line of a file; generated code, as of dataclasses, has none."""
    files = [(Path(frame.filename), frame.lineno) for frame in traceback.extract_tb(error.__traceback__)]
    file, line = next((at for at in reversed(files) if at[0].is_file()), files[-1])
    return f"{file.name}:{line}"


def _fault(message: str) -> Exit:
    if os.environ.get(_TRACEBACK):
        traceback.print_exc()
    print(f"error: {one_line(message)}", file=sys.stderr)
    return Exit.FAULT


def _write_anything() -> None:
    """A terminal that knows only ASCII gets `?` for a symbol, which always has its word beside it, and no crash."""
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="replace")
