"""Children that are spoken to in a turn of their parent."""

from __future__ import annotations

from turnproof.dialects import dialect
from turnproof.wire.emulator.echo import EchoResponder
from turnproof.wire.emulator.server_run import new_run


def test_a_child_whose_tool_was_left_running_may_end_after_its_parents_turn() -> None:
    run = new_run("r", dialect("anthropic-messages"), EchoResponder())
    run.child_begins(0, waits=False)
    known = run.children[0]
    assert run.child_exchanges() == []
    run.child_is_over(0)
    assert known.over.is_set()
    assert run.children == {}


def test_a_child_that_ends_in_its_parents_turn_is_over() -> None:
    run = new_run("r", dialect("anthropic-messages"), EchoResponder())
    run.child_begins(0, waits=False)
    run.child_is_over(0)
    assert run.children[0].over.is_set()
