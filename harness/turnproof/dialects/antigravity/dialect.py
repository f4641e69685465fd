"""The gateway as a `Dialect`: that of the Gemini API, but for what the modules of this package say otherwise."""

from __future__ import annotations

from collections.abc import Mapping

from ..base import Call, Service, World
from ..gemini import Gemini, signing
from . import api, claude, compare, read
from .models import is_claude


class Antigravity(Gemini):
    """`antigravity`: `generateContent`, its stream and `countTokens` in the envelope of `v1internal`, for the models of
    Gemini, Claude and GPT-OSS; an account's project, models and quota; the token endpoint."""

    api = api
    default_host = "https://cloudcode-pa.googleapis.com"
    service = Service(
        key_variables=("GOOGLE_CLOUD_ACCESS_TOKEN",),
        base_url_variable="CODE_ASSIST_ENDPOINT",
        request_headers=frozenset({"client-metadata"}),
        response_headers=frozenset({"x-cloudaicompanion-trace-id"}),
        query_parameters=frozenset({"alt"}),
    )
    traits = Gemini.traits - {"server-tools"}

    def observe(self, call: Call, status: int, headers: Mapping[str, str], body: bytes, world: World) -> None:
        parts = read.read_response(status, headers, body).parts
        learn = (
            claude.remember_signatures if is_claude(world.models.get(call.model or "")) else signing.remember_signatures
        )
        learn(parts, call.model or "", world)

    differences = staticmethod(compare.differences)
