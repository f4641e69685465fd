"""The Messages API as a `Dialect`: its data, and what it does otherwise than most."""

from __future__ import annotations

from collections.abc import Mapping

from ..base import Call, Service, World
from ..base_dialect import ModuleDialect
from ..wanted_answer import ask_messages_for
from . import api, compare, read, signing
from .compare import MessagesComparison


class AnthropicMessages(ModuleDialect):
    """`anthropic-messages`: `POST /v1/messages`, `count_tokens` and the model list, batch and SSE."""

    api = api
    default_host = "https://api.anthropic.com"
    service = Service(
        key_variables=("ANTHROPIC_API_KEY",),
        base_url_variable="ANTHROPIC_BASE_URL",
        request_headers=frozenset({"anthropic-beta", "anthropic-version"}),
        response_headers=frozenset({"x-should-retry"}),
        query_parameters=frozenset({"after_id", "before_id", "beta", "limit"}),
    )
    traits = frozenset(
        {
            "call-id-form",
            "calls-in-pieces",
            "early-usage",
            "error-flags",
            "key-checks",
            "limited-cache-marks",
            "malformed-arguments",
            "named-limits",
            "numbered-blocks",
            "refusals",
            "refuses-blanks",
            "refuses-broken-pairs",
            "refuses-long-prompts",
            "repeated-usage",
            "results-first",
            "server-tools",
            "signed-thinking",
            "text-blocks",
        }
    )

    ask_for = staticmethod(ask_messages_for)
    request_form = staticmethod(compare.request_form)
    comparison = MessagesComparison

    def observe(self, call: Call, status: int, headers: Mapping[str, str], body: bytes, world: World) -> None:
        signing.remember_signatures(read.read_response(status, headers, body).parts, call.model or "", world)
