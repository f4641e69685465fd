"""The Responses API as a `Dialect`: its data, and what it does otherwise than most."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from ..base import NO_HEADERS, Call, ErrorMeaning, HttpRequest, Refusal, Rendered, Service, WireEvent, World
from ..owners import StoringDialect
from ..request_form import form_without_thoughts
from ..wanted_answer import ask_responses_for
from . import api, auth, errors, observed_answers, over_socket
from .compare import ItemsComparison
from .fields import LEAST_OUTPUT
from .parse import parse
from .rules import NAME
from .store import kept_ids
from .surface_table import SURFACE_TABLE
from .surfaces import STATELESS, Surface, surface_of


class OpenAIResponses(StoringDialect):
    """`openai-responses`: `POST …/responses`, what a service keeps, and the model list, batch, SSE and WebSocket.

    `surface` is the service. It stands in the name (`openai-responses@azure`), that of OpenAI itself does not: its
    dialect speaks at Copilot's address as well.
    """

    api = api
    storage_fields = frozenset({"conversation", "include", "previous_response_id", "store"})

    ask_for = staticmethod(partial(ask_responses_for, least=LEAST_OUTPUT))
    request_form = staticmethod(form_without_thoughts)
    comparison = ItemsComparison
    observed = staticmethod(observed_answers.observe)
    stored_ids = staticmethod(kept_ids)

    def __init__(self, surface: Surface = Surface.OPENAI) -> None:
        super().__init__()
        facts = SURFACE_TABLE[surface]
        self._surface = surface
        self.name = NAME if surface is Surface.OPENAI else f"{NAME}@{surface}"
        self.default_host = facts.host
        self.traits = facts.traits
        self.error_kinds = errors.KINDS_OF[surface]
        self.sockets = None if surface in (*STATELESS, Surface.COPILOT) else over_socket.Sockets()
        self.service = Service(
            key_variables=facts.key_variables,
            base_url_variable=facts.base_url_variable,
            base_path=facts.base_path,
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
            query_parameters=frozenset({"api-version"}) if surface is Surface.AZURE else frozenset(),
        )

    def key_of(self, request: HttpRequest) -> str:
        return auth.key_of(request, surface_of(request, self._surface))

    def read_request(self, request: HttpRequest, world: World) -> Call | Refusal:
        return parse(request, world, self._surface)

    def render_refusal(self, refusal: Refusal, seed: str) -> Rendered:
        return errors.render_refusal(refusal, seed, self._surface)

    def error_event(self, kind: str, message: str, headers: Mapping[str, str] = NO_HEADERS) -> WireEvent:
        return errors.error_event(kind, message, headers, self._surface)

    def error_meaning(self, status: int, kind: str | None, message: str | None) -> ErrorMeaning | None:
        return errors.error_meaning(status, kind, message, self._surface)
