"""An append-only file of JSON records, one a line, of which no damage goes unseen.

Each line is `{"seq":7,"crc":"1f0c9a2e",` and then the record's fields. `seq` counts the records from 1, `crc` is the
CRC-32 of that number and of everything behind the checksum: a changed, lost, repeated or moved line shows.

A process that dies while it writes leaves a torn end. It is cut off before anything is appended, so that nothing ever
fuses with it, and kept beside the file. A damaged line in the middle stays where it is, is told of, and is left out.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from .errors import reported
from .files import Files, Handle

SPOILED = ".spoiled-"
"""Between the name of a file and a number: what was cut out of that file because it could not be read."""


@dataclass(frozen=True, slots=True)
class Problem:
    """Something in a file that is not as it was written. `line` counts from 1, `offset` is in bytes from the start."""

    file: str
    reason: str
    line: int | None = None
    offset: int | None = None

    def __str__(self) -> str:
        place = "" if self.line is None else f" line {self.line} (byte {self.offset}):"
        return f"{self.file}:{place} {self.reason}"


@dataclass(frozen=True, slots=True)
class Entry:
    """A whole record: the JSON text of its own fields. `seq` is 0 for a line that another program wrote, unsealed."""

    seq: int
    body: bytes
    line: int
    offset: int


@dataclass(frozen=True, slots=True)
class Scan:
    """What a file holds. `end` is where it stops being whole: what stands behind it is torn."""

    entries: tuple[Entry, ...] = ()
    problems: tuple[Problem, ...] = ()
    last_seq: int = 0
    end: int = 0
    torn: bytes = b""
    needs_newline: bool = False


def seal(seq: int, body: bytes) -> bytes:
    """The line of a record whose `body` is the text of a JSON object, on one line and with at least one field."""
    assert body.startswith(b'{"'), body[:40]
    assert b"\n" not in body
    return b'{"seq":%d,"crc":"%08x",' % (seq, _checksum(seq, body[1:])) + body[1:] + b"\n"


def scan(data: bytes, file: str, *, foreign: bool = False) -> Scan:
    """The records of a file. With `foreign`, lines of other programs that carry no seal are records too."""
    entries: list[Entry] = []
    problems: list[Problem] = []
    bad: list[Problem] = []
    last = end = 0
    for number, offset, row in _rows(data):
        found = _read_row(row, foreign)
        if isinstance(found, str):
            bad.append(Problem(file, found, number, offset))
            continue
        seq, body = found
        if seq and seq <= last:
            bad.append(Problem(file, f"record {seq} comes again, behind record {last}", number, offset))
            continue
        if seq and last and (missing := seq - last - 1) > len(bad):
            records = f"record {seq - 1} is" if missing == 1 else f"records {last + 1} to {seq - 1} are"
            bad.append(Problem(file, f"{records} missing before this one", number, offset))
        problems += bad
        bad.clear()
        last = seq or last
        end = offset + len(row) + 1
        entries.append(Entry(seq, body, number, offset))
    torn = data[end:]
    if torn:
        problems.append(Problem(file, f"the last {len(torn)} bytes are no whole record", bad[0].line, bad[0].offset))
    return Scan(tuple(entries), tuple(problems), last, min(end, len(data)), torn, needs_newline=end > len(data))


@dataclass(frozen=True, slots=True)
class _Place:
    """How far a file has come. What is not `safe` yet is kept, to be written again where a sync fails."""

    seq: int
    safe: int
    unsafe: bytes = b""
    handle: Handle | None = None


class Journal:
    """A file of records that is open for appending. Use `Journal.open`."""

    def __init__(self, files: Files, path: Path, seq: int, size: int) -> None:
        self._files = files
        self._path = path
        self.last_checksum = ""
        """That of the last record which was appended here."""
        self.appended = 0
        """Bytes that were appended here."""
        # One value, replaced at one stroke: a Ctrl-C may come between any two steps.
        self._place = _Place(seq, size)

    @classmethod
    def open(cls, files: Files, path: Path, found: Scan, *, seq: int = 0) -> Journal:
        """Make the end of a file that was just scanned whole, keeping what is cut off.

        The next record is numbered after the last one in the file, and after `seq`.
        """
        with reported("repairing the end of the log", path):
            if found.torn:
                keep_beside(files, path, found.torn)
                files.truncate(path, found.end)
            if found.torn or found.needs_newline:
                handle = files.append_to(path)
                try:
                    handle.write(b"\n" if found.needs_newline else b"")
                    handle.sync()
                finally:
                    handle.close()
        return cls(files, path, max(seq, found.last_seq), found.end + found.needs_newline)

    @property
    def seq(self) -> int:
        """The number of the last record."""
        return self._place.seq

    def append(self, bodies: Sequence[bytes], *, sync: bool = True) -> None:
        """Add records, all or none: after an error the next append takes up where the last whole one ended.

        With `sync` they, and all before them, are on the disk when this returns. Raises StoreError.
        """
        place = self._place
        sealed = [seal(seq, body) for seq, body in enumerate(bodies, place.seq + 1)]
        lines = b"".join(sealed)
        with reported("writing the log", self._path):
            # After a failed sync nobody knows what is on the disk: everything since the last one is written again.
            self._place = replace(place, handle=None)
            handle = place.handle or self._at_safe_end(place)
            try:
                handle.write(lines)
                if sync:
                    handle.sync()
            except BaseException:
                handle.close()
                with suppress(OSError):  # for those who read meanwhile; the next append does it again
                    self._files.truncate(self._path, place.safe + len(place.unsafe))
                raise
        seq = place.seq + len(bodies)
        self.last_checksum = _SEAL.match(sealed[-1])[2].decode() if sealed else self.last_checksum  # type: ignore[index]
        self.appended += len(lines)
        if sync:
            self._place = _Place(seq, place.safe + len(place.unsafe) + len(lines), handle=handle)
        else:
            self._place = _Place(seq, place.safe, place.unsafe + lines, handle)

    def close(self) -> None:
        """Close the file. What was appended without `sync` is then the system's to write."""
        handle, self._place = self._place.handle, replace(self._place, handle=None)
        if handle is not None:
            with reported("closing the log", self._path):
                handle.close()

    def _at_safe_end(self, place: _Place) -> Handle:
        self._files.truncate(self._path, place.safe)
        handle = self._files.append_to(self._path)
        try:
            handle.write(place.unsafe)
        except BaseException:
            handle.close()
            raise
        return handle


