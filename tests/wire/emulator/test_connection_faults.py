"""Faults that change nothing of an answer: one write for all events, gzip, and a connection that closes behind it."""

from __future__ import annotations

import httpx
import pytest
from msgspec.structs import replace

from turnproof.dialects import dialect
from turnproof.dialects.base import ReplyPart
from turnproof.messages import Text
from turnproof.scenarios.model import Fault
from turnproof.wire.emulator import EmulatorServer, ScriptResponder, ServerRun
from turnproof.wire.emulator.server_run import CANARY_KEY

from .recording import evidence, turn

HEADERS = {"x-api-key": CANARY_KEY, "anthropic-version": "2023-06-01"}


def opened(server: EmulatorServer, fault: Fault | None) -> ServerRun:
    run = server.open_run(dialect("anthropic-messages"), ScriptResponder(), seed="faults")
    run.arm(0, turn(fault), turn().tools or ())
    return run


def body(*, streamed: bool) -> dict[str, object]:
    text = "".join(part.text for part in turn().user)  # type: ignore[union-attr]
    return {
        "model": "claude-sonnet-4-5",
        "max_tokens": 100,
        "messages": [{"role": "user", "content": text}],
        "stream": streamed,
    }


def ask(run: ServerRun, client: httpx.Client, *, streamed: bool = True, encoding: str = "gzip") -> httpx.Response:
    url = f"{run.base_url}/v1/messages"
    return client.post(url, json=body(streamed=streamed), headers={**HEADERS, "accept-encoding": encoding})


@pytest.mark.parametrize("streamed", [True, False])
def test_a_compressed_answer_unpacks_to_what_the_evidence_has(server: EmulatorServer, *, streamed: bool) -> None:
    run = opened(server, Fault("compressed"))
    with httpx.Client() as client:
        response = ask(run, client, streamed=streamed)
    assert response.headers["content-encoding"] == "gzip"
    (answer,) = evidence(run)
    assert (answer.fault, answer.ended, answer.sent) == ("compressed", "completed", None)
    assert response.content == answer.data


def test_nothing_is_compressed_for_a_client_that_does_not_take_it(server: EmulatorServer) -> None:
    run = opened(server, Fault("compressed"))
    with httpx.Client() as client:
        response = ask(run, client, encoding="identity")
    assert "content-encoding" not in response.headers
    assert response.content == evidence(run)[0].data
    assert evidence(run)[0].fault == "compressed"


def test_all_events_of_a_merged_stream_come_in_one_piece(server: EmulatorServer) -> None:
    run = opened(server, Fault("merged"))
    with (
        httpx.Client() as client,
        client.stream("POST", f"{run.base_url}/v1/messages", json=body(streamed=True), headers=HEADERS) as response,
    ):
        pieces = [piece for piece in response.iter_raw() if piece]
    assert len(pieces) == 1
    assert pieces[0] == evidence(run)[0].data


def test_an_idle_connection_is_closed_behind_the_whole_answer(server: EmulatorServer) -> None:
    run = opened(server, Fault("idle-close"))
    with httpx.Client() as client:
        first = ask(run, client)
        assert run.exchanges[0].done.wait(10)
        second = ask(run, client)
    assert "close" not in first.headers.get("connection", "")
    assert first.content == second.content
    assert [exchange.connection for exchange in run.exchanges] == [0, 1]
    assert [answer.ended for answer in evidence(run)] == ["completed", "completed"]


def test_requests_that_follow_each_other_have_the_number_of_their_connection(server: EmulatorServer) -> None:
    run = opened(server, None)
    with httpx.Client() as client:
        ask(run, client, streamed=False)
        ask(run, client, streamed=False)
    assert [exchange.connection for exchange in run.exchanges] == [0, 0]


@pytest.mark.parametrize("leaves", [True, False])
def test_a_client_that_leaves_at_other_words_is_seen_to_leave(server: EmulatorServer, *, leaves: bool) -> None:
    first = turn()
    (first_round, *_), others = first.rounds, ReplyPart(Text("In other words."), ("In other ", "words."))
    again = replace(first_round, again=(replace(first_round, parts=(others,)),))
    run = opened(server, None)
    run.arm(0, replace(first, rounds=(again, *first.rounds[1:])))
    with httpx.Client() as client:
        ask(run, client)
        url = f"{run.base_url}/v1/messages"
        with client.stream("POST", url, json=body(streamed=True), headers=HEADERS) as response:
            for line in response.iter_lines():
                if leaves and "In other " in line:
                    break
    assert run.exchanges[1].done.wait(10)
    assert run.exchanges[1].ended == ("cut-by-peer" if leaves else "completed")
