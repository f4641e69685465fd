"""`ConversationLog`: the file of one conversation in KSI's record form, open for writing by one process."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from ..._base.lossless import encode
from ...messages import Message, Text
from .errors import reported
from .fifo import Fifo
from .files import write_whole
from .journal import Entry, Journal, Problem, Scan, scan
from .ksi_exchanges import plain, read_transcript
from .locking import Place, locked
from .read_session import read_if_there


class ConversationLog:
    """Opened by making one, which keeps other processes out until `close`.

    `line` is where requests wait for each other; everything below belongs to whoever is let in. Raises SessionBusyError
    and StoreError.
    """

    def __init__(self, place: Place) -> None:
        self.line = Fifo(f"conversation {place.paths.session_id!r}")
        self._place = place
        self._release = locked(place)
        try:
            data = read_if_there(place.files, place.paths.log)
            # A file that is not there is made with its first line: asking for a conversation does not begin it.
            found = Scan() if data is None else scan(data, str(place.paths.log), foreign=True)
            self.transcript, wrong = read_transcript(found.entries, str(place.paths.log))
            self.problems: tuple[Problem, ...] = (*found.problems, *wrong)
            self._journal = Journal.open(place.files, place.paths.log, found)
            self._is_there = data is not None
        except BaseException:
            self._release()
            raise

    def now(self) -> str:
        """The time as a record has it."""
        return _text(self._place.now())

    def next_message(self, content: str) -> Message:
        """A user's message, under the id that it will have when it is read from the file."""
        return Message("user", (Text(content),), f"r{self._journal.seq + 1}.0")

    def log(self, *lines: dict[str, Any]) -> None:
        """Add lines, all or none; they are on the disk when this returns. One without a time gets the present one."""
        self._begin()
        dated = [{"type": line["type"], "timestamp": self.now(), **line} for line in lines]
        bodies = [encode(line) for line in dated]
        first = self._journal.seq + 1
        self._journal.append(bodies)
        for seq, (line, body) in enumerate(zip(dated, bodies, strict=True), first):
            self.transcript.read_line(line, Entry(seq, body, 0, 0))

    def replace(self, messages: Sequence[Message]) -> None:
        """Go on from these messages."""
        self.log({"type": "history", "messages": plain(messages)})

    def close(self) -> None:
        """Let other processes in."""
        try:
            self._journal.close()
        finally:
            self._release()

    def _begin(self) -> None:
        if self._is_there:
            return
        with reported("making the log", self._place.paths.log):
            write_whole(self._place.files, self._place.paths.log, b"")
        self._is_there = True


def _text(time: datetime) -> str:
    return time.isoformat().replace("+00:00", "Z")
