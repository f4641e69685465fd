"""The surfaces of programs, tried on the programs themselves: what they really send, and whether they understand.

Which programs, says the environment: `TURNPROOF_CODEX` (Codex CLI 0.169), `TURNPROOF_GEMINI` (gemini-cli 0.61).
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from turnproof.dialects import dialect
from turnproof.dialects.base import Call, WireDifference
from turnproof.messages import FunctionCall, Message, Part, ToolResult
from turnproof.scenarios.loader import from_data
from turnproof.wire.emulator import EmulatorServer, ScriptResponder
from turnproof.wire.emulator.server_run import Exchange

from .real_programs import SYSTEM, Codex, CodexOnSockets, GeminiCli, Program, named_by

TOOLS = [
    {"name": "read_sensor", "description": "Read one sensor", "takes": {"bed": "string"}},
    {"name": "open-valve", "description": "Open a valve", "takes": {}},
]
RESULTS = {"read_sensor": "41 %", "open-valve": "stuck"}
OWN = {"read_sensor": "read_sensor", "open_valve": "open-valve", "open-valve": "open-valve"}
MEASURE = {
    "user": "How moist are beds 3 and 4?",
    "model": [
        [
            {"thinking": "First the sensors."},
            "Let me look.",
            {"call": "read_sensor", "args": {"bed": "3"}},
            {"call": "read_sensor", "args": {"bed": "4"}},
        ],
        ["Now the valve.", {"call": "open-valve", "args": {}}],
        ["Both are at 41 %."],
    ],
}
AGAIN = {"user": "And bed 5?", "model": [["I ", "cannot ", "say."]]}
PLAIN = {"user": "Is it warm?", "model": [["It is."]]}


class Trial:
    """A program, and an emulator that answers it from a script. `differences` are those of each request of a turn."""

    def __init__(self, kind: type[Program], server: EmulatorServer, home: Path) -> None:
        self.run = server.open_run(dialect(kind.dialect), ScriptResponder(), seed="0/real")
        self.program = kind(home, self.run.base_url)
        self.model = kind.model
        self.history: list[Message] = []
        self.differences: list[list[WireDifference]] = []

    def turn(self, script: Mapping[str, Any], model: str | None = None) -> list[Exchange]:
        """Let the program take one turn: the requests of it. What was said in it is held."""
        calls = any(isinstance(part, dict) and "call" in part for answer in script["model"] for part in answer)
        data = {"title": "A trial", "system": SYSTEM, "tools": TOOLS, "turns": [script]}
        scenario = from_data({**data, "results": RESULTS} if calls else data, "real")
        self.run.arm(self.run.turn_index + 1, scenario.turns[0], scenario.tools_in(0))
        since = self.run.begin_call()
        self.program.say(script["user"], model)
        exchanges = self.run.end_call(since)
        self.history.append(Message("user", scenario.turns[0].user))
        for exchange in exchanges:
            if exchange.call is not None and not exchange.extra:
                self._hear(exchange, exchange.call)
        return exchanges

    def _hear(self, exchange: Exchange, call: Call) -> None:
        wire = self.run.dialect
        self.differences.append(wire.differences(self.history, SYSTEM, self.run.tools, call, self.model))
        answer = wire.read_response(exchange.status, exchange.headers, bytes(exchange.body))
        if exchange.status != 200 or exchange.ended != "completed":
            return  # no answer, or one that is asked for again
        parts = tuple(_under_own_name(part) for part in answer.parts)
        self.history.append(Message("model", parts))
        calls = [part for part in parts if isinstance(part, FunctionCall)]
        if calls:
            results = (ToolResult(one.id, one.name, RESULTS[one.name], one.name == "open-valve") for one in calls)
            self.history.append(Message.tool(*results))


def _under_own_name(part: Part) -> Part:
    """A call as a session holds it, whatever the program calls the tool."""
    if not isinstance(part, FunctionCall):
        return part
    return replace(part, name=OWN[part.name.removeprefix("mcp_session_")])


def refusals(exchanges: Sequence[Exchange]) -> list[str]:
    return [finding.rule.id for exchange in exchanges for finding in exchange.findings if finding.enforced]


@pytest.fixture
def codex(tmp_path: Path) -> Iterator[Trial]:
    named_by(Codex.variable)
    with EmulatorServer() as server:
        yield Trial(Codex, server, tmp_path)


@pytest.fixture
def codex_on_sockets(tmp_path: Path) -> Iterator[Trial]:
    named_by(CodexOnSockets.variable)
    with EmulatorServer() as server:
        yield Trial(CodexOnSockets, server, tmp_path)


@pytest.fixture
def gemini(tmp_path: Path) -> Iterator[Trial]:
    named_by(GeminiCli.variable)
    with EmulatorServer() as server:
        yield Trial(GeminiCli, server, tmp_path)


@pytest.mark.parametrize("name", ["codex", "gemini"])
def test_a_turn_with_tools_is_the_conversation_and_nothing_else(name: str, request: pytest.FixtureRequest) -> None:
    trial: Trial = request.getfixturevalue(name)
    exchanges = trial.turn(MEASURE)
    assert [exchange.round for exchange in exchanges] == [0, 1, 2]
    assert refusals(exchanges) == []
    assert trial.differences == [[], [], []]


def test_codex_tells_a_resumed_session_whole(codex: Trial) -> None:
    codex.turn(MEASURE)
    exchanges = codex.turn(AGAIN)
    assert refusals(exchanges) == []
    assert codex.differences == [[], [], [], []]


def test_codex_goes_on_from_the_last_answer_on_its_socket_and_sends_what_is_new(codex_on_sockets: Trial) -> None:
    exchanges = codex_on_sockets.turn(MEASURE)
    assert [exchange.status for exchange in exchanges] == [101, 200, 200, 200, 200]
    assert refusals(exchanges) == []
    assert codex_on_sockets.differences == [[], [], []]
    warm_up, *messages = [json.loads(exchange.request.body) for exchange in exchanges[1:]]
    assert warm_up["generate"] is False
    answered = [json.loads(bytes(exchange.body).splitlines()[-1])["response"]["id"] for exchange in exchanges[1:-1]]
    assert [message["previous_response_id"] for message in messages] == answered
    results = ["function_call_output"]
    assert [[item["type"] for item in message["input"]] for message in messages[1:]] == [results * 2, results]


def test_codex_tells_a_resumed_session_whole_on_a_new_socket(codex_on_sockets: Trial) -> None:
    codex_on_sockets.turn(MEASURE)
    exchanges = codex_on_sockets.turn(AGAIN)
    assert refusals(exchanges) == []
    assert codex_on_sockets.differences == [[], [], [], []]
    assert len(json.loads(exchanges[-1].request.body)["input"]) > len(MEASURE["model"])


def test_codex_tells_everything_again_behind_a_socket_that_broke(codex_on_sockets: Trial) -> None:
    codex_on_sockets.turn(PLAIN)
    broken = {"kind": "reset", "after": "text:1"}
    exchanges = codex_on_sockets.turn({**AGAIN, "faults": broken})
    assert refusals(exchanges) == []
    assert [exchange.status for exchange in exchanges] == [101, 200, 200, 101, 200]
    assert codex_on_sockets.differences == [[], [], []]
    again = json.loads(exchanges[-1].request.body)
    assert "previous_response_id" not in again
    assert [item["role"] for item in again["input"] if item["type"] == "message"][-3:] == ["user", "assistant", "user"]


def test_gemini_cli_tells_a_resumed_session_without_calls_whole(gemini: Trial) -> None:
    gemini.turn(PLAIN)
    exchanges = gemini.turn(AGAIN)
    assert refusals(exchanges) == []
    assert gemini.differences == [[], []]


def test_gemini_cli_sends_results_twice_in_a_resumed_session_and_is_refused(gemini: Trial) -> None:
    gemini.turn(MEASURE)
    exchanges = gemini.turn(AGAIN)
    assert set(refusals(exchanges)) == {"gemini/response-count"}
    assert [difference.what for difference in gemini.differences[-1] if difference.violation] == ["invented"] * 3


def test_gemini_cli_asks_beside_the_conversation_which_model_is_fit(gemini: Trial) -> None:
    exchanges = gemini.turn(PLAIN, model="auto")
    assert [exchange.extra for exchange in exchanges] == [True, False]
    assert refusals(exchanges) == []
    assert gemini.history[-1].text == "It is."


@pytest.mark.parametrize("name", ["codex", "gemini"])
def test_a_refusal_ends_the_turn(name: str, request: pytest.FixtureRequest) -> None:
    trial: Trial = request.getfixturevalue(name)
    refused = {**PLAIN, "faults": {"kind": "status", "status": 400, "times": 3}, "error": "InvalidRequestError"}
    assert [exchange.status for exchange in trial.turn(refused)] == [400]
