"""The examples of `docs/collect-history.md` do what the page says."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from session.fakes import FakeStateless, reply

from turnproof.budget import Policy, Source
from turnproof.gc import GCConfig
from turnproof.messages import Message
from turnproof.session import Session

from .histories import same_objects, talk

PAGE = (Path(__file__).parents[2] / "docs" / "collect-history.md").read_text("utf-8")
BLOCKS = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)


def run(*blocks: int, **names: Any) -> dict[str, Any]:
    for block in blocks:
        exec(compile(BLOCKS[block], f"docs/collect-history.md, example {block + 1}", "exec"), names)
    return names


def test_a_session_collects_and_shows_its_budget(capsys: pytest.CaptureFixture[str]) -> None:
    provider: Any = FakeStateless(reply("a", prompt=300))
    provider.get_context_limit = lambda: 1_000
    names = run(0, provider=provider)
    session: Session = names["session"]
    session.send("one")
    run(1, session=session)
    assert capsys.readouterr().out.splitlines() == [
        "302 of 1000 tokens, 30 %, 698 left",
        f"conversation locked 3 {session.history.messages[0].message_id}",
        f"conversation partial 3 {session.history.messages[1].message_id}",
    ]


def test_a_message_is_marked() -> None:
    session = Session(FakeStateless())
    news = Message.user("news")
    run(2, session=session, message_id=news.message_id, Source=Source, Policy=Policy)
    session.reset([news])
    assert session.budget.entries()[0].source is Source.ENRICHMENT


def test_a_collector_of_ones_own_keeps_the_questions() -> None:
    history = talk(4)
    collector = run(3)["KeepQuestions"]()
    result = collector.collect(history, config=GCConfig(keep_turns=1))
    assert same_objects(result.messages, [history[0], history[2], history[4], history[6], history[7]])


def test_every_example_is_tried() -> None:
    assert len(BLOCKS) == 4
