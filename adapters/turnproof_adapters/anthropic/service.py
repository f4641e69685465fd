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


class Models(Protocol):
    """What is known of the models of a service, by their names."""

    DIALECT: str

    def model(self, name: str | None, /) -> Facts: ...

    def same_model(self, a: str, b: str, /) -> bool: ...


class Refusals(Protocol):
    """What its errors say: `complaint` finds that in an error body, in any JSON; `refusal` says what it means."""

    def complaint(self, document: object, /) -> Failure | None: ...

    def refusal(self, refused: Refused, /) -> ProviderError: ...


@dataclass(frozen=True, slots=True)
class Service:
    """One service. Its key comes from the settings or the first of `key_variables` that is set; `keyless` stands for
    one where none is needed, and None says that one is.

    `models` and `refusals` are modules of its adapter. `thinking` puts a thinking configuration into its form. Where
    `signs`, thinking goes back with its signature or not at all, and a tool loop that thinks has to have begun with
    thinking; elsewhere it goes back as it was issued. `breakpoints` says whether cache marks mean anything, `schemas`
    whether response schemas do, `counts` whether prompts can be counted; `reads`, which files are looked at.
    `tool_name` gives the name that a tool goes by on the wire.
    """

    name: str
    models: Models
    refusals: Refusals
    address: str
    key_variables: tuple[str, ...]
    thinking: Callable[[Mapping[str, Any] | None], dict[str, Any] | None]
    keyless: str | None = None
    signs: bool = True
    breakpoints: bool = True
    schemas: bool = True
    counts: bool = True
    reads: Callable[[InlineData | FileRef], bool] = lambda part: True
    tool_name: Callable[[str], str] = wire_name

    @property
    def dialect(self) -> str:
        """The tag of what the service issues."""
        return self.models.DIALECT


ANTHROPIC = Service(
    "anthropic", models, refusals, "https://api.anthropic.com", ("ANTHROPIC_API_KEY",), thinking=thinking.budgeted
)


def compatible_service(
    name: str, models: Models, refusals: Refusals, address: str, key_variables: tuple[str, ...], **more: Any
) -> Service:
    """A service of another vendor that takes requests in this form, and passes over much of it: signatures, cache marks
    and response schemas. Thinking is switched on or off, and prompts cannot be counted. `more` are further fields."""
    leaves_out = {"signs": False, "breakpoints": False, "schemas": False, "counts": False}
    return Service(name, models, refusals, address, key_variables, thinking.switched, **{**leaves_out, **more})


class ServiceProvider(ClientProvider[C]):
    """A provider of this family: its service says what the chosen model can do."""

    service: ClassVar[Service] = ANTHROPIC
    """Whose API it is; an adapter for another service has another one here."""

    @property
    def _facts(self) -> Facts:
        return self.service.models.model(self._model)

    def supports_structured_output(self) -> bool:
        """Whether the chosen model takes a response schema, and the service heeds it."""
        return self.service.schemas and super().supports_structured_output()
