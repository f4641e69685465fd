"""Ollama's server as a `Dialect`: its own API and the one in Anthropic's format, told apart by their addresses."""

from __future__ import annotations

from collections.abc import Mapping

from ..anthropic_messages import compare as anthropics
from ..anthropic_messages.models import LEGAL_NAME
from ..base import Call, PromptUsage, Rendered, Reply, Service, World
from ..base_dialect import BaseDialect
from ..contract import PrefixCache
from ..sse import Spelling
from ..wanted_answer import ask_messages_for
from . import anthropic_surface, compare, errors, extras, native_answers, pairing, read, rules, window
from .models import MODELS
from .parse import parse
from .surfaces import OllamaCall, Surface
from .validate import validate
from .window import OllamaCache

SPELLINGS: Mapping[Spelling, str] = {
    "crlf": "proxies that write events and lines anew; anthropic 2.12 and ollama 0.6.3 take LF and CRLF"
}


class Ollama(BaseDialect):
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
    noise = ()
    """The server writes nothing between events, and its client takes even a blank line for broken JSON."""
    spellings = SPELLINGS
    garbage = b'event: content_block_delta\ndata: {"type":"content_block_delta","message":{"con\x07 <html>\n\n'
    """Garbage as an event, and as a line of JSON."""
    traits = frozenset({"early-usage", "named-limits", "repeated-usage"})
    legal_name = LEGAL_NAME
    models = MODELS
    rules = tuple(rules.ALL)
    allowed_differences = compare.ALLOWED

    def __init__(self, surface: Surface = Surface.MESSAGES, *, call_ids: bool = True) -> None:
        self.name = rules.NAME if surface is Surface.MESSAGES else f"{rules.NAME}@{surface}"
        self._surface = surface
        self._call_ids = call_ids

    parse = staticmethod(parse)
    validate = staticmethod(validate)

    count = staticmethod(window.count)

    def render(self, call: Call, reply: Reply, usage: PromptUsage, world: World, seed: str) -> Rendered:
        own_call = OllamaCall.from_call(call)
        if own_call.surface is Surface.MESSAGES:
            return anthropic_surface.render(call, reply, usage, world, seed)
        if not own_call.messages:
            return native_answers.loaded(own_call, world)
        return native_answers.render(own_call, reply, usage, world, seed, call_ids=self._call_ids)

    render_refusal = staticmethod(errors.render_refusal)
    render_extra = staticmethod(extras.render_extra)
    error_event = staticmethod(errors.error_event)

    def error_kind(self, status: int) -> tuple[str, str]:
        return errors.error_kind(self._surface, status)

    error_meaning = staticmethod(errors.error_meaning)
    read_response = staticmethod(read.read_response)
    split_stream = staticmethod(read.split_stream)

    is_positional = staticmethod(pairing.is_positional)
    ask_for = staticmethod(ask_messages_for)
    request_form = staticmethod(anthropics.request_form)
    differences = staticmethod(compare.differences)
    in_order_of = staticmethod(compare.in_order_of)

    def new_cache(self) -> PrefixCache:
        return OllamaCache()
