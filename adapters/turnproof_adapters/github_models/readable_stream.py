"""A stream as the SDK's reader takes it.

azure-ai-inference 1.0.0b9 reads lines that begin with `data: ` and end in LF, and raises ValueError for everything else
that the standard of server-sent events allows: comments, other fields and line ends, a missing space. It passes over a
chunk that holds neither choices nor figures, also where that chunk tells of a failure. So it is given what it can read,
and a failure is raised.
"""

from __future__ import annotations

from collections.abc import Iterator

from .._sse import payloads
from ..openai.wire import Failure, decode

_DONE = b"data: [DONE]\n\n"


class FailureTold(Exception):
    """The service told a failure inside its stream."""

    def __init__(self, failure: Failure) -> None:
        super().__init__("the service told a failure inside its stream")
        self.failure = failure


def readable_pieces(content_type: str, pieces: Iterator[bytes]) -> Iterator[bytes]:
    """The body of a stream, an event at a time. An answer in one piece, where a stream was asked for, is one event.

    Raises FailureTold for a failure. What is behind the end is read only if more is asked for.
    """
    if "json" in content_type.lower():
        body = b"".join(pieces)
        pieces = iter((body if body.lstrip().startswith(b"data:") else b"data: %b\n\n" % _in_a_line(body),))
    events = payloads(pieces)
    for data in events:
        if data.startswith(b"[DONE]"):
            break
        if b'"choices"' not in data and (failure := decode(data).failure) is not None:
            raise FailureTold(failure)
        yield b"data: %b\n\n" % _in_a_line(data)
    yield _DONE
    for _ in events:
        pass  # only the end of the body is left, read for the connection's sake


def _in_a_line(json: bytes) -> bytes:
    """JSON without line ends, which stand in no string of it."""
    return json.replace(b"\r", b" ").replace(b"\n", b" ")
