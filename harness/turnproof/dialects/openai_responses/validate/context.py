"""What every rule looks at: the body, the items in their places, the model's facts, and the world."""

from __future__ import annotations

from dataclasses import dataclass

from ...base import HttpRequest, Refusal, Rule, World
from ...error_answers import bad_request
from ...judged_request import JudgedItems
from ..items import kind_of
from ..surfaces import ResponsesCall


@dataclass(frozen=True, slots=True)
class Context(JudgedItems[ResponsesCall]):
    """One request under judgement."""

    @classmethod
    def from_request(cls, request: HttpRequest, call: ResponsesCall, world: World) -> Context:
        return cls.of_items(request, call, world, call.items, kind_of)

    @property
    def counting(self) -> bool:
        """Whether the request asks for no answer of the model."""
        return self.call.operation != "generate"


def refuse(rule: Rule, message: str, path: str = "$", code: str = "invalid_request_error") -> Refusal:
    """The usual refusal: 400, an invalid request."""
    return bad_request(rule, code, message, path)
