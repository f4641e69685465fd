"""The budget beside the emulator's count of the real body, on both wires: never further off than it declares."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from properties import examples

from turnproof.budget import within_error
from turnproof.gc import BudgetGC, Collector, GCConfig, HybridGC, SummarizeGC, TruncateGC
from turnproof.messages import Message, ToolSchema
from turnproof.session import Session, Tool

from .service import SERVICES, Service, calls

PARAMETERS = {"type": "object", "properties": {"path": {"type": "string", "description": "Where to look."}}}
TEXTS = ["ok", "The beds are moist enough. " * 30, "def f(x):\n\treturn {x: [1, 2]}\n" * 40, "’北🌍 " * 150]
RESULTS: list[Any] = ["41 %", {"rows": [[n, n * n] for n in range(60)]}, "line\n" * 400, None]

both = pytest.mark.parametrize("name", sorted(SERVICES))


def session_on(service: Service, results: list[Any], **options: Any) -> Session:
    look = Tool(ToolSchema("look", "Looks at something.", PARAMETERS), lambda args, token: results.pop(0))
    return Session(service, system="You keep a greenhouse log. " * 20, tools=[look], **options)


def hold(session: Session, service: Service) -> None:
    """What the budget says now is what the service would count, answer included."""
    used, counted = session.context_usage.used, service.counts[-1]
    assert used >= counted
    assert session.usage.prompt_tokens == counted
    assert used == session.usage.total_tokens, "right after a call the two agree to the token"


@both
def test_at_every_turn_the_budget_agrees_with_the_last_report(name: str) -> None:
    service = Service(name, [calls("a"), calls("b", "c"), Message.model(TEXTS[1]), Message.model("Done.")])
    session = session_on(service, list(RESULTS))
    for text in ("How moist is bed 3?", TEXTS[2]):
        session.send(text)
        hold(session, service)
    assert len(service.counts) == 4


turns = st.lists(
    st.tuples(st.sampled_from(TEXTS), st.lists(st.sampled_from(RESULTS), max_size=3), st.sampled_from(TEXTS)),
    min_size=2,
    max_size=5,
)


@examples(8)
@given(st.sampled_from(sorted(SERVICES)), turns)
def test_what_is_about_to_be_sent_is_as_large_as_the_budget_says(
    name: str, script: list[tuple[str, list[Any], str]]
) -> None:
    service = Service(name)
    results: list[Any] = []
    session = session_on(service, results)
    for number, (words, found, answer) in enumerate(script):
        service.answers[:] = [calls(f"c{number}-{n}") for n in range(len(found))] + [Message.model(answer)]
        results[:] = found
        expected = session.budget.get_context_usage([Message.user(words)]).used
        before = len(service.counts)
        session.send(words)
        assert within_error(expected, service.counts[before]), (expected, service.counts[before])


COLLECTORS: dict[str, Collector] = {
    "truncate": TruncateGC(),
    "summarize": SummarizeGC(lambda messages, token: "They talked about beds. " * 10),
    "hybrid": HybridGC(lambda messages, token: "They talked about beds. " * 10, middle_turns=1),
    "budget": BudgetGC(),
}


@both
@pytest.mark.parametrize("kind", sorted(COLLECTORS))
def test_after_a_collection_the_budget_is_still_right_and_the_next_turn_is_answered(name: str, kind: str) -> None:
    service, results = Service(name), [RESULTS[n % 3] for n in range(12)]
    session = session_on(service, results, gc=COLLECTORS[kind], gc_config=GCConfig(keep_turns=2, notice="Gone."))
    for n in range(4):
        service.answers[:] = [calls(f"c{n}"), calls(f"d{n}"), Message.model(TEXTS[n % 4])]
        session.send(TEXTS[(n + 1) % 4])
    before = session.context_usage.used
    result = session.collect()
    assert result.changed
    after = session.context_usage.used
    assert 0 < after < before
    assert before - after == pytest.approx(result.tokens_freed, abs=1)
    service.answers[:] = [Message.model("Yes.")]
    expected = session.budget.get_context_usage([Message.user("Still there?")]).used
    assert session.send("Still there?").text == "Yes."
    assert within_error(expected, service.counts[-1]), (expected, service.counts[-1])
    hold(session, service)
