"""What an adapter knows of a model, claims for it, and answers when it is asked; and the check of a key."""

from __future__ import annotations

import pytest

from turnproof.errors import OverloadedError
from turnproof_adapters._lifecycle import ModelFacts

from ..scripted_server import Exchange, scripted
from .adapter_kit import AdapterKit, Subject
from .subjects import SUBJECTS, parametrize_subject

URL = "http://example.invalid"
UNKNOWN = "a-model-of-tomorrow"


def facts_of(kit: AdapterKit, model: str | None) -> ModelFacts:
    assert kit.facts_of is not None
    return kit.facts_of(model)


WITH_MODELS = [subject for subject in SUBJECTS if subject.kit.models]


@parametrize_subject(WITH_MODELS)
def test_what_a_model_supports_is_told_and_claimed_alike(subject: Subject) -> None:
    for name in subject.kit.models:
        provider, facts = subject.kit.open(subject.path, URL, model=name), facts_of(subject.kit, name)
        assert provider.supports_thinking() == facts.thinks
        assert provider.supports_structured_output() == facts.structured
        assert provider.get_context_limit() == facts.context_tokens
        if (binding := subject.kit.binding) is not None:
            claims = binding.claims(name)
            assert claims.structured == facts.structured
            assert provider.supports_streaming() == claims.streaming
            assert provider.supports_stop() == claims.cancel


@parametrize_subject(subject for subject in WITH_MODELS if subject.kit.binding is not None)
def test_a_provider_without_a_model_knows_what_holds_for_unknown_ones(subject: Subject) -> None:
    provider, unknown = type(subject.kit.open(subject.path, URL))(), facts_of(subject.kit, UNKNOWN)
    assert facts_of(subject.kit, None) == facts_of(subject.kit, "") == unknown
    assert provider.get_context_limit() == unknown.context_tokens
    assert provider.supports_thinking() == unknown.thinks
    assert provider.supports_structured_output() == unknown.structured


@parametrize_subject(subject for subject in SUBJECTS if subject.kit.key_check is not None)
def test_a_key_is_verified_and_other_trouble_is_not_taken_for_a_bad_key(subject: Subject) -> None:
    check = subject.kit.key_check
    assert check is not None
    answers = [(200, check.accepted), *check.refusals, (503, {})]

    def answer(exchange: Exchange) -> None:
        status, document = answers.pop(0)
        exchange.answer(document, status)

    with scripted(answer) as server:
        provider = subject.kit.open(subject.path, server.url)
        assert provider.verify_auth()
        for _ in check.refusals:
            assert not provider.verify_auth()
        with pytest.raises(OverloadedError):
            provider.verify_auth()
        assert not answers
        request = server.requests[0]
        assert any(subject.kit.key in value for value in request.headers.values())
        assert request.path == check.path, "the cheapest there is to ask"
