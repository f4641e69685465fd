"""A recorded conversation with the gateway, played again: who asks is settled anew, since no cassette may hold it."""

from __future__ import annotations

from datetime import date

from turnproof.dialects.antigravity import DIALECT
from turnproof.wire.cassettes import Cassette, Player, Recorder
from turnproof.wire.cassettes.codec import encode
from turnproof.wire.emulator import CassetteResponder, EmulatorServer, Responder, ScriptResponder, ServerRun

from .builders import GEMINI, KEY, Ask, envelope, read, refresh_token
from .client import Client


def run_client(server: EmulatorServer, responder: Responder) -> tuple[ServerRun, dict[str, object]]:
    """What a client that refreshes its token and looks for its project is answered."""
    run = server.open_run(DIALECT, responder, keys=frozenset({KEY}))
    client = Client([refresh_token("main")], [run.base_url], f"{run.base_url}/token")
    with client.http:
        answer = client.generate()
    assert all(exchange.done.wait(60) for exchange in run.exchanges)
    assert answer.status_code == 200
    found: dict[str, object] = answer.json()
    return run, found


def recorded(run: ServerRun) -> tuple[Cassette, list[str]]:
    """The cassette of a run, and what was left out of it."""
    recorder = Recorder(
        adapter="gardener",
        scenario="small-talk",
        dialect=DIALECT,
        model=GEMINI,
        recorded="emulated",
        day=date(2026, 11, 22),
    )
    for exchange in run.exchanges:
        assert exchange.call is not None
        recorder.add(
            exchange.request,
            exchange.call,
            status=exchange.status,
            headers=exchange.headers,
            chunks=[bytes(exchange.body)],
            turn=0,
            round_=0,
            extra=exchange.extra,
        )
    return recorder.cassette(), recorder.left_out


def test_a_replay_exchanges_credentials_itself_and_answers_from_the_cassette(server: EmulatorServer) -> None:
    run, answer = run_client(server, ScriptResponder())
    cassette, left_out = recorded(run)
    assert left_out == [
        "POST /token: an exchange of credentials",
        "POST /v1internal:loadCodeAssist: no operation of the dialect",
    ]
    (interaction,) = cassette.interactions
    assert interaction.request.uri == "https://cloudcode-pa.googleapis.com/v1internal:generateContent"
    assert KEY.encode() not in encode(cassette)
    player = Player(cassette, DIALECT)
    replayed, again = run_client(server, CassetteResponder(player))
    assert again == answer
    assert player.unplayed() == []
    assert [exchange.extra for exchange in replayed.exchanges] == [True, True, False]


def test_the_token_of_a_replay_is_known_to_its_world(server: EmulatorServer) -> None:
    run, _ = run_client(server, ScriptResponder())
    replayed, _ = run_client(server, CassetteResponder(Player(recorded(run)[0], DIALECT)))
    sent = replayed.exchanges[-1].request.headers["authorization"]
    assert sent != f"Bearer {KEY}"
    assert replayed.exchanges[-1].findings == []


def test_the_same_question_by_another_account_is_the_same_request(server: EmulatorServer) -> None:
    run, _ = run_client(server, ScriptResponder())
    first = run.exchanges[-1].call
    assert first is not None

    contents = first.body["contents"]
    other = read(Ask(envelope({"contents": contents}, project="turnproof-second", requestId="other")))
    assert DIALECT.match_form(other) == DIALECT.match_form(first)
