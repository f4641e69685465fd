"""A request as the SDK's own call is given it, spliced in as bytes or in the SDK's types; and its answer, read."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain
from typing import TypeAlias, TypeVar

import httpx2
from google import genai
from google.genai import types

from .._calling import Source
from . import answers, reading
from .assemble import Chunk
from .request import sdk_config, sdk_contents
from .settings import Fields
from .splice import STUB, carrying
from .target import Target
from .wire import decode_chunk

Answer: TypeAlias = types.GenerateContentResponse

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Spliced:
    """A request whose body is ours, and whose answer is read past the SDK."""

    client: genai.Client
    model: str
    to: Target
    body: bytes

    def read_batch(self) -> Chunk:
        """The answer in one piece."""
        ask = partial(self.client.models.generate_content, model=self.model, contents=STUB)
        return reading.batch(_keep_response(ask, self.body), partial(decode_chunk, to=self.to))

    def stream(self) -> Source[Chunk]:
        """The answer in pieces."""
        ask = partial(self.client.models.generate_content_stream, model=self.model, contents=STUB)
        # The SDK sends nothing until it is asked for a piece, and there is none.
        return reading.stream(_keep_response(lambda: list(ask()), self.body), partial(decode_chunk, to=self.to))


@dataclass(frozen=True, slots=True)
class Plain:
    """The same in the SDK's types, for an SDK that does not splice."""

    client: genai.Client
    model: str
    to: Target
    contents: Sequence[Fields]
    fields: Fields

    def read_batch(self) -> Chunk:
        """The answer in one piece."""
        return answers.read(self._with_request(self.client.models.generate_content)(), self.to)

    def stream(self) -> Source[Chunk]:
        """The answer in pieces."""
        return answers.chunks(
            partial(open_stream, self._with_request(self.client.models.generate_content_stream)), self.to
        )

    def _with_request(self, call: Callable[..., T]) -> Callable[[], T]:
        return partial(call, model=self.model, contents=sdk_contents(self.contents), config=sdk_config(self.fields))


def _keep_response(ask: Callable[[], object], body: bytes) -> httpx2.Response:
    """The response of status 200 to a call of the SDK's with this body. Raises what the SDK makes of any other."""
    with carrying(body, keeps_answer=True) as carried:
        try:
            ask()
        except BaseException:
            carried.close()
            raise
    assert carried.response is not None, "the SDK has made no request"
    return carried.response


def open_stream(stream: Callable[[], Iterator[Answer]]) -> Source[Answer]:
    """A stream of the SDK's, with its first piece on hand: until that is asked for, the SDK has sent nothing."""
    with carrying() as carried:
        pieces = stream()
        try:
            first = next(pieces, None)
        except BaseException:
            # The SDK leaves a stream open that it cannot read.
            carried.close()
            raise
    return Source(chain(() if first is None else (first,), pieces), carried.close)
