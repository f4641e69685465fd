"""A scripted mock of LLM APIs that others wrote, `@copilotkit/aimock` from npm, as a service of our scenarios.

Its fixtures are made of the scenarios: what the user says leads to the answer, and a round of results to the last one.
"""

from __future__ import annotations

import json
import re
import shutil
import socket
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec
from live.started_server import started

from turnproof.commands.certify.scenarios import suite_scenarios
from turnproof.judge.requirements import load_suite
from turnproof.messages import FunctionCall, Text
from turnproof.scenarios.model import ScriptRound, Turn

START_LIMIT = 60.0

_LEGAL = re.compile(r"[a-zA-Z0-9_-]{1,64}")
_ANYTHING_ELSE = "It is moist."


def write_fixtures(file: Path) -> int:
    """Write what the mock answers; how many answers that are."""
    found: list[dict[str, Any]] = []
    for text, turn in sorted(_turns().items(), key=lambda item: -len(item[0])):  # part of a text is found in it, too
        ask = {"userMessage": text}
        if len(turn.rounds) == 1:
            found.append({"match": ask, "response": _answer(turn.rounds[0])})
        else:
            found.append({"match": {**ask, "hasToolResult": False}, "response": _answer(turn.rounds[0])})
            found.append({"match": {**ask, "hasToolResult": True}, "response": _answer(turn.rounds[-1])})
    found.append({"match": {}, "response": {"content": _ANYTHING_ELSE}})
    file.write_text(json.dumps({"fixtures": json.loads(msgspec.json.encode(found))}, ensure_ascii=False), "utf-8")
    return len(found)


def _turns() -> dict[str, Turn]:
    """The turns that are asked for, by what the user says in them; a text leads to one answer."""
    turns: dict[str, Turn] = {}
    for scenario in suite_scenarios(load_suite()):
        for turn in scenario.turns if scenario.subject == "adapter" else ():
            if turn.text and turn.rounds and all(map(_can_be_said, turn.rounds)):
                turns.setdefault(turn.text, turn)
    return turns


def _can_be_said(answer: ScriptRound) -> bool:
    """Whether the mock can give the answer as a service would: no broken call, and no name that APIs refuse."""
    calls = [part.part for part in answer.parts if isinstance(part.part, FunctionCall)]
    return not any(part.broken for part in answer.parts) and all(_LEGAL.fullmatch(call.name) for call in calls)


def _answer(answer: ScriptRound) -> dict[str, Any]:
    text = "".join(part.part.text for part in answer.parts if isinstance(part.part, Text))
    calls = [part.part for part in answer.parts if isinstance(part.part, FunctionCall)]
    response: dict[str, Any] = {"content": text or _ANYTHING_ELSE} if text or not calls else {}
    return response | ({"toolCalls": [{"name": call.name, "arguments": call.args} for call in calls]} if calls else {})


@contextmanager
def serving(package: Path, fixtures: Path, *options: str) -> Iterator[str]:
    """The mock on a free port of loopback until the block ends: its address."""
    node = shutil.which("node")
    assert node is not None

    def command(port: int) -> Sequence[str]:
        return [
            node, str(package / "dist" / "cli.js"), "-h", "127.0.0.1", "-p", str(port), "-f", str(fixtures),
            "--validate-on-load", "--log-level", "warn", "--journal-max", "10", *options,
        ]  # fmt: skip

    with started(command, fixtures.with_suffix(".log"), _answers, START_LIMIT) as address:
        yield address


def _answers(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0
