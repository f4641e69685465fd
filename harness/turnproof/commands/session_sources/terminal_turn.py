"""A turn on a terminal: shown as it comes, and stopped by Ctrl-C."""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from ..._base.printable import printable
from ...cancel import CancelToken
from ...errors import Cancelled
from .source import Source


def send_prompt(source: Source, text: str) -> bool:
    """Say something in the session that is open, and write the answer to stdout as it arrives. False if it was
    cancelled, by a first Ctrl-C; a second one is not waited for."""
    output = _Shown()
    try:
        with cancelled_by_interrupt() as token:
            answer = source.send(text, token, output.write)
    except Cancelled:
        return False
    finally:
        output.end()
    if not output.anything:
        output.write(answer.text)
        output.end()
    return not answer.cancelled


class _Shown:
    """What has been written, and whether its last line is closed."""

    def __init__(self) -> None:
        self.anything = False
        self._open = False

    def write(self, chunk: str) -> None:
        """Show it at once."""
        if chunk:
            sys.stdout.write(printable(chunk))
            sys.stdout.flush()
            self.anything, self._open = True, not chunk.endswith("\n")

    def end(self) -> None:
        """Close the last line."""
        if self._open:
            self.write("\n")


@contextmanager
def cancelled_by_interrupt() -> Iterator[CancelToken]:
    """A token that the first Ctrl-C sets. Only the main thread is interrupted by one; elsewhere nobody sets it."""
    token = CancelToken()
    before = signal.getsignal(signal.SIGINT)
    # Who is started with Ctrl-C ignored, as in the background, is not to be stopped by one.
    if threading.current_thread() is not threading.main_thread() or before in (None, signal.SIG_IGN):
        yield token
        return

    def cancel(number: int, frame: FrameType | None) -> None:
        signal.signal(signal.SIGINT, before)
        # In a thread of its own: whoever was interrupted may hold the token's lock.
        threading.Thread(target=token.cancel, daemon=True).start()

    signal.signal(signal.SIGINT, cancel)
    try:
        yield token
    finally:
        signal.signal(signal.SIGINT, before)
