"""Freedoms of spelling: the same request in other bytes, in headers that mean the same, at another address."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar

import msgspec

from turnproof.dialects.base import HttpRequest

from ..mutants import Rewriting, Wire
from ..mutants._wire import Json
from ._body import OfEachAPI, blocks_of_all
from ._right import right


@right("json-escaped")
class _JSONEscaped(Rewriting):
    """Everything beyond ASCII is escaped in the body, as Python's own encoder does it."""

    def change_http_request(self, wire: Wire, request: HttpRequest) -> HttpRequest:
        return replace(request, body=json.dumps(msgspec.json.decode(request.body)).encode())


@right("json-indented")
class _JSONIndented(Rewriting):
    """The body is written for people, with spaces and line ends between its members."""

    def change_http_request(self, wire: Wire, request: HttpRequest) -> HttpRequest:
        return replace(request, body=msgspec.json.format(request.body, indent=2))


@right("keys-reversed")
class _KeysReversed(Rewriting):
    """The members of every JSON object go out in the opposite order: their order means nothing."""

    def change_http_request(self, wire: Wire, request: HttpRequest) -> HttpRequest:
        body = msgspec.json.decode(request.body)
        return replace(request, body=msgspec.json.encode(_with_keys_reversed(body)))


_KEEPING_ORDER = ("args", "input", "properties", "response")
"""Members whose objects are a model's or a user's own data: they stay as they are."""


def _with_keys_reversed(value: object) -> object:
    if isinstance(value, list):
        return [_with_keys_reversed(item) for item in value]
    if isinstance(value, dict):
        return {
            key: item if key in _KEEPING_ORDER and isinstance(item, dict) else _with_keys_reversed(item)
            for key, item in reversed(value.items())
        }
    return value


@right("arguments-respaced")
class _ArgumentsRespaced(OfEachAPI):
    """The arguments of a call, which are JSON in a text, go out with the blanks that Python's own encoder writes."""

    def change_chat(self, body: Json) -> None:
        for message in body["messages"]:
            for call in message.get("tool_calls") or ():
                call["function"]["arguments"] = _respaced(call["function"]["arguments"])

    def change_responses(self, body: Json) -> None:
        for item in body["input"] if isinstance(body["input"], list) else ():
            if item.get("type") == "function_call":
                item["arguments"] = _respaced(item["arguments"])


def _respaced(arguments: str) -> str:
    try:
        value = json.loads(arguments)
    except ValueError:
        return arguments
    return json.dumps(value, ensure_ascii=False)


@right("calls-without-content")
class _CallsWithoutContent(OfEachAPI):
    """A message of the model that has calls and no text has no content, where it may also be null."""

    def change_chat(self, body: Json) -> None:
        for message in body["messages"]:
            if message.get("tool_calls") and message.get("content") is None:
                message.pop("content", None)


@right("nulls-spelled-out")
class _NullsSpelledOut(OfEachAPI):
    """Members that are not set go out as null, as a dump of a library's own models has them."""

    def change_messages(self, body: Json) -> None:
        for block in blocks_of_all(body["messages"]):
            if block["type"] in ("text", "tool_use", "tool_result"):
                block.setdefault("cache_control", None)

    def change_chat(self, body: Json) -> None:
        for message in body["messages"]:
            if message["role"] == "assistant":
                message.setdefault("refusal", None)
                message.setdefault("audio", None)


@right("fields-in-snake-case")
class _FieldsInSnakeCase(OfEachAPI):
    """Fields have their names in the spelling of Protocol Buffers, which the service reads as well."""

    def change_gemini(self, body: Json) -> None:
        snake = _in_snake_case(body)
        assert isinstance(snake, dict)
        body.clear()
        body.update(snake)


_OWN_DATA = frozenset(
    (
        "args",
        "parameters",
        "parametersJsonSchema",
        "parameters_json_schema",
        "response",
        "responseJsonSchema",
        "response_json_schema",
    )
)
"""Members whose values have names of a user's or a model's own, by whichever spelling an SDK has for them."""


def _in_snake_case(value: Any) -> Any:
    if isinstance(value, list):
        return [_in_snake_case(item) for item in value]
    if not isinstance(value, dict):
        return value
    return {
        re.sub("[A-Z]", lambda letter: f"_{letter[0].lower()}", key): item if key in _OWN_DATA else _in_snake_case(item)
        for key, item in value.items()
    }


class _Headers(Rewriting):
    """Sends some headers in place of the adapter's, or beside them."""

    headers: ClassVar[Mapping[str, str]] = {}

    def change_http_request(self, wire: Wire, request: HttpRequest) -> HttpRequest:
        return replace(request, headers={**request.headers, **self.headers})


@right("content-type-with-charset")
class _ContentTypeWithCharset(_Headers):
    """The content type says that the body is UTF-8, which JSON always is."""

    headers: ClassVar[Mapping[str, str]] = {"content-type": "application/json; charset=utf-8"}


@right("accepts-no-compression")
class _AcceptsNoCompression(_Headers):
    """The request accepts answers as they are and none in gzip, as plain `urllib` does."""

    headers: ClassVar[Mapping[str, str]] = {"accept-encoding": "identity"}


@right("accepts-events")
class _AcceptsEvents(_Headers):
    """The request accepts JSON and streams of events, whichever it asks for."""

    headers: ClassVar[Mapping[str, str]] = {"accept": "application/json, text/event-stream"}


@right("betas-named")
class _BetasNamed(_Headers):
    """A beta is named that changes nothing for requests without thinking."""

    headers: ClassVar[Mapping[str, str]] = {"anthropic-beta": "interleaved-thinking-2025-05-14"}


@right("beta-address")
class _BetaAddress(Rewriting):
    """The request goes to the address that the SDK has for betas, without naming one."""

    def change_http_request(self, wire: Wire, request: HttpRequest) -> HttpRequest:
        return replace(request, query={**request.query, "beta": "true"})


@right("helper-named")
class _HelperNamed(_Headers):
    """Headers name the method of the SDK that makes the request, and the library above it."""

    headers: ClassVar[Mapping[str, str]] = {
        "x-stainless-helper-method": "stream",
        "x-goog-api-client": "google-adk/2.13.0 gl-python/3.11",
    }
