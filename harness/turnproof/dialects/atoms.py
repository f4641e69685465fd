"""A conversation as one row of atoms: the form in which what is held and what was sent are compared.

Neighbouring messages of one side belong together (results and the user's text are one side, as on every wire that
has only two), results stand in front of what the user says, and each part is one atom with a key by which its
counterpart is found.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Final, Literal, TypeAlias, get_args

import msgspec
from msgspec.structs import replace

from ..messages import (
    JSON,
    FileRef,
    FunctionCall,
    InlineData,
    Message,
    Opaque,
    Part,
    Role,
    Text,
    Thought,
    ToolResult,
    to_builtins,
)

Kind: TypeAlias = Literal["text", "thought", "call", "result", "media", "opaque", "other"]
Side: TypeAlias = Literal["user", "model", "system"]
SIDES: Final[tuple[Side, ...]] = get_args(Side)

_SIDES: dict[Role, Side] = {"user": "user", "tool": "user", "model": "model", "system": "system"}
_encode = msgspec.json.Encoder(order="sorted").encode


@dataclass(frozen=True, slots=True, eq=False)
class Atom:
    """One part in its place. `message` is the index of its message, `path` says it in words."""

    kind: Kind
    side: Side
    part: Part
    message: int
    path: str
    key: Hashable

    @property
    def text(self) -> str:
        """The text of a text or thought; empty for others."""
        return self.part.text if isinstance(self.part, Text | Thought) else ""

    def shown(self) -> JSON:
        """The part as JSON, for a report."""
        return to_builtins(self.part)


def atoms(messages: Sequence[Message], *, root: str) -> list[Atom]:
    """The row of a conversation. `root` begins every path."""
    row: list[Atom] = []
    turn: list[Atom] = []
    for n, message in enumerate(messages):
        if not message.parts:
            continue  # Nothing to send: its neighbours meet.
        side = _SIDES[message.role]
        if turn and turn[0].side != side:
            row.extend(_results_first(turn))
            turn = []
        turn.extend(_atom(part, side, n, f"{root}[{n}].parts[{m}]") for m, part in enumerate(message.parts))
    row.extend(_results_first(turn))
    return row


def _results_first(turn: list[Atom]) -> Iterator[Atom]:
    if not turn or turn[0].side != "user":
        yield from turn
        return
    yield from (atom for atom in turn if atom.kind == "result")
    yield from (atom for atom in turn if atom.kind != "result")


def _atom(part: Part, side: Side, n: int, path: str) -> Atom:
    kind, key = _identify(part)
    return Atom(kind, side, part, n, path, (kind, side, key))


def _identify(part: Part) -> tuple[Kind, Hashable]:
    match part:
        case Text(text=text):
            return "text", text
        case FunctionCall(id=call_id):
            return "call", call_id
        case ToolResult(call_id=call_id):
            return "result", call_id
        case Thought(text=text):
            return "thought", token_of(part) or text
        case InlineData() | FileRef():
            return "media", media_key(part)
        case Opaque(kind=kind, data=data):
            return "opaque", (kind, _encode(data))
        case _:
            return "other", _encode(replace(part, provider_data=None, cache=None))


def media_key(part: InlineData | FileRef) -> Hashable:
    """What makes an attachment the same one: its bytes, or its address."""
    return blake2b(part.data, digest_size=16).digest() if isinstance(part, InlineData) else part.uri


_TOKEN_NAMES = ("signature", "redacted", "encrypted", "thought_signature", "thoughtSignature", "encrypted_content")
_SEALED: Final = re.compile(r"[A-Za-z0-9+/_-]{80,}={0,2}")
"""What only a signature looks like under an unknown name: ids are shorter, and texts have other characters."""


def token_of(part: Part) -> str | None:
    """The signature or encrypted content that a part carries: under a usual name, else the longest string that can be
    nothing else. An adapter names what it keeps in `ProviderData.data` as it likes."""
    if part.provider_data is None:
        return None
    for name in _TOKEN_NAMES:
        if token := max(_strings(part.provider_data.data.get(name)), key=len, default=None):
            return token
    return max(filter(_SEALED.fullmatch, _strings(part.provider_data.data)), key=len, default=None)


def tokens_of(held: Part, sent: Part) -> tuple[str | None, str | None]:
    """The tokens of what is held and of what was sent for it: one and the same where the sent one stands anywhere in
    the held part's data, alone or in a text of JSON."""
    ours, theirs = token_of(held), token_of(sent)
    if theirs is None:
        return ours, None
    data = held.provider_data.data if held.provider_data is not None else {}
    is_held = any(each == theirs or f'"{theirs}"' in each for each in _strings(data))
    return (theirs if is_held else ours), theirs


def _strings(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for item in value.values():
            yield from _strings(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _strings(item)


def same_json(a: JSON, b: JSON) -> bool:
    """Equality of JSON values; unlike Python's, `true` is not 1. Key order does not count."""
    return a == b and _encode(a) == _encode(b)


def unpaired(messages: Sequence[Message]) -> tuple[frozenset[str], frozenset[str]]:
    """Paths of the held calls without a result before the next model message, and of results without a call."""
    dangling: set[str] = set()
    orphans: set[str] = set()
    waiting: dict[str, str] = {}
    asked_by_model = False
    for n, message in enumerate(messages):
        if message.role == "model" and not asked_by_model:
            dangling.update(waiting.values())
            waiting = {}
        asked_by_model = message.role == "model"
        for m, part in enumerate(message.parts):
            path = f"$.messages[{n}].parts[{m}]"
            if isinstance(part, FunctionCall):
                waiting[part.id] = path
            elif isinstance(part, ToolResult) and waiting.pop(part.call_id, None) is None:
                orphans.add(path)
    dangling.update(waiting.values())
    return frozenset(dangling), frozenset(orphans)
