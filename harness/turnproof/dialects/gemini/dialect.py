"""The Gemini API as a `Dialect`: each method is one of the package's modules."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ...messages import JSON, Message, Part, ToolSchema
from ..base import (
    NO_HEADERS,
    AllowedDifference,
    Call,
    ErrorMeaning,
    HttpRequest,
    ModelFacts,
    PrefixCache,
    PromptUsage,
    Refusal,
    Rendered,
    Reply,
    Rule,
    Service,
    Trait,
    WireAnswer,
    WireDifference,
    WireEvent,
    World,
)
from ..naming import speak
from ..sse import Spelling
from . import caches, compare, counting, errors, extras, ids, matching, read, render, rules, signing, writing
from .allowed import ALLOWED
from .cache import GeminiCache
from .models import MODELS
from .names import LEGAL_NAME
from .parse import parse
from .surfaces import GeminiCall
from .validate import validate


class Gemini:
    """`gemini`: `generateContent`, its stream (SSE and JSON array), `countTokens`, `cachedContents` and the models."""

    name = rules.NAME
    default_host = "https://generativelanguage.googleapis.com"
    service = Service(
        key_variables=("GEMINI_API_KEY", "GOOGLE_API_KEY"),
        base_url_variable="GOOGLE_GEMINI_BASE_URL",
        response_headers=frozenset({"x-gemini-service-tier"}),
        # Not `key`: that is the key.
        query_parameters=frozenset({"$alt", "alt", "pagesize", "pagetoken", "updatemask"}),
    )
    noise: Sequence[bytes] = writing.NOISE
    spellings: Mapping[Spelling, str] = writing.SPELLINGS
    garbage = writing.GARBAGE
    traits: frozenset[Trait] = frozenset(
        {
            "blocked-prompts",
            "early-usage",
            "error-flags",
            "malformed-arguments",
            "refusals",
            "refuses-blanks",
            "refuses-long-prompts",
            "repeated-usage",
            "server-tools",
            "signed-thinking",
        }
    )
    legal_name = LEGAL_NAME
    models: Mapping[str, ModelFacts] = MODELS
    rules: Sequence[Rule] = tuple(rules.ALL)
    allowed_differences: Sequence[AllowedDifference] = ALLOWED

    def parse(self, request: HttpRequest, world: World) -> Call | Refusal:
        return parse(request, world)

    def validate(self, request: HttpRequest, call: Call, world: World) -> list[Refusal]:
        return validate(request, call, world)

    def new_cache(self) -> PrefixCache:
        return GeminiCache()

    def count(self, call: Call) -> int:
        return counting.count(call)

    def render(self, call: Call, reply: Reply, usage: PromptUsage, world: World, seed: str) -> Rendered:
        return render.render(call, reply, usage, world, seed)

    def render_refusal(self, refusal: Refusal, seed: str) -> Rendered:
        return errors.render_refusal(refusal, seed)

    def render_extra(self, call: Call, usage: PromptUsage, world: World, seed: str) -> Rendered:
        return extras.render_extra(call, usage, world, seed)

    def error_event(self, kind: str, message: str, headers: Mapping[str, str] = NO_HEADERS) -> WireEvent:
        return errors.error_event(kind, message)

    def error_kind(self, status: int) -> tuple[str, str]:
        return errors.error_kind(status)

    def error_meaning(self, status: int, kind: str | None, message: str | None) -> ErrorMeaning | None:
        return errors.error_meaning(status, message)

    def read_response(self, status: int, headers: Mapping[str, str], body: bytes) -> WireAnswer:
        return read.read_response(status, headers, body)

    def split_stream(self, headers: Mapping[str, str], body: bytes) -> tuple[WireEvent, ...]:
        return read.split_stream(headers, body)

    def is_positional(self, call_id: str) -> bool:
        return ids.is_positional(call_id)

    def match_form(self, call: Call) -> JSON:
        return matching.match_form(call)

    def differences(
        self,
        held: Sequence[Message],
        system: Part | str | None,
        tools: Sequence[ToolSchema],
        call: Call,
        model: str,
    ) -> list[WireDifference]:
        return compare.differences(held, system, tools, call, model)

    def speak(self, reply: Reply, tools: Sequence[ToolSchema], call: Call) -> Reply:
        """A scripted reply with its calls under the names that `call` gave to the declared `tools`."""
        return speak(reply, tools, call.tools, self.legal_name)

    def observe(self, call: Call, status: int, headers: Mapping[str, str], body: bytes, world: World) -> None:
        if call.operation == "cache":
            caches.observe(GeminiCall.of(call), status, body, world)
        else:
            signing.learn(read.read_response(status, headers, body).parts, call.model or "", world)
