"""The reference of `docs/bind-your-adapter.md` has the names that the code has, and no others."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path

import pytest

from turnproof.dialects import dialect_names, surface_names
from turnproof.dialects.atoms import token_of
from turnproof.messages import FinishReason, ProviderData, Thought
from turnproof.provider import ASSUMED, OPTIONS, Capabilities, Endpoint
from turnproof_adapters.anthropic.parts import FINISH as ANTHROPIC
from turnproof_adapters.google_genai.finish import FINISH as GEMINI
from turnproof_adapters.openai.finish import FINISH as CHAT
from turnproof_adapters.openai_responses.parts import FINISH as RESPONSES
from turnproof_suites.raised_errors import CLASSES_BY_STATUS

PAGE = (Path(__file__).parents[1] / "docs" / "bind-your-adapter.md").read_text("utf-8")
NAME = re.compile(r"`([^`]+)`")


def section(title: str) -> str:
    return PAGE.partition(f"\n### {title}\n")[2].partition("\n##")[0]


def rows(title: str) -> list[list[str]]:
    """The cells of the section's table, without its head."""
    lines = [line for line in section(title).splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]


def test_the_endpoint_has_the_fields_and_options_of_the_table() -> None:
    named = [NAME.findall(row[0])[0] for row in rows("What the endpoint holds")]
    options = [f'options["{name}"]' for name in OPTIONS]
    assert sorted(named) == sorted({field.name for field in fields(Endpoint)} - {"options"} | set(options))


def test_all_dialects_and_surfaces_are_listed() -> None:
    listed = {NAME.findall(row[0])[0]: NAME.findall(row[1]) for row in rows("Dialects and surfaces")}
    assert listed == {name: surface_names(name) for name in dialect_names()}


def test_each_capability_says_what_it_obliges_to() -> None:
    named = [name for row in rows("What a claim obliges you to") for name in NAME.findall(row[0])]
    assert sorted(named) == sorted({field.name for field in fields(Capabilities)} - {"wire"})


def test_each_default_claim_has_its_reason_to_be_withdrawn() -> None:
    claims = PAGE.partition("## 3. ")[2].partition("\n## ")[0]
    assert re.findall(r"^\| `(\w+)=False`", claims, re.MULTILINE) == list(ASSUMED)


@pytest.mark.parametrize(("column", "table"), list(enumerate([ANTHROPIC, CHAT, RESPONSES, GEMINI], 1)))
def test_finish_words_are_those_of_the_reference_adapters(
    column: int, table: Mapping[str | None, FinishReason]
) -> None:
    listed = {
        word: FinishReason[NAME.findall(row[0])[0]]
        for row in rows("Finish words")
        for word in NAME.findall(row[column])
    }
    assert listed == dict(table)


def test_errors_are_those_that_the_checks_accept() -> None:
    listed: dict[int, set[str]] = {}
    for answer, raised in rows("Errors"):
        for status in re.findall(r"\d+", answer):
            listed[int(status)] = {name for name in NAME.findall(raised) if name.endswith("Error")}
    for status, classes in listed.items():
        assert listed[status] <= {one.__name__ for one in CLASSES_BY_STATUS[status]}, status
        assert classes
    assert set(CLASSES_BY_STATUS) - set(listed) == {408, 409}


@pytest.mark.parametrize(
    "key", re.findall(r"`(\w+)`", section("Provider data").partition("any key;")[2].partition(" are found")[0])
)
def test_signatures_are_found_first_under_the_keys_of_the_page(key: str) -> None:
    other = "A" * 100
    thought = Thought("", provider_data=ProviderData("d", "m", {"other": other, key: "short"}))
    assert token_of(thought) == "short"
