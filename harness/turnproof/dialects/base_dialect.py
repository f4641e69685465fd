"""The class that every dialect in this package extends, and how requests are refused in all of them.

A dialect names the module that has its functions and its data. mypy compares each with `WireApi`, and rejects a module
that lacks one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Protocol, TypeVar

import msgspec

from ..errors import PayloadError
from ..messages import JSON, Message, Part, ToolSchema
from .base import (
    NO_HEADERS,
    Call,
    ErrorMeaning,
    HttpRequest,
    PromptUsage,
    Refusal,
    Rendered,
    Reply,
    WantedAnswer,
    WireAnswer,
    WireDifference,
    WireEvent,
    World,
)
from .contract import Dialect, PrefixCache, Sockets, WireApi
from .error_answers import usual_error
from .naming import speak
from .request_comparison import RequestComparison

_Call = TypeVar("_Call", bound=Call)
_Context = TypeVar("_Context")
_decode = msgspec.json.Decoder().decode


class _HasMethod(Protocol):
    @property
    def method(self) -> str: ...


_Address = TypeVar("_Address", bound=_HasMethod)


class BaseDialect(Dialect):
    """A `Dialect` with what most wire APIs have in common. A class attribute or a method replaces any of it."""

    noise: Sequence[bytes] = ()
    storage_fields: frozenset[str] = frozenset()
    sockets: Sockets | None = None
    error_kinds: Mapping[int, tuple[str, str]]
    """The error type and usual message of each status that is known; another status takes that of its class."""
    comparison: type[RequestComparison]
    """What may differ between a session's conversation and a request."""
    request_form: Callable[[Call], JSON]
    """What cassettes match on (`request_form.py`)."""

    def without_program(self, call: Call, tools: Sequence[ToolSchema] = ()) -> Call:
        """The call without what a program that stands in between has put around it, its tools under the names that
        the caller, who declared the `tools` ones, knows them by. Nothing stands in between unless a dialect says so."""
        return call

    def match_form(self, call: Call) -> JSON:
        """What two requests must share to be the same."""
        return type(self).request_form(self.without_program(call))

    def differences(
        self, history: Sequence[Message], system: Part | str | None, tools: Sequence[ToolSchema], call: Call, model: str
    ) -> list[WireDifference]:
        """Where `call` differs from what the session holds, allowed differences aside."""
        return self.comparison.differences(history, system, tools, self.without_program(call, tools), model)

    def error_kind(self, status: int) -> tuple[str, str]:
        """The error type and usual message of a status."""
        return usual_error(self.error_kinds, status)

    def speak(self, reply: Reply, tools: Sequence[ToolSchema], call: Call) -> Reply:
        """A scripted reply with its calls under the names that `call` gave to the declared `tools`."""
        return speak(reply, tools, call.tools, self.legal_name)

    def ask_for(self, body: Mapping[str, Any], answer: WantedAnswer) -> dict[str, Any]:
        """The API has no way to ask for an answer."""
        return {}

    def observe(self, call: Call, status: int, headers: Mapping[str, str], body: bytes, world: World) -> None:
        """The answers of such a service contain nothing that it has to recognize later."""

    def stored_ids(self, world: World) -> tuple[str, ...]:
        """Such a service keeps nothing that a request could name."""
        return ()

    def in_order_of(self, call: Call, messages: Sequence[Message]) -> Sequence[Message]:
        """A request has all parts in one list."""
        return messages

    def is_positional(self, call_id: str) -> bool:
        """Every id stood on the wire."""
        return False


