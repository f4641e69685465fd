"""Z.ai's Anthropic-compatible endpoint as a `Dialect`: Anthropic's format, under the service's own rules."""

from __future__ import annotations

from collections.abc import Mapping

from ..anthropic_messages import AnthropicMessages, signing
from ..base import Call, Service, World
from ..wanted_answer import ask_messages_unforced_for
from . import api, errors, rules
from .compare import ZaiComparison
from .parse import BASE_PATH


class Zai(AnthropicMessages):
    """`zai`: `POST /api/anthropic/v1/messages`, its model list and its token counts, batch and SSE.

    Requests, streams and answers are written and split as Anthropic's are; whatever is not overridden here is the same.
    """

    api = api
    default_host = "https://api.z.ai"
    service = Service(
        key_variables=("ZAI_API_KEY", "ZHIPUAI_API_KEY"),
        base_url_variable="ZAI_ANTHROPIC_BASE_URL",
        base_path=BASE_PATH,
        request_headers=frozenset({"anthropic-beta", "anthropic-version"}),
    )
    traits = frozenset(
        {
            "calls-in-pieces",
            "error-flags",
            "key-checks",
            "malformed-arguments",
            "named-limits",
            "numbered-blocks",
            "refusals",
            "refuses-long-prompts",
            "repeated-usage",
            "signed-thinking",
            "text-blocks",
        }
    )

    ask_for = staticmethod(ask_messages_unforced_for)
    comparison = ZaiComparison

    def observe(self, call: Call, status: int, headers: Mapping[str, str], body: bytes, world: World) -> None:
        signing.remember_signatures(
            errors.read_response(status, headers, body).parts, call.model or "", world, rules.NAME
        )
