"""What every dialect does: read a request, refuse what the real API refuses, account for it, write the answer.

A dialect knows one wire API and nothing of adapters or scenarios. It never looks at an adapter's code: judge and
judged share nothing. The emulator calls it in the order `parse`, `validate`, `account`, `render`; checks call
`read_response` and `differences`; cassettes call `match_form` and `split_stream`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from ..messages import JSON, Message, Part, ToolSchema
from .base import (
    NO_HEADERS,
    AllowedDifference,
    Call,
    ErrorMeaning,
    HttpRequest,
    ModelFacts,
    PromptUsage,
    Refusal,
    Rendered,
    Reply,
    Rule,
    Service,
    Trait,
    WantedAnswer,
    WireAnswer,
    WireDifference,
    WireEvent,
    World,
)
from .sse import Spelling


class PrefixCache(Protocol):
    """The emulated service's prompt cache; one per run (or per shared workspace)."""

    def account(self, call: Call, facts: ModelFacts, now: float) -> tuple[PromptUsage, Callable[[], None]]: ...


class Sockets(Protocol):
    """How an API is spoken over a WebSocket. A request with the operation `connect` that is answered with status 101
    opens one; each message on it is then a request with the method `SOCKET_METHOD`, parsed and judged as any other."""

    final_rules: frozenset[str]
    """Ids of the rules behind whose refusal the service closes the socket."""

    def lane(self, message: bytes) -> str:
        """The lane of a message: those of one lane are answered one after the other, in their order."""

    def messages(self, answer: Rendered, request: HttpRequest) -> Rendered:
        """An answer as it goes over the socket: each event is one message, a line of JSON."""

    def answered(self, answer: Rendered, request: HttpRequest, world: World) -> None:
        """Let the world know the messages that answered a request, where they change what the socket holds."""


class Functions(Protocol):
    """What is written anew for each wire API. A module that has these functions is one, and so is every `Dialect`."""

    def parse(self, request: HttpRequest, world: World) -> Call | Refusal:
        """The request in neutral form, or why it cannot be read as one (404, 405, broken JSON, missing field)."""

    def validate(self, request: HttpRequest, call: Call, world: World) -> list[Refusal]:
        """Everything the API would refuse, the one it would name first in front; inferred ones last, not enforced."""

    def new_cache(self) -> PrefixCache:
        """An empty prompt cache for one run."""

    def count(self, call: Call) -> int:
        """Tokens of the whole prompt by the one deterministic estimator."""

    def render(self, call: Call, reply: Reply, usage: PromptUsage, world: World, seed: str) -> Rendered:
        """The answer as batch body or stream events, as `call.stream` asks. Ids derive from `seed`; signatures
        of thinking are issued into `world`."""

    def render_refusal(self, refusal: Refusal, seed: str) -> Rendered:
        """An error answer as the API writes it."""

    def render_extra(self, call: Call, usage: PromptUsage, world: World, seed: str) -> Rendered:
        """The generic answer to an operation that no script speaks of: token counts, model lists."""

    def error_event(self, kind: str, message: str, headers: Mapping[str, str] = NO_HEADERS) -> WireEvent:
        """The event that reports an error after the stream began, in the framing of the stream with these headers."""

    def error_meaning(self, status: int, kind: str | None, message: str | None) -> ErrorMeaning | None:
        """What an error answer means by the API's own words, where its status alone says something else or too
        little (a wrong key under 400, a prompt that is too long); None where the status says it all."""

    def read_response(self, status: int, headers: Mapping[str, str], body: bytes) -> WireAnswer:
        """A response (batch or stream, whole or cut) in neutral form. Never raises on what a server might send."""

    def split_stream(self, headers: Mapping[str, str], body: bytes) -> tuple[WireEvent, ...]:
        """The body as events (`body` alone for a batch answer); joined, their bytes are the body."""


class WireApi(Functions, Protocol):
    """A module with the functions of a wire API and with its data, which a `Dialect` has under names of its own."""

    NAME: str
    ALL: list[Rule]
    """Every rule."""
    ALLOWED: tuple[AllowedDifference, ...]
    MODELS: Mapping[str, ModelFacts]
    LEGAL_NAME: re.Pattern[str]
    KINDS: Mapping[int, tuple[str, str]]
    """The error type and usual message of each status that is known; another status takes that of its class."""
    NOISE: Sequence[bytes]
    SPELLINGS: Mapping[Spelling, str]
    GARBAGE: bytes


class Dialect(Functions, Protocol):
    """One wire API. Implementations are stateless; what a service remembers is in `World` and `PrefixCache`."""

    name: str
    default_host: str
    service: Service
    noise: Sequence[bytes]
    """What a stream may carry between events without a meaning (comments, pings): a client must read over it."""
    spellings: Mapping[Spelling, str]
    """How else the service, or a proxy in front of it, writes the same stream, and who is known to."""
    garbage: bytes
    """A frame of a stream that is none: a client must not take it for the end of an answer."""
    traits: frozenset[Trait]
    storage_fields: frozenset[str]
    """Members of a generating request's body that name what the service stores, or whether and with what it does."""
    legal_name: re.Pattern[str]
    """What the API takes as a tool's name, whole."""
    models: Mapping[str, ModelFacts]
    rules: Sequence[Rule]
    sockets: Sockets | None
    """How the API is spoken over a WebSocket; None where it is not."""
    allowed_differences: Sequence[AllowedDifference]

    def error_kind(self, status: int) -> tuple[str, str]:
        """The API's error type and usual message for a status (529 -> overloaded_error, Overloaded)."""

    def speak(self, reply: Reply, tools: Sequence[ToolSchema], call: Call) -> Reply:
        """A scripted reply with its calls under the names that `call` gave to the declared `tools`."""

    def ask_for(self, body: Mapping[str, Any], answer: WantedAnswer) -> dict[str, Any]:
        """The members, with their new values, by which a request with this body asks for such an answer; empty where
        the API has no way to ask, or not together with what the body has."""

    def observe(self, call: Call, status: int, headers: Mapping[str, str], body: bytes, world: World) -> None:
        """Let the world know what a recorded or real answer to `call` issued (signatures) or created (managed
        caches), as if `render` or `render_extra` had done it."""

    def stored_ids(self, world: World) -> tuple[str, ...]:
        """The ids of all answers and conversations that the service keeps now, oldest first."""

    def is_positional(self, call_id: str) -> bool:
        """Whether `parse` made this id from a call's place, because none stood on the wire."""

    def in_order_of(self, call: Call, messages: Sequence[Message]) -> Sequence[Message]:
        """The messages with their parts in the order of such a request, where it has a field for each kind of part."""

    def match_form(self, call: Call) -> JSON:
        """The canonical form that cassettes match on: model, system text, tools, messages; no marks, no settings."""

    def differences(
        self, history: Sequence[Message], system: Part | str | None, tools: Sequence[ToolSchema], call: Call, model: str
    ) -> list[WireDifference]:
        """Where `call` says something else than what the session holds, allowed differences aside."""
