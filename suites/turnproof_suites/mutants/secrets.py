"""Adapters that do not keep the key where it belongs."""

from __future__ import annotations

import logging
from dataclasses import replace

from turnproof.dialects.base import HttpRequest
from turnproof.errors import ProviderError
from turnproof.messages import ProviderResponse
from turnproof.wire.emulator.server_run import CANARY_KEY

from ._broken import Broken, CallInputs
from ._mutant import mutant
from ._rewriting import Rewriting
from .failures import Failing


@mutant(
    "key-told-by-errors",
    "outputs",
    caught_by="security/key-is-nowhere-else",
    scenarios="faults/refusals",
    sources="defects:SE1",
)
class KeyToldByErrors(Failing):
    """Errors quote the request that failed, its headers included."""

    def failure(self, error: ProviderError) -> ProviderResponse:
        error.args = (f"{error.message} (authorization: Bearer {CANARY_KEY})",)
        raise error


@mutant(
    "key-logged",
    "outputs",
    caught_by="security/key-is-nowhere-else",
    scenarios="basics/plain",
    sources="defects:SE2",
)
class KeyLogged(Broken):
    """Requests are logged for debugging, their headers included."""

    def answer(self, given: CallInputs, response: ProviderResponse) -> ProviderResponse:
        logging.getLogger("adapter").debug("POST /v1/messages %s", {"authorization": f"Bearer {CANARY_KEY}"})
        return response


@mutant(
    "key-in-the-address",
    "wire",
    caught_by="security/key-stays-out-of-addresses",
    scenarios="basics/plain",
    sources="defects:SE1",
)
class KeyInTheAddress(Rewriting):
    """The key is sent as a query parameter, too."""

    def request(self, request: HttpRequest) -> HttpRequest:
        """The request with the key in its address."""
        return replace(request, query={**request.query, "key": CANARY_KEY})


@mutant(
    "other-key-used",
    "wire",
    caught_by="security/the-key-it-was-given-is-used",
    scenarios="basics/plain",
    sources="defects:SP7",
)
class OtherKeyUsed(Rewriting):
    """A key that an earlier session left behind wins over the one that was given."""

    def request(self, request: HttpRequest) -> HttpRequest:
        """The request under another key, in whatever header the key is."""
        other = {name: value.replace(CANARY_KEY, "sk-of-yesterday") for name, value in request.headers.items()}
        return replace(request, headers=other)
