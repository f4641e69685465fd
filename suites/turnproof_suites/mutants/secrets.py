"""Adapters that do not keep the key where it belongs."""

from __future__ import annotations

import logging
from base64 import b64encode
from dataclasses import replace

from turnproof.dialects.base import HttpRequest
from turnproof.errors import ProviderError
from turnproof.messages import ProviderResponse
from turnproof.wire.emulator.server_run import CANARY_KEY

from ._broken import Broken, CallInputs
from ._mutant import suite_mutant
from ._rewriting import Rewriting
from .failures import Failing


@suite_mutant("key-told-by-errors")
class KeyToldByErrors(Failing):
    """Errors quote the request that failed, its headers included."""

    def failure(self, error: ProviderError) -> ProviderResponse:
        error.args = (f"{error.message} (authorization: Bearer {CANARY_KEY})",)
        raise error


@suite_mutant("key-logged")
class KeyLogged(Broken):
    """Requests are logged for debugging, their headers included."""

    def change_response(self, inputs: CallInputs, response: ProviderResponse) -> ProviderResponse:
        logging.getLogger("adapter").debug("POST /v1/messages %s", {"authorization": f"Bearer {CANARY_KEY}"})
        return response


@suite_mutant("key-in-the-address")
class KeyInTheAddress(Rewriting):
    """The key is sent as a query parameter, too."""

    def request(self, request: HttpRequest) -> HttpRequest:
        """The request with the key in its address."""
        return replace(request, query={**request.query, "key": CANARY_KEY})


@suite_mutant("key-in-a-trace-header")
class KeyInATraceHeader(Rewriting):
    """A request carries its key in a header for tracing, too, which every proxy on the way logs."""

    def request(self, request: HttpRequest) -> HttpRequest:
        """The request with the key in a header that is not made for it."""
        return replace(request, headers={**request.headers, "x-trace-context": f"caller={CANARY_KEY};sampled=1"})


@suite_mutant("key-in-a-cookie")
class KeyInACookie(Rewriting):
    """The key is also in a cookie, in base64 together with a name, where nobody finds it by looking for it."""

    def request(self, request: HttpRequest) -> HttpRequest:
        """The request with the encoded key in a header that is not made for it."""
        session = b64encode(f"user:{CANARY_KEY}".encode()).decode()
        return replace(request, headers={**request.headers, "cookie": f"session={session}"})


@suite_mutant("other-key-used")
class OtherKeyUsed(Rewriting):
    """A key that an earlier session left behind wins over the one that was given."""

    def request(self, request: HttpRequest) -> HttpRequest:
        """The request under another key, in whatever header the key is."""
        other = {name: value.replace(CANARY_KEY, "sk-of-yesterday") for name, value in request.headers.items()}
        return replace(request, headers=other)
