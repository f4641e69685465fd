"""What is known of a model without asking the server. State of November 2026.

What a model can do is the server's to say (`/api/show`); what is claimed has to be said without one. The labels are
those of https://ollama.com/library; a family that is not listed counts as a current one, which thinks and calls tools.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ..anthropic.models import CompatibleModel

DIALECT = "ollama"
NAME = "ollama"

_LABELS: Mapping[str, frozenset[str]] = {
    "deepseek-r1": frozenset({"thinking", "tools"}),
    "gemma3": frozenset({"vision"}),
    "gemma3:1b": frozenset(),
    "gpt-oss": frozenset({"thinking", "tools"}),
    "granite3.2-vision": frozenset({"tools", "vision"}),
    "llama3": frozenset(),
    "llama3.1": frozenset({"tools"}),
    "llama3.2": frozenset({"tools"}),
    "llama3.3": frozenset({"tools"}),
    "mistral": frozenset({"tools"}),
    "qwen3": frozenset({"thinking", "tools"}),
}
_CURRENT = frozenset({"thinking", "tools"})
_LATEST = ":latest"


@dataclass(frozen=True, slots=True)
class Model(CompatibleModel):
    """The features of a model, by the labels of its family."""

    labels: frozenset[str]

    @property
    def context_tokens(self) -> int:
        """Not known without the server."""
        return 0

    @property
    def thinks(self) -> bool:
        """Whether thinking can be switched on."""
        return "thinking" in self.labels

    @property
    def calls(self) -> bool:
        """Whether it calls tools."""
        return "tools" in self.labels

    @property
    def sees(self) -> bool:
        """Whether it takes images."""
        return "vision" in self.labels

    @property
    def mid_system(self) -> bool:
        """The server hands on a message of any role as it is (`convertMessage` of anthropic.go)."""
        return True


def model(name: str | None) -> Model:
    """The model of that name, whatever its tag."""
    tagged = (name or "").removesuffix(_LATEST)
    family = tagged.partition(":")[0]
    return Model(_LABELS.get(tagged, _LABELS.get(family, _CURRENT)))


def same_model(a: str, b: str) -> bool:
    """Whether two names mean one model: the tag `latest` may be left out."""
    return a.removesuffix(_LATEST) == b.removesuffix(_LATEST)
