"""Z.ai's Anthropic-compatible endpoint as a `Dialect`: Anthropic's format, under the service's own rules."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ...messages import Message, Part, ToolSchema
from ..anthropic_messages import AnthropicMessages, compare, read, render, signing
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
from . import errors, extras, rules
from .cache import ZaiCache
from .compare import ALLOWED, ZaiComparison
from .models import MODELS
from .parse import BASE_PATH, parse
from .render import ZaiAnswer
from .validate import validate


class Zai(AnthropicMessages):
    """`zai`: `POST /api/anthropic/v1/messages`, its model list and its token counts, batch and SSE.

    Requests, streams and answers are written and split as Anthropic's are; whatever is not overridden here is the same.
    """

    name = rules.NAME
    default_host = "https://api.z.ai"
    service = Service(
        key_variables=("ZAI_API_KEY", "ZHIPUAI_API_KEY"),
        base_url_variable="ZAI_ANTHROPIC_BASE_URL",
        base_path=BASE_PATH,
        request_headers=frozenset({"anthropic-beta", "anthropic-version"}),
    )
    traits: frozenset[Trait] = frozenset(
        {
            "calls-in-pieces",
            "error-flags",
            "malformed-arguments",
            "refusals",
            "refuses-long-prompts",
            "repeated-usage",
            "signed-thinking",
            "text-blocks",
        }
    )
    models: Mapping[str, ModelFacts] = MODELS
    rules: Sequence[Rule] = tuple(rules.ALL)
    allowed_differences: Sequence[AllowedDifference] = ALLOWED

    def parse(self, request: HttpRequest, world: World) -> Call | Refusal:
        return parse(request, world)

    def validate(self, request: HttpRequest, call: Call, world: World) -> list[Refusal]:
        return validate(request, call, world)

    def new_cache(self) -> PrefixCache:
        return ZaiCache()

    def render(self, call: Call, reply: Reply, usage: PromptUsage, world: World, seed: str) -> Rendered:
        return render.render(call, reply, usage, world, seed, ZaiAnswer)

    def render_refusal(self, refusal: Refusal, seed: str) -> Rendered:
        return errors.render_refusal(refusal, seed)

    def render_extra(self, call: Call, usage: PromptUsage, world: World, seed: str) -> Rendered:
        return extras.render_extra(call, usage, world, seed)

    def error_event(self, kind: str, message: str, headers: Mapping[str, str] = NO_HEADERS) -> WireEvent:
        return errors.error_event(kind, message)

    def error_kind(self, status: int) -> tuple[str, str]:
        return errors.error_kind(status)

    def error_meaning(self, status: int, kind: str | None, message: str | None) -> ErrorMeaning | None:
        return errors.error_meaning(kind)

    def read_response(self, status: int, headers: Mapping[str, str], body: bytes) -> WireAnswer:
        return read.read_response(status, headers, body, self.name, errors.complaint)

    def differences(
        self,
        held: Sequence[Message],
        system: Part | str | None,
        tools: Sequence[ToolSchema],
        call: Call,
        model: str,
    ) -> list[WireDifference]:
        return compare.differences(held, system, tools, call, model, ZaiComparison)

    def observe(self, call: Call, status: int, headers: Mapping[str, str], body: bytes, world: World) -> None:
        signing.learn(self.read_response(status, headers, body).parts, call.model or "", world, self.name)
