"""A session as text: versioned JSON that loses nothing, and is taken back whole or not at all.

`turnproof.session/2` is what is written. Older versions are read: `_EARLIER` says how each becomes the present one.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Literal

import msgspec
from msgspec.structs import force_setattr

from .. import __version__
from .._base.lossless import Reader, encode
from ..background_answers import RunningAnswer
from ..budget import BudgetState
from ..errors import PayloadError, UsageError
from ..gc import turn_starts
from ..messages import JSON, FunctionCall, Message, Part, TokenUsage, ToolSchema, freeze
from ..provider import Path, SystemInstruction
from ..sessions import in_utc
from .inbox import Prompt
from .prompt import Typed

FORMAT = "turnproof.session/2"

Outcome = Literal["answer", "cancelled"]
"""How a turn ended that left something in the history."""


class SavedSessionError(UsageError):
    """A saved session cannot be read. `path` points at the spot (`$` where it is not JSON at all), in `file`."""

    def __init__(self, path: str, reason: str, *, file: str = "saved session") -> None:
        super().__init__(f"{file}: {path}: {reason}")
        self.path = path
        self.reason = reason
        self.file = file


class Connection(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Which provider a session talked to. There is no place for a key or an address, and none is taken."""

    provider: str = ""
    model: str | None = None
    path: Path = "stateless"

    def __post_init__(self) -> None:
        for value in (self.provider, self.model or ""):
            if "://" in value:
                raise ValueError("a provider and a model are named here; an address is not kept, it may hold a key")


