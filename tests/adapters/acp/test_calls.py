"""Calls as each program shows them: the forms are those that were seen."""

from __future__ import annotations

from typing import Any

import pytest

from turnproof_adapters.acp.calls import Calls, Names
from turnproof_adapters.acp.permissions import _chosen


@pytest.mark.parametrize(
    "shown",
    [
        "read_sensor",
        "mcp__session__read_sensor",
        "mcp_session_read_sensor",
        "Tool: session/read_sensor",
        "session.read_sensor",
        "read_sensor (session MCP Server)",
    ],
)
def test_the_name_that_a_program_shows_is_brought_back_to_the_tools_own(shown: str) -> None:
    assert Names(["sensor", "read_sensor"]).own(shown) == "read_sensor"


@pytest.mark.parametrize("shown", ["Bash", "mcp__other__read_sensor", "unread_sensor", "", "session/read_sensors"])
def test_a_name_that_is_none_of_the_sessions_stays_strange(shown: str) -> None:
    assert Names(["sensor", "read_sensor"]).own(shown) is None


def test_the_longer_of_two_names_is_meant() -> None:
    assert Names(["sensor", "x__session__sensor"]).own("mcp__session__x__session__sensor") == "x__session__sensor"


def take(*updates: dict[str, Any]) -> Any:
    calls, shown = Calls(["read_sensor"]), None
    for update in updates:
        shown = calls.update({"toolCallId": "1", **update})
    return shown


def test_arguments_are_sure_when_they_are_shown_again() -> None:
    first = {"title": "mcp__session__read_sensor", "rawInput": {}, "status": "pending"}
    assert not take(first).sure
    assert take(first, {"rawInput": {}}).sure
    assert dict(take(first, {"rawInput": {"bed": "3"}}).args) == {"bed": "3"}


def test_codex_wraps_arguments_and_asks_with_a_form() -> None:
    inner = {"server": "session", "tool": "read_sensor", "arguments": {"bed": "3"}}
    form = {"request": {"_meta": {"tool_params": {"bed": "3"}}}, "server_name": "session"}
    update = {"title": "Tool: session/read_sensor", "status": "in_progress", "rawInput": inner}
    shown = take(update, {"title": "Approve MCP tool call", "status": "pending", "rawInput": form})
    assert shown.name == "read_sensor"
    assert dict(shown.args) == {"bed": "3"}


def test_a_call_that_is_over_when_it_is_first_shown_waits_for_its_result() -> None:
    update = {"title": "read_sensor", "status": "completed", "rawInput": {"bed": "3"}}
    assert not take(update).ended
    shown = take(update, {"status": "completed", "rawOutput": "41 %"})
    assert shown.ended
    assert shown.output == "41 %"


@pytest.mark.parametrize(
    "result",
    [
        {"content": [{"type": "content", "content": {"type": "text", "text": "41 %"}}]},
        {"rawOutput": {"content": [{"type": "text", "text": "41 %"}], "isError": False}},
        {"rawOutput": [{"type": "text", "text": "41 %"}]},
        {"rawOutput": "41 %"},
    ],
)
def test_a_result_is_found_wherever_a_program_puts_it(result: dict[str, Any]) -> None:
    shown = take({"title": "read_sensor", "rawInput": {"bed": "3"}}, {"status": "completed", **result})
    assert shown.result().result == "41 %"
    assert not shown.result().is_error


def test_what_holds_once_is_chosen_before_what_holds_always() -> None:
    options = [{"kind": f"{word}_{how}", "optionId": f"{word}/{how}"} for word in "ar" for how in ("always", "once")]
    kinds = [{**one, "kind": one["kind"].replace("a_", "allow_").replace("r_", "reject_")} for one in options]
    assert _chosen(kinds, "allow")["outcome"] == {"outcome": "selected", "optionId": "a/once"}
    assert _chosen(kinds, "reject")["outcome"] == {"outcome": "selected", "optionId": "r/once"}
    assert _chosen(kinds[:1], "allow")["outcome"] == {"outcome": "selected", "optionId": "a/always"}
    assert _chosen(kinds[:2], "reject")["outcome"] == {"outcome": "cancelled"}
