"""The chat completions API as a `Dialect`: its data, and the function of this package for each operation."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ..base import (
    NO_HEADERS,
    Call,
    HttpRequest,
    PromptUsage,
    Refusal,
    Rendered,
    Reply,
    Service,
    Trait,
    WireEvent,
    World,
)
from ..base_dialect import BaseDialect
from ..contract import PrefixCache
from ..request_form import form_without_thoughts
from ..wanted_answer import ask_chat_for
from . import conversation, counting, errors, extras, read, render, rules, writing
from .compare import ALLOWED, ChatComparison
from .counting import ChatCache
from .models import LEGAL_NAME, MODELS
from .parse import parse
from .surface_table import SURFACE_TABLE
from .surfaces import ChatCall, Surface
from .validate import validate


class OpenAIChat(BaseDialect):
    """`openai-chat`: `POST …/chat/completions` of one surface or another, batch and SSE, and the model lists.

    `surface` is the one that counts where an address does not tell, and for what has no address: errors that a script
    asks for. It stands in the name (`openai-chat@ollama`), that of OpenAI itself does not.
    """

    noise = writing.NOISE
    spellings = writing.SPELLINGS
    garbage = writing.GARBAGE
    legal_name = LEGAL_NAME
    models = MODELS
    rules = tuple(rules.ALL)
    allowed_differences = ALLOWED

    def __init__(self, surface: Surface = Surface.OPENAI) -> None:
        facts = SURFACE_TABLE[surface]
        self._surface = surface
        self.name = rules.NAME if surface is Surface.OPENAI else f"{rules.NAME}@{surface}"
        self.default_host = facts.host
        self.service = Service(
            key_variables=facts.key_variables,
            base_url_variable=facts.base_url_variable,
            request_headers=frozenset({"copilot-integration-id", "editor-version", "openai-intent", "x-initiator"}),
            response_headers=frozenset({"retry-after-ms", "x-should-retry"}),
            query_parameters=frozenset({"api-version"}),
            base_path=facts.base_path,
        )
        self.error_kinds = errors.KINDS[surface]
        self.traits: frozenset[Trait] = frozenset(_traits(surface))

    def parse(self, request: HttpRequest, world: World) -> Call | Refusal:
        return parse(request, world, self._surface)

    def validate(self, request: HttpRequest, call: Call, world: World) -> list[Refusal]:
        return validate(request, self._of(call), world)

    def new_cache(self) -> PrefixCache:
        return ChatCache(self._surface)

    count = staticmethod(counting.count)

    def render(self, call: Call, reply: Reply, usage: PromptUsage, world: World, seed: str) -> Rendered:
        return render.render(self._of(call), reply, usage, world, seed)

    def render_refusal(self, refusal: Refusal, seed: str) -> Rendered:
        return errors.render_refusal(refusal, self._surface, seed)

    def render_extra(self, call: Call, usage: PromptUsage, world: World, seed: str) -> Rendered:
        return extras.render_extra(self._of(call), world, seed)

    def error_event(self, kind: str, message: str, headers: Mapping[str, str] = NO_HEADERS) -> WireEvent:
        return errors.error_event(self._surface, kind, message)

    error_meaning = staticmethod(errors.error_meaning)
    read_response = staticmethod(read.read_response)
    split_stream = staticmethod(read.split_stream)
    is_positional = staticmethod(conversation.is_positional)
    ask_for = staticmethod(ask_chat_for)
    request_form = staticmethod(form_without_thoughts)
    comparison = ChatComparison

    def _of(self, call: Call) -> ChatCall:
        return ChatCall.at_surface(call, self._surface)


def _traits(surface: Surface) -> Iterator[Trait]:
    if not SURFACE_TABLE[surface].whole_calls:
        yield "calls-in-pieces"
        yield "numbered-blocks"
    yield "malformed-arguments"
    yield "named-limits"
    if surface is not Surface.OLLAMA:
        yield "key-checks"
        yield "refuses-long-prompts"
    if surface not in (Surface.ZAI, Surface.OLLAMA):
        yield "refusals"
    if surface in (Surface.OPENAI, Surface.AZURE):
        yield "call-id-form"
        yield "refuses-broken-pairs"
