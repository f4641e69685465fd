"""What stands around the contents of a request, and the envelope around it all."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

from turnproof.messages import ToolSchema

from .._calling import Prompt
from .._encoded_messages import encode
from ..google_genai import convert
from ..google_genai.settings import Fields
from ..google_genai.settings import Settings as GeminiSettings
from .models import Model, model
from .schemas import parameters


@dataclass(frozen=True, slots=True)
class Settings(GeminiSettings):
    """The part of a request that the provider is configured with."""

    def fields(self, prompt: Prompt) -> Fields:
        """Everything of `request` but its contents, as the gateway spells it."""
        fields = Fields()
        if generation := self._generation(prompt.response_schema):
            fields["generationConfig"] = generation
        if (instruction := convert.system(prompt.system)) is not None:
            fields["systemInstruction"] = instruction
        if prompt.tools:
            fields["tools"] = convert.tools(prompt.tools) if self._facts.is_gemini else _in_openapi(prompt.tools)
        return fields

    def envelope(self, request_id: str) -> Fields:
        """What stands beside `project` and `request`."""
        return {"model": self.model, "userAgent": "antigravity", "requestType": "agent", "requestId": request_id}

    @property
    def _facts(self) -> Model:
        return model(self.model)

    def _thinking(self) -> Mapping[str, Any] | None:
        """`thinkingConfig`, which a model that does not think gets none of."""
        return self.thinking if self._facts.thinks else None

    def _room(self) -> int | None:
        """`maxOutputTokens`, which for Claude covers thinking and answer: always more than the thinking budget."""
        budget = (self._thinking() or {}).get("thinkingBudget", 0)
        if not self._facts.is_claude or budget <= 0:
            return self.max_tokens
        room = self.max_tokens if self.max_tokens is not None else ANSWER
        return room if room > budget else room + budget


ANSWER = 16_384
"""Room for an answer of Claude's beside what it thinks, where the caller does not limit it. Every model has more."""


def session_id(first: bytes) -> str:
    """The id of the conversation that begins with this content, of the form that Antigravity gives it.

    It depends on nothing but the conversation's beginning: who holds the history holds the id.
    """
    return str(-(int.from_bytes(blake2b(first, digest_size=8).digest()) >> 1))


def request_id(request: bytes) -> str:
    """The id of a request: one that is made again, to another host or by another account, keeps its own."""
    return f"agent-{blake2b(request, digest_size=16).hexdigest()}"


def address(host: str, bearer: str, *, stream: bool) -> tuple[str, dict[str, str]]:
    """Where an answer is asked for, and the headers that go with it."""
    headers = {"authorization": f"Bearer {bearer}"}
    if not stream:
        return f"{host}/v1internal:generateContent", headers
    return f"{host}/v1internal:streamGenerateContent?alt=sse", {**headers, "accept": "text/event-stream"}


def base(address: str) -> str:
    """An address as it is asked: the version is added to it, and would stand there twice."""
    return _VERSION.sub("", address)


_VERSION = re.compile(r"(?<=[^:/])/+(?:v\d+(?:internal|(?:alpha|beta)?\d*)/*)?$")


def _in_openapi(schemas: Sequence[ToolSchema]) -> list[dict[str, Any]]:
    """Tool declarations for models whose parameters are no JSON Schema."""
    (declared,) = convert.tools(schemas)
    for declaration in declared["functionDeclarations"]:
        schema = declaration.pop("parametersJsonSchema", None)
        if schema is not None:
            declaration["parameters"] = parameters(schema)
    return [declared]


def wrap_request(project: str | None, settings: Settings, request: bytes) -> bytes:
    """A finished request in its envelope, for an account of that project."""
    head = {**({"project": project} if project else {}), **settings.envelope(request_id(request))}
    return encode(head)[:-1] + b',"request":' + request + b"}"
