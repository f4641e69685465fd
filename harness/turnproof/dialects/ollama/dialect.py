"""Ollama's server as a `Dialect`: its own API and the one in Anthropic's format, told apart by their addresses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ...messages import JSON, Message, Part, ToolSchema
from ..anthropic_messages import compare as anthropics
from ..anthropic_messages.names import LEGAL_NAME
from ..base import (
    NO_HEADERS,
    AllowedDifference,
    Call,
    ErrorMeaning,
    HttpRequest,
    ModelFacts,
    PrefixCache,
    PromptUsage,
    Refusal,
    Rendered,
    Reply,
    Rule,
    Service,
    Trait,
    WireAnswer,
    WireDifference,
    WireEvent,
    World,
)
from ..naming import speak
from ..sse import Spelling
from . import anthropic_surface, compare, errors, extras, native_answers, pairing, read, rules, window
from .cache import OllamaCache
from .models import MODELS
from .parse import parse
from .surfaces import OllamaCall, Surface
from .validate import validate


class Ollama:
    """`ollama`: `/api/chat`, `/api/generate`, `/api/tags`, `/api/show`, `/api/ps`, `/api/version`; and `/v1/messages`.

    `surface` decides only about errors that nobody's request is known of (a scripted status). Without `call_ids` it is
    a server of older days, whose calls have none on its own API.
    """

    default_host = "http://127.0.0.1:11434"
    service = Service(
        key_variables=("OLLAMA_API_KEY",),
        base_url_variable="OLLAMA_HOST",
        request_headers=frozenset({"anthropic-beta", "anthropic-version"}),
    )
    noise: Sequence[bytes] = ()
    """The server writes nothing between events, and its client takes even a blank line for broken JSON."""
    spellings: Mapping[Spelling, str] = {
        "crlf": "proxies that write events and lines anew; anthropic 2.12 and ollama 0.6.3 take LF and CRLF"
    }
    garbage = b'event: content_block_delta\ndata: {"type":"content_block_delta","message":{"con\x07 <html>\n\n'
    """Garbage as an event, and as a line of JSON."""
    traits: frozenset[Trait] = frozenset({"early-usage", "repeated-usage"})
    legal_name = LEGAL_NAME
    models: Mapping[str, ModelFacts] = MODELS
    rules: Sequence[Rule] = tuple(rules.ALL)
    allowed_differences: Sequence[AllowedDifference] = compare.ALLOWED

    def __init__(self, surface: Surface = Surface.MESSAGES, *, call_ids: bool = True) -> None:
        self.name = rules.NAME if surface is Surface.MESSAGES else f"{rules.NAME}@{surface}"
        self._surface = surface
        self._call_ids = call_ids

    def parse(self, request: HttpRequest, world: World) -> Call | Refusal:
        return parse(request, world)

    def validate(self, request: HttpRequest, call: Call, world: World) -> list[Refusal]:
        return validate(call, world)

    def new_cache(self) -> PrefixCache:
        return OllamaCache()

    def count(self, call: Call) -> int:
        return window.count(call)

    def speak(self, reply: Reply, tools: Sequence[ToolSchema], call: Call) -> Reply:
        """A scripted reply with its calls under the names that `call` gave to the declared `tools`."""
        return speak(reply, tools, call.tools, LEGAL_NAME)

    def render(self, call: Call, reply: Reply, usage: PromptUsage, world: World, seed: str) -> Rendered:
        asked = OllamaCall.of(call)
        if asked.surface is Surface.MESSAGES:
            return anthropic_surface.render(call, reply, usage, world, seed)
        if not asked.messages:
            return native_answers.loaded(asked, world)
        return native_answers.render(asked, reply, usage, world, seed, call_ids=self._call_ids)

    def render_refusal(self, refusal: Refusal, seed: str) -> Rendered:
        return errors.render_refusal(refusal, seed)

    def render_extra(self, call: Call, usage: PromptUsage, world: World, seed: str) -> Rendered:
        return extras.render_extra(OllamaCall.of(call), world)

    def error_event(self, kind: str, message: str, headers: Mapping[str, str] = NO_HEADERS) -> WireEvent:
        return errors.error_event(kind, message, headers)

    def error_kind(self, status: int) -> tuple[str, str]:
        return errors.error_kind(self._surface, status)

    def error_meaning(self, status: int, kind: str | None, message: str | None) -> ErrorMeaning | None:
        return errors.error_meaning(status, message)

    def read_response(self, status: int, headers: Mapping[str, str], body: bytes) -> WireAnswer:
        return read.read_response(status, headers, body)

    def split_stream(self, headers: Mapping[str, str], body: bytes) -> tuple[WireEvent, ...]:
        return read.split_stream(headers, body)

    def observe(self, call: Call, status: int, headers: Mapping[str, str], body: bytes, world: World) -> None:
        """Nothing is issued: the server signs nothing and keeps nothing that can be named."""

    def is_positional(self, call_id: str) -> bool:
        return pairing.is_positional(call_id)

    def match_form(self, call: Call) -> JSON:
        return anthropics.match_form(call)

    def differences(
        self,
        held: Sequence[Message],
        system: Part | str | None,
        tools: Sequence[ToolSchema],
        call: Call,
        model: str,
    ) -> list[WireDifference]:
        return compare.differences(held, system, tools, call, model)
