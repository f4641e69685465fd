"""Probes of answers in the background.

`background`: an answer is taken up by an object that did not ask for it, and another one is cancelled.

The first object asks, and is left as soon as the service has named the answer, as a process that ends there leaves it;
or when a piece of the answer comes before that.
The second one takes the answer up by its name. A third one asks something else, and is cancelled once that answer has a
name.

`broken-stream`: the service breaks the stream of an answer, and the first one that goes on with it. An adapter may go
on within its call, or raise: then another object takes the answer up.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

from ...background_answers import BackgroundCall, RunningAnswer
from ...cancel import CancelToken
from ...messages import Message, ProviderResponse
from ...provider import OnChunk
from ...session.ports import takes
from ..transcript import CallBegan

POLL = 0.001
"""Seconds between two questions: the emulated service gets on with an answer whenever it is asked."""

Begins = Callable[[Any, CallBegan], bool]
"""Has an object hold the conversation ahead of a call; False where it cannot."""

Record = Callable[[CallBegan, Callable[[], ProviderResponse]], ProviderResponse | None]
"""Makes a call and puts it down; None if it raised."""

_ATTEMPTS = 3
"""Calls for an answer whose stream breaks: one more than it breaks."""


class ProcessEnded(Exception):
    """Nothing of the call comes behind this, as if its process had ended here."""


def take_up_and_cancel(open_object: Callable[[], Any], like: CallBegan, begins: Begins, record: Record) -> None:
    """The three calls of the probe, as far as the adapter has them. All texts differ: an answer to an identical request
    has the id of the first one."""
    first = open_object()
    if not hasattr(first.wrapped, "in_background"):
        return
    names: list[RunningAnswer] = []

    def end(answer: RunningAnswer) -> None:
        names.append(answer)
        raise ProcessEnded

    def end_at_text(text: str) -> None:
        raise ProcessEnded

    asking = _asking(like, 0, "What grows in bed 3 now?")
    _call(first, asking, BackgroundCall(on_began=end, poll_seconds=POLL), begins, record, on_chunk=end_at_text)
    if not names:
        return
    second = open_object()
    again = BackgroundCall(on_began=lambda answer: None, running=names[0], poll_seconds=POLL)
    _call(second, _asking(like, 1, "What grows in bed 3 now?"), again, begins, record)
    token = CancelToken()
    cancelled = BackgroundCall(on_began=lambda answer: token.cancel(), poll_seconds=POLL)
    _call(open_object(), _asking(like, 2, "And in bed 4?"), cancelled, begins, record, token)


def receive_broken_stream(
    open_object: Callable[[], Any], like: CallBegan, begins: Begins, record: Record, on_chunk: OnChunk
) -> None:
    """Calls until one returns, as far as the adapter has them: for an answer, and then for that same one. `on_chunk`
    gets what is shown of it."""
    names: list[RunningAnswer] = []
    for number in range(_ATTEMPTS):
        provider = open_object()
        if not like.streamed or not hasattr(provider.wrapped, "in_background"):
            return
        background = BackgroundCall(on_began=names.append, running=names[0] if names else None, poll_seconds=POLL)
        call = msgspec.structs.replace(like, call=like.call + number)
        if _call(provider, call, background, begins, record, on_chunk=on_chunk) is not None or not names:
            return


def _asking(like: CallBegan, number: int, text: str) -> CallBegan:
    return msgspec.structs.replace(like, call=like.call + number, messages=(Message.user(text),))


def _call(
    provider: Any,
    call: CallBegan,
    background: BackgroundCall,
    begins: Begins,
    record: Record,
    token: CancelToken | None = None,
    on_chunk: OnChunk = lambda text: None,
) -> ProviderResponse | None:
    if call.path == "legacy" and not begins(provider, call):
        return None

    def make() -> ProviderResponse:
        with provider.wrapped.in_background(background):
            make_call = _complete if call.path == "stateless" else _send
            response: ProviderResponse = make_call(provider, call, token, on_chunk)
            return response

    return record(call, make)


def _complete(provider: Any, call: CallBegan, token: CancelToken | None, on_chunk: OnChunk) -> Any:
    return provider.complete(
        list(call.messages),
        call.system,
        list(call.tools) or None,
        cancel_token=token,
        on_chunk=on_chunk if call.streamed else None,
    )


def _send(provider: Any, call: CallBegan, token: CancelToken | None, on_chunk: OnChunk) -> Any:
    text = call.messages[-1].text
    if call.streamed:
        return provider.send_message_streaming(text, on_chunk, cancel_token=token)
    options = {"cancel_token": token} if token is not None and takes(provider.send_message, "cancel_token") else {}
    return provider.send_message(text, **options)
