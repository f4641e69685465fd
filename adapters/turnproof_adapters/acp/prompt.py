"""What is said to an agent, as content blocks of the protocol."""

from __future__ import annotations

import base64
from collections.abc import Iterator, Sequence
from typing import Any

from turnproof.errors import InvalidRequestError
from turnproof.messages import FileRef, InlineData, Part, Text

from .._characters import whole_characters


def parts_of(content: str | Sequence[Part]) -> tuple[Part, ...]:
    """A message's parts. Raises InvalidRequestError for an empty one."""
    parts = (Text(content),) if isinstance(content, str) else tuple(content)
    if not any(not isinstance(part, Text) or part.text for part in parts):
        raise InvalidRequestError("there is nothing to say: the message is empty")
    return parts


def blocks(parts: Sequence[Part], *, images: bool, embedded: bool) -> list[dict[str, Any]]:
    """The blocks of a message. Raises InvalidRequestError for what the agent has said that it does not take."""
    return list(_blocks(parts, images, embedded))


def _blocks(parts: Sequence[Part], images: bool, embedded: bool) -> Iterator[dict[str, Any]]:
    for part in parts:
        match part:
            case Text(text=""):
                continue
            case Text(text=text):
                yield {"type": "text", "text": whole_characters(text)}
            case InlineData(mime_type=mime, data=data) if mime.startswith("image/"):
                if not images:
                    raise InvalidRequestError(f"the agent takes no images, and the message holds one ({mime})")
                yield {"type": "image", "mimeType": mime, "data": base64.b64encode(data).decode("ascii")}
            case InlineData(mime_type=mime, data=data):
                if not embedded:
                    raise InvalidRequestError(f"the agent takes no files, and the message holds one ({mime})")
                blob = base64.b64encode(data).decode("ascii")
                resource = {"uri": "file:///attachment", "mimeType": mime, "blob": blob}
                yield {"type": "resource", "resource": resource}
            case FileRef(mime_type=mime, uri=uri):
                yield {"type": "resource_link", "uri": uri, "name": uri.rsplit("/", 1)[-1] or uri, "mimeType": mime}
            case _:
                raise InvalidRequestError(f"a {type(part).__name__} cannot be said to an agent")
