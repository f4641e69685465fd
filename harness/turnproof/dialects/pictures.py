"""Whether two images show the same picture: a library may decode an image and write it again, in another format or with
other compression, and what it sends then is the user's picture in other bytes.

The pixels are read of PNG alone. Of the other formats the size is read, and pictures of one size are taken for the same
where the pixels of one side cannot be read: what is unknown accuses nobody.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Final, NamedTuple

from msgspec.structs import replace

from ..messages import InlineData, Message, Part, ToolResult

UNNAMED_IMAGE: Final = "image/*"
"""The media type of an image that a request has without one: Ollama's server looks at the bytes."""

_MOST_PIXELS: Final = 250_000
"""Larger pictures are compared by their size alone: decoding them here would take seconds."""

_PNG: Final = b"\x89PNG\r\n\x1a\n"
_JPEG: Final = b"\xff\xd8"
_GIF: Final = (b"GIF87a", b"GIF89a")
_CHANNELS: Final = {0: 1, 2: 3, 4: 2, 6: 4}
"""Channels of a pixel by PNG's colour type. Pictures with a palette (3) are compared by their size."""

_FRAME_MARKERS: Final = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}
"""Markers of JPEG that begin a frame, with its size in them."""


class Picture(NamedTuple):
    """What an image shows, as far as it could be read. `pixels` are RGB bytes, row by row, or None."""

    width: int
    height: int
    pixels: bytes | None


def same_picture(one: InlineData, other: InlineData) -> bool:
    """Whether two images show the same, as far as it can be read; False where one of them is no image that is known."""
    if one.data == other.data:
        return True
    ours, theirs = picture_of(one.data), picture_of(other.data)
    if ours is None or theirs is None or ours[:2] != theirs[:2]:
        return False
    return ours.pixels is None or theirs.pixels is None or ours.pixels == theirs.pixels


def with_held_pictures(sent: Sequence[Message], history: Iterable[Message]) -> tuple[Message, ...]:
    """Sent messages in which each image that shows what a held one shows is the held one, its bytes and its type.

    An image that was sent byte for byte stands for itself, and no other image for the same one. Where the request names
    no type, it has that of the held one.
    """
    own = {image.data: image for image in _images(history)}
    if not own:
        return tuple(sent)
    exact = {image.data for image in _images(sent)}
    waiting = [image for data, image in own.items() if data not in exact]
    known: dict[bytes, InlineData] = {}
    for image in _images(sent):
        if image.data in known:
            continue
        if image.data in own:
            if image.mime_type == UNNAMED_IMAGE:
                known[image.data] = own[image.data]
            continue
        match = next((each for each in waiting if same_picture(each, image)), None)
        if match is not None:
            waiting.remove(match)
            known[image.data] = match
    if not known:
        return tuple(sent)

    def held_for(image: Part) -> Part:
        if not isinstance(image, InlineData) or image.data not in known:
            return image
        match = known[image.data]
        return replace(image, data=match.data, mime_type=match.mime_type)

    def part_with_held(part: Part) -> Part:
        if isinstance(part, ToolResult) and part.attachments:
            return replace(part, attachments=tuple(map(held_for, part.attachments)))
        return held_for(part)

    return tuple(replace(message, parts=tuple(map(part_with_held, message.parts))) for message in sent)


def _images(messages: Iterable[Message]) -> Iterator[InlineData]:
    for message in messages:
        for part in message.parts:
            for each in part.attachments if isinstance(part, ToolResult) else (part,):
                if isinstance(each, InlineData) and each.mime_type.startswith("image/"):
                    yield each


@lru_cache(maxsize=256)
def picture_of(data: bytes) -> Picture | None:
    """What the bytes of a PNG, JPEG, GIF or WebP show; None for anything else, and for what is damaged."""
    try:
        if data.startswith(_PNG):
            return _png(data)
        if data.startswith(_JPEG):
            return _jpeg(data)
        if data.startswith(_GIF):
            width, height = struct.unpack_from("<HH", data, 6)
            return Picture(width, height, None)
        if _is_webp(data):
            return _webp(data)
    except (struct.error, zlib.error, IndexError, KeyError):
        return None
    return None


def media_type_of(data: bytes) -> str | None:
    """The media type of a PNG, JPEG, GIF or WebP, by how its bytes begin; None for anything else."""
    if data.startswith(_PNG):
        return "image/png"
    if data.startswith(_JPEG):
        return "image/jpeg"
    if data.startswith(_GIF):
        return "image/gif"
    return "image/webp" if _is_webp(data) else None


def _is_webp(data: bytes) -> bool:
    return data.startswith(b"RIFF") and data[8:12] == b"WEBP"


def _png(data: bytes) -> Picture | None:
    width, height, depth, colour, _, _, interlaced = struct.unpack_from(">IIBBBBB", data, 16)
    if depth != 8 or interlaced or colour not in _CHANNELS or not 0 < width * height <= _MOST_PIXELS:
        return Picture(width, height, None)
    packed, at = b"", len(_PNG)
    while at < len(data):
        length, kind = struct.unpack_from(">I4s", data, at)
        packed += data[at + 8 : at + 8 + length] if kind == b"IDAT" else b""
        at += length + 12
    channels = _CHANNELS[colour]
    rows = zlib.decompressobj().decompress(packed, height * (width * channels + 1))
    return Picture(width, height, _rgb(_unfiltered(rows, width * channels, channels), channels))


def _unfiltered(rows: bytes, stride: int, channels: int) -> bytes:
    """The bytes of the rows without PNG's filters (section 9 of the standard)."""
    above, whole = bytearray(stride), bytearray()
    for start in range(0, len(rows), stride + 1):
        kind, row = rows[start], bytearray(rows[start + 1 : start + 1 + stride])
        for n, value in enumerate(row):
            left = row[n - channels] if n >= channels else 0
            corner = above[n - channels] if n >= channels else 0
            row[n] = (value + _predicted(kind, left, above[n], corner)) & 0xFF
        whole += row
        above = row
    return bytes(whole)


def _predicted(kind: int, left: int, up: int, corner: int) -> int:
    match kind:
        case 1:
            return left
        case 2:
            return up
        case 3:
            return (left + up) // 2
        case 4:
            nearest = left + up - corner
            return min((abs(nearest - one), n, one) for n, one in enumerate((left, up, corner)))[2]
    return 0


def _rgb(pixels: bytes, channels: int) -> bytes:
    """The colours of the pixels; how transparent they are is left out, as libraries drop it."""
    if channels >= 3:
        return pixels if channels == 3 else b"".join(pixels[n : n + 3] for n in range(0, len(pixels), 4))
    return b"".join(pixels[n : n + 1] * 3 for n in range(0, len(pixels), channels))


def _jpeg(data: bytes) -> Picture | None:
    at = 2
    while at < len(data):
        marker = data[at + 1]
        if marker in _FRAME_MARKERS:
            height, width = struct.unpack_from(">HH", data, at + 5)
            return Picture(width, height, None)
        (length,) = struct.unpack_from(">H", data, at + 2)
        at += 2 + length
    return None


def _webp(data: bytes) -> Picture | None:
    kind = data[12:16]
    if kind == b"VP8X":
        return Picture(int.from_bytes(data[24:27], "little") + 1, int.from_bytes(data[27:30], "little") + 1, None)
    if kind == b"VP8L":
        (bits,) = struct.unpack_from("<I", data, 21)
        return Picture((bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1, None)
    width, height = struct.unpack_from("<HH", data, 26)
    return Picture(width & 0x3FFF, height & 0x3FFF, None)
