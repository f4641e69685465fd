"""Blocks of a message, in the protocol's form and in the API's."""

from __future__ import annotations

from typing import Any


def text_block(text: str) -> dict[str, Any]:
    """The same in both."""
    return {"type": "text", "text": text}


def api_block(content: dict[str, Any]) -> dict[str, Any]:
    """The API's form of a block of the protocol."""
    if content["type"] == "image":
        source = {"type": "base64", "media_type": content["mimeType"], "data": content["data"]}
        return {"type": "image", "source": source}
    return text_block(content["text"]) if content["type"] == "text" else content
