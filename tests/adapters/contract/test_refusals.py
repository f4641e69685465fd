"""A refusal is typed alike on every path, as a batch and as a stream, and nobody below the session retries."""

from __future__ import annotations

import logging

import httpx2
import pytest

from turnproof.errors import ProviderError

from ..anthropic.refusals import REFUSALS as ANTHROPIC
from ..antigravity.refusals import REFUSALS as ANTIGRAVITY
from ..faults import everything
from ..github_models.refusals import REFUSALS as GITHUB_MODELS
from ..google_genai.refusals import REFUSALS as GOOGLE_GENAI
from ..google_interactions.refusals import REFUSALS as GOOGLE_INTERACTIONS
from ..ollama.refusals import REFUSALS as OLLAMA
from ..openai.refusals import REFUSALS as OPENAI
from ..openai_responses.refusals import REFUSALS as OPENAI_RESPONSES
from ..zai.refusals import REFUSALS as ZAI
from .adapter_kit import PATHS, AdapterKit, OpenedPath
from .refusal import Refusal
from .subjects import KITS

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::UserWarning")
REFUSALS: dict[str, list[Refusal]] = {
    "anthropic": ANTHROPIC,
    "openai": OPENAI,
    "openai_responses": OPENAI_RESPONSES,
    "google_genai": GOOGLE_GENAI,
    "google_interactions": GOOGLE_INTERACTIONS,
    "antigravity": ANTIGRAVITY,
    "github_models": GITHUB_MODELS,
    "ollama": OLLAMA,
    "zai": ZAI,
}


@pytest.mark.parametrize(
    ("kit", "refusal"),
    [
        pytest.param(kit, refusal, id=f"{kit.name}-{refusal.id}")
        for kit in KITS
        for refusal in REFUSALS.get(kit.name, ())
    ],
)
def test_a_refusal_is_typed_alike_however_it_was_asked_for(
    kit: AdapterKit, refusal: Refusal, caplog: pytest.LogCaptureFixture
) -> None:
    requests: list[httpx2.Request] = []
    caplog.set_level(logging.DEBUG)

    def refuse(request: httpx2.Request) -> httpx2.Response:
        requests.append(request)
        return refusal.response()

    for path in PATHS:
        for streamed in (False, True):
            opened = OpenedPath(kit, path, "http://example.invalid", transport=httpx2.MockTransport(refuse))
            with pytest.raises(ProviderError) as failure:
                opened.ask(streamed)
            assert type(failure.value) is refusal.expected
            assert failure.value.status == refusal.status
            for name, value in refusal.facts.items():
                assert getattr(failure.value, name) == value, name
            assert kit.key not in everything(failure.value)
    assert len(requests) == 4
    assert kit.key not in caplog.text
