"""What every rule looks at: the body, its merged turns, the model's facts, and the world."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ...base import Call, HttpRequest, Refusal, Rule, World
from ...error_answers import bad_request
from ...judged_request import JudgedRequest
from .. import headers
from ..conversation import MergedTurn, merge_messages


@dataclass(frozen=True, slots=True)
class Context(JudgedRequest[Call]):
    """One request under judgement. `facts` is None for an unknown model: rules about models are then silent."""

    body: Mapping[str, Any]
    messages: Sequence[Mapping[str, Any]]
    turns: Sequence[MergedTurn]
    betas: frozenset[str]
    new_version: bool

    @classmethod
    def from_request(cls, request: HttpRequest, call: Call, world: World) -> Context:
        body = call.body
        return cls(
            request=request,
            call=call,
            world=world,
            body=body,
            messages=body["messages"],
            turns=merge_messages(body["messages"]),
            facts=world.models.get(body["model"]),
            betas=headers.betas(request),
            new_version=headers.is_new_version(request),
        )

    @property
    def counting(self) -> bool:
        return self.call.operation == "count_tokens"

    @property
    def thinking(self) -> str:
        """The type of `thinking`: `enabled`, `adaptive`, ... or `disabled` where nothing was asked."""
        config = self.body.get("thinking")
        return str(config.get("type", "disabled")) if isinstance(config, dict) else "disabled"


def refuse(rule: Rule, message: str, path: str = "$") -> Refusal:
    """The usual refusal: 400 invalid_request_error."""
    return bad_request(rule, "invalid_request_error", message, path)
