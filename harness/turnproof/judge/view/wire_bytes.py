"""The bytes of an answer as they went out, where they are not the ones that its readers take."""

from __future__ import annotations

import re
from typing import NamedTuple

from ...run.transcript import WireResponse

_LINE_END = re.compile(r"\r\n|\r|\n")
_ESCAPES = {"\r\n": r"\r\n", "\r": r"\r", "\n": r"\n"}


class WireBytes(NamedTuple):
    """What went out, and `mark`: why it is not the answer in the dialect's own spelling."""

    mark: str
    text: str


def wire_bytes(response: WireResponse) -> WireBytes | None:
    """What went out, line by line with each line end as its escape; None where it is the answer as it stands."""
    if response.sent is None:
        return None
    text = response.bytes_sent.decode("utf-8", "backslashreplace")
    return WireBytes(_mark(response), _LINE_END.sub(lambda end: f"{_ESCAPES[end[0]]}\n", text).removesuffix("\n"))


def _mark(response: WireResponse) -> str:
    if response.spelling:
        return f"spelling {response.spelling}"
    if not response.sent:
        return "no body"
    return f"fault {response.fault}" if response.fault else "rewritten by a proxy"
