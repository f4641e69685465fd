"""Each rule of each dialect from both sides: what it refuses, in which words, and what it must leave alone.

Recordings are mostly of accepted requests; that the illegal ones are refused, only a table of them can show.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from datetime import date
from operator import attrgetter
from typing import Any

import pytest

from .anthropic_messages import refusals as anthropic_messages
from .antigravity import refusals as antigravity
from .gemini import refusals as gemini
from .gemini_interactions import refusals as gemini_interactions
from .ollama import refusals as ollama
from .openai_chat import refusals as openai_chat
from .openai_responses import refusals as openai_responses
from .refusals import Accepted, Pair, RefusalKit
from .zai import refusals as zai

KITS: tuple[RefusalKit[Any], ...] = (
    anthropic_messages.REFUSALS,
    antigravity.REFUSALS,
    gemini.REFUSALS,
    gemini_interactions.REFUSALS,
    ollama.REFUSALS,
    openai_chat.REFUSALS,
    openai_responses.REFUSALS,
    zai.REFUSALS,
)

each_kit = pytest.mark.parametrize("kit", KITS, ids=attrgetter("name"))


def of_each(kind: str, entries: Callable[[RefusalKit[Any]], Iterable[Any]]) -> pytest.MarkDecorator:
    """One case for each entry of a table, in each dialect."""
    cases = [pytest.param(kit, each, id=f"{kit.name}-{_name(each)}") for kit in KITS for each in entries(kit)]
    return pytest.mark.parametrize(("kit", kind), cases)


def _name(entry: Any) -> str:
    return entry.id if isinstance(entry, Pair | Accepted) else "-".join(map(str, entry))


@of_each("pair", attrgetter("pairs"))
def test_the_illegal_request_is_refused_in_the_words_of_the_service(kit: RefusalKit[Any], pair: Pair[Any]) -> None:
    found = kit.judge(pair.illegal)
    assert found, "nothing was refused"
    first = found[0]
    assert kit.unprefixed(first.rule) == pair.rule
    assert (first.status, first.kind, kit.words(first)) == (pair.status, pair.kind, pair.message)
    assert first.enforced is pair.enforced
    assert pair.enforced or not any(each.enforced for each in found)


@of_each("pair", attrgetter("pairs"))
def test_the_nearest_legal_neighbour_is_accepted(kit: RefusalKit[Any], pair: Pair[Any]) -> None:
    assert [each.message for each in kit.judge(pair.legal)] == []


@of_each("case", attrgetter("accepted"))
def test_what_the_service_accepts_is_accepted(kit: RefusalKit[Any], case: Accepted[Any]) -> None:
    assert [each.message for each in kit.judge(case.ask)] == []


@each_kit
def test_every_rule_has_a_pair_or_a_reason_why_not(kit: RefusalKit[Any]) -> None:
    names, paired = {kit.unprefixed(rule) for rule in kit.rules}, {pair.rule for pair in kit.pairs}
    assert all(rule.id.startswith(f"{kit.name}/") for rule in kit.rules)
    assert names == paired | set(kit.without_pair)
    assert not paired & set(kit.without_pair)
    assert len(names) == len(kit.rules)


@each_kit
def test_every_rule_that_is_only_logged_has_a_pair_that_says_so(kit: RefusalKit[Any]) -> None:
    logged = {kit.unprefixed(rule) for rule in kit.rules if not rule.enforced}
    enforced = {kit.unprefixed(rule) for rule in kit.rules} - logged
    # A rule that is enforced is only logged for what stands in no list.
    assert logged == {pair.rule for pair in kit.pairs if not pair.enforced} - enforced | kit.inferred_without_pair


@each_kit
def test_no_rule_is_enforced_without_a_named_address(kit: RefusalKit[Any]) -> None:
    assert [rule.id for rule in kit.rules if rule.enforced and not rule.sources] == []
    for source in (each for rule in kit.rules for each in rule.sources):
        assert source.address.startswith("https://")
        assert date.fromisoformat(source.day) <= date(2026, 11, 29)


@each_kit
def test_what_a_source_quotes_are_the_words_of_the_refusal(kit: RefusalKit[Any]) -> None:
    words: dict[str, list[str]] = {}
    for pair in kit.pairs:
        words.setdefault(pair.rule, []).append(f"{pair.kind} {pair.message}")
    quoted = [(kit.unprefixed(rule), each.quote) for rule in kit.rules for each in rule.sources if each.quote]
    other = [(rule, quote) for rule, quote in quoted if rule in words and not any(map(_has(quote), words[rule]))]
    assert other == []


def _has(quote: str) -> Callable[[str], bool]:
    """Whether a message has the pieces of a quote, in their order."""
    pieces = re.compile(".*".join(re.escape(piece.strip()) for piece in quote.split("…")), re.DOTALL)
    return lambda message: pieces.search(message) is not None


@pytest.mark.parametrize("kit", [kit for kit in KITS if kit.several], ids=attrgetter("name"))
def test_enforced_refusals_stand_in_front_of_inferred_ones(kit: RefusalKit[Any]) -> None:
    assert kit.several is not None
    request, enforced = kit.several
    assert [each.enforced for each in kit.judge(request)] == list(enforced)


@pytest.mark.parametrize("kit", [kit for kit in KITS if kit.wrong_key], ids=attrgetter("name"))
def test_a_wrong_key_is_named_before_a_broken_body(kit: RefusalKit[Any]) -> None:
    assert kit.judge(kit.wrong_key)[0].rule is kit.bad_key


@of_each("status_kind", lambda kit: kit.kinds.items())
def test_each_status_has_its_kind_of_error(kit: RefusalKit[Any], status_kind: tuple[int, str]) -> None:
    status, kind = status_kind
    assert kit.dialect.error_kind(status)[0] == kind


def errors_with_meaning(kit: RefusalKit[Any]) -> list[tuple[str | None, int, str | None, str | None]]:
    return [(meaning, *error) for meaning, errors in kit.meanings.items() for error in errors]


@of_each("error", errors_with_meaning)
def test_what_an_error_means_beyond_its_status(
    kit: RefusalKit[Any], error: tuple[str | None, int, str | None, str | None]
) -> None:
    meaning, status, kind, message = error
    assert kit.dialect.error_meaning(status, kind, message) == meaning
