"""Several hooks in order of priority."""

from __future__ import annotations

import pytest

from turnproof.messages import InlineData, Part, Text
from turnproof.session import Enriched, PromptHook, enrich_in_order


def adding(text: str, about: str | None = None) -> PromptHook:
    return PromptHook(text, lambda parts: Enriched([*parts, text], about))


def texts(parts: object) -> list[str]:
    assert isinstance(parts, (list, tuple))
    return [part if isinstance(part, str) else part.text for part in parts]


def with_priority(hook: PromptHook, priority: int) -> PromptHook:
    return PromptHook(hook.name, hook.enrich, priority)


def test_a_hook_of_lower_priority_comes_first_and_equals_as_they_stand() -> None:
    hooks = [
        with_priority(adding("c"), 60),
        adding("b"),
        with_priority(adding("a"), 10),
        with_priority(adding("d"), 60),
    ]
    assert texts(enrich_in_order(hooks)((Text("typed"),)).parts) == ["typed", "a", "b", "c", "d"]


def test_a_hook_gets_what_the_one_before_it_made_as_parts() -> None:
    seen: list[tuple[Part, ...]] = []

    def look(parts: tuple[Part, ...]) -> Enriched:
        seen.append(parts)
        return Enriched(parts)

    image = InlineData("image/png", b"\x89")
    enrich_in_order([adding("a"), PromptHook("look", look, 90)])((image,))
    assert seen == [(image, Text("a"))]


def test_the_record_has_what_each_hook_noted_by_its_name() -> None:
    enrichment = enrich_in_order([adding("a", "one"), adding("b"), adding("c", "three")])((Text("typed"),))
    assert enrichment.about == {"a": "one", "c": "three"}
    assert enrich_in_order([adding("a")])((Text("typed"),)).about is None


def test_what_a_hook_raises_is_raised() -> None:
    def fail(parts: tuple[Part, ...]) -> Enriched:
        raise LookupError("no such file")

    with pytest.raises(LookupError, match="no such file"):
        enrich_in_order([adding("a"), PromptHook("fail", fail)])((Text("typed"),))
