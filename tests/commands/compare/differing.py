"""The reference adapter with a legacy path that does one thing otherwise, on purpose, each."""

from __future__ import annotations

import dataclasses
import itertools
import threading
from collections.abc import Callable
from typing import Any

from msgspec.structs import replace

from turnproof.errors import InvalidRequestError, ProviderError
from turnproof.messages import FunctionCall, Text, TokenUsage
from turnproof.provider import Binding, Difference, Endpoint
from turnproof_adapters.anthropic.binding import BINDING as REFERENCE
from turnproof_adapters.google_interactions.binding import BINDING as INTERACTIONS
from turnproof_adapters.openai_responses.binding import BINDING as RESPONSES

_SENDING = ("send_message", "send_message_with_parts", "send_tool_results")
Sends = Callable[..., Any]


class Otherwise:
    """The legacy provider, with every sending call done by `send`, and its history told by `history`."""

    def __init__(self, inner: Any, send: Callable[[Any, Sends, Any, Any], Any], history: Callable[[Any], Any]) -> None:
        self._inner, self._send, self._history = inner, send, history

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._inner, name)
        if name.removesuffix("_streaming") not in _SENDING:
            return found
        return lambda *args, **kw: self._send(self._inner, found, args, kw)

    def get_history(self) -> Any:
        return self._history(self._inner.get_history())


def _as_it_is(inner: Any, send: Sends, args: Any, kw: Any) -> Any:
    return send(*args, **kw)


def toy(
    name: str,
    send: Callable[[Any, Sends, Any, Any], Any] = _as_it_is,
    history: Callable[[Any], Any] = lambda messages: messages,
    declared: tuple[Difference, ...] = (),
    of: Binding = REFERENCE,
    **options: Any,
) -> Binding:
    """A binding, without what it declares, with another legacy path."""
    opener = of.open_legacy
    assert opener is not None

    def open_legacy(endpoint: Endpoint) -> Otherwise:
        return Otherwise(opener(dataclasses.replace(endpoint, options={**endpoint.options, **options})), send, history)

    return dataclasses.replace(of, name=name, open_legacy=open_legacy, declared=declared)


def answering(change: Callable[[Any], Any]) -> Callable[[Any, Sends, Any, Any], Any]:
    """Sends as it is, and returns something else."""
    return lambda inner, send, args, kw: change(send(*args, **kw))


def _shouting(response: Any) -> Any:
    return replace(response, parts=tuple(_loud(part) for part in response.parts))


def _loud(part: Any) -> Any:
    return replace(part, text=part.text.upper()) if isinstance(part, Text) else part


def _shouting_at_the_service(inner: Any, send: Sends, args: Any, kw: Any) -> Any:
    message, *rest = args
    return send(message.upper() if isinstance(message, str) else message, *rest, **kw)


def _own_ids(response: Any) -> Any:
    calls = itertools.count(1)
    parts = (
        replace(part, id=f"call_{next(calls)}") if isinstance(part, FunctionCall) else part for part in response.parts
    )
    return replace(response, parts=tuple(parts))


def _without_usage(response: Any) -> Any:
    return replace(response, usage=TokenUsage())


def _counting(inner: Any, send: Sends, args: Any, kw: Any) -> Any:
    inner.count_tokens(inner.get_history())
    return send(*args, **kw)


def _misjudging(inner: Any, send: Sends, args: Any, kw: Any) -> Any:
    try:
        return send(*args, **kw)
    except ProviderError as error:
        raise InvalidRequestError(error.message, status=error.status) from error


def _telling_late(inner: Any, send: Sends, args: Any, kw: Any) -> Any:
    """Announces the calls first, and shows the text when all of it is there."""
    pieces: list[str] = []
    show = args[-1]
    if not callable(show):
        return send(*args, **kw)
    response = send(*args[:-1], pieces.append, **kw)
    for piece in pieces:
        show(piece)
    return response


_ids = itertools.count()


def _never_the_same(response: Any) -> Any:
    return replace(response, parts=tuple(_numbered(part) for part in response.parts))


def _numbered(part: Any) -> Any:
    return replace(part, text=f"{part.text} ({next(_ids)})") if isinstance(part, Text) else part


def _closed(endpoint: Endpoint) -> Any:
    raise RuntimeError("the region is closed")


def _hanging(inner: Any, send: Sends, args: Any, kw: Any) -> Any:
    threading.Event().wait()


HANGS = toy("hangs", _hanging)
SAME = toy("same")
SETTINGS = toy("settings", max_tokens=77)
SHOUTS = toy("shouts", answering(_shouting))
OWN_IDS = toy("own-ids", answering(_own_ids))
NO_USAGE = toy("no-usage", answering(_without_usage))
COUNTS = toy("counts", _counting)
MISJUDGES = toy("misjudges", _misjudging)
LATE = toy("late", _telling_late)
FORGETS = toy("forgets", history=lambda messages: messages[:-1])
NOISY = toy("noisy", answering(_never_the_same))
DECLARES = toy(
    "declares",
    answering(_without_usage),
    declared=(
        Difference("stream-usage-late", "the gateway is late"),
        Difference("usage-differs", "it counts nothing"),
    ),
)
STALE = toy("stale", declared=(Difference("tool-order", "sorted once"),))
TYPO = toy("typo", declared=(Difference("tool-ordre", "sorted once"),))
BLANK = toy("blank", declared=(Difference("tool-order", " "),))
CHAIN = toy("chain", of=RESPONSES)
INTERACTIONS_CHAIN = toy("interactions-chain", of=INTERACTIONS)
CHAIN_SHOUTS = toy("chain-shouts", _shouting_at_the_service, of=RESPONSES)
CHAIN_LIMITED = toy("chain-limited", of=RESPONSES, max_tokens=777)
ONE_PATH = dataclasses.replace(REFERENCE, name="one-path", open_legacy=None)
OTHER_PATH = dataclasses.replace(REFERENCE, name="other-path", open_stateless=None)
SAME_AGAIN = toy("same")
CLOSED = dataclasses.replace(REFERENCE, name="closed", open_legacy=_closed)
