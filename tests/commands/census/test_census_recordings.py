"""A census is kept as cassettes and run again from them, without the service. The emulator stands in for it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from turnproof._base.exit_codes import Exit
from turnproof.commands.census.engine import CensusCount, census
from turnproof.commands.census.merge import merge
from turnproof.commands.census.observation import read_observations
from turnproof.commands.census.options import CensusOptions
from turnproof.commands.cli import main
from turnproof.dialects import dialect
from turnproof.errors import CassetteError, UsageError
from turnproof.wire.emulator import EmulatorServer
from turnproof.wire.emulator.echo import EchoResponder

KEY = "sk-test-0123456789abcdefghij"
REQUEST = "2026090197bda4fb95581e85a12ab84c"


@pytest.fixture
def record_census(server: EmulatorServer, tmp_path: Path) -> Callable[..., list[str]]:
    """Asks an emulated API and records it, with nothing of the service left in the environment behind it."""

    def ask(name: str = "anthropic-messages", *only: str, **more: Any) -> list[str]:
        wire = dialect(name)
        run = server.open_run(wire, EchoResponder(), keys=frozenset({KEY}))
        lines: list[str] = []
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv(wire.service.base_url_variable, run.base_url)
            patch.setenv(wire.service.key_variables[0], KEY)
            census(recording(tmp_path, name, *only, **more), lines.append)
        return lines

    return ask


@pytest.fixture
def refusing(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str, str], None]]:
    """Puts a service in place of the Messages API that refuses everything, with a body of this type and text."""
    response = {"type": "", "text": ""}

    class Refuse(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["content-length"]))
            self.send_response(400)
            self.send_header("content-type", response["type"])
            self.end_headers()
            self.wfile.write(response["text"].encode())

        def log_message(self, format: str, *args: object) -> None:
            """Keeps the test's output to itself."""

    def place(media_type: str, text: str) -> None:
        response.update(type=media_type, text=text)

    with ThreadingHTTPServer(("127.0.0.1", 0), Refuse) as service:
        Thread(target=service.serve_forever, daemon=True).start()
        monkeypatch.setenv("ANTHROPIC_BASE_URL", f"http://127.0.0.1:{service.server_port}")
        monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
        yield place
        service.shutdown()


def recording(folder: Path, name: str = "anthropic-messages", *only: str, **more: Any) -> CensusOptions:
    return CensusOptions(name, folder / "live.ndjson", True, only, record=folder / "kept", **more)


def replay(folder: Path, name: str = "anthropic-messages", *only: str, **more: Any) -> tuple[CensusCount, list[str]]:
    lines: list[str] = []
    options = CensusOptions(name, folder / "again.ndjson", only=only, cassettes=folder / "kept", **more)
    return census(options, lines.append), lines


@pytest.mark.parametrize("name", ["anthropic-messages", "openai-chat", "gemini", "ollama", "openai-responses"])
def test_a_recorded_census_says_the_same_lines_again_without_the_service(
    record_census: Callable[..., list[str]], tmp_path: Path, name: str
) -> None:
    printed = record_census(name, contributor="jane")
    count, printed_again = replay(tmp_path, name)

    assert (tmp_path / "again.ndjson").read_bytes() == (tmp_path / "live.ndjson").read_bytes()
    assert printed_again == printed
    assert count == CensusCount(decided=len(list(read_observations(tmp_path / "live.ndjson"))))
    assert count.decided > 20


def test_a_pair_that_only_differs_in_a_header_is_told_apart(
    record_census: Callable[..., list[str]], tmp_path: Path
) -> None:
    record_census("anthropic-messages", "missing-version")
    replay(tmp_path, "anthropic-messages", "missing-version")

    [seen] = read_observations(tmp_path / "again.ndjson")
    assert (seen.illegal.status, seen.legal.status, seen.agreement) == (400, 200, "agrees")


def test_a_missing_pair_is_named_and_not_decided(record_census: Callable[..., list[str]], tmp_path: Path) -> None:
    record_census("anthropic-messages", "empty-*")
    lost = tmp_path / "kept/census/anthropic-messages/empty-content.yaml"
    lost.unlink()
    count, lines = replay(tmp_path, "anthropic-messages", "empty-*")

    assert count.missing == 1
    assert f"not decided: empty-content: there is no {lost}" in lines
    rules = {one.rule for one in read_observations(tmp_path / "again.ndjson")}
    assert rules
    assert "anthropic-messages/empty-content" not in rules


