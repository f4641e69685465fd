"""Mutants that prove nothing, each in its own way: the engine must not count any of them as caught."""

from __future__ import annotations

import threading
import time
from dataclasses import replace as but
from typing import Any

from msgspec.structs import replace

from turnproof.messages import FinishReason, ProviderResponse, TokenUsage
from turnproof.provider import Capabilities, Endpoint
from turnproof.run.driver.mutation import Mutant
from turnproof_adapters.anthropic.binding import BINDING as REFERENCE
from turnproof_suites.mutants import Broken, CallInputs, Rewriting, mutant

ONE = "basics/plain"
SOURCE = "design:mutant"


class _UnknownFinish(Broken):
    """No answer says how it ended."""

    def change_response(self, inputs: CallInputs, response: ProviderResponse) -> ProviderResponse:
        return replace(response, finish_reason=FinishReason.UNKNOWN)


@mutant("survivor", "outputs", caught_by="core/system-text-is-sent-each-turn", scenarios=ONE, sources=SOURCE)
class Survivor(_UnknownFinish):
    """Breaks something, and names a requirement that has nothing to do with it."""


@mutant("clumsy", "outputs", caught_by="core/a-good-answer-is-returned", scenarios=ONE, sources=SOURCE)
class Clumsy(Broken):
    """Falls over its own feet: what looks like a detection is its own exception."""

    def change_response(self, inputs: CallInputs, response: ProviderResponse) -> ProviderResponse:
        raise AttributeError("'NoneType' object has no attribute 'parts'")


@mutant("idle-wrapper", "outputs", caught_by="core/text-is-what-the-wire-carried", scenarios=ONE, sources=SOURCE)
class IdleWrapper(Broken):
    """Changes nothing."""


@mutant("idle-proxy", "wire", caught_by="core/no-request-is-refused", scenarios=ONE, sources=SOURCE)
class IdleProxy(Rewriting):
    """Rewrites nothing."""


@mutant("unmeasured", "outputs", caught_by="thinking/is-passed-on", scenarios=ONE, sources=SOURCE)
class Unmeasured(_UnknownFinish):
    """Runs where the requirement that it names has nothing to look at."""


@mutant("half-caught", "outputs", caught_by="core/finish-reason-says-why", scenarios=ONE, sources=SOURCE)
class HalfCaught(_UnknownFinish):
    """Breaks one path as it says, and the other one differently."""

    def change_response(self, inputs: CallInputs, response: ProviderResponse) -> ProviderResponse:
        if self.path == "legacy":
            return replace(response, raw_finish=None)
        return super().change_response(inputs, response)


@mutant(
    "one-path-apart",
    "outputs",
    caught_by="accounting/prompt-counts-everything",
    scenarios=ONE,
    sources=SOURCE,
    paths=("legacy",),
)
class OnePathApart(Broken):
    """Makes one path differ in a figure that only the comparison of both looks at."""

    def change_response(self, inputs: CallInputs, response: ProviderResponse) -> ProviderResponse:
        usage: TokenUsage = replace(response.usage, thinking_tokens=response.usage.thinking_tokens + 1)
        return replace(response, usage=usage)


@mutant(
    "hanging",
    "outputs",
    caught_by="core/turns-come-to-an-end",
    scenarios=ONE,
    sources=SOURCE,
    paths=("stateless",),
    fails="hangs",
)
class Hanging(Broken):
    """Never returns, and says so."""

    def change_response(self, inputs: CallInputs, response: ProviderResponse) -> ProviderResponse:
        threading.Event().wait()
        return response


HOMELESS = Mutant("homeless", "outputs", "Runs nowhere.", ONE, (SOURCE,), scenarios=("no/such",), wrap=Broken)
NOWHERE = Mutant(
    "lost", "outputs", "Runs nowhere.", "core/text-is-what-the-wire-carried", (SOURCE,), ("no/such",), wrap=Broken
)
NO_MUTANT = object()


def _slowly(endpoint: Endpoint) -> Any:
    assert REFERENCE.open_stateless is not None
    provider = REFERENCE.open_stateless(endpoint)
    complete = provider.complete

    def later(*arguments: Any, **options: Any) -> ProviderResponse:
        time.sleep(1.0)
        response: ProviderResponse = complete(*arguments, **options)
        return response

    provider.complete = later
    return provider


SLOW = but(REFERENCE, name="slow", open_stateless=_slowly, open_legacy=None)
"""The reference adapter, silent for a second before each request."""

TOOL_LESS = but(REFERENCE, name="tool-less", capabilities=Capabilities(streaming=True))
"""The reference adapter, which claims next to nothing here."""
