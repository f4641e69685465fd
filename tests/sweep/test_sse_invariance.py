"""One stream, written and cut in every way that changes nothing of what it says: the result is the same.

In memory, since the claim is about bytes: a socket would join what is to stay apart. Real sockets are cut in
`adapters/anthropic/test_streams.py`. With TURNPROOF_DEEP set every single byte is a border, else those where readers
are known to stumble, and some between them.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Sequence
from typing import get_args

import pytest

from turnproof.dialects.sse import Spelling, frames, respelled
from turnproof.errors import ProviderError, TransportError
from turnproof.messages import FunctionCall, Text
from turnproof.provider import PATHS

from .streams import BINDINGS, Outcome, Reader

SPELLINGS = get_args(Spelling)


STRIDE = 1 if os.environ.get("TURNPROOF_DEEP") else 61

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")


@pytest.fixture(scope="module", params=[(name, path) for name in BINDINGS for path in PATHS], ids="-".join)
def reader(request: pytest.FixtureRequest) -> Reader:
    return Reader(*request.param)


@pytest.fixture(scope="module")
def plain(reader: Reader) -> Outcome:
    """What comes of the stream as the service writes it, in one piece."""
    read = reader.read([b"".join(reader.events)])
    assert isinstance(read, Outcome)
    assert "".join(part.text for part in read.parts if isinstance(part, Text)) == "it’s é 北🌍\nto 5 °C"
    assert [part.args for part in read.parts if isinstance(part, FunctionCall)] == [{"p": "’北\r\n", "n": -1.5}, {}]
    return read


def borders(body: bytes) -> Iterator[int]:
    """Where the body is cut in two: in characters, at line ends, in and behind field names, and every so often."""
    for at in range(1, len(body)):
        awkward = body[at] >= 0x80 or body[at - 1] in b"\r\n" or body[at] in b"\r\n"
        in_a_name = body[max(0, at - 6) : at + 1].startswith((b"\ndata", b"data:", b"\nevent"))
        if at % STRIDE == 0 or awkward or in_a_name:
            yield at


def test_a_cut_at_any_byte_changes_nothing(reader: Reader, plain: Outcome) -> None:
    body = b"".join(reader.events)
    different = [at for at in borders(body) if reader.read([body[:at], body[at:]]) != plain]
    assert different == []


def test_one_byte_at_a_time_changes_nothing(reader: Reader, plain: Outcome) -> None:
    assert reader.read([bytes([byte]) for byte in b"".join(reader.events)]) == plain


UNREADABLE = {
    # google-genai 3.4 strips `data: `, with its blank, from the lines that have it, and reads all others as JSON.
    *(("google_genai", "legacy", spelling) for spelling in ("unspaced", "bom", "comment", "retry", "id", "event")),
    # An event that the end of the stream cuts short is none (WHATWG HTML, 9.2.6); google-genai takes it all the same.
    ("anthropic", "stateless", "no last blank line"),
    ("anthropic", "legacy", "no last blank line"),
    ("google_genai", "stateless", "no last blank line"),
}
"""What an adapter's SDK, or the standard, does not read. The service cannot send it, or every client would fail."""


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_another_spelling_changes_nothing(reader: Reader, plain: Outcome, spelling: Spelling) -> None:
    events = list(respelled(reader.events, spelling))
    dripped = [bytes([byte]) for event in events for byte in event]
    for pieces in (events, dripped):
        read = reader.read(pieces)
        if spelling == "joined":
            assert isinstance(read, Outcome)
            # One event has the figures once, where several had them on their way.
            assert (read.parts, read.usage, read.finish) == (plain.parts, plain.usage, plain.finish)
        elif spelling in reader.spellings:
            assert read == plain  # the dialect vouches for it: every adapter is judged by it
        elif (reader.name, reader.path, spelling) in UNREADABLE:
            assert isinstance(read, TransportError)
        elif (reader.name, reader.path, spelling) == ("anthropic", "legacy", "bom"):
            # anthropic 2.12 loses the first event behind a mark, and with it the model and the prompt's figures.
            assert isinstance(read, Outcome)
            assert read.events == plain.events
        else:
            assert read == plain


