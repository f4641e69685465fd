"""Events of a session's operations beside its turns: saved, loaded, collected, reset."""

from __future__ import annotations

from ...messages import Message, TokenUsage
from ...provider import Path
from ..tracebacks import Raised
from ._event import BaseEvent


class Collected(BaseEvent, frozen=True, kw_only=True, omit_defaults=True, tag="collected"):
    """History was collected: message ids before, and after."""

    before: tuple[str, ...]
    after: tuple[str, ...]


class Saved(BaseEvent, frozen=True, kw_only=True, omit_defaults=True, tag="saved"):
    """The session was saved; `data` is the saved text."""

    data: str


class Loaded(BaseEvent, frozen=True, kw_only=True, omit_defaults=True, tag="loaded"):
    """A session was loaded into a fresh one. `damaged` says that the text had been: the run does not go on with it.

    `path` is the one that the loaded session is on, where it was saved on the other. `message_ids` is what the session
    claims of that name: where it is False, the ids of the messages are made up each time that they are read.
    """

    messages: tuple[Message, ...]
    damaged: bool = False
    path: Path | None = None
    message_ids: bool = True


class Swapped(BaseEvent, frozen=True, kw_only=True, omit_defaults=True, tag="swapped"):
    """The provider object was replaced by a fresh one in mid conversation."""

    name: str


class Reset(BaseEvent, frozen=True, kw_only=True, omit_defaults=True, tag="reset"):
    """The session was told to forget the conversation."""


class Reverted(BaseEvent, frozen=True, kw_only=True, omit_defaults=True, tag="reverted"):
    """The session went back to the end of turn `to` of its history, counted from 0."""

    to: int


class Refused(BaseEvent, frozen=True, kw_only=True, omit_defaults=True, tag="refused"):
    """An operation of the session raised; it has to have changed nothing. Or the session called a tool with what no
    model can have sent, which has the operation `tool`."""

    operation: str
    error: str
    message: str
    raised: Raised | None = None


class HelperCalled(BaseEvent, frozen=True, kw_only=True, omit_defaults=True, tag="helper_called"):
    """A probe called one of the adapter's methods beside `complete()`, with the messages of the call of this number.

    `method` is `count_tokens`, with `returned` as what it counted (with `alone` without system text and tools),
    or `deserialize_history`, with `messages` as what came back of the text of `serialize_history`.
    `returned` is a text where that is something else than the contract says. `error` and `said` tell what was raised.
    """

    method: str
    returned: int | str | None = None
    messages: tuple[Message, ...] = ()
    alone: bool = False
    error: str = ""
    said: str = ""
    raised: Raised | None = None


class UsageReport(BaseEvent, frozen=True, kw_only=True, omit_defaults=True, tag="usage_report"):
    """What the session gives as its provider's last figures, after a turn."""

    usage: TokenUsage


class ContextReport(BaseEvent, frozen=True, kw_only=True, omit_defaults=True, tag="context_report"):
    """How many tokens of context the conversation takes, by the session's account, after a turn or an operation."""

    tokens: int
