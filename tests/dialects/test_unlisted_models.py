"""A model that the table does not list is taken as one of its family, and never a reason to refuse or to accuse."""

from __future__ import annotations

import json
import os
import random
from pathlib import Path

import pytest

from turnproof.commands.certify.engine import certify
from turnproof.commands.certify.options import CertifyOptions
from turnproof.dialects import dialect
from turnproof.dialects.catalogue import table_date
from turnproof.dialects.unlisted_models import LIMITS, AnyModel, derive_facts

pytestmark = pytest.mark.usefixtures("forked_workers")

DIALECTS = (
    "anthropic-messages", "antigravity", "gemini", "gemini-interactions", "ollama", "openai-chat", "openai-responses",
    "zai",
)  # fmt: skip
ADAPTERS = {
    "anthropic": "claude", "antigravity": "gemini", "copilot_responses": "gpt", "google_genai": "gemini",
    "ollama": "qwen", "openai": "gpt", "zai": "glm",
}  # fmt: skip
SCENARIOS = ("tools/one", "thinking/*")


def draw_name(family: str, seed: str) -> str:
    """A name as vendors make them, with a version, perhaps a size and a date."""
    draw = random.Random(seed)
    version = f"{draw.randint(6, 19)}{draw.choice(('', '.1', '.5'))}"
    size = draw.choice(("", "-mini", "-pro", "-flash", "-zeta", "-codex"))
    return f"{family}-{version}{size}{draw.choice(('', '-20270214', '-preview', '-latest'))}"


@pytest.mark.parametrize("name", DIALECTS)
def test_any_name_but_the_empty_one_has_facts_and_only_listed_ones_are_listed(name: str) -> None:
    models = AnyModel(dialect(name).models)
    assert list(models) == list(dialect(name).models)
    assert "" not in models
    for model_name in (draw_name("claude", name), draw_name("gemini", name), "x", "日本-1"):
        facts = models[model_name]
        assert (facts.id, facts.alias_of) == (model_name, None)
        assert not facts.features & LIMITS


@pytest.mark.parametrize("name", DIALECTS)
def test_a_listed_model_keeps_its_facts(name: str) -> None:
    listed = dialect(name).models
    assert dict(AnyModel(listed)) == dict(listed)


@pytest.mark.parametrize(
    ("model", "family"),
    [
        ("us.anthropic.claude-sonnet-9-v1:0", "claude"),
        ("publishers/anthropic/models/claude-9", "claude"),
        ("models/gemini-9-flash", "gemini"),
    ],
)
def test_a_family_is_told_by_its_word_wherever_it_stands(model: str, family: str) -> None:
    listed = dialect("antigravity").models
    facts = derive_facts(model, listed)
    assert facts.context_tokens == max(each.context_tokens for id, each in listed.items() if id.startswith(family))
    assert ("claude" in facts.features) == (family == "claude")


def test_an_unlisted_model_may_think_where_some_of_its_family_may() -> None:
    listed = dialect("anthropic-messages").models
    assert "adaptive" not in listed["claude-3-haiku-20240307"].features
    assert "adaptive" in derive_facts("claude-3-haiku-20270101", listed).features


@pytest.mark.parametrize("adapter", ADAPTERS)
def test_an_adapter_is_not_accused_for_a_drawn_model(adapter: str, tmp_path: Path) -> None:
    seed = os.environ.get("TURNPROOF_SEED", "1")
    model = draw_name(ADAPTERS[adapter], f"{adapter} {seed}")
    options = CertifyOptions((f"{adapter}={model}",), backend="emulate", out=tmp_path, scenarios=SCENARIOS)
    assert certify(options) in (0, 3), model
    report = json.loads((tmp_path / "certification.json").read_text())["adapters"][f"{adapter}={model}"]
    statuses = {id: found["status"] for id, found in report["requirements"].items()}
    assert "held" in statuses.values()
    assert [id for id, status in statuses.items() if status == "violated"] == [], model
    assert f"not in the table of models of {table_date()}" in (tmp_path / "summary.md").read_text()
