"""What the monitor of a prefix says of requests and figures that are made up here, so that each number is known."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from turnproof.cache import CacheUsage, Covers, PrefixLoss, PrefixMonitor
from turnproof.messages import FunctionCall, Message, Text, ToolResult, ToolSchema
from turnproof.tokens import message_tokens

SYSTEM = "s" * 400
TOOL = ToolSchema("read", "d" * 360)
"""Each piece here is 100 tokens by the ruler, with what stands around it."""


def build_messages(*roles: str) -> list[Message]:
    return [Message(role, (Text("x" * 392),)) for role in roles]  # type: ignore[arg-type]


def turns(count: int) -> list[Message]:
    return build_messages(*["user", "model"] * count)


class Watched:
    """A monitor, and a service that counts 4 characters a token and caches whole prompts."""

    def __init__(self, covers: Covers = "conversation") -> None:
        self.monitor = PrefixMonitor()
        self.covers = covers
        self.cached = 0
        self.system: str | Text | None = SYSTEM
        self.tools: Sequence[ToolSchema] = (TOOL,)
        self.to: Any = "service"

    def ask(self, messages: Sequence[Message], read: int | None = None) -> PrefixLoss | None:
        """One answered request; `read` tokens of it come from the cache, by default all that was cached before."""
        self.send(messages)
        prompt = 100 * (len(messages) + len(self.tools) + (self.system is not None))
        read = min(self.cached, prompt) if read is None else read
        self.cached = prompt
        return self.monitor.answered(CacheUsage(read, prompt - read, 0))

    def send(self, messages: Sequence[Message]) -> None:
        self.monitor.sending(messages, self.system, self.tools, covers=self.covers, to=self.to)


def extend_history(history: list[Message], *roles: str) -> list[Message]:
    return [*history, *build_messages(*roles)]


# A prefix that stays


def test_a_conversation_that_only_grows_loses_nothing() -> None:
    watched, history = Watched(), build_messages("user")
    for _ in range(12):
        assert watched.ask(history) is None
        history = extend_history(history, "model", "user")
    assert watched.monitor.losses == ()
    assert watched.monitor.stable == 21


def test_the_totals_add_up_what_every_answer_read_wrote_and_paid_in_full() -> None:
    watched, history = Watched(), build_messages("user")
    watched.ask(history)
    watched.ask(extend_history(history, "model", "user"))
    assert watched.monitor.totals == CacheUsage(read=300, written=500, fresh=0)
    assert watched.monitor.totals.prompt == 800


def test_system_text_as_a_part_and_tools_in_another_order_are_the_same_prefix() -> None:
    watched, history = Watched(), build_messages("user")
    watched.tools = (TOOL, ToolSchema("open", "d" * 360))
    watched.ask(history)
    watched.system, watched.tools = Text(SYSTEM), watched.tools[::-1]
    assert watched.ask(extend_history(history, "model", "user")) is None


def test_only_new_messages_are_looked_into(monkeypatch: pytest.MonkeyPatch) -> None:
    """A turn costs its new messages: the old ones are compared by identity, and not measured again."""
    measured: list[Message] = []
    monkeypatch.setattr(
        "turnproof.cache.monitor.message_tokens",
        lambda message: measured.append(message) or message_tokens(message),  # type: ignore[func-returns-value]
    )
    watched, history = Watched(), turns(500)
    watched.ask(extend_history(history, "user"))
    measured.clear()
    new = build_messages("user", "model", "user")
    watched.ask([*history, *new])
    assert measured == new


# Causes


def test_a_collection_costs_what_stays_behind_the_gap() -> None:
    watched, history = Watched(), turns(6)
    watched.ask(extend_history(history, "user"))
    watched.monitor.because("gc")
    loss = watched.ask([*history[8:], *build_messages("user")], read=200)
    assert loss == PrefixLoss(turn=1, reason="gc", kept=0, tokens=400)
    assert watched.monitor.losses == (loss,)
    assert watched.monitor.stable == 0


def test_what_a_collection_leaves_in_front_of_the_gap_is_not_lost() -> None:
    watched, history = Watched(), turns(6)
    watched.ask(extend_history(history, "user"))
    watched.monitor.because("gc")
    loss = watched.ask([*history[:2], *history[10:], *build_messages("user")], read=400)
    assert loss == PrefixLoss(turn=1, reason="gc", kept=2, tokens=200)


def test_a_collection_that_drops_the_whole_rest_costs_nothing() -> None:
    watched, history = Watched(), turns(3)
    watched.ask(extend_history(history, "user"))
    watched.monitor.because("gc")
    assert watched.ask(build_messages("user"), read=200) is None


def test_going_back_to_an_earlier_turn_costs_nothing_where_its_prefix_is_found_again() -> None:
    watched, history = Watched(), turns(6)
    watched.ask(extend_history(history, "user"))
    watched.monitor.because("revert")
    assert watched.ask([*history[:4], *build_messages("user")], read=600) is None


def test_going_back_to_a_prefix_that_is_not_found_any_more_costs_what_had_been_cached_of_it() -> None:
    """By the figure of the turn that ended there, not by an estimate."""
    watched, history = Watched(), build_messages("user")
    for _ in range(4):
        watched.ask(history)
        history = extend_history(history, "model", "user")
    watched.monitor.because("revert")
    loss = watched.ask([*history[:4], *build_messages("user")], read=0)
    assert loss == PrefixLoss(turn=4, reason="revert", kept=4, tokens=500)
    assert watched.ask(extend_history([*history[:4], *build_messages("user")], "model", "user"), read=0) is not None


def test_ends_of_requests_that_were_left_behind_are_forgotten() -> None:
    watched, history = Watched(), build_messages("user")
    for _ in range(4):
        watched.ask(history)
        history = extend_history(history, "model", "user")
    shorter = [*history[:2], *build_messages("user")]
    watched.ask(shorter, read=300)
    other = extend_history(shorter, "model", "user", "model", "user")
    watched.ask(other)
    watched.monitor.because("revert")
    assert watched.ask([*shorter, *build_messages("model", "user")], read=500) is None


@pytest.mark.parametrize(
    ("change", "reason", "tokens"),
    [
        ({"system": "other " * 66}, "system", 300),
        ({"system": None}, "system", 300),
        ({"tools": ()}, "tools", 400),
        ({"tools": (ToolSchema("read", "another" * 56),)}, "tools", 400),
        ({"to": "another service"}, "swap", 500),
    ],
)
def test_a_change_in_front_costs_everything_behind_it_that_stays(
    change: dict[str, Any], reason: str, tokens: int
) -> None:
    """Three messages, the system text and the tools had been cached, 100 tokens each."""
    watched, history = Watched(), build_messages("user", "model", "user")
    watched.ask(history)
    for name, value in change.items():
        setattr(watched, name, value)
    loss = watched.ask(extend_history(history, "model", "user"), read=0)
    assert loss == PrefixLoss(turn=1, reason=reason, kept=3, tokens=tokens)  # type: ignore[arg-type]


def test_a_system_text_that_is_new_in_every_turn_is_a_loss_in_every_turn() -> None:
    watched, history = Watched(), build_messages("user")
    for second in range(4):
        watched.system = f"{second}: " + SYSTEM
        watched.ask(history, read=0)
        history = extend_history(history, "model", "user")
    assert [(loss.turn, loss.reason) for loss in watched.monitor.losses] == [
        (1, "system"),
        (2, "system"),
        (3, "system"),
    ]
    assert [loss.tokens for loss in watched.monitor.losses] == pytest.approx([100, 300, 500], abs=1)


def test_a_system_text_that_enrichment_changed_is_put_down_to_it() -> None:
    watched, history = Watched(), build_messages("user")
    watched.ask(history)
    watched.system = "The time is 12:01. " + SYSTEM
    watched.monitor.because("enrichment")
    loss = watched.ask(extend_history(history, "model", "user"), read=0)
    assert loss is not None
    assert loss.reason == "enrichment"


def test_enrichment_that_changes_what_was_said_costs_only_what_is_behind_it() -> None:
    watched, history = Watched(), turns(6)
    watched.ask(extend_history(history, "user"))
    watched.monitor.because("enrichment")
    loss = watched.ask([*history[:9], *build_messages("model"), *history[10:], *build_messages("user")], read=0)
    assert loss == PrefixLoss(turn=1, reason="enrichment", kept=9, tokens=200)


def test_a_history_that_was_changed_by_hand_is_an_edit() -> None:
    watched, history = Watched(), turns(3)
    watched.ask(extend_history(history, "user"))
    loss = watched.ask([*build_messages("user"), *history[1:], *build_messages("user")], read=200)
    assert loss == PrefixLoss(turn=1, reason="edit", kept=0, tokens=500)


def test_an_entry_that_the_provider_has_forgotten_is_told_by_its_own_figure() -> None:
    watched, history = Watched(), build_messages("user")
    watched.ask(history)
    assert watched.ask(extend_history(history, "model", "user"), read=0) == PrefixLoss(1, "expired", kept=1, tokens=300)


def test_a_cause_that_changed_nothing_is_forgotten() -> None:
    watched, history = Watched(), turns(3)
    watched.monitor.because("gc")
    watched.ask(extend_history(history, "user"))
    loss = watched.ask([*history[2:], *build_messages("user")], read=200)
    assert loss is not None
    assert loss.reason == "edit"


# Figures


def test_a_loss_is_never_more_than_the_request_paid_for() -> None:
    watched, history = Watched(), turns(6)
    watched.ask(extend_history(history, "user"))
    watched.monitor.because("gc")
    loss = watched.ask([*history[8:], *build_messages("user")], read=650)
    assert loss == PrefixLoss(turn=1, reason="gc", kept=0, tokens=50)


def test_a_loss_is_never_more_than_had_been_cached() -> None:
    watched, history = Watched(), turns(6)
    watched.send(extend_history(history, "user"))
    watched.monitor.answered(CacheUsage(read=0, written=1000, fresh=500))
    loss = watched.ask([*history[2:], *build_messages("user")], read=200)
    assert loss == PrefixLoss(turn=1, reason="edit", kept=0, tokens=600)


def test_where_nothing_had_been_cached_nothing_is_lost() -> None:
    watched, history = Watched(), turns(6)
    watched.send(extend_history(history, "user"))
    watched.monitor.answered(CacheUsage(fresh=1500))
    assert watched.ask([*history[2:], *build_messages("user")], read=0) is None


def test_tools_and_long_results_weigh_as_much_as_their_text() -> None:
    watched = Watched()
    answer = Message.tool(ToolResult("c", "read", "y" * 4000))
    history = [
        *build_messages("user"),
        Message.model(FunctionCall("c", "read")),
        answer,
        *build_messages("model", "user"),
    ]
    watched.send(history)
    watched.monitor.answered(CacheUsage(written=1500))
    watched.send([*history[1:], *build_messages("model", "user")])
    loss = watched.monitor.answered(CacheUsage(written=2000))
    assert loss is not None
    assert loss.tokens == pytest.approx(1225, rel=0.02)


# Managed prefixes


def test_a_collection_takes_nothing_from_a_prefix_without_messages() -> None:
    watched, history = Watched("prefix"), turns(6)
    watched.send(extend_history(history, "user"))
    watched.monitor.answered(CacheUsage(read=200, fresh=1300))
    watched.monitor.because("gc")
    watched.send([*history[8:], *build_messages("user")])
    assert watched.monitor.answered(CacheUsage(read=200, fresh=500)) is None


@pytest.mark.parametrize("change", [{"system": "other"}, {"tools": ()}])
def test_a_managed_prefix_is_lost_as_a_whole(change: dict[str, Any]) -> None:
    """Its new form is stored as a whole too, of which no response tells."""
    watched, history = Watched("prefix"), build_messages("user")
    watched.send(history)
    watched.monitor.answered(CacheUsage(read=200, fresh=100))
    for name, value in change.items():
        setattr(watched, name, value)
    watched.send(extend_history(history, "model", "user"))
    loss = watched.monitor.answered(CacheUsage(read=150, fresh=300))
    assert loss is not None
    assert loss.tokens == 200


# Requests that fail


def test_a_request_that_failed_is_forgotten_and_its_repetition_counts_once() -> None:
    watched, history = Watched(), turns(6)
    watched.ask(extend_history(history, "user"))
    watched.monitor.because("gc")
    after = [*history[8:], *build_messages("user")]
    watched.send(after)
    watched.send(after)
    loss = watched.ask(after, read=200)
    assert loss is not None
    assert (loss.reason, loss.turn) == ("gc", 1)
    assert watched.ask(extend_history(after, "model", "user")) is None


def test_a_turn_that_was_taken_back_is_no_turn() -> None:
    watched, history = Watched(), build_messages("user")
    watched.ask(history)
    watched.send(extend_history(history, "model", "user"))
    watched.system = "other"
    loss = watched.ask(extend_history(history, "model", "user"), read=0)
    assert loss is not None
    assert loss.turn == 1


def test_tool_rounds_belong_to_the_turn_of_their_user_message() -> None:
    watched, history = Watched(), build_messages("user")
    for _ in range(3):
        watched.ask(history)
        history = extend_history(history, "model", "tool")
    watched.system = "other"
    loss = watched.ask(history, read=0)
    assert loss is not None
    assert loss.turn == 0


def test_an_answer_without_figures_teaches_nothing() -> None:
    watched, history = Watched(), build_messages("user")
    watched.ask(history)
    watched.send(extend_history(history, "model", "user"))
    assert watched.monitor.answered(CacheUsage()) is None
    assert watched.monitor.totals.prompt == 300
    assert watched.ask(extend_history(history, "model", "user")) is None


def test_an_answer_to_nothing_teaches_nothing() -> None:
    monitor = PrefixMonitor()
    assert monitor.answered(CacheUsage(read=100)) is None
    assert monitor.totals == CacheUsage()
