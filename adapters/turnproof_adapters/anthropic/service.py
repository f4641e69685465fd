"""The services that speak this API: what one of them does in its own way is a `Service`, all else is the same.

Anthropic's own is `ANTHROPIC`. An adapter for another one takes this package's paths and gives them its `Service`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

from turnproof.errors import ProviderError
from turnproof.messages import FileRef, InlineData

from .._lifecycle import C, ClientProvider, ModelFacts
from . import models, refusals, thinking
from .names import wire_name
from .refusals import Refused
from .wire import Failure


class Facts(ModelFacts, Protocol):
    """What a model can do, as far as requests and answers depend on it."""

    @property
    def max_tokens(self) -> int:
        """Room for an answer unless the endpoint's options say otherwise."""

    @property
    def adaptive_only(self) -> bool:
        """Whether a fixed thinking budget is refused."""

    @property
    def mid_system(self) -> bool:
        """Whether messages of role `system` are taken."""

    @property
    def prefill(self) -> bool:
        """Whether it goes on with its own words, where they are what was said last."""


@dataclass(frozen=True, slots=True)
class Service:
    """One service. Its key comes from the settings or the first of `key_variables` that is set; `keyless` stands for
    one where none is needed, and None says that one is.

    `dialect` tags what the service issues. `facts` and `same_model` know its models by name. `complaint` finds what an
    error body says, in any JSON; `refusal` says what that means. `thinking` puts a thinking configuration into its
    form. Where `signs`, thinking goes back with its signature or not at all, and a tool loop that thinks has to have
    begun with thinking; elsewhere it goes back as it was issued. `breakpoints` says whether cache marks mean anything,
    `schemas` whether response schemas do, `counts` whether prompts can be counted; `reads`, which files are looked at.
    `tool_name` gives the name that a tool goes by on the wire.
    """

    name: str
    dialect: str
    address: str
    key_variables: tuple[str, ...]
    facts: Callable[[str | None], Facts]
    same_model: Callable[[str, str], bool]
    complaint: Callable[[object], Failure | None]
    refusal: Callable[[Refused], ProviderError]
    thinking: Callable[[Mapping[str, Any] | None], dict[str, Any] | None]
    keyless: str | None = None
    signs: bool = True
    breakpoints: bool = True
    schemas: bool = True
    counts: bool = True
    reads: Callable[[InlineData | FileRef], bool] = lambda part: True
    tool_name: Callable[[str], str] = wire_name


ANTHROPIC = Service(
    name="anthropic",
    dialect=models.DIALECT,
    address="https://api.anthropic.com",
    key_variables=("ANTHROPIC_API_KEY",),
    facts=models.model,
    same_model=models.same_model,
    complaint=refusals.complaint,
    refusal=refusals.refusal,
    thinking=thinking.budgeted,
)


class ServiceProvider(ClientProvider[C]):
    """A provider of this family: its service says what the chosen model can do."""

    service: ClassVar[Service] = ANTHROPIC
    """Whose API it is; an adapter for another service has another one here."""

    @property
    def _facts(self) -> Facts:
        return self.service.facts(self._model)

    def supports_structured_output(self) -> bool:
        """Whether the chosen model takes a response schema, and the service heeds it."""
        return self.service.schemas and super().supports_structured_output()
