"""What the contract suite knows of an adapter: how to open its paths, and how its API writes answers and failures.

`tests/adapters/NAME/kit.py` has one `KIT` per adapter. The suite describes an answer by its parts, and a kit writes
them in the form of its API.
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, Literal, TypeAlias, TypeVar

import httpx2
import pytest

from turnproof.cancel import CancelToken
from turnproof.errors import ProviderError
from turnproof.messages import Message, Part, ProviderResponse, ToolSchema
from turnproof.provider import Binding, Endpoint
from turnproof_adapters._lifecycle import ModelFacts

from ..callback_recorder import CallbackRecorder
from .wire_parts import Ending, WirePart, call, text, thinking

T = TypeVar("T")
Path: TypeAlias = Literal["stateless", "legacy"]
PATHS: tuple[Path, ...] = ("stateless", "legacy")


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


@dataclass(frozen=True)
class KeyCheck:
    """The request by which a key is checked, and what the service answers to it."""

    path: str
    """Where it goes, behind the host."""
    accepted: Any
    """The document for a good key."""
    refusals: Sequence[tuple[int, Any]]
    """Status and document for a bad one."""


class AdapterKit(ABC):
    """One adapter as the contract suite drives it."""

    model: str
    """The model that `open` asks for."""
    key: str
    """The key that `open` sends."""
    binding: Binding | None = None
    """Its binding, where it is an adapter and no family of them."""
    openers: Mapping[Path, Callable[..., Any]]
    """Open a provider on each path, from an address and settings."""
    wire_name: Callable[[str], str]
    """The name under which it sends a tool."""
    facts_of: Callable[[str | None], ModelFacts] | None = None
    """What it knows of a model by its name."""
    models: tuple[str, ...] = ()
    """Models that differ in what they can do, one that nobody knows among them."""
    settings: Sequence[Mapping[str, Any]] = ({"max_tokens": 99},)
    """Settings of a provider that show in its requests."""
    failure_kinds: Mapping[str | None, type[ProviderError]] = {}
    """What its API may call a failure in a stream, and the error that each is."""
    optional_headers: frozenset[str] = frozenset()
    """Headers that one path always sends, and the other where they count."""
    messages_place: tuple[str, ...] = ("messages",)
    """The keys that lead to the messages in the body of a request."""
    key_check: KeyCheck | None = None
    ignored_events: tuple[bytes, ...]
    """Events that say nothing, or that nobody knows."""
    callbacks: tuple[str, ...] = ("on_chunk", "on_thinking", "on_function_call", "on_usage_update")
    """The callbacks for which its API sends something."""
    arguments_are_text: bool = True
    """Whether the arguments of a call are JSON in a string, which may be malformed."""
    optional_last_events: int = 0
    """How many events at the end of a stream an answer is whole without."""
    calls_arrive_whole: bool = True
    """Whether a call is one event of a stream, so that a callback gets it before the stream ends."""
    exempt: frozenset[tuple[Path, str]] = frozenset()
    """Cases of the suite that a path does not meet, because its SDK reads the bytes."""

    @property
    def name(self) -> str:
        """The adapter's name."""
        assert self.binding is not None
        return self.binding.name

    @property
    def reported_model(self) -> str:
        """The model that an answer names."""
        return self.model

    def open(self, path: Path, url: str, **options: Any) -> Any:
        return self.openers[path](url, **options)

    @abstractmethod
    def answer(self, *parts: WirePart, ending: Ending = "stop") -> Any:
        """The body of a batch answer."""

    @abstractmethod
    def stream(self, *parts: WirePart, ending: Ending = "stop") -> list[bytes]:
        """The events of a whole stream."""

    def failure_event(self, kind: str | None, message: str) -> bytes:
        """An event of a stream that ends it with a failure of `failure_kinds`."""
        raise NotImplementedError

    @abstractmethod
    def overloaded_event(self, message: str) -> bytes:
        """An event of a stream that ends it with an `OverloadedError`."""

    @abstractmethod
    def cancel_moments(self) -> Mapping[str, CancelMoment]:
        """Every moment of a stream at which a cancel may come; one is `in-text`."""

    def broken_event(self, data: bytes) -> bytes:
        """An event with these bytes for its data."""
        return b"data: %b\n\n" % data

    def comparable(self, body: Any) -> Any:
        """The body of a request without what the two paths write in different ways that mean the same."""
        return body

    def conversation(self, body: Any) -> Any:
        """What of a request tells the conversation, and not how it is answered."""
        return self.comparable(body)

    def endpoint(self, url: str, **options: Any) -> Endpoint:
        """Where `open` sends its requests, with its key."""
        return Endpoint(url, self.key, self.model, options)


