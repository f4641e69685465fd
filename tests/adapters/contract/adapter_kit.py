"""What the contract suite knows of an adapter: how to open its paths, and how its API writes answers and failures.

`tests/adapters/NAME/kit.py` has one `KIT` per adapter. The suite describes an answer by its parts, and a kit writes
them in the form of its API.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, TypeAlias

import pytest

from turnproof.cancel import CancelToken
from turnproof.messages import Message, Part, ProviderResponse

from ..callback_recorder import CallbackRecorder

Path: TypeAlias = Literal["stateless", "legacy"]
PATHS: tuple[Path, ...] = ("stateless", "legacy")
CALLBACKS = ("on_chunk", "on_thinking", "on_function_call", "on_usage_update")

Ending: TypeAlias = Literal["stop", "calls", "limit"]
"""Why an answer ended: the model was done, it calls tools, or it reached the limit of tokens."""


@dataclass(frozen=True)
class WireText:
    """A text, one piece per event of a stream."""

    pieces: tuple[str, ...]

    @property
    def text(self) -> str:
        return "".join(self.pieces)


@dataclass(frozen=True)
class WireThinking:
    """Thinking, one piece per event of a stream."""

    pieces: tuple[str, ...]

    @property
    def text(self) -> str:
        return "".join(self.pieces)


@dataclass(frozen=True)
class WireCall:
    """A tool call. `arguments` is JSON, one piece per event where the API cuts it into pieces."""

    call_id: str
    name: str
    arguments: tuple[str, ...] = ("{}",)

    @property
    def json(self) -> str:
        return "".join(self.arguments)


WirePart: TypeAlias = WireText | WireThinking | WireCall


def text(*pieces: str) -> WireText:
    return WireText(pieces)


def thinking(*pieces: str) -> WireThinking:
    return WireThinking(pieces)


def call(call_id: str, name: str = "rm", *arguments: str) -> WireCall:
    return WireCall(call_id, name, arguments or ("{}",))


@dataclass(frozen=True)
class CancelMoment:
    """What has arrived of a stream when it is cancelled, and what the response then holds."""

    events: Sequence[bytes]
    parts: tuple[type[Part], ...] = ()
    text: str = ""
    has_usage: bool = False
    """Whether figures have arrived."""
    options: Mapping[str, Any] = field(default_factory=dict)
    """Settings of the provider."""


class AdapterKit(Protocol):
    """One adapter as the contract suite drives it."""

    name: str
    reported_model: str
    """The model that an answer names."""
    callbacks: tuple[str, ...]
    """The callbacks for which its API sends something."""
    key: str
    """The key that `open` sends."""
    arguments_are_text: bool
    """Whether the arguments of a call are JSON in a string, which may be malformed."""
    optional_last_events: int
    """How many events at the end of a stream an answer is whole without."""
    ignored_events: tuple[bytes, ...]
    """Events that say nothing, or that nobody knows."""
    calls_arrive_whole: bool
    """Whether a call is one event of a stream, so that a callback gets it before the stream ends."""
    exempt: frozenset[tuple[Path, str]]
    """Cases of the suite that a path does not meet, because its SDK reads the bytes."""

    def open(self, path: Path, url: str, **options: Any) -> Any: ...

    def answer(self, *parts: WirePart, ending: Ending = "stop") -> Any:
        """The body of a batch answer."""

    def stream(self, *parts: WirePart, ending: Ending = "stop") -> list[bytes]:
        """The events of a whole stream."""

    def overloaded_event(self, message: str) -> bytes:
        """An event of a stream that ends it with an `OverloadedError`."""

    def broken_event(self, data: bytes) -> bytes:
        """An event with these bytes for its data."""

    def comparable(self, body: Any) -> Any:
        """The body of a request without what the two paths write in different ways that mean the same."""

    def cancel_moments(self) -> Mapping[str, CancelMoment]:
        """Every moment of a stream at which a cancel may come."""


HI = Message.user("hi")


class OpenedPath:
    """A provider on one path, called in the same way whichever path it is."""

    def __init__(self, kit: AdapterKit, path: Path, url: str, **options: Any) -> None:
        self.path = path
        self.provider = kit.open(path, url, **options)

    def batch(self, message: Message = HI, token: CancelToken | None = None) -> ProviderResponse:
        if self.path == "stateless":
            response = self.provider.complete([message], cancel_token=token)
        else:
            response = self.provider.send_message(message.text, cancel_token=token)
        assert isinstance(response, ProviderResponse)
        return response

    def stream(
        self,
        callbacks: CallbackRecorder | Mapping[str, Any] | None = None,
        message: Message = HI,
        token: CancelToken | None = None,
    ) -> ProviderResponse:
        """The answer as a stream, with all callbacks set."""
        if callbacks is None:
            callbacks = CallbackRecorder()
        if isinstance(callbacks, CallbackRecorder):
            callbacks = callbacks.callbacks
        if self.path == "stateless":
            response = self.provider.complete([message], cancel_token=token, **callbacks)
        else:
            rest: dict[str, Any] = dict(callbacks)
            on_chunk = rest.pop("on_chunk")
            response = self.provider.send_message_streaming(message.text, on_chunk, cancel_token=token, **rest)
        assert isinstance(response, ProviderResponse)
        return response

    def ask(self, streamed: bool, token: CancelToken | None = None) -> ProviderResponse:
        return self.stream(token=token) if streamed else self.batch(token=token)


@dataclass(frozen=True)
class Subject:
    """One path of one adapter."""

    kit: AdapterKit
    path: Path

    def open(self, url: str, **options: Any) -> OpenedPath:
        return OpenedPath(self.kit, self.path, url, **options)

    def claimed(self, cases: Iterable[str]) -> list[str]:
        """The cases that this path must meet."""
        return [case for case in cases if (self.path, case) not in self.kit.exempt]


def each_path_of(kit: AdapterKit) -> pytest.MarkDecorator:
    """Parametrizes `subject` by both paths of one adapter."""
    return pytest.mark.parametrize("subject", [Subject(kit, path) for path in PATHS], ids=PATHS)
