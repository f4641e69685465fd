"""Freedoms of spelling: the same request in other bytes, the same answer in other pieces, an error by another name."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import msgspec

from turnproof.dialects.base import HttpRequest
from turnproof.errors import Cancelled, ProviderError
from turnproof.messages import ProviderResponse

from ..mutants import Broken, CallInputs, Proceed, Rewriting, Wire
from ._right import right

_PLAIN = ("basics/*", "tools/one", "tools/parallel", "faults/plain_streams")


@right("json-escaped", scenarios=(*_PLAIN, "handoff/*"))
class _JSONEscaped(Rewriting):
    """Everything beyond ASCII is escaped in the body, as Python's own encoder does it."""

    def change_http_request(self, wire: Wire, request: HttpRequest) -> HttpRequest:
        return replace(request, body=json.dumps(msgspec.json.decode(request.body)).encode())


@right("json-indented", scenarios=_PLAIN)
class _JSONIndented(Rewriting):
    """The body is written for people, with spaces and line ends between its members."""

    def change_http_request(self, wire: Wire, request: HttpRequest) -> HttpRequest:
        return replace(request, body=msgspec.json.format(request.body, indent=2))


_DEFAULTS: dict[str, Callable[[dict[str, Any]], None]] = {
    "/messages": lambda body: body.update({"stream": body.get("stream", False)}),
    "/chat/completions": lambda body: body.update({"n": 1, "stream": body.get("stream", False)}),
    "/responses": lambda body: body.update({"truncation": "disabled", "stream": body.get("stream", False)}),
    "enerateContent": lambda body: body.setdefault("generationConfig", {}).update({"candidateCount": 1}),
}
"""By how a path ends: members that mean what their absence means."""


@right("defaults-spelled-out", scenarios=_PLAIN)
class _DefaultsSpelledOut(Rewriting):
    """Settings go out with the values that they have anyway, as libraries send them that have defaults of their own."""

    def change_http_request(self, wire: Wire, request: HttpRequest) -> HttpRequest:
        spell = next((each for end, each in _DEFAULTS.items() if request.path.endswith(end)), None)
        if spell is None:
            return request
        body = msgspec.json.decode(request.body)
        spell(body)
        return replace(request, body=msgspec.json.encode(body))


@right("errors-of-own-classes", scenarios=("faults/*", "finish/*"), capability=("typed_errors",))
class _ErrorsOfOwnClasses(Broken):
    """Failures are errors of the adapter's own classes, each below the one of the contract that fits."""

    def call(self, inputs: CallInputs, proceed: Proceed) -> ProviderResponse:
        try:
            return super().call(inputs, proceed)
        except Cancelled:
            raise
        except ProviderError as error:
            own: ProviderError = copy.copy(error)
            own.__class__ = type(f"Greenhouse{type(error).__name__}", (type(error),), {})
            raise own from error


def _one_by_one(callback: Callable[[Any], None]) -> Callable[[Any], None]:
    def pass_on(text: str) -> None:
        for character in text:
            callback(character)

    return pass_on


@right("chunks-by-character", scenarios=(*_PLAIN, "cancel/in_text"), capability=("streaming",))
class _ChunksByCharacter(Broken):
    """`on_chunk` gets one character at a time, whatever pieces the service sent."""

    def change_inputs(self, inputs: CallInputs) -> CallInputs:
        return super().change_inputs(inputs).with_callback("on_chunk", _one_by_one)


@right("thinking-by-character", scenarios=("thinking/*",), capability=("streaming", "thinking"))
class _ThinkingByCharacter(Broken):
    """`on_thinking` gets one character at a time."""

    def change_inputs(self, inputs: CallInputs) -> CallInputs:
        return super().change_inputs(inputs).with_callback("on_thinking", _one_by_one)


@right("usage-told-twice", scenarios=_PLAIN, capability=("streaming", "usage"))
class _UsageToldTwice(Broken):
    """`on_usage_update` is called twice with the same counts. Each has the totals so far: nothing is added up."""

    def change_inputs(self, inputs: CallInputs) -> CallInputs:
        def twice(callback: Callable[[Any], None]) -> Callable[[Any], None]:
            def pass_on(usage: Any) -> None:
                callback(usage)
                callback(usage)

            return pass_on

        return super().change_inputs(inputs).with_callback("on_usage", twice)
