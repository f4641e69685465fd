"""What a path and a method name, and a call to this API with what only this API has.

The model list is that of the Gemini API, which stands at the same host: this API has none of its own.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from ..base import Action, HttpRequest, Operation
from ..stored_calls import StoredCall

Step: TypeAlias = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class InteractionsCall(StoredCall):
    """A call and what only this API has: the steps of the conversation as the service has it.

    The first `carried` of the `steps` were not in the request: the service holds them, for the interaction that is
    named as the previous one. Of an operation on the store, `resource` names the interaction, and `settings` are the
    parameters of the query.
    """

    steps: tuple[Step, ...] = ()

    @property
    def agent(self) -> str | None:
        """The agent that is asked in place of a model."""
        found = (self.body or {}).get("agent")
        return found if isinstance(found, str) else None

    @property
    def shows_thoughts(self) -> bool:
        """Whether the request asks for summaries of what was thought."""
        config = (self.body or {}).get("generation_config")
        return isinstance(config, dict) and config.get("thinking_summaries") == "auto"


@dataclass(frozen=True, slots=True)
class Address:
    """What a path and a method name; `resource` is the interaction in the path."""

    method: str
    operation: Operation
    action: Action = ""
    resource: str | None = None


_VERSION = r"/v1(?:alpha|beta)?"
_ALL = re.compile(rf"{_VERSION}/interactions")
_ONE = re.compile(rf"{_VERSION}/interactions/([^/:]+)")
_CANCEL = re.compile(rf"{_VERSION}/interactions/([^/:]+)/cancel")
_OF_GEMINI = re.compile(rf"{_VERSION}/models(?:/[^/:]+)?")


def addresses_of(request: HttpRequest) -> list[Address]:
    """What the path of a request names, an address for each method that it takes; none for a path that there is not."""
    path = request.path.rstrip("/")
    if _ALL.fullmatch(path):
        return [Address("POST", "generate")]
    if found := _ONE.fullmatch(path):
        return [
            Address("GET", "stored", "get", found[1]),
            Address("DELETE", "stored", "delete", found[1]),
        ]
    if found := _CANCEL.fullmatch(path):
        return [Address("POST", "stored", "cancel", found[1])]
    return []


def is_of_gemini(request: HttpRequest) -> bool:
    """Whether a request is for the model list of the Gemini API, at the same host."""
    return request.method.upper() == "GET" and _OF_GEMINI.fullmatch(request.path.rstrip("/")) is not None
