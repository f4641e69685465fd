"""The state file: the session as it was after one record of the log, with a checksum and that record's.

It begins with `{"crc":"1f0c9a2e","record":"79e5fe32",` and goes on with the fields of `turnproof.session/2`: `crc` is
the CRC-32 of everything behind it, `record` the checksum of the log's record `log_seq`. So a change
shows, and a file that belongs to another log.

A file without them was written by `Session.save`, or by an earlier turnproof: it is read, and counts where there is no
log, or one without its beginning.
"""

from __future__ import annotations

import re
import zlib
from dataclasses import dataclass

import msgspec

from .. import persistence
from ..persistence import SavedSessionError, SessionState


@dataclass(frozen=True, slots=True)
class StateFile:
    """What was read. `problem` says why it is not to be believed where the log says something else; `record` is the
    checksum of the log's record that it was written after, if it names one."""

    state: SessionState
    record: str = ""
    problem: str = ""

    @property
    def sealed(self) -> bool:
        """Whether it is as it was written."""
        return bool(self.record) and not self.problem


def write_state(state: SessionState, record: str) -> bytes:
    """The file. Raises SavedSessionError for a message that JSON has no form for."""
    rest = b'"record":"%s",' % record.encode() + persistence.dump(state).encode()[1:]
    return b'{"crc":"%08x",' % zlib.crc32(rest) + rest


def read_state(data: bytes, file: str) -> StateFile:
    """The inverse, also for a file without checksums. Raises SavedSessionError for what is no state at all."""
    found = _SEAL.match(data)
    if found is None:
        return _unsealed(data, file)
    rest = data[found.end() :]
    right = int(found[1], 16) == zlib.crc32(data[found.end(1) + 2 :])
    return StateFile(
        persistence.load(b"{" + rest, file=file), found[2].decode(), "" if right else "it does not match its checksum"
    )


def _unsealed(data: bytes, file: str) -> StateFile:
    try:
        return StateFile(persistence.load(data, file=file))
    except SavedSessionError:
        try:
            fields = msgspec.json.decode(data)
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
            fields = None
        if not isinstance(fields, dict) or "crc" not in fields:
            raise
    fields_sealed = {name: value for name, value in fields.items() if name not in ("crc", "record")}
    return StateFile(
        persistence.load(msgspec.json.encode(fields_sealed), file=file), problem="it was written by another program"
    )


def without_seal(data: bytes) -> bytes:
    """The fields of a state alone, as `persistence.load_heading` reads them."""
    found = _SEAL.match(data)
    return data if found is None else b"{" + data[found.end() :]


_SEAL = re.compile(rb'\{"crc":"([0-9a-f]{8})","record":"([0-9a-f]{8})",')

__all__ = ["SavedSessionError", "StateFile", "read_state", "without_seal", "write_state"]
