"""Base64 as clients and services write it: in either alphabet, with padding and without."""

from __future__ import annotations

import re
from base64 import urlsafe_b64decode

_BASE64 = re.compile(r"([A-Za-z0-9+/_-]*)={0,2}")
_TO_URL_SAFE = str.maketrans("+/", "-_")


def decode_base64(text: str) -> bytes | None:
    """The bytes of base64 in either alphabet, padded or not; None for what is neither."""
    found = _BASE64.fullmatch(text)
    if found is None or len(found[1]) % 4 == 1:
        return None
    return urlsafe_b64decode(found[1].translate(_TO_URL_SAFE) + "=" * (-len(found[1]) % 4))
