"""A request that an API refuses, and what the error must hold on every path."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import httpx2

from turnproof.errors import ProviderError


@dataclass(frozen=True)
class Refusal:
    """What an API answers. `facts` has the attributes of the error that count: `kind`, `message`, `retryable`, ..."""

    id: str
    status: int
    body: Any
    """A document, or bytes or text that are none."""
    expected: type[ProviderError]
    facts: Mapping[str, Any] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)

    def response(self) -> httpx2.Response:
        content = {"content": self.body} if isinstance(self.body, bytes | str) else {"json": self.body}
        return httpx2.Response(self.status, headers=dict(self.headers), **content)


def refused_waiting(
    id: str, status: int, body: Any, expected: type[ProviderError], facts: Mapping[str, Any] | None = None
) -> Refusal:
    """A refusal with `retry-after: 7`, of which only these facts count."""
    return Refusal(id, status, body, expected, facts or {}, {"retry-after": "7"})


def refused(
    id: str,
    status: int,
    body: Any,
    expected: type[ProviderError],
    kind: str | None,
    message: str,
    retryable: bool = False,
    headers: dict[str, str] | None = None,
    wait: float | None = None,
    fields: dict[str, Any] | None = None,
) -> Refusal:
    """A refusal by the service. The error must have its kind, its message, whether it may be retried, and its wait."""
    facts = {"kind": kind, "message": message, "retryable": retryable, "retry_after": wait, **(fields or {})}
    return Refusal(id, status, body, expected, facts, headers or {})
