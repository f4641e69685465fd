"""The two surfaces of the API: OpenAI's own (`/v1/responses`) and GitHub Copilot's (`/responses`).

They take and give the same bodies and differ in address, in the headers that they ask for, and in the form of errors.
What a service keeps can be asked for at OpenAI's own surface alone.
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

_ADDRESSES: tuple[tuple[str, Address], ...] = (
    ("/v1/responses", Address(Surface.OPENAI, "POST", "generate")),
    ("/v1/responses/input_tokens", Address(Surface.OPENAI, "POST", "count_tokens")),
    ("/v1/responses/compact", Address(Surface.OPENAI, "POST", "stored", action="compact")),
    ("/v1/models", Address(Surface.OPENAI, "GET", "list_models")),
    ("/v1/models/(?P<model>.+)", Address(Surface.OPENAI, "GET", "get_model")),
    ("/responses", Address(Surface.COPILOT, "POST", "generate")),
    ("/models", Address(Surface.COPILOT, "GET", "list_models")),
    (EXCHANGE, Address(Surface.COPILOT, "GET", "authenticate")),
)
_ON_THE_STORE: tuple[tuple[str, str, Action, StoredKind], ...] = (
    ("/v1/responses/{resource}", "GET", "get", "response"),
    ("/v1/responses/{resource}", "DELETE", "delete", "response"),
    ("/v1/responses/{resource}/cancel", "POST", "cancel", "response"),
    ("/v1/responses/{resource}/input_items", "GET", "list", "input_items"),
    ("/v1/conversations", "POST", "create", "conversation"),
    ("/v1/conversations/{resource}", "GET", "get", "conversation"),
    ("/v1/conversations/{resource}", "POST", "update", "conversation"),
    ("/v1/conversations/{resource}", "DELETE", "delete", "conversation"),
    ("/v1/conversations/{resource}/items", "POST", "create", "items"),
    ("/v1/conversations/{resource}/items", "GET", "list", "items"),
    ("/v1/conversations/{resource}/items/{item}", "GET", "get", "items"),
    ("/v1/conversations/{resource}/items/{item}", "DELETE", "delete", "items"),
)
_ROWS: tuple[tuple[re.Pattern[str], Address], ...] = (
    *((re.compile(pattern), address) for pattern, address in _ADDRESSES),
    *(
        (
            re.compile(path.replace("{", "(?P<").replace("}", ">[^/]+)")),
            Address(Surface.OPENAI, method, "stored", action=action, stored_kind=kind),
        )
        for path, method, action, kind in _ON_THE_STORE
    ),
)
_WORDS = frozenset({"/v1/responses/input_tokens", "/v1/responses/compact"})
"""Addresses that look like the id of a response and are none."""


def addresses_of(request: HttpRequest) -> list[Address]:
    """What the path of a request names, an address for each method that it takes; none for a path that there is not."""
    return list(_addresses(request.path.rstrip("/")))


def _addresses(path: str) -> Iterator[Address]:
    for pattern, address in _ROWS:
        found = pattern.fullmatch(path)
        if found is not None and not (path in _WORDS and "resource" in pattern.groupindex):
            names = found.groupdict()
            yield replace(address, model=names.get("model"), resource=names.get("resource"), item=names.get("item", ""))


def surface_of(request: HttpRequest) -> Surface:
    """The surface that a request addresses, also where its path names nothing."""
    return Surface.OPENAI if request.path.startswith("/v1/") else Surface.COPILOT
