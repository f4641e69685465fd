"""Exchanges on a WebSocket in cassettes: recorded message by message, replayed over sockets, and verified."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from turnproof.dialects.base import SOCKET_METHOD

pytest.importorskip("openai")
pytest.importorskip("websockets")
pytestmark = pytest.mark.long

ADAPTER = "turnproof_adapters.openai_responses.binding:WEBSOCKET"
LOST_CONNECTION = "stored/connection_lost"


def turnproof(folder: Path, *words: str) -> str:
    command = [sys.executable, "-m", "turnproof", *words]
    ended = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, timeout=300)
    output = ended.stdout + ended.stderr
    assert ended.returncode == 0, output
    return output


def test_messages_are_recorded_and_answer_the_same_conversation_again(tmp_path: Path) -> None:
    turnproof(tmp_path, "record", ADAPTER, "--only", LOST_CONNECTION, "--out", "cassettes")
    text = (tmp_path / "cassettes" / "openai_responses_websocket" / f"{LOST_CONNECTION}.yaml").read_text("utf-8")
    recorded = json.loads(text)
    for one in recorded["interactions"]:
        assert one["request"]["method"] == SOCKET_METHOD
        assert json.loads(one["request"]["body"])["type"] == "response.create"
        events = [json.loads(line) for line in one["response"]["body"]["string"].splitlines()]
        assert events[-1]["type"] == "response.completed"
    assert "authorization" not in text.lower()
    selection = ("--only", "stored/a-lost-connection-loses-nothing", "--only", "stored/a-chain-stays-on-its-connection")
    output = turnproof(
        tmp_path, "certify", ADAPTER, *selection, "--scenario", LOST_CONNECTION, "--cassettes", "cassettes"
    )
    assert "held stored/a-lost-connection-loses-nothing [legacy]" in output
    assert "eplayed (recorded from emulated)" in output
    assert "transcripts" in turnproof(tmp_path, "verify", "reports/part")
