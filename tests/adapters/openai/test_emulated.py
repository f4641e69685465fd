"""The adapter against the services that speak the API, each emulated in its own ways: what a session does with it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from operator import attrgetter
from pathlib import Path
from typing import Any

import pytest

from turnproof.certify.fixtures import ScriptedEndpoint
from turnproof.errors import AuthenticationError, ContextLimitError, InvalidRequestError, ProviderError
from turnproof.messages import FinishReason, Message, Thought
from turnproof.provider import Endpoint
from turnproof_adapters.openai.binding import BINDING

from ..two_beds import QUESTION, next_answer, play, services


@dataclass(frozen=True)
class Service:
    """A service: how its base URL goes on behind the host, what it wants besides, and where its thinking shows."""

    id: str
    dialect: str
    model: str
    url_path: str = ""
    options: dict[str, Any] = field(default_factory=dict)
    thinks_in: str | None = None


SERVICES = [
    Service("openai", "openai-chat", "gpt-4.1"),
    Service("azure", "openai-chat@azure", "gpt-4o", "/openai/deployments/gpt-4o", {"query": {"api-version": "1"}}),
    Service("azure-foundry", "openai-chat@azure", "gpt-4o", "/models", {"query": {"api-version": "1"}}),
    Service("zai", "openai-chat@zai", "glm-4.7", thinks_in="reasoning_content"),
    Service("zai-kept", "openai-chat@zai", "glm-4.7", "", {"thoughts_back": True}, "reasoning_content"),
    Service("ollama", "openai-chat@ollama", "gpt-oss:20b", thinks_in="reasoning"),
    Service("ollama-with-one-index", "openai-chat@ollama", "llama3.2", thinks_in="reasoning"),
]
ALL = pytest.mark.parametrize("service", SERVICES, ids=attrgetter("id"))
STREAMED = pytest.mark.parametrize("streamed", [False, True], ids=["batch", "stream"])


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[Callable[[Service], ScriptedEndpoint]]:
    with services(tmp_path) as opening:
        yield lambda service: opening(service.dialect, service.model)


def address(served: ScriptedEndpoint, service: Service, key: str | None = None, model: str | None = None) -> Endpoint:
    url = served.base_url.rstrip("/") + service.url_path
    return Endpoint(url, key or served.api_key, model or served.model, service.options)


@ALL
@STREAMED
def test_a_tool_turn_goes_through_with_a_save_and_a_fresh_provider_at_every_step(
    opened: Callable[[Service], ScriptedEndpoint], service: Service, streamed: bool
) -> None:
    served = opened(service)
    at = address(served, service)
    response = play(served, lambda history: next_answer(BINDING, at, served, history, streamed))
    assert response.finish_reason is FinishReason.TOOL_USE
    thoughts = [part for part in response.parts if isinstance(part, Thought)]
    assert [part.text for part in thoughts] == (["Two beds, two sensors."] if service.thinks_in else [])
    assert all(part.provider_data and part.provider_data.data["field"] == service.thinks_in for part in thoughts)
    sent = served.exchanges[-1].call
    assert sent is not None
    sent_thoughts = [part for message in sent.messages for part in message.parts if isinstance(part, Thought)]
    assert bool(sent_thoughts) is ("thoughts_back" in service.options)


REFUSED: list[tuple[str, dict[str, str], type[ProviderError]]] = [
    ("a wrong key", {"key": "sk-wrong"}, AuthenticationError),
    ("a model that is not there", {"model": "gpt-9"}, InvalidRequestError),
]


@ALL
@pytest.mark.parametrize(("_", "wrong", "expected"), REFUSED, ids=lambda value: value if isinstance(value, str) else "")
def test_each_service_refuses_in_its_own_words_and_the_error_is_the_same(
    opened: Callable[[Service], ScriptedEndpoint],
    service: Service,
    _: str,
    wrong: dict[str, str],
    expected: type[ProviderError],
) -> None:
    served = opened(service)
    at = address(served, service, **wrong)
    if service.dialect.endswith("azure") and "model" in wrong:
        at = Endpoint(at.base_url.replace("gpt-4o", "gpt-9"), at.api_key, at.model, at.options)
    if service.dialect.endswith("ollama") and "key" in wrong:
        assert next_answer(BINDING, at, served, [QUESTION], False).calls, "a local server asks nobody who they are"
        return
    failures = []
    for streamed in (False, True):
        with pytest.raises(expected) as failure:
            next_answer(BINDING, at, served, [QUESTION], streamed)
        failures.append((failure.value.status, failure.value.kind, failure.value.message))
    assert failures[0] == failures[1]
    assert failures[0][0] in (400, 401, 404)


@pytest.mark.parametrize("service", [SERVICES[0], SERVICES[1], SERVICES[3]], ids=attrgetter("id"))
def test_a_prompt_that_is_too_long_is_a_full_context_everywhere(
    opened: Callable[[Service], ScriptedEndpoint], service: Service
) -> None:
    served = opened(service)
    long = [Message.user("tomato " * 1_200_000)]
    with pytest.raises(ContextLimitError) as failure:
        next_answer(BINDING, address(served, service), served, long)
    assert failure.value.status == 400
