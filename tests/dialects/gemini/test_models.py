"""The models of the Gemini API: lists, limits and features."""

from __future__ import annotations

import pytest

from turnproof.dialects.base import PromptUsage
from turnproof.dialects.gemini import DIALECT
from turnproof.dialects.gemini.models import (
    DEMANDS_SIGNATURES,
    GIVES_IDS,
    IMPLICIT_CACHE,
    JSON_WITH_TOOLS,
    RETIRED,
    SIGNS,
    THINKS,
)

from .asks import Ask
from .builders import MODEL, OLD
from .cache_service import Service


def test_models_are_listed_and_shown_with_their_limits() -> None:
    service = Service()
    listed = service.send(Ask({}, "/v1beta/models", "GET"))[1]["models"]
    assert {"models/gemini-2.5-pro", f"models/{MODEL}", f"models/{OLD}"} <= {each["name"] for each in listed}
    assert "models/gemini-1.5-flash" not in {each["name"] for each in listed}
    status, shown = service.send(Ask({}, f"/v1beta/models/{OLD}", "GET"))
    assert (status, shown["displayName"], shown["thinking"]) == (200, "Gemini 2.5 Flash", True)
    assert (shown["inputTokenLimit"], shown["outputTokenLimit"]) == (1_048_576, 65_536)
    assert {"generateContent", "countTokens"} <= set(shown["supportedGenerationMethods"])
    assert "thinking" not in service.send(Ask({}, "/v1beta/models/gemini-2.0-flash", "GET"))[1]


def test_vertex_lists_models_of_the_publisher() -> None:
    (key, listed), *_ = Service().send(Ask({}, "/v1beta1/publishers/google/models", "GET"))[1].items()
    assert key == "publisherModels"
    assert f"publishers/google/models/{MODEL}" in {each["name"] for each in listed}


def test_an_unknown_model_is_refused_also_without_a_judge_in_front() -> None:
    service = Service()
    parsed_call = service.parse(Ask({}, "/v1beta/models/nope", "GET"))
    assert DIALECT.render_extra(parsed_call, PromptUsage(0), service.world, "").status == 404


@pytest.mark.parametrize(
    ("name", "ids", "signs", "demands"),
    [
        ("gemini-2.0-flash", False, False, False),
        ("gemini-2.5-flash", False, True, False),
        ("gemini-2.5-pro", False, True, False),
        ("gemini-3-flash-preview", True, True, True),
        ("gemini-3-pro-preview", False, True, True),
        ("gemini-3.1-pro-preview", True, True, True),
        ("gemini-3.6-flash", True, True, True),
    ],
)
def test_ids_and_signatures_of_each_model_are_those_of_the_recordings(
    name: str, ids: bool, signs: bool, demands: bool
) -> None:
    features = DIALECT.models[name].features
    assert (GIVES_IDS in features, SIGNS in features, DEMANDS_SIGNATURES in features) == (ids, signs, demands)


def test_no_feature_is_listed_that_nothing_asks_for() -> None:
    known = {GIVES_IDS, SIGNS, DEMANDS_SIGNATURES, THINKS, IMPLICIT_CACHE, JSON_WITH_TOOLS, RETIRED}
    assert {feature for facts in DIALECT.models.values() for feature in facts.features} == known
