"""What passes between a command and a person: talk on stderr, a prompt on stdin, a question before a deletion."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from ..._base.counts import counted
from ..._base.printable import one_line
from ...errors import UsageError
from ...sessions import SessionInfo
from .source import Source


def print_note(line: str) -> None:
    """A line on stderr, which is no data."""
    print(one_line(line), file=sys.stderr)


def prompt(argument: str | None) -> str:
    """The prompt that was said, or, for None and `-`, what is read from stdin.

    Raises UsageError for one that is empty, or no text.
    """
    if argument is None or argument == "-":
        if sys.stdin.isatty():
            print_note("the prompt, and then Ctrl-D on a separate line:")
        argument = _read()
    if not argument.strip():
        raise UsageError("the prompt is empty: write it after the ID or --last, in quotes, or on stdin")
    return argument


def agrees(source: Source, infos: Sequence[SessionInfo]) -> bool:
    """Whether a person says that these may be deleted. Raises UsageError where there is no terminal to ask on."""
    if not sys.stdin.isatty():
        raise UsageError("nothing was deleted: there is no terminal for the confirmation; add --yes")
    for info in infos:
        print_note(" ".join(filter(None, (info.session_id, info.title))))
    many = "this session" if len(infos) == 1 else f"these {counted(len(infos), 'session')}"
    print_note(f"delete {many} of {source.name} permanently? y or n:")
    return sys.stdin.readline().strip().lower() in ("y", "yes")


def _read() -> str:
    try:
        word = sys.stdin.read().rstrip("\n")
        # Where the locale lets any byte pass, what is no text comes as halves of surrogate pairs.
        word.encode()
    except UnicodeError as error:
        raise UsageError(f"the prompt on stdin is no text: {error}") from error
    return word
