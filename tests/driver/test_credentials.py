"""An adapter that exchanges its credentials: what it did is in the transcript, and what they were is not."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from turnproof.dialects.base import ReplyPart
from turnproof.driver import Lab, RunSpec
from turnproof.emulator.run import CANARY_KEY
from turnproof.evidence import digest
from turnproof.messages import FinishReason, Text
from turnproof.scenarios.model import Scenario, ScriptRound, Turn
from turnproof.transcript import Failed, Response, RunKey, Transcript, WireRequest, WireResponse

HERE = str(Path(__file__).parent)


@pytest.fixture(scope="module")
def lab() -> Iterator[Lab]:
    sys.path.insert(0, HERE)
    with Lab(jobs=1) as opened:
        yield opened
    sys.path.remove(HERE)


def run(lab: Lab, **options: Any) -> Transcript:
    """Two turns of an adapter with these options."""
    rounds = [(ScriptRound((ReplyPart(Text(text)),), FinishReason.STOP),) for text in ("One.", "Two.")]
    turns = tuple(Turn(user=(Text(f"question {n}"),), rounds=each) for n, each in enumerate(rounds))
    scenario = Scenario(name="toy/accounts", title="Accounts", turns=turns, options=options)
    return lab.run(RunSpec("rotating:ROTATING", scenario, RunKey(scenario.name, "stateless", "batch")))


def went(transcript: Transcript) -> list[tuple[str, str, int]]:
    """For every request for an answer the host, the project and the status."""
    statuses = {event.exchange: event.status for event in transcript.of(WireResponse)}
    asked = [event for event in transcript.of(WireRequest) if event.operation == "generate"]
    return [(event.path.split("/")[1], event.body["project"], statuses[event.exchange]) for event in asked]


def test_neither_side_of_an_exchange_of_credentials_is_kept(lab: Lab) -> None:
    transcript = run(lab)
    kept = {event.exchange: event for event in transcript.of(WireRequest) if event.operation == "authenticate"}
    assert len(kept) == 2
    assert {(event.path, event.body, event.data) for event in kept.values()} == {
        ("/token", "[credentials]", b"[credentials]")
    }
    answers = [event for event in transcript.of(WireResponse) if event.exchange in kept]
    assert {(event.status, event.body) for event in answers} == {(200, "[credentials]")}
    assert transcript.end.leaks == ()
    assert CANARY_KEY.encode() not in msgspec.json.encode(transcript)


def test_the_token_that_was_issued_is_known_for_one_and_not_shown(lab: Lab) -> None:
    asked = [event for event in run(lab).of(WireRequest) if event.operation == "generate"]
    assert [event.headers["authorization"] for event in asked] == ["[key]", "[key]"]


def test_the_next_account_is_seen_to_answer_where_one_may_not(lab: Lab) -> None:
    transcript = run(lab, accounts=["revoked", "spent-1", "second"])
    assert [event.response.parts for event in transcript.of(Response)] == [(Text("One."),), (Text("Two."),)]
    assert went(transcript) == [
        ("prod", "turnproof-spent-1", 200),
        ("prod", "turnproof-spent-1", 429),
        ("prod", "turnproof-second", 200),
    ]


def test_the_next_host_is_seen_to_answer_where_one_fails(lab: Lab) -> None:
    transcript = run(lab, hosts=["down-503", "prod"])
    assert (
        went(transcript)
        == [
            ("down-503", "turnproof-main", 503),
            ("prod", "turnproof-main", 200),
        ]
        * 2
    )


def test_without_an_account_in_good_standing_a_call_fails(lab: Lab) -> None:
    failed = [event for event in run(lab, accounts=["revoked"]).of(Failed) if event.scope == "call"]
    assert {event.error for event in failed} == {"AuthenticationError"}
    assert went(run(lab, accounts=["revoked"])) == []


def test_the_same_seed_gives_the_same_digest(lab: Lab) -> None:
    accounts = ["spent-1", "second"]
    assert digest(run(lab, accounts=accounts)) == digest(run(lab, accounts=accounts))


@pytest.mark.parametrize(
    ("options", "shown"), [({}, "[issued]"), ({"instead": "gho_of-somebody-else"}, "[other]")], ids=["own", "anothers"]
)
def test_a_token_that_the_key_was_exchanged_for_is_told_from_anothers(
    lab: Lab, options: dict[str, str], shown: str
) -> None:
    turn = Turn(user=(Text("question"),), rounds=(ScriptRound((ReplyPart(Text("One.")),), FinishReason.STOP),))
    scenario = Scenario(name="toy/exchange", title="Exchange", turns=(turn,), options=options)
    made = lab.run(RunSpec("exchanging:EXCHANGING", scenario, RunKey(scenario.name, "stateless", "batch")))
    asked = [(event.operation, event.headers["authorization"]) for event in made.of(WireRequest)]
    assert asked[0] == ("authenticate", "[key]")
    assert asked[-1] == ("generate", shown)
