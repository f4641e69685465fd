"""Outcomes and callers that nobody measured."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from turnproof.commands.bench.report import AdapterBench, Bench, Count, Ratio, Size, Time
from turnproof.judge.run_log import Environment
from turnproof.messages import Message, ProviderResponse, Text
from turnproof.provider import Binding, Capabilities, Conversation, Endpoint, OnChunk
from turnproof_adapters.anthropic.binding import BINDING as REFERENCE

TIMES = (
    Time("turn", "sdk.call", 2, 2.0, (2.0, 2.5)),
    Time("turn", "stateless", 2, 1.0, (1.0, 1.25)),
    Time("turn", "stateless", 200, 1.5, (1.5, 2.0)),
    Time("delta", "stateless", 2, 0.01, (0.01, 0.02)),
)
SIZES = (
    Size("peak", "stateless", 2, 4096.0, "bytes"),
    Size("held", "sdk.call", 200, 1200.5, "bytes a message"),
)
RATIOS = (
    Ratio("turn", "stateless", 2, "sdk.call", 2, 0.5, 0.4, 0.6),
    Ratio("turn", "stateless", 200, "stateless", 2, 1.5, 1.5, 1.6),
)
COUNTS = (
    Count("turn", "stateless", 2, {"complete": 1}, 1, 0, 3, 1),
    Count("collect", "legacy", 200, {"create_session": 1, "send_message": 1}, 1, 100, 100),
)


def adapter(**changes: Any) -> AdapterBench:
    defaults: dict[str, Any] = {
        "dialect": "anthropic-messages",
        "model": "m",
        "package": "anthropic",
        "plain_calls": ("sdk.call",),
        "times": TIMES,
        "sizes": SIZES,
        "ratios": RATIOS,
        "counts": COUNTS,
    }
    return AdapterBench(**defaults | changes)


def outcome(**changes: Any) -> Bench:
    defaults: dict[str, Any] = {
        "schema": "turnproof.bench/2",
        "turnproof": "0.1.0",
        "started": "2026-11-23T10:00:00+00:00",
        "rounds": 5,
        "messages": (2, 200),
        "environment": Environment("3.11.7", "Linux", {"anthropic": "2.12.0"}),
        "adapters": {"mine": adapter()},
    }
    return Bench(**defaults | changes)


class Scripted:
    """A caller that says and does what a test wants."""

    def __init__(self, says: str = "hello", on_call: Callable[[], None] = lambda: None) -> None:
        self.done: list[str] = []
        self._says, self._on_call = says, on_call

    def ready(self) -> None:
        self.done.append("ready")

    def ask(self) -> str:
        self.done.append("ask")
        self._on_call()
        return self._says

    def stream(self, on_chunk: OnChunk) -> None:
        self.done.append("stream")
        on_chunk(self._says[:2])
        self._on_call()
        on_chunk(self._says[2:])

    def close(self) -> None:
        self.done.append("close")


class _Liar:
    """Answers for the provider, instead of what it said."""

    def complete(self, messages: list[Message], *_: object, **__: object) -> ProviderResponse:
        print("an adapter may print")
        return ProviderResponse((Text("something else"),))


def _slow_to_fail(endpoint: Endpoint) -> Any:
    """The reference adapter, which long conversations are too much for."""
    assert REFERENCE.open_stateless is not None
    provider = REFERENCE.open_stateless(endpoint)
    complete = provider.complete

    def limited(messages: list[Message], *args: Any, **options: Any) -> ProviderResponse:
        if len(messages) > 3:
            raise OverflowError(f"too long for me, and {endpoint.api_key} is my key")
        response: ProviderResponse = complete(messages, *args, **options)
        return response

    provider.complete = limited
    return provider


def _hard_to_leave(endpoint: Endpoint) -> Any:
    """The reference adapter, which fails when it is shut down."""
    assert REFERENCE.open_stateless is not None
    provider = REFERENCE.open_stateless(endpoint)
    shutdown = provider.shutdown

    def refuse() -> None:
        shutdown()
        raise OverflowError("stay")

    provider.shutdown = refuse
    return provider


class _Hoarder:
    """Keeps a kilobyte beside each message that it is given, until it is told to forget."""

    def __init__(self) -> None:
        self._buffers: list[bytearray] = []

    def complete(self, messages: list[Message], *_: object, **__: object) -> ProviderResponse:
        self._buffers += [bytearray(1000) for _ in messages]
        return ProviderResponse((Text("hello"),))

    def forget_encodings(self) -> None:
        self._buffers.clear()

    def shutdown(self) -> None:
        pass


class _Native(Scripted):
    """A plain call that shows its history."""

    def __init__(self, endpoint: Endpoint, conversation: Conversation) -> None:
        super().__init__()
        self.history = [{"text": f"{number}" * 500} for number in range(len(conversation.messages))]

    def begin(self) -> None:
        pass

    def say(self, text: str) -> str:
        return text


HOARDER = Binding(
    "hoarder",
    "anthropic-messages",
    REFERENCE.model,
    Capabilities(),
    open_stateless=lambda endpoint: _Hoarder(),
    plain_calls={"native": _Native, "mute": lambda endpoint, conversation: Scripted()},
)
LIAR = Binding("liar", "anthropic-messages", REFERENCE.model, Capabilities(), open_stateless=lambda endpoint: _Liar())
SHORT_OF_BREATH = Binding(
    "short-of-breath",
    "anthropic-messages",
    REFERENCE.model,
    Capabilities(streaming=True),
    open_stateless=_slow_to_fail,
)
HARD_TO_LEAVE = Binding(
    "hard-to-leave", "anthropic-messages", REFERENCE.model, Capabilities(), open_stateless=_hard_to_leave
)
STRANGER = Binding("stranger", "no-such-dialect", "m", Capabilities())
