"""Is the wire what the session holds? Each listed difference is accepted, each loss and invention is seen."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from operator import attrgetter

import pytest

from turnproof.dialects.base import WireDifference

from .anthropic_messages import differences as anthropic_messages
from .antigravity import differences as antigravity
from .differences import Case, DifferenceKit
from .gemini import differences as gemini
from .gemini_interactions import differences as gemini_interactions
from .ollama import differences as ollama
from .openai_chat import differences as openai_chat
from .openai_responses import differences as openai_responses
from .parts import model, user
from .requests import Json
from .zai import differences as zai

KITS: tuple[DifferenceKit, ...] = (
    anthropic_messages.DIFFERENCES,
    antigravity.DIFFERENCES,
    gemini.DIFFERENCES,
    gemini_interactions.DIFFERENCES,
    ollama.DIFFERENCES,
    openai_chat.DIFFERENCES,
    openai_responses.DIFFERENCES,
    zai.DIFFERENCES,
)


def each_case(table: Callable[[DifferenceKit], Iterable[Case]]) -> pytest.MarkDecorator:
    """One test for each conversation of a table, in each dialect."""
    cases = [pytest.param(kit, case, id=f"{kit.name}-{case.id}") for kit in KITS for case in table(kit)]
    return pytest.mark.parametrize(("kit", "case"), cases)


@each_case(attrgetter("right"))
def test_what_is_right_is_not_accused(kit: DifferenceKit, case: Case) -> None:
    assert kit.find(case) == []


@each_case(attrgetter("wrong"))
def test_losses_and_inventions_are_violations(kit: DifferenceKit, case: Case) -> None:
    found = kit.find(case)
    assert [each.what for each in found] == list(case.expect), found
    assert all(each.violation for each in found)


@each_case(attrgetter("unlisted"))
def test_what_is_neither_listed_nor_a_loss_is_unlisted(kit: DifferenceKit, case: Case) -> None:
    found = kit.find(case)
    assert [each.what for each in found] == list(case.expect), found
    assert not any(each.violation for each in found)


@pytest.mark.parametrize("kit", [kit for kit in KITS if kit.allows_all], ids=attrgetter("name"))
def test_every_allowed_difference_has_a_case_that_it_allows(kit: DifferenceKit) -> None:
    allowed = kit.dialect.allowed_differences
    assert {case.allows for case in kit.right if case.allows} == {each.name for each in allowed}
    assert all(each.reason and each.source for each in allowed)


@pytest.mark.parametrize("kit", [anthropic_messages.DIFFERENCES, openai_chat.DIFFERENCES], ids=attrgetter("name"))
def test_a_difference_says_where_and_shows_both_sides(kit: DifferenceKit) -> None:
    case = next(case for case in kit.wrong if case.id == "changed-arguments")
    place = "messages[1].parts[1].args"
    expected = WireDifference(
        "changed-args", f"$.{place}", {"bed": "3"}, {"bed": "4"}, violation=True, sent_path=f"$.sent.{place}"
    )
    assert kit.find(case) == [expected]


@pytest.mark.parametrize("kit", [kit for kit in KITS if kit.wire_turn], ids=attrgetter("name"))
@pytest.mark.parametrize(
    "build",
    [lambda held: held, lambda held: held[1:], lambda held: held[:10] + held[11:]],
    ids=["whole", "head", "gap"],
)
def test_a_loss_is_found_at_once_in_a_long_conversation(
    build: Callable[[list[Json]], list[Json]], kit: DifferenceKit
) -> None:
    assert kit.wire_turn is not None
    ask, answer = kit.wire_turn
    history = [message for n in range(500) for message in (user(f"Question {n}"), model(f"Answer {n}"))]
    sent = [wire for n in range(500) for wire in (ask(f"Question {n}"), answer(f"Answer {n}"))]
    found = kit.find(Case("long", history, build(sent)))
    assert len(found) == len(sent) - len(build(sent))