def _rows(data: bytes) -> Iterator[tuple[int, int, bytes]]:
    """Number, offset and content of each line; the last one may lack its newline."""
    offset, line = 0, 1
    while offset < len(data):
        end = data.find(b"\n", offset)
        end = len(data) if end < 0 else end
        yield line, offset, data[offset:end]
        offset, line = end + 1, line + 1


def _read_row(row: bytes, foreign: bool) -> tuple[int, bytes] | str:
    """A line's number and record, or what is wrong with it."""
    if sealed := _SEAL.match(row):
        seq, body = int(sealed[1]), row[sealed.end() :]
        if int(sealed[2], 16) != _checksum(seq, body):
            return "the record does not match its checksum"
        return seq, b"{" + body
    if foreign and (stripped := row.strip())[:1] == b"{" and stripped[-1:] == b"}":
        return 0, stripped
    return "this is no record"


def checksum_of(entry: Entry) -> str:
    """The checksum of a record, as its line has it."""
    return f"{_checksum(entry.seq, entry.body[1:]):08x}"


def _checksum(seq: int, body: bytes) -> int:
    return zlib.crc32(body, zlib.crc32(b"%d" % seq))


def keep_beside(files: Files, path: Path, spoiled: bytes) -> None:
    """Write what is about to go from a file into one of its own, so that nothing is ever lost. Raises OSError."""
    names_there = set(files.names(path.parent))
    number = 1
    while (name := f"{path.name}{SPOILED}{number}") in names_there:
        number += 1
    handle = files.create(path.with_name(name))
    try:
        handle.write(spoiled)
        handle.sync()
    finally:
        handle.close()
    files.sync_folder(path.parent)


_SEAL = re.compile(rb'\{"seq":([1-9][0-9]{0,17}),"crc":"([0-9a-f]{8})",')
