"""JSON as the server writes it.

`server/routes.go` calls Go's `json.Marshal`, which escapes what has a meaning in HTML, and the two line ends that
JavaScript does not take in a string: `<think>` is `\\u003cthink\\u003e` there. It leaves other line ends as they are.
"""

from __future__ import annotations

import re

import msgspec

from ...messages import JSON
from ..base import WireEvent

_encode = msgspec.json.Encoder().encode

_ESCAPED = re.compile(rb"[<>&]|\xe2\x80[\xa8\xa9]")


def encode(value: JSON) -> bytes:
    """A value as the server's JSON."""
    return _ESCAPED.sub(_escape, _encode(value))


def body_event(body: JSON) -> WireEvent:
    """A whole body as the one event of an answer in one piece."""
    return WireEvent(encode(body), "body")


def _escape(found: re.Match[bytes]) -> bytes:
    return b"\\u%04x" % ord(found[0].decode())
