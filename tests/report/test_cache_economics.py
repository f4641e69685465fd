"""What caching came to, from transcripts made by hand: every figure is known, and each report shows the same ones."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any, Literal

import jsonschema
import pytest

from turnproof.judge.run_log import Run, TranscriptLine
from turnproof.messages import Message, Text
from turnproof.report import Certification, certification, certification_json, write_reports
from turnproof.report.cache_bars import HEIGHT, MARGIN, STEP, bars
from turnproof.report.cache_economics import RunEconomics, TurnEconomics, of_transcript
from turnproof.run import transcript as t
from turnproof.run.evidence import EvidenceStore

from .page import Page
from .runs import GOOD, write_run

SCHEMA = json.loads((files("turnproof.report") / "certification.schema.json").read_text())
KEY = t.RunKey("cache/made-up", "stateless", "batch")

PIECE = "x" * 392
"""A message of this text is 100 tokens by the ruler."""


@dataclass
class Call:
    """One call: the numbers of the messages it has, and how the service counted its prompt."""

    turn: int
    messages: Sequence[int]
    read: int = 0
    written: int = 0
    fresh: int = 0
    status: int = 200
    operation: str = "generate"
    probe: str = ""


def of_call(number: int, call: Call) -> list[t.Event]:
    where: dict[str, Any] = {"turn": call.turn, "call": number, "probe": call.probe}
    messages = tuple(Message("user", (Text(PIECE),), f"m{each}") for each in call.messages)
    usage = {
        "input_tokens": call.fresh,
        "cache_read_input_tokens": call.read,
        "cache_creation_input_tokens": call.written,
        "output_tokens": 1,
    }
    answer = {"type": "message", "role": "assistant", "model": "m", "content": [], "usage": usage}
    return [
        t.CallBegan(messages=messages, system=None, tools=(), round=0, streamed=False, **where),
        t.WireRequest(
            exchange=number,
            method="POST",
            path="/v1/messages",
            headers={},
            body={},
            digest="d",
            operation=call.operation,
            **where,
        ),
        t.WireResponse(
            exchange=number,
            status=call.status,
            headers={"content-type": "application/json"},
            body=json.dumps(answer),
            written=1,
            ended="completed",
            **where,
        ),
    ]


def transcript_of(*events: Call | t.Event, key: t.RunKey = KEY) -> t.Transcript:
    listed: list[t.Event] = []
    for number, event in enumerate(events):
        listed += of_call(number, event) if isinstance(event, Call) else [event]
    return t.Transcript(
        "anthropic", "anthropic-messages", "m", "emulate", key, 0, (*listed, t.RunEnded(how="completed"))
    )


COLLECTED = transcript_of(
    Call(0, [0], written=97, fresh=3),
    Call(1, [0, 1, 2], read=97, written=200, fresh=3),
    Call(1, [0, 1, 2, 3, 4], read=297, written=200, fresh=3),
    t.Collected(turn=2, before=("m0", "m1", "m2", "m3", "m4"), after=("m3", "m4")),
    Call(2, [3, 4, 5], written=297, fresh=3),
    Call(3, [3, 4, 5, 6, 7], read=297, written=200, fresh=3),
)


def test_each_turn_has_the_sums_of_its_calls() -> None:
    found = of_transcript(COLLECTED)
    assert found.turns == (
        TurnEconomics(turn=0, calls=1, read=0, written=97, fresh=3, again=0, after=()),
        TurnEconomics(turn=1, calls=2, read=394, written=400, fresh=6, again=0, after=()),
        TurnEconomics(turn=2, calls=1, read=0, written=297, fresh=3, again=200, after=("gc",)),
        TurnEconomics(turn=3, calls=1, read=297, written=200, fresh=3, again=0, after=()),
    )
    assert (found.scenario, found.path, found.mode) == ("cache/made-up", "stateless", "batch")
    assert (found.read, found.written, found.fresh) == (691, 994, 15)
    assert found.read_share == pytest.approx(0.4065, abs=1e-4)


def test_the_cost_of_a_collection_is_what_was_cached_stayed_and_had_to_be_written_again() -> None:
    """Two of the messages stay, 200 tokens; what was dropped, and what is new, is not counted."""
    assert of_transcript(COLLECTED).gc_cost == 200
    assert of_transcript(COLLECTED).after_gc


def test_what_was_never_cached_is_never_paid_again() -> None:
    """As under a managed cache: messages are paid in full by every request, with or without a collection."""
    found = of_transcript(
        transcript_of(
            Call(0, [0, 1, 2], read=500, fresh=300),
            t.Collected(turn=1, before=("m0", "m1", "m2"), after=("m2",)),
            Call(1, [2, 3, 4], read=500, fresh=300),
        )
    )
    assert found.gc_cost == 0
    assert found.after_gc


def test_a_prefix_that_expired_is_paid_again_and_is_no_cost_of_a_collection() -> None:
    found = of_transcript(transcript_of(Call(0, [0], written=100), Call(1, [0, 1, 2], written=300)))
    assert [turn.again for turn in found.turns] == [0, 100]
    assert found.gc_cost == 0
    assert not found.after_gc


def test_it_is_said_what_was_done_in_front_of_a_turn() -> None:
    done: list[t.Event] = [
        t.Reverted(turn=1, to=0),
        t.Loaded(turn=1, messages=()),
        t.Loaded(turn=1, messages=(), damaged=True),
        t.Swapped(turn=1, name="anthropic"),
        t.Reset(turn=1),
    ]
    found = of_transcript(transcript_of(Call(0, [0], written=100), *done, Call(1, [0, 1], read=100)))
    assert [turn.after for turn in found.turns] == [(), ("revert", "load", "swap", "reset")]


@pytest.mark.parametrize(
    "other", [{"status": 529}, {"operation": "count_tokens"}, {"probe": "fresh"}], ids=["failed", "counted", "probe"]
)
def test_only_answers_of_the_conversation_count(other: dict[str, Any]) -> None:
    found = of_transcript(transcript_of(Call(0, [0], written=100), Call(0, [0], read=100, **other)))
    assert (found.read, found.written, found.turns[0].calls) == (0, 100, 1)


def test_a_run_without_an_answer_has_no_turns() -> None:
    assert of_transcript(transcript_of()).turns == ()
    assert of_transcript(transcript_of()).read_share == 0.0


# In the reports


def reported(folder: Path, *transcripts: t.Transcript) -> tuple[Run, EvidenceStore]:
    store = EvidenceStore(folder / "evidence")
    lines = [TranscriptLine(adapter="anthropic", key=each.key, digest=store.put(each)) for each in transcripts]
    return write_run(folder / "run.ndjson", GOOD, transcripts=lines, exit_code=0), store


def cache_of(report: Certification) -> list[tuple[str, str, int]]:
    return [(one.scenario, one.path, one.gc_cost) for one in report.adapters["anthropic"].cache]


def key(scenario: str, path: Literal["stateless", "legacy"] = "stateless", repeat: int = 0) -> t.RunKey:
    return t.RunKey(scenario, path, "batch", repeat)


def test_the_report_has_the_runs_about_caching_in_which_something_was_cached(tmp_path: Path) -> None:
    events = COLLECTED.events[:-1]
    run, store = reported(
        tmp_path,
        transcript_of(*events, key=key("cache/one")),
        transcript_of(*events, key=key("cache/one", "legacy")),
        transcript_of(*events, key=key("cache/one", "legacy", repeat=1)),
        transcript_of(*events, key=key("gc/other")),
        transcript_of(Call(0, [0], fresh=100), key=key("cache/small")),
    )
    assert cache_of(certification(run, store)) == [("cache/one", "stateless", 200), ("cache/one", "legacy", 200)]
    assert cache_of(certification(run)) == []


def test_certification_json_has_the_economics_and_fits_its_schema(tmp_path: Path) -> None:
    run, store = reported(tmp_path, COLLECTED)
    document = json.loads(certification_json(certification(run, store)))
    jsonschema.validate(document, SCHEMA)
    (found,) = document["adapters"]["anthropic"]["cache"]
    assert found["gc_cost"] == 200
    assert found["turns"][2] == {
        "turn": 2,
        "calls": 1,
        "read": 0,
        "written": 297,
        "fresh": 3,
        "again": 200,
        "after": ["gc"],
    }


def test_a_report_without_them_fits_it_too() -> None:
    """Reports of earlier versions are not refused."""
    assert "cache" not in SCHEMA["$defs"]["adapter"]["required"]


def test_the_page_and_the_summary_show_the_same_figures(tmp_path: Path) -> None:
    run, store = reported(tmp_path, COLLECTED)
    write_reports(run, tmp_path, store)
    page = Page((tmp_path / "index.html").read_text("utf-8"))
    for words in ("prompt cache", "cache/made-up stateless, batch 691 994 15 41% 200", "after gc, 200 paid again"):
        assert words in page.text
    assert "| cache/made-up, stateless, batch | 691 | 994 | 15 | 41% | 200 |" in (tmp_path / "summary.md").read_text()
    kinds = [attributes["class"] for tag, attributes in page.tags if tag == "rect"]
    assert sorted(map(str, kinds)) == ["again"] + ["fresh"] * 4 + ["read"] * 2 + ["written"] * 4


def test_a_run_that_says_nothing_of_caching_has_no_word_of_it(tmp_path: Path) -> None:
    run, store = reported(tmp_path, transcript_of(Call(0, [0], written=9), key=key("basics/plain")))
    write_reports(run, tmp_path, store)
    assert "prompt cache" not in Page((tmp_path / "index.html").read_text("utf-8")).text
    assert "prompt cache" not in (tmp_path / "summary.md").read_text()


def test_evidence_that_is_gone_is_said_in_place_of_the_figures(tmp_path: Path) -> None:
    run, store = reported(tmp_path, COLLECTED)
    for file in store.folder.iterdir():
        file.unlink()
    report = write_reports(run, tmp_path, store)
    assert "is missing: no file" in report.adapters["anthropic"].cache[0].problem
    jsonschema.validate(json.loads(certification_json(report)), SCHEMA)
    assert "is missing: no file" in Page((tmp_path / "index.html").read_text("utf-8")).text
    assert "is missing: no file" in (tmp_path / "summary.md").read_text()


# Bars


def run_of(*turns: TurnEconomics) -> RunEconomics:
    return RunEconomics("cache/x", "legacy", "stream", turns=turns)


def test_bars_stand_on_the_ground_and_the_highest_fills_the_height() -> None:
    chart = bars(run_of(TurnEconomics(0, 1, 0, 50, 0, 0, ()), TurnEconomics(1, 1, 50, 25, 25, 0, ())))
    assert chart.width == 2 * STEP
    first, second = ([(each.kind, each.y, each.height) for each in bar.pieces] for bar in chart.bars)
    assert first == [("written", MARGIN + HEIGHT / 2, HEIGHT / 2)]
    assert second == [
        ("read", MARGIN + HEIGHT / 2, HEIGHT / 2),
        ("written", MARGIN + HEIGHT / 4, HEIGHT / 4),
        ("fresh", MARGIN, HEIGHT / 4),
    ]


def test_what_was_paid_again_lies_over_what_was_not_read() -> None:
    (bar,) = bars(run_of(TurnEconomics(4, 2, 40, 60, 0, 30, ("gc", "gc")))).bars
    again = bar.pieces[-1]
    assert (again.kind, again.y, again.height) == ("again", round(MARGIN + HEIGHT * 0.3, 1), round(HEIGHT * 0.3, 1))
    assert bar.title == "turn 4, 2 calls: 40 read, 60 written, 0 fresh, after gc, 30 paid again"
    assert bar.label == "gc"


def test_a_few_tokens_are_still_seen_and_a_run_of_nothing_can_be_drawn() -> None:
    (bar,) = bars(run_of(TurnEconomics(0, 1, 100_000, 0, 1, 0, ()))).bars
    assert bar.pieces[1].height == 1.0
    assert bar.pieces[1].y >= 0
    assert bars(run_of()).bars == ()
