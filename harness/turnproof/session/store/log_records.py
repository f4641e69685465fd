"""What a session's log says: one record for each thing that happened, in order, both sides of the conversation.

A turn is two records: what the user said, when the turn begins, and what became of it, when it ends. Each is whole in
itself, so that a turn is in the history with all its messages or not at all.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal, TypeAlias

import msgspec
from msgspec import UNSET, UnsetType

from ..._base.lossless import Reader, encode
from ...background_answers import RunningAnswer
from ...messages import FunctionCall, Message, Part, TokenUsage, ToolSchema
from ...provider import SystemInstruction
from ..inbox import Prompt
from ..persistence import Connection, UserInput
from ..prompt import Typed

LOG_FORMAT = "turnproof.log/1"


class Changes(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """What is different from now on, in the words of `SessionState`.

    `history` is all of it, and `typed` all that belongs to it: for whatever did more than add to its end.
    """

    history: tuple[Message, ...] | UnsetType = UNSET
    usage: TokenUsage | UnsetType = UNSET
    system: SystemInstruction | UnsetType = UNSET
    tools: tuple[ToolSchema, ...] | UnsetType = UNSET
    description: str | UnsetType | None = UNSET
    connection: Connection | UnsetType = UNSET
    workspace: str | UnsetType | None = UNSET
    waiting: tuple[Prompt, ...] | UnsetType = UNSET
    cancelled_at: str | UnsetType | None = UNSET
    typed: tuple[Typed, ...] | UnsetType = UNSET
    budget: Any = UNSET


class _Record(
    msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True, tag_field="type"
):
    at: datetime


class Opened(_Record, frozen=True, kw_only=True, tag="opened"):
    """The first record: everything that the session held when it was first stored."""

    format: str
    session_id: str
    changes: Changes
    turn_count: int = 0


class Began(_Record, frozen=True, kw_only=True, tag="began"):
    """A turn begins: its number, counted from 0, and what the user typed or gave (nothing where others spoke)."""

    turn: int
    content: tuple[Part, ...] = ()


class AnswerBegan(_Record, frozen=True, kw_only=True, tag="answer_began"):
    """The service works on an answer in the background. `messages` is what the turn added since the last such record,
    `typed` belongs to them."""

    answer: RunningAnswer
    messages: tuple[Message, ...] = ()
    typed: tuple[Typed, ...] = ()


class Called(_Record, frozen=True, kw_only=True, tag="called"):
    """A tool is about to run."""

    call: FunctionCall


class Returned(_Record, frozen=True, kw_only=True, tag="returned"):
    """A tool has run."""

    call_id: str


class Ended(_Record, frozen=True, kw_only=True, tag="ended"):
    """The turn is over. A failed one has left nothing, and says only what kind of error it was.

    `messages` is what it added to the end of the history. Its first message is left out where it is what `Began` has,
    word for word: `user` is then its id. `changes.history` is what the history was made into before that, where it was
    not left as it was (by a collection). `typed` belongs to the messages, `inputs` is what the user said meanwhile.
    """

    turn: int
    outcome: Literal["answer", "cancelled", "failed"]
    user: str | None = None
    messages: tuple[Message, ...] = ()
    typed: tuple[Typed, ...] = ()
    inputs: tuple[UserInput, ...] = ()
    usage: TokenUsage = TokenUsage()
    rounds: int = 0
    attempts: int = 0
    error: str | None = None
    changes: Changes | None = None


class Changed(_Record, frozen=True, kw_only=True, tag="changed"):
    """Something was changed between turns."""

    changes: Changes


Record: TypeAlias = Opened | Began | AnswerBegan | Called | Returned | Ended | Changed

_reader: Reader[Record] = Reader(Record)


def write_record(record: Record) -> bytes:
    """A record's own fields as a JSON object on one line. Raises PayloadError for what JSON has no form for."""
    return encode(record)


def read_record(body: bytes) -> Record:
    """The inverse. Raises PayloadError for anything else."""
    return _reader.decode(body)
