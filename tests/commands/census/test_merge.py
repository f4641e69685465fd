"""What contributors saw becomes a table. Two who agree at the vendor's own service, or one who denies, decide."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import msgspec
import pytest

from turnproof.commands.census.merge import decisions, merge, table
from turnproof.commands.census.observation import Observation, ShortAnswer
from turnproof.dialects import census, rulebook
from turnproof.dialects.census import Decision
from turnproof.errors import UsageError

REFUSED, ACCEPTED, BUSY = (
    ShortAnswer(400, "invalid_request_error", "No."),
    ShortAnswer(200),
    ShortAnswer(529, "overloaded_error", "Later."),
)
RULE = "anthropic-messages/no-messages"


def seen(contributor: str, illegal: ShortAnswer = REFUSED, legal: ShortAnswer = ACCEPTED, **more: Any) -> Observation:
    usual = {
        "turnproof": "1.0",
        "dialect": "anthropic-messages",
        "rule": RULE,
        "variant": "",
        "day": "2026-11-28",
        "host": "api.anthropic.com",
        "loopback": False,
        "model": "claude-sonnet-4-6",
    }
    return Observation(**{**usual, "contributor": contributor, "illegal": illegal, "legal": legal, **more})


def files(folder: Path, *lines: Observation) -> list[Path]:
    path = folder / "census.ndjson"
    path.write_bytes(b"\n".join(map(msgspec.json.encode, lines)))
    return [path]


CASES = [
    ("two-agree", [seen("jane"), seen("joe")], "recorded"),
    ("one-agrees", [seen("jane")], "open"),
    ("one-twice", [seen("jane"), seen("jane", variant="list")], "open"),
    ("one-denies", [seen("jane"), seen("joe"), seen("ann", ACCEPTED)], "denied"),
    ("a-variant-denies", [seen("jane"), seen("jane", ACCEPTED, variant="list")], "denied"),
    ("busy", [seen("jane", BUSY), seen("joe", legal=BUSY)], "open"),
    ("at-home", [seen(who, host="127.0.0.1:8080", loopback=True) for who in ("jane", "joe")], "open"),
    ("an-imitation", [seen(who, ACCEPTED, host="llm.example") for who in ("jane", "joe")], "open"),
]


@pytest.mark.parametrize(("lines", "verdict"), [case[1:] for case in CASES], ids=[case[0] for case in CASES])
def test_what_follows_from_what_was_seen(lines: list[Observation], verdict: str, tmp_path: Path) -> None:
    [row] = merge(files(tmp_path, *lines))

    assert row.verdict == verdict


def test_an_error_under_status_200_is_a_refusal() -> None:
    assert seen("jane", ShortAnswer(200, "500", "404 NOT_FOUND")).agreement == "agrees"


def test_the_table_counts_contributors(tmp_path: Path) -> None:
    rows = merge(files(tmp_path, seen("jane"), seen("joe", day="2026-11-27"), seen("ann", BUSY)))

    assert list(table(rows))[2] == f"| `{RULE}` | api.anthropic.com | 2 | 0 | 1 | 2026-11-27 to 2026-11-28 | recorded |"


def test_decisions_name_where_the_lines_can_be_read(tmp_path: Path) -> None:
    rows = merge(files(tmp_path, seen("jane"), seen("joe")))

    assert decisions(rows, "https://example.com/issues/7") == [
        Decision(RULE, "recorded", "api.anthropic.com", "2026-11-28", 2, "https://example.com/issues/7")
    ]


@pytest.mark.parametrize("changed", [{"rule": "anthropic-messages/nonsense"}, {"dialect": "nonsense"}])
def test_lines_about_what_there_is_not_are_refused(changed: dict[str, Any], tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=re.escape("nonsense")):
        merge(files(tmp_path, seen("jane", **changed)))


def test_a_confirmed_rule_is_enforced_and_a_denied_one_only_logs(monkeypatch: pytest.MonkeyPatch) -> None:
    where = "api.example.com", "2026-11-28", 2, "https://example.com/issues/7"
    decided = {
        "x/guessed": Decision("x/guessed", "recorded", *where),
        "x/shown": Decision("x/shown", "denied", *where),
    }
    monkeypatch.setattr(rulebook, "decided", lambda: decided)
    book = rulebook.Rulebook("x")

    guessed = book.rule("guessed", note="a guess")
    assert (guessed.enforced, guessed.evidence, guessed.sources[0].day) == (True, "REC", "2026-11-28")
    assert not book.rule("shown", rulebook.page("https://example.com/docs")).enforced
    assert not book.rule("other", note="a guess").enforced


def test_the_decisions_of_the_package_are_about_rules_that_there_are(tmp_path: Path) -> None:
    assert msgspec.json.decode(census.text_of([])) == {"decisions": []}
    assert isinstance(census.decided(), dict)
