"""The gateway as a `Dialect`: that of the Gemini API, but for what the modules of this package say otherwise."""

from __future__ import annotations

from collections.abc import Mapping

from ..base import Call, Service, World
from ..gemini import Gemini, signing
from ..sse import Spelling
from . import claude, compare, errors, functions, read, rules
from .compare import ALLOWED
from .models import LEGAL_NAME, MODELS, is_claude

SPELLINGS: Mapping[Spelling, str] = {
    "lf": "antigravity.md §3: clients meet both line ends; gemini-cli takes either",
    "padded": "JSON allows blanks anywhere between its tokens; gemini-cli strips those around it",
    "joined": "the API gives a chunk any number of parts (defects:ST16); gemini-cli takes them all",
}


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
    spellings = SPELLINGS
    traits = frozenset(
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
    models = MODELS
    rules = tuple(rules.ALL)
    allowed_differences = ALLOWED
    functions = functions
    error_kinds = errors.KINDS

    def observe(self, call: Call, status: int, headers: Mapping[str, str], body: bytes, world: World) -> None:
        parts = read.read_response(status, headers, body).parts
        learn = (
            claude.remember_signatures if is_claude(world.models.get(call.model or "")) else signing.remember_signatures
        )
        learn(parts, call.model or "", world)

    differences = staticmethod(compare.differences)
