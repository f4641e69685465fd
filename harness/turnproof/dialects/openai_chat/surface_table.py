"""What the surfaces do each in its own way, as data.

Recorded for openai, azure, zai and ollama (`openai-chat.md` §3, `zai.md` §3, `ollama.md` §5). GitHub Models and Copilot
were not: theirs is from documentation, client sources and issues (`openai-chat.md` §1, §3, §6). Their clients have no
variable for the address; the names of those are ours.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from .surfaces import Surface


@dataclass(frozen=True, slots=True)
class SurfaceFacts:
    """How one surface is reached and how it speaks.

    `base_path` is what a client's base URL has behind the host.
    `thoughts` is the field that thinking stands in (None: it is never shown). `whole_calls`: a call streams in one
    chunk. `usage_apart`: asked-for figures come in a chunk without choices, else in the one with the finish.
    `repeats_role`: every delta says who speaks. `filters`: prompt and answer carry the marks of a content filter.
    `details`: usage says what of it was cached and thought. `window`: no prompt of any model may have more tokens.
    """

    host: str
    key_variables: tuple[str, ...]
    base_url_variable: str
    base_path: str = ""
    thoughts: str | None = None
    whole_calls: bool = False
    usage_apart: bool = True
    repeats_role: bool = False
    filters: bool = False
    details: bool = True
    window: int | None = None


SURFACE_TABLE: Mapping[Surface, SurfaceFacts] = {
    Surface.OPENAI: SurfaceFacts("https://api.openai.com", ("OPENAI_API_KEY",), "OPENAI_BASE_URL", "/v1"),
    Surface.AZURE: SurfaceFacts(
        "https://RESOURCE.openai.azure.com", ("AZURE_OPENAI_API_KEY",), "AZURE_OPENAI_ENDPOINT", filters=True
    ),
    Surface.GITHUB: SurfaceFacts(
        "https://models.github.ai",
        ("GITHUB_TOKEN",),
        "GITHUB_MODELS_BASE_URL",
        "/inference",
        filters=True,
        window=8_000,
    ),
    Surface.COPILOT: SurfaceFacts(
        "https://api.githubcopilot.com",
        ("GITHUB_TOKEN",),
        "GITHUB_COPILOT_BASE_URL",
        thoughts="reasoning_text",
        filters=True,
        window=128_000,
    ),
    Surface.ZAI: SurfaceFacts(
        "https://api.z.ai",
        ("ZAI_API_KEY", "ZHIPUAI_API_KEY"),
        "ZAI_BASE_URL",
        "/api/paas/v4",
        thoughts="reasoning_content",
        whole_calls=True,
        usage_apart=False,
        repeats_role=True,
    ),
    Surface.OLLAMA: SurfaceFacts(
        "http://127.0.0.1:11434",
        ("OLLAMA_API_KEY",),
        "OLLAMA_HOST",
        "/v1",
        thoughts="reasoning",
        whole_calls=True,
        repeats_role=True,
        details=False,
    ),
}

THOUGHTS = ("reasoning_content", "reasoning_text", "reasoning")
"""The fields that thinking stands in, on any surface."""