def test_blocks_overlap_and_each_one_keeps_its_order_and_its_place_among_the_ends(reader: Reader) -> None:
    """Also between the last pieces: what an adapter tells in order, whenever it tells it, stays in order."""
    if "overlapping" not in reader.spellings:
        assert list(respelled(reader.events, "overlapping")) == reader.events
        return
    overlapped = list(respelled(reader.events, "overlapping"))
    assert sorted(overlapped) == sorted(reader.events)
    ours, theirs = _blocks(reader.events), _blocks(overlapped)
    numbers = {number for number, _ in ours}
    assert len(numbers) == 4
    for number in numbers:
        assert [one for one in theirs if one[0] == number] == [one for one in ours if one[0] == number]
    # The thought is by itself; the text and both calls are open at once.
    assert [number for number, kind in theirs if kind == "content_block_start"] == [0, 1, 2, 3]
    assert [number for number, kind in theirs if kind == "content_block_stop"] == [0, 1, 2, 3]
    assert theirs.index((3, "content_block_start")) < theirs.index((1, "content_block_delta"))
    assert theirs.index((0, "content_block_stop")) < theirs.index((1, "content_block_start"))
    assert theirs.index((2, "content_block_delta")) < _last(theirs, (1, "content_block_delta"))
    assert _last(theirs, (1, "content_block_delta")) < _last(theirs, (2, "content_block_delta"))


def _last(among: list[tuple[int, str]], one: tuple[int, str]) -> int:
    return len(among) - 1 - among[::-1].index(one)


def _blocks(events: Sequence[bytes]) -> list[tuple[int, str]]:
    documents = [json.loads(frame.data) for frame in frames(b"".join(events)) if frame.data is not None]
    return [(document["index"], document["type"]) for document in documents if "index" in document]


LINES = {
    "comment": b": keep-alive\n",
    "retry": b"retry: 3000\n",
    "id": b"id: 7\n",
    "event": b"event: ping\n",
    "blank": b"\r\n",
}


@pytest.mark.parametrize("line", LINES)
@pytest.mark.parametrize("place", ["between events", "in front of each event"])
def test_lines_that_say_nothing_change_nothing(reader: Reader, plain: Outcome, line: str, place: str) -> None:
    own = LINES[line] + (b"\n" if place == "between events" else b"")
    if line == "event" and place != "between events":
        own = b""  # an event has one name: a second one in front of it would be lost, and says nothing new
    read = reader.read([piece for event in reader.events for piece in (own, event)])
    if (reader.name, reader.path, line) in UNREADABLE and own:
        assert isinstance(read, TransportError)
    else:
        assert read == plain


def test_the_noise_that_a_dialect_vouches_for_changes_nothing(reader: Reader, plain: Outcome) -> None:
    assert reader.read([piece for event in reader.events for piece in (*reader.noise, event)]) == plain


@pytest.mark.parametrize("ending", [b"", b"\n"], ids=["no line end", "one line end"])
def test_a_last_line_without_its_blank_line_is_read_or_is_no_end(reader: Reader, plain: Outcome, ending: bytes) -> None:
    read = reader.read([*reader.events[:-1], reader.events[-1].rstrip() + ending])
    if (reader.name, reader.path, "no last blank line") in UNREADABLE:
        assert isinstance(read, TransportError)
        assert read.retryable
    else:
        assert read == plain


def test_what_cannot_be_read_is_a_typed_error_that_may_be_tried_again(reader: Reader) -> None:
    cut = b"".join(reader.events)[:-40]
    read = reader.read([cut])
    assert isinstance(read, ProviderError)
    assert read.retryable


# -- the spellings themselves ---------------------------------------------------------------------------------


def event_data(events: Sequence[bytes]) -> list[tuple[str | None, str | None]]:
    """Name and data of each event; white space between the tokens of its JSON says nothing."""
    read = frames(b"".join(events).removeprefix(b"\xef\xbb\xbf"))
    return [(frame.event, "".join((frame.data or "").split())) for frame in read]


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_another_spelling_says_the_same(reader: Reader, spelling: Spelling) -> None:
    again = list(respelled(reader.events, spelling))
    if spelling == "joined" and again != list(reader.events):
        assert len(event_data(again)) == 1
    elif spelling == "overlapping":
        assert sorted(event_data(again)) == sorted(event_data(reader.events))
    else:
        assert event_data(again) == event_data(reader.events)


@pytest.mark.parametrize(
    ("spelling", "shows"),
    [
        ("crlf", lambda body: body.count(b"\n") == body.count(b"\r\n") > 0),
        ("lf", lambda body: b"\r" not in body),
        ("cr", lambda body: b"\n" not in body),
        ("unspaced", lambda body: b"data: " not in body and b"data:{" in body),
        ("padded", lambda body: b"data:   {" in body and b"   }" in body),
        ("folded", lambda body: b"data: {\ndata: " in body or b"data: {\r\ndata: " in body),
        ("bom", lambda body: body.startswith(b"\xef\xbb\xbf")),
    ],
)
def test_each_spelling_shows(reader: Reader, spelling: Spelling, shows: Callable[[bytes], bool]) -> None:
    assert shows(b"".join(respelled(reader.events, spelling)))