class ModuleDialect(BaseDialect):
    """A dialect whose data and functions are those of one module. A method replaces any of the functions."""

    api: WireApi

    def __init__(self) -> None:
        self.name = self.api.NAME
        self.rules = tuple(self.api.ALL)
        self.allowed_differences = self.api.ALLOWED
        self.models = self.api.MODELS
        self.legal_name = self.api.LEGAL_NAME
        self.error_kinds = self.api.KINDS
        self.noise = self.api.NOISE
        self.spellings = self.api.SPELLINGS
        self.garbage = self.api.GARBAGE

    def parse(self, request: HttpRequest, world: World) -> Call | Refusal:
        return self.api.parse(request, world)

    def validate(self, request: HttpRequest, call: Call, world: World) -> list[Refusal]:
        return self.api.validate(request, call, world)

    def new_cache(self) -> PrefixCache:
        return self.api.new_cache()

    def count(self, call: Call) -> int:
        return self.api.count(call)

    def render(self, call: Call, reply: Reply, usage: PromptUsage, world: World, seed: str) -> Rendered:
        return self.api.render(call, reply, usage, world, seed)

    def render_refusal(self, refusal: Refusal, seed: str) -> Rendered:
        return self.api.render_refusal(refusal, seed)

    def render_extra(self, call: Call, usage: PromptUsage, world: World, seed: str) -> Rendered:
        return self.api.render_extra(call, usage, world, seed)

    def error_event(self, kind: str, message: str, headers: Mapping[str, str] = NO_HEADERS) -> WireEvent:
        return self.api.error_event(kind, message, headers)

    def error_meaning(self, status: int, kind: str | None, message: str | None) -> ErrorMeaning | None:
        return self.api.error_meaning(status, kind, message)

    def read_response(self, status: int, headers: Mapping[str, str], body: bytes) -> WireAnswer:
        return self.api.read_response(status, headers, body)

    def split_stream(self, headers: Mapping[str, str], body: bytes) -> tuple[WireEvent, ...]:
        return self.api.split_stream(headers, body)


class UnreadableRequest(Exception):
    """A request that cannot be read as one of the API, with the refusal that the API answers it with."""

    def __init__(self, refusal: Refusal) -> None:
        super().__init__(refusal.message)
        self.refusal = refusal


def call_or_refusal(
    read: Callable[[], _Call], malformed: Callable[[str | None], Refusal], identity: Iterable[Refusal]
) -> _Call | Refusal:
    """What `read` returns, or the refusal of a request that it cannot read: the first one of the caller's `identity`
    that is enforced, and else that of the body.

    `malformed` makes the refusal of a body that holds what JSON cannot, of the reason; and, of None, of one that is
    nested too deeply.
    """
    try:
        return read()
    except UnreadableRequest as unreadable:
        refusal = unreadable.refusal
    except RecursionError:
        refusal = malformed(None)
    except PayloadError as error:
        refusal = malformed(error.reason)
    return next((each for each in identity if each.enforced), refusal)


def unreadable_body(reason: str | None) -> str:
    """Words for a body that `call_or_refusal` finds unreadable, where the API's own are not known."""
    return "The request body is nested too deeply." if reason is None else f"The request body cannot be read: {reason}"


def with_method(found: Iterable[_Address], method: str, *, nowhere: Refusal, wrong_method: Refusal) -> _Address:
    """The one of the addresses of a path that takes this method. Raises `UnreadableRequest` where there is none."""
    refusal = nowhere
    for address in found:
        if address.method == method.upper():
            return address
        refusal = wrong_method
    raise UnreadableRequest(refusal)


def json_object(data: bytes, *, no_json: Refusal, no_object: Refusal) -> dict[str, Any]:
    """The body of a request, which is a JSON object. Raises `UnreadableRequest` where it is none."""
    try:
        body = _decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        raise UnreadableRequest(no_json) from None
    if not isinstance(body, dict):
        raise UnreadableRequest(no_object)
    return body


def run_checks(checks: Iterable[Callable[[_Context], Iterator[Refusal]]], context: _Context) -> Iterator[Refusal]:
    """What each check in turn has to refuse in a request."""
    for check in checks:
        yield from check(context)


def enforced_first(refusals: Iterable[Refusal]) -> list[Refusal]:
    """The refusals in their order, those that are only logged after the others."""
    return sorted(refusals, key=lambda refusal: not refusal.enforced)
