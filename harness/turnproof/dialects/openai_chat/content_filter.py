"""What Azure's content filter writes beside prompts and answers (recorded on Azure, reported of Copilot)."""

from __future__ import annotations

from typing import Any

_SAFE = {"filtered": False, "severity": "safe"}
_CATEGORIES = dict.fromkeys(("hate", "self_harm", "sexual", "violence"), _SAFE)
_ABSENT = {"detected": False, "filtered": False}

PROMPT: list[dict[str, Any]] = [
    {"prompt_index": 0, "content_filter_results": {**_CATEGORIES, "jailbreak": _ABSENT}},
]
ANSWER: dict[str, Any] = {**_CATEGORIES, "protected_material_code": _ABSENT, "protected_material_text": _ABSENT}

FIRST_CHUNK: dict[str, Any] = {
    "choices": [], "created": 0, "id": "", "model": "", "object": "", "prompt_filter_results": PROMPT,
}  # fmt: skip
"""How a stream begins: with a chunk that has no choices, no id and no model."""


def of_answer(finish: str | None) -> dict[str, Any]:
    """The marks beside one choice; the one that was stopped says by what."""
    if finish != "content_filter":
        return ANSWER
    return {**ANSWER, "violence": {"filtered": True, "severity": "high"}}
