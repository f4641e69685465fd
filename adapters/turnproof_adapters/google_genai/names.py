"""Tool names that the API accepts, and ids of calls that came without one.

A name begins with a letter or `_` and goes on with letters, digits, `_`, `.`, `:` and `-`
(https://ai.google.dev/api/caching#FunctionDeclaration). Ids of calls may be anything; the older models give none.
"""

from __future__ import annotations

import re
from hashlib import blake2b

from .._names import Naming

NAME_LIMIT = 64
"""Every model accepts names of this length; some accept more."""

_NAMING = Naming("[a-zA-Z_]", "[a-zA-Z0-9_.:-]", NAME_LIMIT)
_MADE_UP = re.compile(r"unnamed-[0-9a-f]{16}-\d+")

wire_name = _NAMING.name
"""The name under which a tool goes on the wire."""

restorer = _NAMING.restorer
"""A function from wire names back to tools' own, made from their own names."""


def made_up_id(answer: str, place: int) -> str:
    """An id for a call without one: the same for the same call of the same answer, and no other.

    `answer` tells the answer from every other of the conversation; `place` is the call's number in it.
    """
    return f"unnamed-{blake2b(answer.encode('utf-8', 'surrogatepass'), digest_size=8).hexdigest()}-{place}"


def is_made_up(call_id: str) -> bool:
    """Whether an id was made up here: it is nothing to the API and is not sent to it."""
    return _MADE_UP.fullmatch(call_id) is not None
