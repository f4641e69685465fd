"""The examples of `docs/subagents.md` do what the page says."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, get_args

import pytest

from turnproof.provider import Binding, Capabilities, Endpoint
from turnproof.session import Approval
from turnproof.session.agents import AgentStatus, Limits, Runtime, SharedState, Team
from turnproof.session.inbox import MAX_WAITING

from ..fakes import reply, tool
from .kit import Minds, calls, runtime_of, spawn, team_of

PAGE = (Path(__file__).parents[3] / "docs" / "subagents.md").read_text("utf-8")
EXAMPLES = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
REPORT = re.search(r"```\n(\[subagent.*?)\n```", PAGE, re.DOTALL)


@pytest.mark.parametrize("number", range(len(EXAMPLES)))
def test_an_example_runs(number: int, capsys: pytest.CaptureFixture[str]) -> None:
    minds = Minds(
        Compare=[calls(spawn("count", background=True)), reply("I have it counted."), reply("Seven.")],
        count=[reply("7")],
    )
    names: dict[str, Any] = {
        "BINDING": Binding("minds", "anthropic-messages", "m", Capabilities(), open_stateless=lambda endpoint: minds),
        "endpoint": Endpoint("http://example.invalid", "no-key", "m"),
        "tools": [tool()],
        "ask": lambda agent, call, token: Approval(allowed=True),
        "Runtime": Runtime,
        "Team": Team,
        "runtime": runtime_of(minds),
    }
    if number:
        exec("from turnproof.session.agents import ProviderSource", names)
        names["team"] = team_of(minds)
    exec(compile(EXAMPLES[number], f"example {number}", "exec"), names)
    assert capsys.readouterr().out == ("I have it counted.\nSeven.\n" if number == 0 else "")


def test_a_report_reads_as_the_page_shows_it() -> None:
    minds = Minds(lead=[calls(spawn("researcher", background=True)), reply("Go.")], researcher=[reply("Bed 3 is dry.")])
    with team_of(minds) as team:
        team.send("lead")
        assert team.wait()
        assert REPORT is not None
        assert team.lead.session.waiting[0].text == REPORT[1]


def test_every_tool_limit_and_status_is_on_the_page() -> None:
    with team_of(Minds(), shared=SharedState()) as team:
        offered = [one.schema.name for one in team.lead.session.tools]
    assert len(offered) == 9
    for word in (*offered, *Limits.__slots__):
        assert f"`{word}`" in PAGE or f"`Limits.{word}`" in PAGE, word
    for word in set(get_args(AgentStatus)) - {"closed"}:
        assert word in PAGE, word
    assert f"At most {MAX_WAITING} messages wait" in PAGE
