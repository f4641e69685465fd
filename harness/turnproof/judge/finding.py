"""What a check found in a run: what is as required, and what is not. Data alone; words are made at the edge.

A `Finding` names its place by fields, and points into a document of that place by a JSON Pointer (RFC 6901), so that
no reader has to look into a sentence. Which document that is follows from the side of the place:

- `request`: the JSON body of the exchange's request; with `header` that header, and no pointer
- `response`: what the adapter's call returned (`ProviderResponse`)
- `stream`: the list of the events that the server wrote in the exchange; an answer in one piece is one event
- `callback`: the list of what the call handed to its callbacks, in order
- `history`: with a call the messages that it was given, else `{"session": [...], "provider": [...]}` after the turn;
  `operations` beside them has what the session held after each operation in front of the turn (`{"gc": [...]}`)
- `error`: what the call raised; without a call what the turn raised
- `process`: the list of everything else that happened in the turn, or in the run outside of any turn
- `span`: the list of the run's OpenTelemetry spans
"""

from __future__ import annotations

from enum import StrEnum
from typing import Any, Final

import msgspec
from msgspec import UNSET, UnsetType

from .._base.canonical import canonical
from ..dialects.base import Evidence
from ..run.tracebacks import Raised
from ..run.transcript import RunKey

UNSTRUCTURED: Final = "unstructured"
"""The last part of the code of a failure that is told in words alone (`violated`)."""

PATHS_DIFFER: Final = "paths-differ"
"""The last part of the code of a difference between both paths of an adapter."""

LONGEST_VALUE = 20_000
"""Characters of JSON that a finding keeps of one value; the evidence has it whole."""


class Side(StrEnum):
    """Where around the adapter something was seen."""

    REQUEST = "request"
    RESPONSE = "response"
    STREAM = "stream"
    CALLBACK = "callback"
    HISTORY = "history"
    ERROR = "error"
    PROCESS = "process"
    SPAN = "span"


class ByteSpan(msgspec.Struct, frozen=True):
    """Bytes of a body, from `start` up to but not including `end`, counted from 0 in what was sent."""

    start: int
    end: int


class Place(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A place in a run. Numbers count from 0; -1 and empty fields say nothing.

    `call` counts provider calls in the run and `exchange` exchanges on the wire; `round` counts the tool-result rounds
    in the turn, and `attempt` how often the same round was tried before. `probe` is not empty for what was seen of a
    probe. `pointer` is a JSON Pointer into the document of `side`; the empty string is all of it, None nothing.
    """

    side: Side
    scenario: str = ""
    path: str = ""
    mode: str = ""
    repeat: int = 0
    turn: int = -1
    round: int = -1
    call: int = -1
    attempt: int = 0
    exchange: int = -1
    probe: str = ""
    pointer: str | None = None
    header: str = ""
    span: ByteSpan | None = None

    @classmethod
    def of_run(cls, side: Side, key: RunKey, **fields: Any) -> Place:
        """A place in the run with this key."""
        return cls(side=side, scenario=key.scenario, path=key.path, mode=key.mode, repeat=key.repeat, **fields)

    @property
    def run(self) -> str:
        """The run's key as text (`tools/basic/stateless/stream`); empty where the place names no run."""
        repeat = f"#{self.repeat}" if self.repeat else ""
        return f"{self.scenario}/{self.path}/{self.mode}{repeat}" if self.scenario else ""


class BrokenRule(msgspec.Struct, frozen=True, omit_defaults=True):
    """A rule of the wire API that a request offends. `source` says where the rule is known from."""

    id: str
    evidence: Evidence
    message: str = ""
    status: int = 0
    source: str = ""


class Finding(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One thing that is not as required.

    `code` is stable, and never given to anything else: `REQUIREMENT/WHAT`. `expected` and `observed` are JSON values,
    UNSET for a value that is not there. `facts` are further values that the words for this code name. `related` are
    places that belong to it, the other side of a comparison first. `rests_on` is the weakest evidence of the wire rules
    that it takes for granted. `root` names what it follows from, alike for all findings of one cause; empty where it
    follows from nothing but itself.
    """

    code: str
    place: Place
    expected: Any | UnsetType = UNSET
    observed: Any | UnsetType = UNSET
    rule: BrokenRule | None = None
    raised: Raised | None = None
    related: tuple[Place, ...] = ()
    facts: dict[str, Any] = {}
    rests_on: Evidence | None = None
    root: str = ""

    @property
    def requirement(self) -> str:
        """The requirement that it speaks against."""
        return self.code.rpartition("/")[0]

    @property
    def identity(self) -> tuple[str | int, ...]:
        """What makes it the same finding in another run: code and run, turn and round, side and open pointer. No words.

        Neither values nor numbers that one more message would change are a part of it: indices in the pointer are left
        open (`open_pointer`), and calls, exchanges and attempts are not counted. So one mistake in three messages of a
        round has one identity, and a longer conversation gives it no other one.
        """
        place = self.place
        where = open_pointer(place.pointer) if place.pointer is not None else ""
        return self.code, place.run, place.turn, place.round, str(place.side), place.probe, place.header, where


class Compared(msgspec.Struct, frozen=True, omit_defaults=True):
    """Something that a check looked at and found in order.

    `what` names it for people. `rests_on` is the evidence of a wire rule that it takes for granted.
    """

    what: str
    rests_on: Evidence | None = None


def pointer(*tokens: str | int) -> str:
    """A JSON Pointer from its tokens, escaped as RFC 6901 has it: `pointer("a/b", 0)` is `/a~1b/0`."""
    return "".join(f"/{str(token).replace('~', '~0').replace('/', '~1')}" for token in tokens)


def tokens(text: str) -> tuple[str, ...]:
    """The tokens of a JSON Pointer. Raises ValueError for what is none."""
    if text and not text.startswith("/"):
        raise ValueError(f"{text!r} is no JSON Pointer: it begins with no '/'")
    return tuple(token.replace("~1", "/").replace("~0", "~") for token in text.split("/")[1:])


def resolve(document: Any, text: str) -> Any:
    """What a JSON Pointer points to. Raises LookupError where it points to nothing, ValueError where it is none."""
    for token in tokens(text):
        if isinstance(document, dict):
            document = document[token]
        elif isinstance(document, list | tuple) and token.isdecimal():
            document = document[int(token)]
        else:
            raise LookupError(token)
    return document


def open_pointer(text: str) -> str:
    """A JSON Pointer whose indices are left open: `/messages/12/content` is `/messages/-/content`."""
    return "/".join("-" if token.isdecimal() else token for token in text.split("/"))


def parent(text: str) -> str:
    """The pointer to what holds this place; that of the whole document holds itself."""
    return text.rpartition("/")[0]


def plain_value(value: Any) -> Any:
    """A value as JSON, whatever it was: structs as objects, the unspeakable as its text, the endless cut short."""
    if value is UNSET:
        return UNSET
    try:
        written = canonical(msgspec.to_builtins(value, enc_hook=_text_of))
    except (TypeError, ValueError, OverflowError, RecursionError):
        written = canonical(_text_of(value))
    if len(written) > LONGEST_VALUE:
        text = value if isinstance(value, str) else written.decode("utf-8", "replace")
        return f"{text[:LONGEST_VALUE]}… ({len(text)} characters)"
    return msgspec.json.decode(written)


def _text_of(value: Any) -> str:
    try:
        return repr(value)
    except Exception as error:  # anybody's `__repr__`
        return f"({type(value).__name__}, whose text raises {type(error).__name__})"
