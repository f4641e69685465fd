"""The Responses API as a `Dialect`: its data, and the function of this package for each operation."""

from __future__ import annotations

from ..base import PrefixCache, Service
from ..base_dialect import BaseDialect
from ..request_form import form_without_thoughts
from ..wanted_answer import ask_responses_for
from . import counting, errors, extras, framing, observed_answers, over_socket, read, render, rules, writing
from .allowed import ALLOWED
from .compare import ItemsComparison
from .counting import ResponsesCache
from .models import LEGAL_NAME, MODELS
from .parse import parse
from .store import kept_ids
from .validate import validate


class OpenAIResponses(BaseDialect):
    """`openai-responses`: `POST /v1/responses`, its token count and the model list, batch and SSE; Copilot's too."""

    name = rules.NAME
    default_host = "https://api.openai.com"
    service = Service(
        key_variables=("OPENAI_API_KEY",),
        base_url_variable="OPENAI_BASE_URL",
        base_path="/v1",
        request_headers=frozenset(
            {
                "copilot-integration-id",
                "editor-version",
                "openai-intent",
                "upgrade",
                "x-github-api-version",
                "x-initiator",
            }
        ),
        response_headers=frozenset({"openai-version", "retry-after-ms", "x-should-retry"}),
    )
    noise = writing.NOISE
    spellings = writing.SPELLINGS
    garbage = writing.GARBAGE
    storage_fields = frozenset({"conversation", "include", "previous_response_id", "store"})
    sockets = over_socket.Sockets()
    traits = frozenset(
        {
            "call-id-form",
            "calls-in-pieces",
            "held-history",
            "malformed-arguments",
            "refusals",
            "refuses-long-prompts",
            "signed-thinking",
            "summarised-reasoning",
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
    ask_for = staticmethod(ask_responses_for)
    request_form = staticmethod(form_without_thoughts)
    comparison = ItemsComparison
    observe = staticmethod(observed_answers.observe)
    kept = staticmethod(kept_ids)

    def new_cache(self) -> PrefixCache:
        return ResponsesCache()
