"""The emulated service without a socket: it reads and judges requests, and answers what it finds nothing wrong with."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import httpx2

from turnproof.dialects import dialect
from turnproof.dialects.base import Call, HttpRequest, PromptUsage, Refusal, Rule, World
from turnproof.provider import Binding, Endpoint, Path
from turnproof.wire.emulator.echo import EchoResponder
from turnproof.wire.emulator.server_run import CANARY_KEY, Exchange, ServerRun
from turnproof_adapters.anthropic.binding import BINDING as ANTHROPIC
from turnproof_adapters.antigravity.binding import BINDING as ANTIGRAVITY
from turnproof_adapters.github_models.binding import COPILOT_RESPONSES, GITHUB
from turnproof_adapters.google_genai.binding import BINDING as GOOGLE
from turnproof_adapters.google_interactions.binding import BINDING as GOOGLE_INTERACTIONS
from turnproof_adapters.ollama.binding import BINDING as OLLAMA
from turnproof_adapters.openai.binding import BINDING as OPENAI
from turnproof_adapters.openai_responses.binding import BINDING as OPENAI_RESPONSES
from turnproof_adapters.zai.binding import BINDING as ZAI

BINDINGS = {
    "anthropic": ANTHROPIC,
    "google_genai": GOOGLE,
    "google_interactions": GOOGLE_INTERACTIONS,
    "antigravity": ANTIGRAVITY,
    "antigravity, Claude": replace(ANTIGRAVITY, model="claude-sonnet-4-6"),
    "openai": OPENAI,
    "github_models": GITHUB,
    "copilot_responses": COPILOT_RESPONSES,
    "openai_responses": OPENAI_RESPONSES,
    "zai": ZAI,
    "ollama": OLLAMA,
}


Spoiled = Callable[[httpx2.Request, httpx2.Response], httpx2.Response]
"""What becomes of an answer on its way."""


class Service:
    """What one adapter talks to. `calls` are the requests as they are read, `refusals` what is said to some of them."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.binding: Binding = BINDINGS[name]
        self.dialect = dialect(self.binding.dialect)
        self.address = f"http://example.invalid{self.dialect.service.base_path}"
        self.requests = 0
        self.calls: list[Call] = []
        self.refusals: list[Refusal] = []
        world = World(frozenset({CANARY_KEY}), self.dialect.models, clock=lambda: 0.0)
        self._run = ServerRun("r", self.dialect, world, EchoResponder(), "seed", self.dialect.new_cache())
        self._opened: dict[Path, Any] = {}
        self.transport = httpx2.MockTransport(self._answer)
        self.spoiled: Spoiled = lambda request, response: response

    def forget(self) -> Service:
        """Begin anew: nothing was asked yet."""
        self.requests, self.calls, self.refusals = 0, [], []
        self.spoiled = lambda request, response: response
        return self

    def refusal(self, status: int) -> httpx2.Response:
        """The service's usual answer of this status, in its own form and words."""
        kind, message = self.dialect.error_kind(status)
        rule = Rule("hostile/status")
        return _response(self.dialect.render_refusal(Refusal(rule, status, kind, message), "seed"))

    def open(self, path: Path) -> Any:
        """The adapter's provider of a path, talking to this service; one for all conversations."""
        if path not in self._opened:
            opener = self.binding.opener(path)
            assert opener is not None
            # The project spares the one adapter that asks in projects a request of its own.
            options = {"transport": self.transport, "project": "turnproof-main"}
            self._opened[path] = opener(Endpoint(self.address, CANARY_KEY, self.binding.model, options))
        return self._opened[path]

    def _answer(self, request: httpx2.Request) -> httpx2.Response:
        http = HttpRequest(
            request.method,
            request.url.path,
            dict(request.url.params),
            {key.lower(): value for key, value in request.headers.items()},
            request.content,
        )
        call = self.dialect.parse(http, self._run.world)
        if isinstance(call, Call) and call.operation == "authenticate":
            # Who exchanges credentials has not asked for anything yet.
            return _response(self.dialect.render_extra(call, PromptUsage(0), self._run.world, "seed"))
        self.requests += 1
        return self.spoiled(request, self._good(http, call))

    def _good(self, http: HttpRequest, call: Call | Refusal) -> httpx2.Response:
        if isinstance(call, Refusal):
            return self._refused(call)
        self.calls.append(call)
        wrong = [each for each in self.dialect.validate(http, call, self._run.world) if each.enforced]
        if wrong:
            return self._refused(wrong[0])
        exchange = Exchange(self.requests, http, call=call)
        return _response(asyncio.run(self._run.responder.answer(self._run, exchange, call)))

    def _refused(self, refusal: Refusal) -> httpx2.Response:
        self.refusals.append(refusal)
        return _response(self.dialect.render_refusal(refusal, "seed"))


def _response(rendered: Any) -> httpx2.Response:
    body = b"".join(event.data for event in rendered.events)
    return httpx2.Response(rendered.status, headers=dict(rendered.headers), content=body)
