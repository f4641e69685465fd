"""The reference session, wrong on purpose in one place each, and right in ways of its own; as `gates.sessions:NAME`."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from typing import Any
from weakref import WeakKeyDictionary

from turnproof.messages import Message, Part, ToolResult
from turnproof.provider import Difference, Path
from turnproof.session.binding import REFERENCE, open_session, send
from turnproof.session.flag import path_by_flag
from turnproof.session.session import Session
from turnproof.subject import Flag, SessionReply, SessionSetup, SessionTurn
from turnproof_adapters.anthropic.binding import BINDING as ANTHROPIC

VARIABLE = Flag().variable

FLIPPED = replace(REFERENCE, name="flipped", flag=Flag(default=True))
"""As the reference session is after its flag has flipped."""

UNFLIPPED = replace(REFERENCE, name="unflipped")
"""As the reference session is before that, whatever phase it is."""

MUTE = replace(REFERENCE, name="mute", provider_history=None)
"""Does not show what its provider holds."""


# -- a history that drifts after a cancel --------------------------------------------------------------------------


_hidden_ids: WeakKeyDictionary[Session, set[str]] = WeakKeyDictionary()


def _send_and_forget(session: Session, content: str | Sequence[Part], turn: SessionTurn) -> SessionReply:
    reply = send(session, content, turn)
    if reply.outcome == "cancelled" and (messages := session.history.messages):
        _hidden_ids.setdefault(session, set()).add(messages[-1].message_id)
    return reply


def _remembered(session: Session) -> list[Message]:
    hidden_ids = _hidden_ids.get(session, set())
    return [message for message in session.history.messages if message.message_id not in hidden_ids]


DRIFTS = replace(REFERENCE, name="drifts", send=_send_and_forget, send_parts=_send_and_forget, history=_remembered)
"""Forgets the last message of a cancelled turn, which its provider remembers."""


# -- a stateless path that loses a tool's result ---------------------------------------------------------------------


class Losing:
    """A provider of the stateless path whose session forgets to pass on what the last tool said."""

    def __init__(self, provider: Any) -> None:
        self.provider = provider

    def complete(self, messages: Sequence[Message], *arguments: Any, **options: Any) -> Any:
        return self.provider.complete([_without_result(message) for message in messages], *arguments, **options)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.provider, name)


def _without_result(message: Message) -> Message:
    parts = (
        ToolResult(part.call_id, part.name, "") if isinstance(part, ToolResult) else part for part in message.parts
    )
    return Message(message.role, tuple(parts), message.message_id)


def _losing(setup: SessionSetup) -> SessionSetup:
    def open_provider(path: Path) -> Any:
        provider = setup.open_provider(path)
        return Losing(provider) if path == "stateless" else provider

    return replace(setup, open_provider=open_provider, cache_plugin=None)


LOSES_RESULTS = replace(REFERENCE, name="loses-results", open=lambda setup: open_session(_losing(setup)))


# -- flags that are not what they seem -------------------------------------------------------------------------------


def _always_legacy(setup: SessionSetup) -> Session:
    return open_session(replace(setup, path="legacy"))


IGNORES_FLAG = replace(REFERENCE, name="ignores-flag", open=_always_legacy)

PRETENDS = replace(IGNORES_FLAG, name="pretends", path=lambda session: path_by_flag(Flag(), ("stateless", "legacy")))
"""Names the path that the flag asks for, and takes the old one."""

_AT_IMPORT: Path = "stateless" if os.environ.get(VARIABLE) == "1" else "legacy"

READS_AT_IMPORT = replace(
    REFERENCE, name="reads-at-import", open=lambda setup: open_session(replace(setup, path=_AT_IMPORT))
)
"""Right, but reads its flag once, while its module is imported."""


def _opens_its_own(setup: SessionSetup) -> Session:
    path = setup.path or path_by_flag(setup.flag, setup.paths)
    opener = ANTHROPIC.opener(path)
    assert opener is not None
    return open_session(replace(setup, path=path, open_provider=lambda _: opener(setup.endpoint), cache_plugin=None))


BLIND = replace(REFERENCE, name="blind", open=_opens_its_own, swap=None, load=None, save=None, path=None)
"""Opens its provider itself, and does not tell on which path."""


def _closed_when_on(setup: SessionSetup) -> Session:
    if os.environ.get(VARIABLE) == "1":
        raise RuntimeError("complete() is not there yet")
    return open_session(setup)


FAILS_WHEN_ON = replace(REFERENCE, name="fails-when-on", open=_closed_when_on)

DECLARES = replace(
    REFERENCE, name="declares", declared=[Difference("stream-usage-late", "the old path reads usage after the stream")]
)
"""Declares a difference that it does not have."""

ONLY_STATELESS = replace(ANTHROPIC, name="only-stateless", open_legacy=None)
"""An adapter that has no legacy path any more."""

NO_SESSION = {"open": open_session}
