"""The surfaces of the API: who serves it, under which addresses, and what of it each serves.

All take and give the same kind of body. They differ in address, authentication, the form of errors, and in what they
keep (`surface_table.py`). OpenAI's and Copilot's addresses tell them apart; every other surface is the one that the
name of the dialect says (`openai-responses@azure`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any, Literal, TypeAlias

from ..base import Action, HttpRequest, Operation
from ..stored_calls import StoredCall

Item: TypeAlias = Mapping[str, Any]
StoredKind: TypeAlias = Literal["", "response", "input_items", "conversation", "items"]
"""What an operation on the service's store is about: a response, what was asked for it, a conversation, its items."""


class Surface(StrEnum):
    """One of the services, or addresses of one, that speak the API."""

    OPENAI = "openai"
    COPILOT = "copilot"
    AZURE = "azure"
    XAI = "xai"
    OPENROUTER = "openrouter"
    LLAMACPP = "llamacpp"


STATELESS = frozenset({Surface.OPENROUTER, Surface.LLAMACPP})
"""The surfaces that keep nothing, whatever the request has (openrouter.ai, Responses API Beta; llama.cpp's server)."""


@dataclass(frozen=True, slots=True)
class ResponsesCall(StoredCall):
    """A call and what only this API has: its surface, and the items of the conversation as the service has it.

    The first `carried` of the `items` were not in the request: the service holds them, for the response that is named
    as the previous one or for the conversation that is named. References are replaced by what they name.

    Of a message on a WebSocket `socket` is the number of the socket and `lane` the lane that it names, if any.

    Of an operation on the store, `stored_kind` says what it is about, `resource` and `item` name it, and `settings`
    are the parameters of the query.
    """

    surface: Surface = Surface.OPENAI
    items: tuple[Item, ...] = ()
    stored_kind: StoredKind = ""
    item: str = ""
    socket: int | None = None
    lane: str = ""

    @property
    def stored(self) -> bool:
        """Whether the service stores the answer: never where it is stateless."""
        return self.surface not in STATELESS and (self.body or {}).get("store") is not False

    @property
    def background(self) -> bool:
        """Whether the answer is made while nobody waits for it: never where nothing is kept."""
        return self.surface not in STATELESS and (self.body or {}).get("background") is True

    @property
    def warms_up(self) -> bool:
        """Whether the request only prepares a later one: a message on a socket with `generate: false`."""
        return self.socket is not None and (self.body or {}).get("generate") is False

    @property
    def conversation(self) -> str | None:
        """The id of the conversation that the response belongs to."""
        return conversation_id(self.body)


def conversation_id(body: Mapping[str, Any] | None) -> str | None:
    """The id of the conversation that a body names, by itself or in an object; None where it names none."""
    named = (body or {}).get("conversation")
    found = named.get("id") if isinstance(named, dict) else named
    return found if isinstance(found, str) and found else None


@dataclass(frozen=True, slots=True)
class Address:
    """What a path and a method name. `model`, `resource` and `item` are those in the path."""

    surface: Surface
    method: str
    operation: Operation
    model: str | None = None
    action: Action = ""
    stored_kind: StoredKind = ""
    resource: str | None = None
    item: str = ""


EXCHANGE = "/copilot_internal/v2/token"
"""Where a GitHub token is exchanged for a session token of Copilot."""

_OPENAI, _COPILOT, _AZURE = Surface.OPENAI, Surface.COPILOT, Surface.AZURE
_XAI, _OPENROUTER, _LLAMACPP = Surface.XAI, Surface.OPENROUTER, Surface.LLAMACPP

_HEADS: Mapping[Surface, tuple[str, ...]] = {
    _OPENAI: ("/v1",),
    _COPILOT: ("",),
    _AZURE: ("/openai/v1", "/openai"),
    _XAI: ("/v1",),
    _OPENROUTER: ("/api/v1",),
    _LLAMACPP: ("/v1", ""),
}
"""What stands in front of an address. Azure's second one needs an `api-version`."""

