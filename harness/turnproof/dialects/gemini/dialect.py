"""The Gemini API as a `Dialect`: its data, and what it does otherwise than most."""

from __future__ import annotations

from collections.abc import Mapping

from ..base import Call, Service, World
from ..base_dialect import ModuleDialect
from ..request_comparison import RequestComparison
from ..wanted_answer import ask_gemini_for
from . import api, caches, ids, matching, read, signing
from .compare import ContentsComparison
from .surfaces import GeminiCall


class Gemini(ModuleDialect):
    """`gemini`: `generateContent`, its stream (SSE and JSON array), `countTokens`, `cachedContents` and the models."""

    api = api
    default_host = "https://generativelanguage.googleapis.com"
    service = Service(
        key_variables=("GEMINI_API_KEY", "GOOGLE_API_KEY"),
        base_url_variable="GOOGLE_GEMINI_BASE_URL",
        response_headers=frozenset({"x-gemini-service-tier"}),
        # Not `key`: that is the key.
        query_parameters=frozenset({"$alt", "alt", "pagesize", "pagetoken", "updatemask"}),
    )
    storage_fields = frozenset({"cachedContent", "cached_content"})
    traits = frozenset(
        {
            "blocked-prompts",
            "early-usage",
            "error-flags",
            "key-checks",
            "malformed-arguments",
            "named-limits",
            "refusals",
            "refuses-blanks",
            "refuses-broken-pairs",
            "refuses-long-prompts",
            "repeated-usage",
            "server-tools",
            "signed-thinking",
        }
    )

    is_positional = staticmethod(ids.is_positional)
    ask_for = staticmethod(ask_gemini_for)
    request_form = staticmethod(matching.request_form)
    comparison: type[RequestComparison] = ContentsComparison

    def observe(self, call: Call, status: int, headers: Mapping[str, str], body: bytes, world: World) -> None:
        if call.operation == "cache":
            caches.observe(GeminiCall.from_call(call), status, body, world)
        else:
            signing.remember_signatures(read.read_response(status, headers, body).parts, call.model or "", world)
