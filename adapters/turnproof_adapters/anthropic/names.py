"""Tool names and call ids that the API accepts, and the way back.

The API takes `[a-zA-Z0-9_-]` only. A name it would refuse becomes its legal characters plus a digest of the whole
name, `mcp.srv.ls` for instance `mcp_srv_ls-x1f0c9a7be2`. Names that already end in such a digest are rewritten too,
so a rewritten name never equals another tool's own name. The result depends on nothing but the name: declarations,
calls and replayed history agree, whatever else a request holds, and an earlier turn keeps its bytes when a tool is
added.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from hashlib import blake2b

NAME_LIMIT = 64
"""Every model accepts names of this length; some accept more."""

_LEGAL = re.compile(r"[a-zA-Z0-9_-]+")
_ILLEGAL_CHARACTER = re.compile(r"[^a-zA-Z0-9_-]")
_REWRITTEN = re.compile(r"-x[0-9a-f]{10}$")
_DIGEST_LENGTH = 12


def wire_name(name: str) -> str:
    """The name under which a tool goes on the wire; its own wherever that is legal."""
    if _is_legal(name) and len(name) <= NAME_LIMIT:
        return name
    return _rewritten(name, NAME_LIMIT)


def wire_id(call_id: str) -> str:
    """The id under which a call and its result go on the wire. The API sets no limit to its length."""
    return call_id if _is_legal(call_id) else _rewritten(call_id, max(NAME_LIMIT, len(call_id) + _DIGEST_LENGTH))


def restorer(own_names: Callable[[], Iterable[str]]) -> Callable[[str], str]:
    """A function from wire names back to tools' own. `own_names` is asked only when a rewritten name comes back."""

    def restore(name: str) -> str:
        if not is_rewritten(name):
            return name
        return next((own for own in own_names() if wire_name(own) == name), name)

    return restore


def is_rewritten(name: str) -> bool:
    """Whether a wire name can be the rewritten form of another."""
    return _REWRITTEN.search(name) is not None


def _is_legal(word: str) -> bool:
    return _LEGAL.fullmatch(word) is not None and not is_rewritten(word)


def _rewritten(word: str, limit: int) -> str:
    digest = blake2b(word.encode("utf-8", "surrogatepass"), digest_size=5).hexdigest()
    return f"{_ILLEGAL_CHARACTER.sub('_', word)[: limit - _DIGEST_LENGTH]}-x{digest}"
