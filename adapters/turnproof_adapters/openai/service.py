"""How a service speaks the chat completions API where services differ, as data."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from .models import Model
from .models import model as facts_of

DIALECT = "openai-chat"


@dataclass(frozen=True, slots=True)
class Service:
    """One service. The defaults are OpenAI's own ways.

    `dialect` tags what answers issue for themselves. `facts` says what is known of a model by its name. `instructions`
    is the role of system texts: OpenAI takes both names, many others only `system`. `limit` is the field for the length
    of an answer; None leaves it to the model. `thoughts_back` sends the thinking of the service's own models back in
    the field that it came in: some services insist on it within a tool loop, some refuse it, most ignore it.
    """

    dialect: str = DIALECT
    facts: Callable[[str | None], Model] = facts_of
    instructions: Literal["system", "developer"] = "system"
    limit: Literal["max_completion_tokens", "max_tokens"] | None = None
    thoughts_back: bool = False


OPENAI = Service()
