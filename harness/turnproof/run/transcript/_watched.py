"""Events that somebody who watches the run adds: the session's spans, and what its provider is, holds and can do."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from ...messages import TokenUsage
from ...provider import Path
from ._event import BaseEvent


class SpanMade(BaseEvent, frozen=True, kw_only=True, omit_defaults=True, tag="span"):
    """An OpenTelemetry span of the session. All spans of a run are recorded when it is over, parents first.

    `span` counts them in that order; `parent` is the count of the one above it, -1 where there is none. Siblings stand
    in the order in which they began; tool calls beside each other by what they say, since they may begin at once.
    `during` is what was being done when it began: `turn`, or an operation by the word that scenarios have for it; it is
    `child` all through a turn of a child that others go on beside.
    `calls` are how many provider calls had been made when it began, and when it ended. `notes` are the events in it,
    each `{"name", "attributes"}`. One that never `ended` is recorded as it was at the end of the run.

    Those named `turnproof.work` are turnproof's own: made where a provider is called, or where the tool runs that
    `turnproof.work.tool` names, so that their parents show which span was the current one.
    """

    span: int
    name: str
    kind: str
    status: Literal["unset", "ok", "error"]
    calls: tuple[int, int]
    parent: int = -1
    attributes: dict[str, Any] = msgspec.field(default_factory=dict)
    description: str = ""
    notes: tuple[dict[str, Any], ...] = ()
    during: str = ""
    ended: bool = True


class ProviderSeen(BaseEvent, frozen=True, kw_only=True, omit_defaults=True, tag="provider_seen"):
    """A provider object as it is, in a run that is watched.

    `cls` is its class as `module:name`, `methods` are those by which a provider owns a history (`create_session` and
    so on), and `path` is the one that it was opened for. `how`: it was `given` to the session, was only `opened` to be
    looked at, or is `behind` another one that the adapter's binding put in front of it. `complete` says whether it has
    such a method, and `refuses` why that one cannot be called as the contract has it. `takes_plugin`: it has a
    `set_cache_plugin`.
    """

    cls: str
    how: Literal["given", "opened", "behind"]
    path: Path | None = None
    methods: tuple[str, ...] = ()
    complete: bool = False
    refuses: str = ""
    takes_plugin: bool = False


class ProviderTouched(BaseEvent, frozen=True, kw_only=True, omit_defaults=True, tag="provider_touched"):
    """The session used something of its provider, in a run that is watched.

    `during` is what was being done: `open`, `turn`, `context`, `usage`, or an operation by the word that scenarios have
    for it. `call` is that of the last provider call so far. A repeated use in the same place is recorded once.
    """

    name: str
    how: Literal["read", "called", "written"]
    during: str


class ProviderHolds(BaseEvent, frozen=True, kw_only=True, omit_defaults=True, tag="provider_holds"):
    """What was found in a provider's own state, in a run that is watched.

    `after` is `conversation` (the session still lives, so that it may hold messages itself) or `call` (nobody but the
    provider can hold any more what was said). `messages` are the places that hold what was said in the conversation,
    `plugins` those that hold the session's cache plugin. `looked_at` counts the objects; `whole` says that there were
    no more of them.
    """

    cls: str
    after: Literal["conversation", "call"]
    looked_at: int
    whole: bool = True
    messages: tuple[str, ...] = ()
    plugins: tuple[str, ...] = ()


class ProviderAsked(BaseEvent, frozen=True, kw_only=True, omit_defaults=True, tag="provider_asked"):
    """Something that a provider does beside answering was tried, in a run that is watched.

    `outcome`: it `works`, it `fails` (`said` tells how), the provider has `none`, or it is `unknown` how it is called.
    Of what works, `said` names the methods that it lacks.
    """

    what: str
    outcome: Literal["works", "fails", "none", "unknown"]
    said: str = ""


class Accounts(BaseEvent, frozen=True, kw_only=True, omit_defaults=True, tag="accounts"):
    """What a session accounts for, in a run that is watched: the last figures, and turns. None where it shows none.

    `at` says when: right `before` a reset, or `after` it.
    """

    at: Literal["before", "after"]
    usage: TokenUsage | None = None
    turns: int | None = None
