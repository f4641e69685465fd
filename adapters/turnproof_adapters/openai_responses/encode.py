"""Conversations as the bytes of the Responses API; `_encoded_messages` keeps them."""

from __future__ import annotations

from functools import partial

from .. import _encoded_messages
from .._encoded_messages import encode
from .arrange import Arrangement
from .items import row


class Encoder(_encoded_messages.Encoder[Arrangement[bytes]]):
    """Wire items as bytes for one model."""

    def __init__(self, model: str) -> None:
        super().__init__(partial(Arrangement[bytes], encode), partial(row, codec=encode, model=model))
