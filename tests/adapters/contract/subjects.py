"""The adapters that the contract suite is run on."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest

from ..anthropic.kit import KIT as ANTHROPIC
from ..antigravity.kit import KIT as ANTIGRAVITY
from ..github_models.kit import KIT as GITHUB_MODELS
from ..google_genai.kit import KIT as GOOGLE_GENAI
from ..google_interactions.kit import KIT as GOOGLE_INTERACTIONS
from ..ollama.kit import KIT as OLLAMA
from ..openai.kit import KIT as OPENAI
from ..openai_responses.kit import KIT as OPENAI_RESPONSES
from ..zai.kit import KIT as ZAI
from .adapter_kit import PATHS, AdapterKit, Subject

KITS: tuple[AdapterKit, ...] = (
    ANTHROPIC,
    OPENAI,
    OPENAI_RESPONSES,
    GOOGLE_GENAI,
    GOOGLE_INTERACTIONS,
    ANTIGRAVITY,
    GITHUB_MODELS,
    OLLAMA,
    ZAI,
)
SUBJECTS = tuple(Subject(kit, path) for kit in KITS for path in PATHS)


def parametrize_subject(subjects: Iterable[Subject]) -> pytest.MarkDecorator:
    """Parametrizes `subject` by these."""
    return pytest.mark.parametrize("subject", tuple(subjects), ids=lambda subject: f"{subject.kit.name}-{subject.path}")


each_kit = pytest.mark.parametrize("kit", KITS, ids=lambda kit: kit.name)
each_subject = parametrize_subject(SUBJECTS)
batch_and_stream = pytest.mark.parametrize("streamed", [False, True], ids=["batch", "stream"])


def each_case(cases: Iterable[tuple[Subject, str | None]]) -> pytest.MarkDecorator:
    """Parametrizes `subject` and `case` by pairs, where an adapter has its own list of cases."""
    params: list[Any] = [
        pytest.param(subject, case, id=f"{subject.kit.name}-{subject.path}-{case}") for subject, case in cases
    ]
    return pytest.mark.parametrize(("subject", "case"), params)


def each_claimed(case: str) -> pytest.MarkDecorator:
    """Parametrizes `subject` by the paths that must meet this case."""
    return parametrize_subject(subject for subject in SUBJECTS if subject.claimed([case]))
