"""The Interactions API as a `Dialect`: its data, and the function of this package for each operation."""

from __future__ import annotations

from ..base import PrefixCache, Service
from ..base_dialect import BaseDialect
from ..request_form import form_without_thoughts
from ..wanted_answer import ask_interactions_for
from . import counting, errors, extras, framing, observed_answers, read, render, rules, writing
from .allowed import ALLOWED
from .compare import StepsComparison
from .counting import InteractionsCache
from .models import LEGAL_NAME, MODELS
from .parse import parse
from .store import kept_ids
from .validate import validate


class GeminiInteractions(BaseDialect):
    """`gemini-interactions`: `POST /v1beta/interactions`, batch and SSE, what the service keeps, and the model list."""

    name = rules.NAME
    default_host = "https://generativelanguage.googleapis.com"
    service = Service(
        key_variables=("GEMINI_API_KEY", "GOOGLE_API_KEY"),
        base_url_variable="GOOGLE_GEMINI_BASE_URL",
        request_headers=frozenset({"api-revision"}),
        response_headers=frozenset({"x-gemini-service-tier"}),
        # Not `key`: that is the key.
        query_parameters=frozenset({"include_input", "last_event_id", "pagesize", "pagetoken", "stream"}),
    )
    noise = writing.NOISE
    spellings = writing.SPELLINGS
    garbage = writing.GARBAGE
    storage_fields = frozenset({"previous_interaction_id", "store"})
    traits = frozenset(
        {
            "calls-in-pieces",
            "early-usage",
            "error-flags",
            "held-history",
            "refuses-long-prompts",
            "repeated-usage",
            "signed-thinking",
            "text-blocks",
        }
    )
    legal_name = LEGAL_NAME
    models = MODELS
    rules = tuple(rules.ALL)
    allowed_differences = ALLOWED

    parse = staticmethod(parse)
    validate = staticmethod(validate)
    count = staticmethod(counting.count)
    render = staticmethod(render.render)
    render_refusal = staticmethod(errors.render_refusal)
    render_extra = staticmethod(extras.render_extra)
    error_event = staticmethod(errors.error_event)
    error_kind = staticmethod(errors.error_kind)
    error_meaning = staticmethod(errors.error_meaning)
    read_response = staticmethod(read.read_response)
    split_stream = staticmethod(framing.split_stream)
    ask_for = staticmethod(ask_interactions_for)
    request_form = staticmethod(form_without_thoughts)
    comparison = StepsComparison
    observe = staticmethod(observed_answers.observe)
    kept = staticmethod(kept_ids)

    def new_cache(self) -> PrefixCache:
        return InteractionsCache()
