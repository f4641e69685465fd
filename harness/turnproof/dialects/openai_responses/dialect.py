"""The Responses API as a `Dialect`: each method is one of the package's modules."""

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
from . import compare, counting, errors, extras, framing, matching, observed_answers, read, render, rules, writing
from .allowed import ALLOWED
from .cache import ResponsesCache
from .models import MODELS
from .names import LEGAL_NAME
from .parse import parse
from .validate import validate


class OpenAIResponses:
    """`openai-responses`: `POST /v1/responses`, its token count and the model list, batch and SSE; Copilot's too."""

    name = rules.NAME
    default_host = "https://api.openai.com"
    service = Service(
        key_variables=("OPENAI_API_KEY",),
        base_url_variable="OPENAI_BASE_URL",
        request_headers=frozenset(
            {"copilot-integration-id", "editor-version", "openai-intent", "x-github-api-version", "x-initiator"}
        ),
        response_headers=frozenset({"openai-version", "retry-after-ms", "x-should-retry"}),
    )
    noise: Sequence[bytes] = writing.NOISE
    spellings: Mapping[Spelling, str] = writing.SPELLINGS
    garbage = writing.GARBAGE
    traits: frozenset[Trait] = frozenset(
        {
            "call-id-form",
            "calls-in-pieces",
            "held-history",
            "malformed-arguments",
            "refusals",
            "refuses-long-prompts",
            "signed-thinking",
            "text-blocks",
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
        return ResponsesCache()

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
        return errors.error_meaning(status, kind, message)

    def read_response(self, status: int, headers: Mapping[str, str], body: bytes) -> WireAnswer:
        return read.read_response(status, headers, body)

    def split_stream(self, headers: Mapping[str, str], body: bytes) -> tuple[WireEvent, ...]:
        return framing.split_stream(headers, body)

    def is_positional(self, call_id: str) -> bool:
        return False

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
        return speak(reply, tools, call.tools, LEGAL_NAME)

    def observe(self, call: Call, status: int, headers: Mapping[str, str], body: bytes, world: World) -> None:
        observed_answers.observe(call, headers, body, world)
