"""The Responses API as a `Dialect`: its data, and what it does otherwise than most."""

from __future__ import annotations

from ..base import Service
from ..owners import StoringDialect
from ..request_form import form_without_thoughts
from ..wanted_answer import ask_responses_for
from . import api, observed_answers, over_socket
from .auth import key_of
from .compare import ItemsComparison
from .store import kept_ids


class OpenAIResponses(StoringDialect):
    """`openai-responses`: `POST /v1/responses`, its token count and the model list, batch and SSE; Copilot's too."""

    api = api
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
    storage_fields = frozenset({"conversation", "include", "previous_response_id", "store"})
    sockets = over_socket.Sockets()
    traits = frozenset(
        {
            "call-id-form",
            "calls-in-pieces",
            "held-history",
            "items-by-id",
            "malformed-arguments",
            "refusals",
            "refuses-long-prompts",
            "seals-on-request",
            "signed-thinking",
            "summarised-reasoning",
            "text-blocks",
        }
    )

    ask_for = staticmethod(ask_responses_for)
    request_form = staticmethod(form_without_thoughts)
    comparison = ItemsComparison
    key_of = staticmethod(key_of)
    observed = staticmethod(observed_answers.observe)
    stored_ids = staticmethod(kept_ids)