def open_as(kind: type[T], opener: Callable[[Endpoint], Any] | None, endpoint: Endpoint) -> T:
    """A provider that a binding opens, which must be of this type."""
    assert opener is not None
    provider = opener(endpoint)
    assert isinstance(provider, kind)
    return provider


@dataclass(frozen=True)
class Opener(Generic[T]):
    """Opens one path of an adapter; what it is called with besides the address and the model are settings."""

    kind: type[T]
    open_path: Callable[[Endpoint], Any] | None
    key: str
    model: str
    url: str = "http://example.invalid"
    settings: Mapping[str, Any] = field(default_factory=dict)

    def __call__(self, url: str | None = None, model: str | None = None, **settings: Any) -> T:
        address, name = self.url if url is None else url, self.model if model is None else model
        endpoint = Endpoint(address, self.key, name, {**self.settings, **settings})
        return open_as(self.kind, self.open_path, endpoint)


def outcome(response: ProviderResponse) -> tuple[Any, ...]:
    """What must not depend on the path, or on how the answer arrived."""
    read = response.parts, response.usage, response.finish_reason, response.raw_finish
    return *read, response.structured_output, response.model


class RequestRecorder:
    """A transport in memory that records every request, and answers it as a batch or as a stream."""

    def __init__(self, reply: Any, events: Iterable[bytes]) -> None:
        self.requests: list[httpx2.Request] = []
        self.transport = httpx2.MockTransport(self._record)
        self._reply = reply
        self._events = b"".join(events)

    @property
    def body(self) -> Any:
        """The document of the last request."""
        return json.loads(self.requests[-1].content)

    def respond(self, request: httpx2.Request) -> httpx2.Response:
        if self.is_streamed(request):
            return httpx2.Response(200, content=self._events, headers={"content-type": "text/event-stream"})
        return httpx2.Response(200, json=self._reply)

    def is_streamed(self, request: httpx2.Request) -> bool:
        """Whether a request is for a stream."""
        return bool(request.content) and json.loads(request.content).get("stream") is True

    def _record(self, request: httpx2.Request) -> httpx2.Response:
        self.requests.append(request)
        return self.respond(request)


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

    def go_on(
        self, history: Sequence[Message], tools: Sequence[ToolSchema], callbacks: CallbackRecorder | None = None
    ) -> ProviderResponse:
        """The answer to `hi` behind a conversation, as a stream where there are callbacks."""
        if self.path == "legacy":
            self.provider.create_session(None, tools, history)
            return self.batch() if callbacks is None else self.stream(callbacks)
        arguments = callbacks.callbacks if callbacks is not None else {}
        response = self.provider.complete([*history, HI], None, tools, **arguments)
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


def rich_parts(kit: AdapterKit) -> list[WirePart]:
    """Thinking where the API has it, a text and a call, with characters of every length in UTF-8."""
    parts: list[WirePart] = [text("it’s 北🌍\n", "\u2028 done"), call("a", "read", '{"ü": "’', '北🌍"}')]
    return [thinking("hm ", "’"), *parts] if "on_thinking" in kit.callbacks else parts


def each_path_of(kit: AdapterKit) -> pytest.MarkDecorator:
    """Parametrizes `subject` by both paths of one adapter."""
    return pytest.mark.parametrize("subject", [Subject(kit, path) for path in PATHS], ids=PATHS)
