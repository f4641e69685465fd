"""A PNG from its pixels, in the plainest form: what a library makes of an image that it opened."""

from __future__ import annotations

import struct
import zlib


def png(width: int, height: int, pixels: bytes) -> bytes:
    """The file with these RGB bytes, row by row."""
    rows = b"".join(b"\0" + pixels[start : start + width * 3] for start in range(0, len(pixels), width * 3))
    chunks = (b"IHDR" + struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0), b"IDAT" + zlib.compress(rows), b"IEND")
    framed = (struct.pack(">I", len(one) - 4) + one + struct.pack(">I", zlib.crc32(one)) for one in chunks)
    return b"\x89PNG\r\n\x1a\n" + b"".join(framed)
