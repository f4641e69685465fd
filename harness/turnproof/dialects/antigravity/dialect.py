"""The gateway as a `Dialect`: that of the Gemini API, but for what the modules of this package say otherwise."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ...messages import Message, Part, ToolSchema
from ..base import (
    AllowedDifference,
    Call,
    ErrorMeaning,
    HttpRequest,
    ModelFacts,
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
from ..gemini import Gemini, signing
from ..sse import Spelling
from . import claude, compare, errors, extras, read, render, rules
from .allowed import ALLOWED
from .models import MODELS, is_claude
from .names import LEGAL_NAME
from .parse import parse
from .validate import validate


class Antigravity(Gemini):
    """`antigravity`: `generateContent`, its stream and `countTokens` in the envelope of `v1internal`, for the models of
    Gemini, Claude and GPT-OSS; an account's project, models and quota; the token endpoint."""

    name = rules.NAME
    default_host = "https://cloudcode-pa.googleapis.com"
    service = Service(
        key_variables=("GOOGLE_CLOUD_ACCESS_TOKEN",),
        base_url_variable="CODE_ASSIST_ENDPOINT",
        request_headers=frozenset({"client-metadata"}),
        response_headers=frozenset({"x-cloudaicompanion-trace-id"}),
        query_parameters=frozenset({"alt"}),
    )
    spellings: Mapping[Spelling, str] = {
        "lf": "antigravity.md §3: clients meet both line ends; gemini-cli takes either",
        "padded": "JSON allows blanks anywhere between its tokens; gemini-cli strips those around it",
    }
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

    def render(self, call: Call, reply: Reply, usage: PromptUsage, world: World, seed: str) -> Rendered:
        return render.render(call, reply, usage, world, seed)

    def render_refusal(self, refusal: Refusal, seed: str) -> Rendered:
        return errors.render_refusal(refusal, seed)

    def render_extra(self, call: Call, usage: PromptUsage, world: World, seed: str) -> Rendered:
        return extras.render_extra(call, usage, world, seed)

    def error_kind(self, status: int) -> tuple[str, str]:
        return errors.error_kind(status)

    def error_meaning(self, status: int, kind: str | None, message: str | None) -> ErrorMeaning | None:
        return errors.error_meaning(status, kind, message)

    def read_response(self, status: int, headers: Mapping[str, str], body: bytes) -> WireAnswer:
        return read.read_response(status, headers, body)

    def split_stream(self, headers: Mapping[str, str], body: bytes) -> tuple[WireEvent, ...]:
        return read.split_stream(headers, body)

    def observe(self, call: Call, status: int, headers: Mapping[str, str], body: bytes, world: World) -> None:
        parts = read.read_response(status, headers, body).parts
        learn = claude.learn if is_claude(world.models.get(call.model or "")) else signing.learn
        learn(parts, call.model or "", world)

    def differences(
        self,
        held: Sequence[Message],
        system: Part | str | None,
        tools: Sequence[ToolSchema],
        call: Call,
        model: str,
    ) -> list[WireDifference]:
        return compare.differences(held, system, tools, call, model)
