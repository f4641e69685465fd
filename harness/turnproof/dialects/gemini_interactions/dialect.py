"""The Interactions API as a `Dialect`: its data, and what it does otherwise than most."""

from __future__ import annotations

from ..base import HttpRequest, Service
from ..owners import StoringDialect
from ..request_form import form_without_thoughts
from ..wanted_answer import ask_interactions_for
from . import api, auth, observed_answers
from .compare import StepsComparison
from .store import kept_ids


class GeminiInteractions(StoringDialect):
    """`gemini-interactions`: `POST /v1beta/interactions`, batch and SSE, what the service keeps, and the model list."""

    api = api
    default_host = "https://generativelanguage.googleapis.com"
    service = Service(
        key_variables=("GEMINI_API_KEY", "GOOGLE_API_KEY"),
        base_url_variable="GOOGLE_GEMINI_BASE_URL",
        request_headers=frozenset({"api-revision"}),
        response_headers=frozenset({"x-gemini-service-tier"}),
        # Not `key`: that is the key.
        query_parameters=frozenset({"include_input", "last_event_id", "pagesize", "pagetoken", "stream"}),
    )
    storage_fields = frozenset({"previous_interaction_id", "store"})
    traits = frozenset(
        {
            "calls-in-pieces",
            "early-usage",
            "error-flags",
            "held-history",
            "key-checks",
            "named-limits",
            "refuses-long-prompts",
            "repeated-usage",
            "signed-thinking",
            "text-blocks",
        }
    )

    ask_for = staticmethod(ask_interactions_for)
    request_form = staticmethod(form_without_thoughts)
    comparison = StepsComparison
    observed = staticmethod(observed_answers.observe)
    stored_ids = staticmethod(kept_ids)

    def key_of(self, request: HttpRequest) -> str:
        return auth.key_of(request)
