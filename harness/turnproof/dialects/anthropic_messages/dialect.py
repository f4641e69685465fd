"""The Messages API as a `Dialect`: its data, and the function of this package for each operation."""

from __future__ import annotations

from collections.abc import Mapping

from ..base import Call, PrefixCache, Service, World
from ..base_dialect import BaseDialect
from ..wanted_answer import ask_messages_for
from . import compare, counting, errors, extras, read, rules, signing, writing
from .allowed import ALLOWED
from .compare import MessagesComparison
from .counting import MessagesCache
from .models import LEGAL_NAME, MODELS
from .parse import parse
from .render import Answer
from .validate import validate


class AnthropicMessages(BaseDialect):
    """`anthropic-messages`: `POST /v1/messages`, `count_tokens` and the model list, batch and SSE."""

    name = rules.NAME
    default_host = "https://api.anthropic.com"
    service = Service(
        key_variables=("ANTHROPIC_API_KEY",),
        base_url_variable="ANTHROPIC_BASE_URL",
        request_headers=frozenset({"anthropic-beta", "anthropic-version"}),
        response_headers=frozenset({"x-should-retry"}),
        query_parameters=frozenset({"after_id", "before_id", "beta", "limit"}),
    )
    noise = writing.NOISE
    spellings = writing.SPELLINGS
    garbage = writing.GARBAGE
    traits = frozenset(
        {
            "call-id-form",
            "calls-in-pieces",
            "early-usage",
            "error-flags",
            "malformed-arguments",
            "refusals",
            "refuses-blanks",
            "refuses-long-prompts",
            "repeated-usage",
            "results-first",
            "server-tools",
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
    render = staticmethod(Answer.rendered)
    render_refusal = staticmethod(errors.render_refusal)
    render_extra = staticmethod(extras.render_extra)
    error_event = staticmethod(errors.error_event)
    error_kind = staticmethod(errors.error_kind)
    error_meaning = staticmethod(errors.error_meaning)
    read_response = staticmethod(read.read_response)
    split_stream = staticmethod(read.split_stream)
    ask_for = staticmethod(ask_messages_for)
    request_form = staticmethod(compare.request_form)
    comparison = MessagesComparison

    def observe(self, call: Call, status: int, headers: Mapping[str, str], body: bytes, world: World) -> None:
        signing.remember_signatures(read.read_response(status, headers, body).parts, call.model or "", world)

    def new_cache(self) -> PrefixCache:
        return MessagesCache()
