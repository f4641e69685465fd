"""An open response as the documents in it, whichever way they are written.

A stream's events are documents. What calls itself a stream may also be one document, or a list of them: a service
answers so where it fails, and where `alt=sse` got lost on the way.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing
from itertools import chain
from typing import TypeVar

import httpx2
import msgspec

from turnproof.errors import TransportError

from .._calling import Source
from .._http import body_pieces
from .._sse import payloads

T = TypeVar("T")

Decode = Callable[[bytes], T]
"""Makes something of a document. Raises ValueError or RecursionError for one that is none of the API's."""


def batch(response: httpx2.Response, decode: Decode[T]) -> T:
    """What stands in a response that is one document."""
    with closing(response):
        return _understood(b"".join(_bytes(response)), decode, response)


def stream(response: httpx2.Response, decode: Decode[T]) -> Source[T]:
    """What stands in a response of several, as they come."""
    return Source((_understood(each, decode, response) for each in _documents(response)), response.close)


def _understood(data: bytes, decode: Decode[T], response: httpx2.Response) -> T:
    try:
        return decode(data)
    except (ValueError, RecursionError) as error:
        why = f"{type(error).__name__}: {error}"
    # Raised out here: the document, which the decoder's error may quote, is not attached.
    raise TransportError(f"the service sent what is no answer ({why:.200})", status=response.status_code)


def _bytes(response: httpx2.Response) -> Iterator[bytes]:
    try:
        yield from body_pieces(response)
        return
    except httpx2.DecodingError as error:
        why = str(error)
    raise TransportError(f"the service sent what cannot be unpacked ({why:.200})", status=response.status_code)


def _documents(response: httpx2.Response) -> Iterator[bytes]:
    pieces, head = _bytes(response), b""
    for piece in pieces:
        head += piece
        if head.strip():
            break
    match head.lstrip()[:1]:
        case b"{":
            yield head + b"".join(pieces)
        case b"[":
            yield from map(bytes, msgspec.json.decode(head + b"".join(pieces), type=list[msgspec.Raw]))
        case b"<":
            raise TransportError("the service sent a page where a stream belongs", status=response.status_code)
        case _:
            yield from payloads(chain((head,), pieces))
