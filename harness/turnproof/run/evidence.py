"""Transcripts as evidence: stored once, under the digest of what they say.

The digest covers every wire body, callback and snapshot of a run, less the fields that `volatile.toml` names (ports,
dates, random ids). So two runs with the same seed have the same digest, and one changed character has another.
The file keeps the transcript whole; a digest is checked by computing it again from the file.
"""

from __future__ import annotations

import gzip
import hashlib
import re
import zlib
from collections.abc import Callable, Iterable, Iterator
from functools import cache, partial
from pathlib import Path

import msgspec

from .._base.canonical import canonical_plain, in_order
from .._base.foreign_files import read_regular, unpack
from .._base.volatile import Volatile
from .._base.whole_files import PART, part_of, remove, writing
from ..errors import HarnessError, UsageError
from .transcript import Event, Response, Transcript

_decoder = msgspec.json.Decoder(Transcript)
_DIGEST = re.compile(r"[0-9a-z]{1,64}")


def digest(transcript: Transcript) -> str:
    """64 hex digits: SHA-256 over the canonical JSON of the transcript without its volatile fields."""
    found = hashlib.sha256()
    for piece in _pieces(transcript, _volatile().events):
        found.update(piece)
    return found.hexdigest()


def encoded(transcript: Transcript) -> bytes:
    """The JSON of the whole transcript. Raises HarnessError for what holds something that is not data.

    The keys of objects keep their order: an adapter that goes on from this history may write them in it.
    """
    return b"".join(_pieces(transcript, partial(map, in_order)))


def decoded(data: bytes) -> Transcript:
    """The transcript of that JSON. Raises msgspec.MsgspecError for anything else."""
    return _decoder.decode(data)


class EvidenceStore:
    """A folder of transcripts, each in `<digest>.json.gz`. Equal evidence is stored once.

    What an earlier run has left there counts for nothing until this store has put it itself, so that a file that was
    damaged meanwhile is made again.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = Path(folder)
        self._stored: set[str] = set()

    def path(self, digest: str) -> Path:
        """Where the transcript with this digest is, or would be. Raises UsageError for what is no digest."""
        if not _DIGEST.fullmatch(digest):
            raise UsageError(f"{digest[:100]!r} is no digest: evidence is named by 64 hexadecimal digits")
        return self.folder / f"{digest}.json.gz"

    def put(self, transcript: Transcript) -> str:
        """Store a transcript unless this store has done so already; its digest. The file appears whole or not at all.

        Tracebacks and times are covered by no digest: those of the later run stay, as its findings quote them. Raises
        UsageError where the file cannot be written.
        """
        found = digest(transcript)
        if found not in self._stored or any(map(_has_undigested, transcript.events)):
            self._write(transcript, self.path(found))
            self._stored.add(found)
        return found

    def _write(self, transcript: Transcript, target: Path) -> None:
        part = part_of(target)
        with writing(target):
            self.folder.mkdir(parents=True, exist_ok=True)
            try:
                # mtime 0: the time of writing is no part of the evidence.
                with part.open("wb") as file, gzip.GzipFile("", "wb", 6, file, mtime=0) as packed:
                    for piece in _pieces(transcript, partial(map, canonical_plain)):
                        packed.write(piece)
                part.replace(target)
            except BaseException:
                part.unlink(missing_ok=True)
                raise

    def keep(self, digest: str) -> None:
        """Take over what an earlier run has stored. Raises UsageError where it is missing or was damaged."""
        if problem := self.verify(digest):
            raise UsageError(problem)
        self._stored.add(digest)

    def drop_earlier(self) -> None:
        """Remove what is in the folder, but for what this store has put or kept."""
        for digest in self.digests():
            if digest not in self._stored:
                remove(self.folder, f"{digest}.json.gz")
        remove(self.folder, f"*{PART}")

    def get(self, digest: str) -> Transcript:
        """The transcript with this digest. Raises UsageError if it is missing or cannot be read; checks no digest."""
        path = self.path(digest)
        try:
            return _decoder.decode(unpack(read_regular(path)))
        except FileNotFoundError:
            raise UsageError(f"evidence {digest[:12]} is missing: no file {path}") from None
        except (OSError, EOFError, zlib.error, msgspec.MsgspecError, RecursionError) as error:
            raise UsageError(f"evidence {path} cannot be read: {error}") from error

    def verify(self, digest_: str) -> str | None:
        """None if the stored transcript still has its digest, else what is wrong, in one line."""
        try:
            found = digest(self.get(digest_))
        except UsageError as error:
            return str(error)
        return None if found == digest_ else f"evidence {self.path(digest_)} was changed: its content has {found[:12]}"

    def digests(self) -> list[str]:
        """All digests in the folder, sorted."""
        return sorted(path.name.removesuffix(".json.gz") for path in self.folder.glob("*.json.gz"))


def _pieces(transcript: Transcript, write: Callable[[Iterable[Event]], Iterable[bytes]]) -> Iterator[bytes]:
    """The canonical JSON of a transcript, an event at a time: each repeats the history, so the whole may be huge."""
    head, _, tail = canonical_plain(msgspec.structs.replace(transcript, events=())).partition(b'"events":[]')
    yield head + b'"events":['
    try:
        for position, event in enumerate(write(map(_without_raw, transcript.events))):
            yield (b"," if position else b"") + event
    except (TypeError, ValueError) as error:
        raise HarnessError(f"the transcript of {transcript.key} holds something that is not data: {error}") from error
    yield b"]" + tail


def _has_undigested(event: Event) -> bool:
    return getattr(event, "raised", None) is not None or getattr(event, "at_ms", None) is not None


def _without_raw(event: Event) -> Event:
    """`ProviderResponse.raw` is whatever an adapter likes to show, often a live SDK object: it is no evidence."""
    if isinstance(event, Response) and event.response.raw is not None:
        return msgspec.structs.replace(event, response=msgspec.structs.replace(event.response, raw=None))
    return event


@cache
def _volatile() -> Volatile:
    return Volatile.load()
