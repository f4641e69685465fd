"""A request as the SDK's own call is given it: spliced in as bytes, or in the SDK's types."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain
from typing import TypeAlias

from google import genai
from google.genai import types

from .._calling import Source
from .request import BARE_CONFIG, sdk_config, sdk_contents
from .settings import Fields
from .splice import STUB, carrying

Answer: TypeAlias = types.GenerateContentResponse


@dataclass(frozen=True, slots=True)
class Request:
    """One call of `generate_content`, whole or streamed. `body` is what is sent in place of the SDK's own."""

    client: genai.Client
    model: str
    contents: list[types.Content]
    config: types.GenerateContentConfig
    body: bytes | None

    @classmethod
    def spliced(cls, client: genai.Client, model: str, body: bytes) -> Request:
        """A request of this body."""
        return cls(client, model, [STUB], BARE_CONFIG, body)

    @classmethod
    def plain(cls, client: genai.Client, model: str, contents: Sequence[Fields], fields: Fields) -> Request:
        """The same in the SDK's types, for an SDK that does not splice."""
        return cls(client, model, sdk_contents(contents), sdk_config(fields), None)

    def whole(self) -> Answer:
        """The answer in one piece."""
        with carrying(self.body):
            return self.client.models.generate_content(model=self.model, contents=self.contents, config=self.config)

    def stream(self) -> Source[Answer]:
        """The answer in pieces."""
        stream = self.client.models.generate_content_stream
        return opened(partial(stream, model=self.model, contents=self.contents, config=self.config), self.body)


def opened(stream: Callable[[], Iterator[Answer]], body: bytes | None = None) -> Source[Answer]:
    """A stream of the SDK's, with its first piece on hand: until that is asked for, the SDK has sent nothing."""
    with carrying(body) as carried:
        pieces = stream()
        try:
            first = next(pieces, None)
        except BaseException:
            # The SDK leaves a stream open that it cannot read.
            carried.close()
            raise
    return Source(chain(() if first is None else (first,), pieces), carried.close)
