"""Lines that GitHub's runner obeys, and text that must not become one.

The runner reads each line that a step writes, on either stream: one that begins with `::`, blanks aside, is a command,
and so is one that has `##[` anywhere. Adapters and models say what they like, and lines are wrapped at any word.
"""

from __future__ import annotations

import io
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TextIO

_LINE_ENDS = re.compile("[\r\n]")
_COMMAND = re.compile(r"(?:\A|[\r\n])\s*::|##\[")


def runs_on_github() -> bool:
    """Whether somebody obeys such lines."""
    return os.environ.get("GITHUB_ACTIONS") == "true"


class GuardedText(io.TextIOWrapper):
    r"""A text stream that writes no command: the character that would complete one is written as its escape, `\u003a`.

    Inside of a JSON string the escape is that character.
    """

    _before = ""
    """What decides whether the next character completes a command: of the line so far, its beginning and its end."""
    _guards = True

    def write(self, text: str, /) -> int:
        if self._guards:
            super().write(self._guarded(text))
        else:
            super().write(text)
        return len(text)

    def _guarded(self, text: str) -> str:
        joined, skipped = self._before + text, len(self._before)
        line = _LINE_ENDS.split(joined)[-1]
        rest = line.lstrip()
        self._before = rest if rest in ("", ":") else f"x{line[-2:]}"
        return _COMMAND.sub(_escape_last, joined)[skipped:]

    @contextmanager
    def _obeyed(self) -> Iterator[None]:
        self._guards = False
        try:
            yield
        finally:
            self._guards, self._before = True, ""


def _escape_last(found: re.Match[str]) -> str:
    return f"{found[0][:-1]}\\u{ord(found[0][-1]):04x}"


@contextmanager
def commands(stream: TextIO) -> Iterator[None]:
    """Whole lines that are written to the stream in this block are ours, and may be commands."""
    if isinstance(stream, GuardedText):
        with stream._obeyed():
            yield
    else:
        yield


def without_commands(text: str) -> str:
    """The text, as a guarded stream writes it."""
    raw = io.BytesIO()
    stream = GuardedText(raw, encoding="utf-8", errors="surrogatepass", newline="")
    stream.write(text)
    stream.flush()
    return raw.getvalue().decode("utf-8", "surrogatepass")
