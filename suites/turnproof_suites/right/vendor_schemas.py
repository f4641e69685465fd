"""Whether a request is legal, by what the vendors publish, not by the rules of turnproof's own dialects.

Anthropic and OpenAI publish OpenAPI documents; the wheel of `llm-comply` carries them. Google publishes types: those of
`google-genai`, which refuse members that they do not know. Of OpenAI's Responses API the document in that wheel is
older than the API, so the types of `openai` count. All are in the extra `right`.

The schemas lag behind their services: of the recorded requests that a service accepted, up to a tenth have something
that its schema does not list. So what a schema does not allow counts where it is new: where the adapter's own request
was legal.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from importlib import resources
from typing import Any, NamedTuple

from turnproof.errors import UsageError

__all__ = ["DIALECTS", "Illegality", "illegal_places"]


class Illegality(NamedTuple):
    """A place in a request that the vendor's schema does not allow. `pointer` is a JSON Pointer into the body."""

    pointer: str
    reason: str


def illegal_places(dialect: str, body: Any, headers: Mapping[str, str] | None = None) -> list[Illegality]:
    """The places of a request for an answer that its vendor's own schema does not allow; none where it is legal.

    `body` is the parsed body. With a header `anthropic-beta` the document of the beta API counts. Raises ValueError for
    a dialect that is not among `DIALECTS`, and UsageError where the extra `right` is not installed.
    """
    if dialect not in _JUDGES:
        raise ValueError(f"no vendor's schema for {dialect!r}; there are those of {', '.join(sorted(_JUDGES))}")
    return _JUDGES[dialect](body, {name.lower() for name in headers or {}})


def _illegal_messages(body: Any, header_names: set[str]) -> list[Illegality]:
    suffix = "?beta=true" if "anthropic-beta" in header_names else ""
    return list(_errors_of(_request_validator("anthropic.json", f"/v1/messages{suffix}"), body))


def _illegal_chat(body: Any, header_names: set[str]) -> list[Illegality]:
    return list(_errors_of(_request_validator("openai_chat.json", "/chat/completions"), body))


def _illegal_responses(body: Any, header_names: set[str]) -> list[Illegality]:
    try:
        import pydantic
        from openai.types.responses import response_create_params as params
    except ImportError as error:
        raise _missing("openai", error) from error
    streamed = isinstance(body, dict) and body.get("stream") is True
    request = params.ResponseCreateParamsStreaming if streamed else params.ResponseCreateParamsNonStreaming
    return _errors_by_type(pydantic.TypeAdapter(request), body, [])


def _illegal_gemini(body: Any, header_names: set[str]) -> list[Illegality]:
    if not isinstance(body, dict):
        return [Illegality("", "the body is not an object")]
    try:
        import pydantic
        from google.genai import types
    except ImportError as error:
        raise _missing("google-genai", error) from error
    known: dict[str, Any] = {
        "cachedContent": str,
        "contents": list[types.Content],
        "generationConfig": types.GenerationConfig,
        "safetySettings": list[types.SafetySetting],
        "systemInstruction": types.Content,
        "toolConfig": types.ToolConfig,
        "tools": list[types.Tool],
    }
    illegal = []
    for key in body:
        # JSON of Protocol Buffers: a reader takes a field's own name as well as the one in camel case.
        kind = known.get(re.sub("_([a-z])", lambda letter: letter[1].upper(), key))
        if kind is None:
            illegal.append(Illegality(f"/{key}", "no such member"))
        else:
            illegal += _errors_by_type(pydantic.TypeAdapter(kind), body[key], [key])
    return illegal


_JUDGES: dict[str, Callable[[Any, set[str]], list[Illegality]]] = {
    "anthropic-messages": _illegal_messages,
    "gemini": _illegal_gemini,
    "openai-chat": _illegal_chat,
    "openai-responses": _illegal_responses,
}

DIALECTS = tuple(sorted(_JUDGES))
"""The dialects whose vendors publish a schema of requests."""


def _errors_by_type(adapter: Any, value: Any, path: list[str]) -> list[Illegality]:
    """What a pydantic type does not allow in a value that stands at a path of the body."""
    import pydantic

    try:
        adapter.validate_python(value)
    except pydantic.ValidationError as error:
        return [Illegality(_pointer([*path, *one["loc"]]), one["msg"]) for one in error.errors()]
    except AttributeError as error:  # Enumerations of google-genai read nothing but strings.
        return [Illegality(_pointer(path), f"a member of an enumeration is not a string: {error}")]
    return []


def _errors_of(validator: Any, body: Any) -> Iterator[Illegality]:
    from jsonschema.exceptions import best_match

    for error in validator.iter_errors(body):
        best = best_match([error])
        yield Illegality(_pointer(best.absolute_path), best.message[:300])


def _pointer(path: Any) -> str:
    return "".join(f"/{str(step).replace('~', '~0').replace('/', '~1')}" for step in path)


@cache
def _request_validator(file: str, path: str) -> Any:
    """The validator of the requests that are posted to a path of an OpenAPI document."""
    try:
        from jsonschema import Draft202012Validator
        from referencing import Registry
        from referencing.jsonschema import DRAFT202012

        text = (resources.files("llm_comply") / "specs" / file).read_text("utf-8")
    except ImportError as error:
        raise _missing("llm-comply", error) from error
    document = json.loads(text)
    _to_json_schema(document)
    registry: Any = Registry().with_resource("urn:openapi", DRAFT202012.create_resource(document))
    schema = document["paths"][path]["post"]["requestBody"]["content"]["application/json"]["schema"]
    absolute = json.loads(json.dumps(schema).replace('"#/', '"urn:openapi#/'))
    return Draft202012Validator(absolute, registry=registry)


def _to_json_schema(node: Any) -> None:
    """Turn OpenAPI 3.0's `nullable` and boolean bounds into JSON Schema, in place."""
    if isinstance(node, list):
        for item in node:
            _to_json_schema(item)
    if not isinstance(node, dict):
        return
    for item in node.values():
        _to_json_schema(item)
    for bound in ("exclusiveMinimum", "exclusiveMaximum"):
        if isinstance(node.get(bound), bool):
            del node[bound]
    if node.get("nullable") is True:
        del node["nullable"]
        plain = dict(node)
        node.clear()
        node["anyOf"] = [plain, {"type": "null"}]


def _missing(package: str, error: ImportError) -> UsageError:
    return UsageError(f"{package} is not installed ({error}): pip install 'turnproof[right]'")
