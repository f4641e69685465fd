"""What the surfaces do each in its own way, as data.

OpenAI's is recorded. llama.cpp's was measured at its own server (out of xllamacpp 2026.10). The others are from the
vendors' documentation and from threads: each rule names its places (`rules.py`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from ..base import Trait
from .surfaces import Surface

_HELD: frozenset[Trait] = frozenset({"held-history", "items-by-id"})
_SEALED: frozenset[Trait] = frozenset({"seals-on-request", "signed-thinking", "summarised-reasoning"})
_EVERYWHERE: frozenset[Trait] = frozenset({"calls-in-pieces", "malformed-arguments", "text-blocks"})
_KEYED: frozenset[Trait] = _EVERYWHERE | {"key-checks", "named-limits"}
_OF_THE_MAKER: frozenset[Trait] = (
    _KEYED
    | _HELD
    | _SEALED
    | {
        "call-id-form",
        "refusals",
        "refuses-broken-pairs",
        "refuses-long-prompts",
    }
)


@dataclass(frozen=True, slots=True)
class SurfaceFacts:
    """How one surface is reached and what it has.

    `base_path` is what a client's base URL has behind the host. `filters`: an answer carries the marks of a content
    filter. `model_head` stands in front of a model's name in the list of models.
    """

    host: str
    key_variables: tuple[str, ...]
    base_url_variable: str
    base_path: str = "/v1"
    traits: frozenset[Trait] = field(default=_OF_THE_MAKER)
    filters: bool = False
    model_head: str = ""


SURFACE_TABLE: Mapping[Surface, SurfaceFacts] = {
    Surface.OPENAI: SurfaceFacts("https://api.openai.com", ("OPENAI_API_KEY",), "OPENAI_BASE_URL"),
    # It seals the reasoning of every answer, whether a request asks for it or not.
    Surface.COPILOT: SurfaceFacts(
        "https://api.githubcopilot.com",
        ("GITHUB_TOKEN",),
        "GITHUB_COPILOT_BASE_URL",
        "",
        traits=_OF_THE_MAKER - {"seals-on-request"},
    ),
    Surface.AZURE: SurfaceFacts(
        "https://RESOURCE.openai.azure.com",
        ("AZURE_OPENAI_API_KEY",),
        "AZURE_OPENAI_ENDPOINT",
        "/openai/v1",
        filters=True,
    ),
    # Its chains carry the instructions of the first request, which OpenAI's do not: nothing is asked about them.
    Surface.XAI: SurfaceFacts(
        "https://api.x.ai",
        ("XAI_API_KEY",),
        "XAI_BASE_URL",
        traits=_KEYED | {"seals-on-request", "signed-thinking"},
    ),
    Surface.OPENROUTER: SurfaceFacts(
        "https://openrouter.ai",
        ("OPENROUTER_API_KEY",),
        "OPENROUTER_BASE_URL",
        "/api/v1",
        traits=_KEYED | _SEALED | {"refusals"},
        model_head="openai/",
    ),
    Surface.LLAMACPP: SurfaceFacts(
        "http://127.0.0.1:8080", ("LLAMA_API_KEY",), "LLAMA_SERVER_URL", traits=_EVERYWHERE | {"refuses-long-prompts"}
    ),
}
