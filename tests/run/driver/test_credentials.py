"""An adapter that exchanges its credentials: what it did is in the transcript, and what they were is not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest

from turnproof.dialects.base import ReplyPart
from turnproof.messages import FinishReason, Text
from turnproof.run.driver import Runner, RunSpec
from turnproof.run.evidence import digest
from turnproof.run.transcript import Failed, Response, RunKey, Transcript, WireRequest, WireResponse
from turnproof.scenarios.model import Scenario, ScriptRound, Turn
from turnproof.wire.emulator.server_run import CANARY_KEY

HERE = str(Path(__file__).parent)


def run(runner: Runner, **options: Any) -> Transcript:
    """Two turns of an adapter with these options."""
    rounds = [(ScriptRound((ReplyPart(Text(text)),), FinishReason.STOP),) for text in ("One.", "Two.")]
    turns = tuple(Turn(user=(Text(f"question {n}"),), rounds=each) for n, each in enumerate(rounds))
    scenario = Scenario(name="toy/accounts", title="Accounts", turns=turns, options=options)
    return runner.run(RunSpec("rotating:ROTATING", scenario, RunKey(scenario.name, "stateless", "batch")))


def went(transcript: Transcript) -> list[tuple[str, str, int]]:
    """For every request for an answer the host, the project and the status."""
    statuses = {event.exchange: event.status for event in transcript.of(WireResponse)}
    requests = [event for event in transcript.of(WireRequest) if event.operation == "generate"]
    return [(event.path.split("/")[1], event.body["project"], statuses[event.exchange]) for event in requests]


def test_neither_side_of_an_exchange_of_credentials_is_kept(runner: Runner) -> None:
    transcript = run(runner)
    requests = {event.exchange: event for event in transcript.of(WireRequest) if event.operation == "authenticate"}
    assert len(requests) == 2
    assert {(event.path, event.body, event.data) for event in requests.values()} == {
        ("/token", "[credentials]", b"[credentials]")
    }
    answers = [event for event in transcript.of(WireResponse) if event.exchange in requests]
    assert {(event.status, event.body) for event in answers} == {(200, "[credentials]")}
    assert transcript.end.leaks == ()
    assert CANARY_KEY.encode() not in msgspec.json.encode(transcript)


def test_the_token_that_was_issued_is_known_for_one_and_not_shown(runner: Runner) -> None:
    requests = [event for event in run(runner).of(WireRequest) if event.operation == "generate"]
    assert [event.headers["authorization"] for event in requests] == ["[key]", "[key]"]


def test_the_next_account_is_seen_to_answer_where_one_may_not(runner: Runner) -> None:
    transcript = run(runner, accounts=["revoked", "spent-1", "second"])
    assert [event.response.parts for event in transcript.of(Response)] == [(Text("One."),), (Text("Two."),)]
    assert went(transcript) == [
        ("prod", "turnproof-spent-1", 200),
        ("prod", "turnproof-spent-1", 429),
        ("prod", "turnproof-second", 200),
    ]


def test_the_next_host_is_seen_to_answer_where_one_fails(runner: Runner) -> None:
    transcript = run(runner, hosts=["down-503", "prod"])
    assert (
        went(transcript)
        == [
            ("down-503", "turnproof-main", 503),
            ("prod", "turnproof-main", 200),
        ]
        * 2
    )


def test_without_an_account_in_good_standing_a_call_fails(runner: Runner) -> None:
    failed = [event for event in run(runner, accounts=["revoked"]).of(Failed) if event.scope == "call"]
    assert {event.error for event in failed} == {"AuthenticationError"}
    assert went(run(runner, accounts=["revoked"])) == []


def test_the_same_seed_gives_the_same_digest(runner: Runner) -> None:
    accounts = ["spent-1", "second"]
    assert digest(run(runner, accounts=accounts)) == digest(run(runner, accounts=accounts))


@pytest.mark.parametrize(
    ("options", "shown"), [({}, "[issued]"), ({"instead": "gho_of-somebody-else"}, "[other]")], ids=["own", "anothers"]
)
def test_a_token_that_the_key_was_exchanged_for_is_told_from_anothers(
    runner: Runner, options: dict[str, str], shown: str
) -> None:
    turn = Turn(user=(Text("question"),), rounds=(ScriptRound((ReplyPart(Text("One.")),), FinishReason.STOP),))
    scenario = Scenario(name="toy/exchange", title="Exchange", turns=(turn,), options=options)
    transcript = runner.run(RunSpec("exchanging:EXCHANGING", scenario, RunKey(scenario.name, "stateless", "batch")))
    requests = [(event.operation, event.headers["authorization"]) for event in transcript.of(WireRequest)]
    assert requests[0] == ("authenticate", "[key]")
    assert requests[-1] == ("generate", shown)
