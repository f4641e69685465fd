"""The control of the Anthropic dialect, bound wrongly in one way each."""

from __future__ import annotations

import dataclasses
import os
import urllib.request
from collections.abc import Callable
from typing import Any

import msgspec

from turnproof.errors import AuthenticationError
from turnproof.messages import FunctionCall, Text
from turnproof.provider import Binding, Capabilities, Endpoint
from turnproof.wire.controls.anthropic_messages import CONTROL

CLAIMS = CONTROL.claims()


def opened(endpoint: Endpoint) -> Any:
    assert CONTROL.open_stateless is not None
    return CONTROL.open_stateless(endpoint)


def binding(name: str, opener: Callable[[Endpoint], Any], **more: Any) -> Binding:
    """The control's stateless path alone, opened in another way."""
    return dataclasses.replace(CONTROL, name=name, open_stateless=opener, open_legacy=None, **more)


def at(change: Callable[[Endpoint], Endpoint]) -> Callable[[Endpoint], Any]:
    return lambda endpoint: opened(change(endpoint))


class Wrapped:
    """The control, called through something else."""

    def __init__(self, inner: Any, complete: Callable[..., Any]) -> None:
        self._inner, self._complete = inner, complete

    def complete(self, *args: Any, **kwargs: Any) -> Any:
        return self._complete(self._inner, *args, **kwargs)

    def shutdown(self) -> None:
        self._inner.shutdown()


def called(complete: Callable[..., Any]) -> Callable[[Endpoint], Any]:
    return lambda endpoint: Wrapped(opened(endpoint), complete)


class Short:
    def __init__(self, inner: Any) -> None:
        self._inner = inner

    def complete(self, messages: Any, system_instruction: Any = None, tools: Any = None) -> Any:
        return self._inner.complete(messages, system_instruction, tools)


def _fails_to_open(endpoint: Endpoint) -> Any:
    raise ValueError("no such region: 'moon-1'")


def _elsewhere(inner: Any, *args: Any, **kwargs: Any) -> Any:
    urllib.request.urlopen("http://api.example.org/v1/messages", timeout=5)


def _raises(error: Exception) -> Callable[..., Any]:
    def complete(inner: Any, *args: Any, **kwargs: Any) -> Any:
        raise error

    return complete


def _leaks(endpoint: Endpoint) -> Any:
    def complete(inner: Any, *args: Any, **kwargs: Any) -> Any:
        raise AuthenticationError(f"refused: {endpoint.api_key}")

    return Wrapped(opened(endpoint), complete)


def _quits(inner: Any, *args: Any, **kwargs: Any) -> Any:
    os._exit(7)


def _text(inner: Any, *args: Any, **kwargs: Any) -> str:
    response = inner.complete(*args, **kwargs)
    return "".join(part.text for part in response.parts if isinstance(part, Text))


def _parts(change: Callable[[Any], Any]) -> Callable[..., Any]:
    """With each part of the answer changed; None takes it out."""

    def complete(inner: Any, *args: Any, **kwargs: Any) -> Any:
        response = inner.complete(*args, **kwargs)
        parts = tuple(new for part in response.parts if (new := change(part)) is not None)
        return msgspec.structs.replace(response, parts=parts)

    return complete


def _no_calls(part: Any) -> Any:
    return None if isinstance(part, FunctionCall) else part


def _other_arguments(part: Any) -> Any:
    return FunctionCall(part.id, part.name, {"bed": 3}) if isinstance(part, FunctionCall) else part


def _shouts(part: Any) -> Any:
    return Text(part.text.upper()) if isinstance(part, Text) else part


def _without(*callbacks: str) -> Callable[..., Any]:
    """Streams as it should, and keeps some callbacks to itself."""

    def complete(inner: Any, *args: Any, **kwargs: Any) -> Any:
        quiet = {name: (lambda *_: None) if kwargs.get(name) is not None else None for name in callbacks}
        return inner.complete(*args, **{**kwargs, **quiet})

    return complete


SOUND = binding("sound", opened)
BOTH = dataclasses.replace(CONTROL, name="both")
NO_PATH = dataclasses.replace(CONTROL, name="no-path", open_stateless=None, open_legacy=None)
NO_STREAMING = binding("no-streaming", opened, capabilities=dataclasses.replace(CLAIMS, streaming=False))
NO_TOOLS = binding("no-tools", opened, capabilities=Capabilities(streaming=True))
UNKNOWN_DIALECT = dataclasses.replace(SOUND, name="unknown-dialect", dialect="anthropic-mesages")

FAILS_TO_OPEN = binding("fails-to-open", _fails_to_open)
ELSEWHERE = binding("elsewhere", called(_elsewhere))
NO_RUN = binding("no-run", at(lambda e: dataclasses.replace(e, base_url=e.base_url.partition("/run/")[0])))
TWICE = binding("twice", at(lambda e: dataclasses.replace(e, base_url=f"{e.base_url}/v1")))
NOBODY_THERE = binding("nobody-there", at(lambda e: dataclasses.replace(e, base_url="http://127.0.0.1:9")))
OTHER_KEY = binding("other-key", at(lambda e: dataclasses.replace(e, api_key="sk-from-the-environment")))
OTHER_MODEL = binding("other-model", at(lambda e: dataclasses.replace(e, model="no-such-model")))
LEAKS = binding("leaks", _leaks)
QUITS = binding("quits", called(_quits))
NO_COMPLETE = binding("no-complete", lambda endpoint: object())
SHORT = binding("short", lambda endpoint: Short(opened(endpoint)))
UNTYPED = binding("untyped", called(_raises(KeyError("choices"))))
TYPED = binding("typed", called(_raises(AuthenticationError("no key was given"))))
RETURNS_TEXT = binding("returns-text", called(_text))
NO_CALLS = binding("no-calls", called(_parts(_no_calls)))
OTHER_ARGUMENTS = binding("other-arguments", called(_parts(_other_arguments)))
SHOUTS = binding("shouts", called(_parts(_shouts)))
NO_CHUNKS = binding("no-chunks", called(_without("on_chunk")))
NO_DETECTION = binding("no-detection", called(_without("on_function_call")))
