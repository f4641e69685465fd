"""The surfaces of the API: who serves it, and what of a request's address says so.

All take and give the same kind of body. They differ in address, authentication, the form of errors, and in what an
answer carries besides (`surface_table.py`). Two share the address `/v1/chat/completions`, two `/chat/completions`:
there the name of the dialect decides (`openai-chat@ollama`), and without one the first of them.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from enum import StrEnum

from ..base import Call, HttpRequest, Operation


class Surface(StrEnum):
    """One of the services, or addresses of one, that speak the API."""

    OPENAI = "openai"
    AZURE = "azure"
    GITHUB = "github"
    COPILOT = "copilot"
    ZAI = "zai"
    OLLAMA = "ollama"


@dataclass(frozen=True, slots=True)
class ChatCall(Call):
    """A call and the surface it came by. Copilot exchanges tokens by the operation `authenticate`."""

    surface: Surface = Surface.OPENAI

    @classmethod
    def at_surface(cls, call: Call, surface: Surface) -> ChatCall:
        """A call of this dialect as what it is. A plain one counts as one to `surface`."""
        return call if isinstance(call, cls) else replace(cls.from_call(call), surface=surface)


@dataclass(frozen=True, slots=True)
class Address:
    """What a path says. `model` is the deployment or model that it names; `method` is the one it is asked with."""

    surface: Surface
    operation: Operation
    method: str
    model: str | None = None


_Row = tuple[re.Pattern[str], str, Operation, tuple[Surface, ...]]


def _row(pattern: str, method: str, operation: Operation, *surfaces: Surface) -> _Row:
    return re.compile(pattern), method, operation, surfaces


_ADDRESSES = (
    _row("/v1/chat/completions", "POST", "generate", Surface.OPENAI, Surface.OLLAMA),
    _row("/v1/models", "GET", "list_models", Surface.OPENAI, Surface.OLLAMA),
    _row("/v1/models/(?P<model>.+)", "GET", "get_model", Surface.OPENAI, Surface.OLLAMA),
    _row("/openai/deployments/(?P<model>[^/]+)/chat/completions", "POST", "generate", Surface.AZURE),
    _row("/openai/v1/chat/completions", "POST", "generate", Surface.AZURE),
    _row("/openai/v1/models", "GET", "list_models", Surface.AZURE),
    _row("/models/chat/completions", "POST", "generate", Surface.AZURE),
    _row("(?:/orgs/[^/]+)?/inference/chat/completions", "POST", "generate", Surface.GITHUB),
    _row("/catalog/models", "GET", "list_models", Surface.GITHUB),
    # The old host of GitHub Models had this address, too.
    _row("/chat/completions", "POST", "generate", Surface.COPILOT, Surface.GITHUB),
    _row("/models", "GET", "list_models", Surface.COPILOT),
    _row("/copilot_internal/v2/token", "GET", "authenticate", Surface.COPILOT),
    _row("/api/(?:coding/)?paas/v4/chat/completions", "POST", "generate", Surface.ZAI),
)

_PATH_HEADS = (
    ("/openai/", Surface.AZURE),
    ("/inference/", Surface.GITHUB),
    ("/orgs/", Surface.GITHUB),
    ("/catalog/", Surface.GITHUB),
    ("/copilot_internal/", Surface.COPILOT),
    ("/api/paas/", Surface.ZAI),
    ("/api/coding/", Surface.ZAI),
)
"""How a path begins behind which there need be nothing."""


def address(request: HttpRequest, named: Surface) -> Address | None:
    """What a request's path is the address of; None where no service has anything there.

    `named` is the surface that the dialect was asked for: it decides where several have the path.
    """
    path = request.path.rstrip("/")
    for pattern, method, operation, surfaces in _ADDRESSES:
        if (found := pattern.fullmatch(path)) is not None:
            surface = named if named in surfaces else surfaces[0]
            return Address(surface, operation, method, found.groupdict().get("model"))
    return None


def surface_of(request: HttpRequest, named: Surface) -> Surface:
    """The surface that a request addresses, also where its path names nothing."""
    if (found := address(request, named)) is not None:
        return found.surface
    return next((surface for head, surface in _PATH_HEADS if request.path.startswith(head)), named)
