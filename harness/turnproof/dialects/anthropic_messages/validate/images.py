"""Images that are sent as text: it must be base64, of an image, of the kind that its media type names."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ...base import Refusal
from ...base64_text import decode_base64
from ...pictures import media_type_of
from .. import fields, rules
from .context import refuse


def check(path: str, source: Mapping[str, Any]) -> Iterator[Refusal]:
    """What is wrong with a source of type `base64`. `path` is that of the block, its kind included.

    White space and the url-safe alphabet are left alone: nobody has shown what the API makes of them. So are bytes
    that are of no image that is known.
    """
    encoded, named = source.get("data"), source.get("media_type")
    where = f"{path}.source.base64"
    if isinstance(named, str) and named not in fields.IMAGE_TYPES:
        *others, last = map(repr, fields.IMAGE_TYPES)
        message = f"{where}.media_type: Input should be {', '.join(others)} or {last}"
        yield refuse(rules.IMAGE_MEDIA_TYPE, message, f"{path}.source.media_type")
    if not isinstance(encoded, str):
        return
    data = decode_base64("".join(encoded.split()))
    if data is None:
        yield refuse(rules.IMAGE_DATA, f"{where}: invalid base64 data", f"{path}.source.data")
    elif not data:
        yield refuse(rules.IMAGE_DATA, f"{where}: image cannot be empty", f"{path}.source.data")
    elif (found := media_type_of(data)) is not None and isinstance(named, str) and found != named:
        message = f"{where}.data: Image does not match the provided media type {named}"
        yield refuse(rules.IMAGE_TYPE, message, f"{path}.source.media_type")
