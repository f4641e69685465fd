"""The one token estimator: counts, usage, cache thresholds and context limits all come from here.

It is a ruler, not a tokenizer: four bytes of UTF-8 make a token, rounded up for each piece of text. What matters
is that every figure of a run is measured with the same ruler, that equal text always measures the same, and that
a longer prompt never measures less.
"""

from __future__ import annotations

import msgspec

from ..messages import JSON

IMAGE_TOKENS = 1_500
"""An image of usual size; no dimensions are read from the file."""

DOCUMENT_TOKENS = 3_000
"""A binary document (PDF), whatever its length."""

_encode = msgspec.json.Encoder().encode


def text_tokens(text: str) -> int:
    """Tokens of a text; 0 only for the empty one."""
    size = len(text) if text.isascii() else len(text.encode())
    return (size + 3) // 4


def json_tokens(value: JSON) -> int:
    """Tokens of a JSON value in its compact form."""
    return (len(_encode(value)) + 3) // 4