class _Saved(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    pass


class SavedTurn(_Saved, frozen=True):
    """What one turn cost: the last call's `usage`, the calls that were answered, and those that were made."""

    began_at: datetime
    ended_at: datetime
    outcome: Outcome
    usage: TokenUsage = TokenUsage()
    rounds: int = 0
    attempts: int = 0

    def __post_init__(self) -> None:
        _use_utc(self, "began_at", "ended_at")


class UserInput(_Saved, frozen=True):
    """The text that a user typed. What was sent for it stands in the messages, or in `SessionState.typed` beside."""

    at: datetime
    text: str

    def __post_init__(self) -> None:
        _use_utc(self, "at")


class StartedCall(_Saved, frozen=True):
    """A tool call of an interrupted turn. One that had finished may have had its effect; one that had not, may too."""

    call: FunctionCall
    finished: bool = False


class InterruptedTurn(_Saved, frozen=True):
    """The turn that was running when the process died. Nothing of it is in the history; `content` can be sent again.

    `answer` is there if the service was working on one in the background: it can be taken up instead. `messages` are
    then those of the turn that lead to it, and `typed` belongs to them. Once a tool of that answer has begun, there is
    none any more: whoever took it up would run the tool again.
    """

    began_at: datetime
    content: tuple[Part, ...]
    calls: tuple[StartedCall, ...] = ()
    answer: RunningAnswer | None = None
    messages: tuple[Message, ...] = ()
    typed: tuple[Typed, ...] = ()

    def __post_init__(self) -> None:
        _use_utc(self, "began_at")


class SessionState(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What is kept of a session. Times are in UTC.

    `turn_count` counts the turns that were ever taken, collected or not; `turns` and `inputs` tell of those that were
    accounted for. `budget` is whatever the session's budget wants back. Functions cannot be saved: `tools` are the
    schemas that the model knew, for people and for other programs. `typed` has what was typed, for those of the
    messages that say something else, `waiting` what was said and is in no turn yet, `cancelled_at` the id of the
    message with which the last turn broke off, if it was cancelled. `log_seq` is the last record of the session's log
    that is contained here.
    """

    format: str = FORMAT
    session_id: str | None = None
    description: str | None = None
    created_at: datetime
    updated_at: datetime
    connection: Connection = Connection()
    workspace: str | None = None
    turn_count: int = 0
    turns: tuple[SavedTurn, ...] = ()
    inputs: tuple[UserInput, ...] = ()
    interrupted: InterruptedTurn | None = None
    budget: JSON = None
    usage: TokenUsage = TokenUsage()
    system: SystemInstruction = None
    tools: tuple[ToolSchema, ...] = ()
    messages: tuple[Message, ...] = ()
    typed: tuple[Typed, ...] = ()
    waiting: tuple[Prompt, ...] = ()
    cancelled_at: str | None = None
    log_seq: int = 0

    def __post_init__(self) -> None:
        _use_utc(self, "created_at", "updated_at")
        force_setattr(self, "budget", freeze(self.budget, "$.budget"))

    @property
    def title(self) -> str | None:
        """The description, or else the first thing that was typed, on one line."""
        return title_of(self.description, self.inputs)


def title_of(description: str | None, inputs: tuple[UserInput, ...]) -> str | None:
    """What a list calls a session."""
    text = description or (inputs[0].text if inputs else "")
    return " ".join(text.split())[:80] or None


def cancelled_at(state: SessionState) -> Message | None:
    """The message with which the last turn broke off."""
    if state.cancelled_at is None:
        return None
    return next((one for one in reversed(state.messages) if one.message_id == state.cancelled_at), None)


def budget(state: SessionState) -> BudgetState | None:
    """What the session's budget knew. Raises SavedSessionError for what no budget wrote."""
    if state.budget is None:
        return None
    try:
        return msgspec.convert(state.budget, BudgetState)
    except msgspec.ValidationError as error:
        raise SavedSessionError("$.budget", str(error)) from error


def at(seconds: float) -> datetime:
    """A clock's seconds since 1970 as a time in UTC."""
    return datetime.fromtimestamp(seconds, UTC)


def dump(state: SessionState) -> str:
    """The session as JSON text. Raises SavedSessionError, with the place, for a message that JSON has no form for."""
    try:
        return encode(state).decode()
    except PayloadError as error:
        raise SavedSessionError(_spot(state) or error.path, error.reason) from error


def load(text: str | bytes, *, file: str = "saved session") -> SessionState:
    """The inverse of `dump`, for every version that there has been. `file` is what an error calls the text.

    Raises SavedSessionError for text that is damaged, foreign, or of a version that is yet to come.
    """
    try:
        found = load_heading(text, file=file).format
        return _reader.decode(text) if found == FORMAT else _EARLIER[found](text)
    except PayloadError as error:
        raise SavedSessionError(error.path, error.reason, file=file) from error


class Heading(msgspec.Struct):
    """What a list says of a saved session, which costs less than to load it. `updated_at` is None before version 2."""

    format: str
    description: str | None = None
    updated_at: datetime | None = None
    connection: Connection = Connection()
    workspace: str | None = None
    inputs: tuple[UserInput, ...] = ()

    @property
    def title(self) -> str | None:
        """As `SessionState.title`."""
        return title_of(self.description, self.inputs)


def load_heading(text: str | bytes, *, file: str = "saved session") -> Heading:
    """As `load`, with the same errors, but for damage that is further inside."""
    try:
        heading = _heading.decode(text)
    except PayloadError as error:
        raise SavedSessionError(error.path, error.reason, file=file) from error
    if heading.format != FORMAT and heading.format not in _EARLIER:
        raise SavedSessionError("$.format", _unreadable(heading.format), file=file)
    return heading


def _unreadable(found: str) -> str:
    number = re.fullmatch(r"turnproof\.session/(\d+)", found)
    if number and int(number[1]) > _VERSION:
        return (
            f"{found!r} cannot be read here: this turnproof ({__version__}) knows versions up to {FORMAT!r}. "
            "Upgrade turnproof; until then, leave the file as it is"
        )
    known = ", ".join(map(repr, (*_EARLIER, FORMAT)))
    return f"{found!r} cannot be read here: another program wrote it, and this turnproof ({__version__}) reads {known}"


def _spot(state: SessionState) -> str | None:
    """Where the first message stands that cannot be written."""
    for index, message in enumerate(state.messages):
        for number, part in enumerate(message.parts):
            try:
                encode(part)
            except PayloadError:
                return f"$.messages[{index}].parts[{number}]"
    return None


def _use_utc(struct: msgspec.Struct, *fields: str) -> None:
    for field in fields:
        force_setattr(struct, field, in_utc(getattr(struct, field)))


class _Version1(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    format: str
    saved_at: float
    system: SystemInstruction = None
    tools: tuple[ToolSchema, ...] = ()
    messages: tuple[Message, ...] = ()
    usage: TokenUsage = TokenUsage()


def _from_version_1(text: str | bytes) -> SessionState:
    saved = _version_1.decode(text)
    try:
        time = at(saved.saved_at)
    except (ValueError, OverflowError, OSError) as error:
        raise PayloadError("$.saved_at", f"{saved.saved_at!r} is no time: {error}") from error
    return SessionState(
        created_at=time,
        updated_at=time,
        turn_count=len(turn_starts(saved.messages)),
        usage=saved.usage,
        system=saved.system,
        tools=saved.tools,
        messages=saved.messages,
    )


_VERSION = int(FORMAT.rpartition("/")[2])
_heading: Reader[Heading] = Reader(Heading)
_reader: Reader[SessionState] = Reader(SessionState)
_version_1: Reader[_Version1] = Reader(_Version1)

_EARLIER: dict[str, Callable[[str | bytes], SessionState]] = {"turnproof.session/1": _from_version_1}
