"""The two surfaces of the API: OpenAI's own (`/v1/responses`) and GitHub Copilot's (`/responses`).

They take and give the same bodies and differ in address, in the headers that they ask for, and in the form of errors.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, TypeAlias

from ..base import Call, HttpRequest, Operation

Item: TypeAlias = Mapping[str, Any]


class Surface(StrEnum):
    """One of the services, or addresses of one, that speak the API."""

    OPENAI = "openai"
    COPILOT = "copilot"


@dataclass(frozen=True, slots=True)
class ResponsesCall(Call):
    """A call and what only this API has: its surface, and the items of the conversation as the service has it.

    The first `carried` of the `items` were not in the request: the service holds them, for the response that is named
    as the previous one. References are replaced by what they name.
    """

    surface: Surface = Surface.OPENAI
    items: tuple[Item, ...] = ()
    carried: int = 0

    @property
    def stored(self) -> bool:
        """Whether the service keeps the response: it does unless it is told not to."""
        return (self.body or {}).get("store") is not False


@dataclass(frozen=True, slots=True)
class Address:
    """What a path names, and the one method that it takes."""

    surface: Surface
    method: str
    operation: Operation
    model: str | None = None


EXCHANGE = "/copilot_internal/v2/token"
"""Where a GitHub token is exchanged for a session token of Copilot."""

_MODEL = re.compile(r"/v1/models/(.+)")
_PATHS: Mapping[str, Address] = {
    "/v1/responses": Address(Surface.OPENAI, "POST", "generate"),
    "/v1/responses/input_tokens": Address(Surface.OPENAI, "POST", "count_tokens"),
    "/v1/models": Address(Surface.OPENAI, "GET", "list_models"),
    "/responses": Address(Surface.COPILOT, "POST", "generate"),
    "/models": Address(Surface.COPILOT, "GET", "list_models"),
    EXCHANGE: Address(Surface.COPILOT, "GET", "authenticate"),
}


def address_of(request: HttpRequest) -> Address | None:
    """Where a request goes; None for a path that the service does not have."""
    path = request.path.rstrip("/")
    if model := _MODEL.fullmatch(path):
        return Address(Surface.OPENAI, "GET", "get_model", model[1])
    return _PATHS.get(path)


def surface_of(request: HttpRequest) -> Surface:
    """The surface that a request addresses, also where its path names nothing."""
    return Surface.OPENAI if request.path.startswith("/v1/") else Surface.COPILOT
