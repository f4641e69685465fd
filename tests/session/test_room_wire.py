"""Room made on real wires: the adapter's bodies, judged and counted by the emulator's rules, without a socket."""

from __future__ import annotations

import pytest
from budget.service import SERVICES, Service, calls
from collectors.histories import assert_sound, histories
from hypothesis import given
from hypothesis import strategies as st
from properties import examples

from turnproof.gc import BudgetGC, Collector, GCConfig, HybridGC, SummarizeGC, TruncateGC
from turnproof.messages import Message, ToolSchema
from turnproof.session import Session, Tool

COLLECTORS: dict[str, Collector] = {
    "truncate": TruncateGC(),
    "summarize": SummarizeGC(lambda messages, token: "Short."),
    "hybrid": HybridGC(lambda messages, token: "Short.", middle_turns=1),
    "budget": BudgetGC(),
}

both = pytest.mark.parametrize("name", sorted(SERVICES))


def session_on(service: Service, result: str, **options: object) -> Session:
    look = Tool(ToolSchema("look"), lambda args, token: result)
    return Session(service, tools=[look], **options)  # type: ignore[arg-type]


@both
@pytest.mark.parametrize("names_limits", [True, False])
def test_a_run_of_equal_results_overflows_rarely(name: str, names_limits: bool) -> None:
    # The window takes ten of them. If each recovery only made the newest fit, every further one would be refused.
    window, count = 10_000, 20
    answers = [calls(f"c{n}") for n in range(count)] + [Message.model("Done.")]
    service = Service(name, answers, window=window, names_limits=names_limits)
    session = session_on(service, "r" * 4_000)
    session.send("Read them all.")
    assert 1 <= len(service.refused) <= 2 + count * 1_000 // (0.6 * window)
    after = [service.counts[n] for n in range(1, len(service.counts)) if service.counts[n] < service.counts[n - 1]]
    assert len(after) == len(service.refused), "each refusal is followed by one request, which is accepted"
    assert max(after) <= 0.85 * window
    assert len([result for message in session.history.messages for result in message.results]) == count
    assert_sound(session.history.messages)
    assert service.counts[-1] <= session.context_usage.used <= window


@both
@pytest.mark.parametrize("kind", sorted(COLLECTORS))
def test_a_conversation_that_goes_on_for_ever_fits_for_ever(name: str, kind: str) -> None:
    turns = 16
    answers = [answer for n in range(turns) for answer in (calls(f"c{n}"), Message.model("That is read. " * 20))]
    service = Service(name, answers, window=3_000)
    config = GCConfig(context_limit=3_000, keep_turns=2)
    session = session_on(service, "r" * 1_200, gc=COLLECTORS[kind], gc_config=config)
    for n in range(turns):
        session.send(f"Read page {n}, please. " * 5)
        assert 0 < session.context_usage.used < 0.8 * 3_000
    assert service.refused == [], "what was coming was seen in time"
    falls = sum(a > b for a, b in zip(service.counts, service.counts[1:], strict=False))
    assert 2 <= falls <= turns / 2, "there is headroom after a collection"


plain = histories().map(lambda history: [message for message in history if message.role != "system"])


@examples(12)
@given(plain, st.sampled_from(sorted(SERVICES)), st.sampled_from(sorted(COLLECTORS)), st.integers(1, 3))
def test_what_any_collector_leaves_of_any_history_is_accepted(
    history: list[Message], name: str, kind: str, keep: int
) -> None:
    service = Service(name, [Message.model("Yes."), Message.model("Still.")])
    session = session_on(service, "seen", gc=COLLECTORS[kind], gc_config=GCConfig(keep_turns=keep, notice="Gone."))
    session.reset(history)
    for words in ("Are you there?", "And now?"):
        session.collect()
        session.send(words)
    assert len(service.counts) == 2