def test_another_model_than_the_recorded_one_is_not_decided(
    record_census: Callable[..., list[str]], tmp_path: Path
) -> None:
    record_census("anthropic-messages", "no-messages")
    count, lines = replay(tmp_path, "anthropic-messages", "no-messages", model="claude-new")

    assert count.decided == 0 < count.missing
    assert any("has another illegal request" in line and "'claude-new': --model" in line for line in lines)


def test_a_replay_is_no_second_contributor(record_census: Callable[..., list[str]], tmp_path: Path) -> None:
    record_census("anthropic-messages", "no-messages", contributor="jane")
    replay(tmp_path, "anthropic-messages", "no-messages")

    [row] = merge([tmp_path / "live.ndjson", tmp_path / "again.ndjson"])
    assert row.agree == {"jane"}


def test_neither_key_nor_the_ids_of_who_asked_are_kept(refusing: Callable[[str, str], None], tmp_path: Path) -> None:
    words = {
        "type": "error",
        "error": {"type": "invalid_request_error", "message": f"org-abcdef123456 sent {KEY} [{REQUEST}]"},
    }
    refusing("application/json", json.dumps({**words, "request_id": "req_011CSHoEeqs5C35K2UUqR7Fy"}))
    census(recording(tmp_path, "anthropic-messages", "no-messages"), lambda line: None)
    [file, *_] = (tmp_path / "kept").rglob("*.yaml")

    text = file.read_text()
    assert not [private for private in (KEY, REQUEST, "abcdef123456", "011CSHoEeqs5C35K2UUqR7Fy") if private in text]
    assert "org-… sent [key] […]" in text
    replay(tmp_path, "anthropic-messages", "no-messages")
    assert (tmp_path / "again.ndjson").read_bytes() == (tmp_path / "live.ndjson").read_bytes()


def test_an_answer_of_no_api_is_not_kept_and_says_so(refusing: Callable[[str, str], None], tmp_path: Path) -> None:
    refusing("text/html", "<h1>Bad request</h1>")
    lines: list[str] = []
    census(recording(tmp_path, "anthropic-messages", "no-messages"), lines.append)

    assert "not recorded: no-messages: its body has the type 'text/html'" in lines
    assert not list((tmp_path / "kept").rglob("*.yaml"))


@pytest.mark.parametrize(
    ("words", "error"),
    [
        (("--record", "kept"), "error: --record keeps what the service answers: give it with --live"),
        (("--cassettes", "kept", "--live"), "error: --live is about asking the service, and --cassettes answers from"),
        (("--cassettes", "kept", "--as", "joe"), "error: --as is about asking the service, and --cassettes answers"),
    ],
)
def test_options_that_do_not_go_together_are_refused(
    capsys: pytest.CaptureFixture[str], words: tuple[str, ...], error: str
) -> None:
    assert main(["census", "anthropic-messages", *words]) == Exit.FAULT
    assert error in capsys.readouterr().err


def test_the_exit_code_shows_that_a_pair_was_not_decided(
    record_census: Callable[..., list[str]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    record_census("anthropic-messages", "no-messages")

    assert main(["census", "anthropic-messages", "--cassettes", "kept", "--only", "no-messages"]) == Exit.OK
    assert list(read_observations(tmp_path / "census-anthropic-messages-replayed.ndjson"))
    assert main(["census", "anthropic-messages", "--cassettes", "kept"]) == Exit.UNDECIDED


def test_a_damaged_recording_is_an_error_with_the_command_that_makes_it_again(
    record_census: Callable[..., list[str]], tmp_path: Path
) -> None:
    record_census("anthropic-messages", "no-messages")
    for path in (tmp_path / "kept").rglob("*.yaml"):
        path.write_text("{")

    with pytest.raises(CassetteError, match="turnproof census anthropic-messages --live --record"):
        replay(tmp_path, "anthropic-messages", "no-messages")


def test_a_folder_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="kept: there is no such folder"):
        replay(tmp_path)