_Row = tuple[str, str, Operation, Action, StoredKind, tuple[Surface, ...]]
_RESPONSE, _CONVERSATION = "/responses/{resource}", "/conversations/{resource}"
_ITEMS = f"{_CONVERSATION}/items"
_ADDRESSES: tuple[_Row, ...] = (
    ("/responses", "POST", "generate", "", "", tuple(Surface)),
    ("/responses/input_tokens", "POST", "count_tokens", "", "", (_OPENAI, _AZURE, _LLAMACPP)),
    ("/responses/compact", "POST", "stored", "compact", "", (_OPENAI, _AZURE)),
    ("/models", "GET", "list_models", "", "", tuple(Surface)),
    ("/models/{model}", "GET", "get_model", "", "", (_OPENAI, _AZURE, _XAI)),
    (EXCHANGE, "GET", "authenticate", "", "", (_COPILOT,)),
    (_RESPONSE, "GET", "stored", "get", "response", (_OPENAI, _AZURE, _XAI)),
    (_RESPONSE, "DELETE", "stored", "delete", "response", (_OPENAI, _AZURE, _XAI)),
    (f"{_RESPONSE}/cancel", "POST", "stored", "cancel", "response", (_OPENAI, _AZURE)),
    (f"{_RESPONSE}/input_items", "GET", "stored", "list", "input_items", (_OPENAI, _AZURE)),
    ("/conversations", "POST", "stored", "create", "conversation", (_OPENAI, _AZURE)),
    (_CONVERSATION, "GET", "stored", "get", "conversation", (_OPENAI, _AZURE)),
    (_CONVERSATION, "POST", "stored", "update", "conversation", (_OPENAI, _AZURE)),
    (_CONVERSATION, "DELETE", "stored", "delete", "conversation", (_OPENAI, _AZURE)),
    (_ITEMS, "POST", "stored", "create", "items", (_OPENAI, _AZURE)),
    (_ITEMS, "GET", "stored", "list", "items", (_OPENAI, _AZURE)),
    (f"{_ITEMS}/{{item}}", "GET", "stored", "get", "items", (_OPENAI, _AZURE)),
    (f"{_ITEMS}/{{item}}", "DELETE", "stored", "delete", "items", (_OPENAI, _AZURE)),
)
_WORDS = ("/responses/input_tokens", "/responses/compact")
"""Addresses that look like the id of a response and are none."""


def _pattern(head: str, path: str) -> re.Pattern[str]:
    inner = path.replace("{model}", "(?P<model>.+)").replace("{", "(?P<").replace("}", ">[^/]+)")
    return re.compile(re.escape(head) + inner)


_ROWS: tuple[tuple[re.Pattern[str], Address], ...] = tuple(
    (_pattern(head, path), Address(surface, method, operation, action=action, stored_kind=kind))
    for path, method, operation, action, kind, surfaces in _ADDRESSES
    for surface in surfaces
    for head in _HEADS[surface]
)


def addresses_of(request: HttpRequest, named: Surface) -> list[Address]:
    """What the path of a request names, an address for each method that it takes; none for a path that there is not.

    `named` is the surface that the dialect was asked for.
    """
    return list(_addresses(request.path.rstrip("/"), named))


def _addresses(path: str, named: Surface) -> Iterator[Address]:
    apart = (_OPENAI, _COPILOT) if named in (_OPENAI, _COPILOT) else (named,)
    for pattern, address in _ROWS:
        found = pattern.fullmatch(path) if address.surface in apart else None
        if found is not None and not (path.endswith(_WORDS) and "resource" in pattern.groupindex):
            names = found.groupdict()
            yield replace(address, model=names.get("model"), resource=names.get("resource"), item=names.get("item", ""))


def takes_sockets(request: HttpRequest, named: Surface) -> bool:
    """Whether the address is one where the service opens a WebSocket (documented by OpenAI, Azure and xAI)."""
    path = request.path.rstrip("/")
    return named not in (*STATELESS, _COPILOT) and path == f"{_HEADS[named][0]}/responses"


def surface_of(request: HttpRequest, named: Surface) -> Surface:
    """The surface that a request addresses, also where its path names nothing."""
    if named not in (_OPENAI, _COPILOT):
        return named
    return _OPENAI if request.path.startswith("/v1/") else _COPILOT
