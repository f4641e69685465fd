"""The last part of a run in which everything is watched: what an adapter opens, what stays of it, what it keeps.

All of it happens on fresh objects, behind the conversation, and its requests count as those of a probe.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from ...messages import Message
from ...provider import PATHS
from ..transcript import ProviderAsked
from .provider_watch import ProviderWatch, holding
from .providers import Providers
from .recorder import Recorder
from .retention import ask

_MARKS = ("What grows in bed 17-41-93?", "And is it ripe, in bed 17-41-93?")
"""Said to a provider, so that it can be found in it."""


def look_at_adapter(providers: Providers, watcher: ProviderWatch, recorder: Recorder) -> None:
    """Put down all of it. An adapter that opens nothing has nothing to show."""
    for path in PATHS:
        if providers.has_path(path):
            own = providers.own(providers.open(path))
            watcher.note_provider(own, "opened", path, providers.refusal(own) if path == "stateless" else "")
    if not providers.has_path("stateless"):
        return
    recorder.probe = "watch"
    recorder.control.ask("probe", "watch")
    for streamed in (False, True):
        _call_and_look(providers, recorder, streamed)
    with _asking(recorder):
        events = ask(providers.own(providers.open("stateless")), providers.binding, providers.endpoint)
    for one in events:
        recorder.event(one)
    recorder.probe = ""
    recorder.control.ask("probe", "")


def _call_and_look(providers: Providers, recorder: Recorder, streamed: bool) -> None:
    """A call with messages that nobody else holds, and what is left of them in the provider when they are gone."""
    provider: Any = providers.open("stateless")
    with _asking(recorder):
        try:
            answer = _complete(provider, _unheard if streamed else None)
        except Exception as error:
            message = f"a call with three messages raised {type(error).__name__}: {error}"
            recorder.event(ProviderAsked(what="complete", outcome="fails", said=message, probe=recorder.probe))
            return
    found = holding(providers.own(provider), "call", answer, texts=_MARKS)
    if found.messages:
        gc.collect()  # what only waits to be freed is not held
        found = holding(providers.own(provider), "call", answer, texts=_MARKS)
    recorder.event(found)


def _complete(provider: Any, on_chunk: Callable[[str], None] | None) -> frozenset[str]:
    """Make the call; the ids of its messages, which are gone by then."""
    first, second = _MARKS
    messages = [Message.user(first), Message.model("Tomatoes."), Message.user(second)]
    provider.complete(messages, None, None, on_chunk=on_chunk)
    return frozenset(message.message_id for message in messages)


@contextmanager
def _asking(recorder: Recorder) -> Iterator[None]:
    """What is sent meanwhile belongs to no call of the session."""
    recorder.call = -1
    recorder.control.ask("call-begins", (-1, recorder.probe))
    try:
        yield
    finally:
        recorder.end()


def _unheard(_: str) -> None:
    """What the provider says is of no interest."""
