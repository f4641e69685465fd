"""The server in a reproducing file: it answers the requests that the run had, in their order."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from http.server import ThreadingHTTPServer
from threading import Thread
from typing import Any
from urllib.request import Request, urlopen

import pytest

from turnproof.commands.reproduce.file_source import FindingSummary, _answers, _server, file_source
from turnproof.commands.reproduce.question import Question
from turnproof.commands.reproduce.recorded_answers import RecordedAnswer
from turnproof.reproducer import LibraryCode

MODELS = RecordedAnswer(200, {}, (b'{"data": []}',), "end", "GET")
ANSWER = RecordedAnswer(200, {}, (b'{"text": "Moist."}',), "end")


def lines(*answers: RecordedAnswer) -> list[str]:
    return [*_answers(answers, joined=True), *_server(answers, heads=False)]


@pytest.fixture
def served() -> Iterator[tuple[str, dict[str, Any]]]:
    """The address of a server of such a file, and what its names stand for."""
    names: dict[str, Any] = {}
    exec("import http.server, json\n" + "\n".join(lines(MODELS, ANSWER)), names)
    with ThreadingHTTPServer(("127.0.0.1", 0), names["Server"]) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}", names
        server.shutdown()


def test_a_request_without_a_body_is_answered_too(served: tuple[str, dict[str, Any]]) -> None:
    address, names = served
    with urlopen(f"{address}/v1/models", timeout=10) as answer:
        assert answer.read() == MODELS.pieces[0]
    with urlopen(Request(f"{address}/v1/chat/completions", data=b'{"model": "m"}'), timeout=10) as answer:
        assert answer.read() == ANSWER.pieces[0]
    assert names["requests"] == [None, {"model": "m"}]


def test_a_file_with_calls_alone_has_no_line_more() -> None:
    assert lines(ANSWER)[-1].startswith("            self.wfile.write(")
    assert any("def do_POST" in line for line in lines(ANSWER))
    assert not any("do_GET" in line for line in lines(ANSWER))


HELD = RecordedAnswer(200, {}, (b"Moist. ", None, b"Dry."), "end")
LEAVES = {
    "closes the connection": ("writer.close()", 0),
    "keeps the connection open": ("kept.append(writer)", 1),
    "reads to the end": ("await reader.readuntil(b'0\\r\\n\\r\\n')", 0),
}


@pytest.mark.parametrize(("leaves", "exit_code"), LEAVES.values(), ids=LEAVES)
def test_a_connection_is_left_open_by_a_call_that_returns_while_the_server_is_silent(
    leaves: str, exit_code: int
) -> None:
    body = [
        "reader, writer = await asyncio.open_connection('127.0.0.1', int(url.rpartition(':')[2]))",
        "writer.write(b'POST / HTTP/1.1\\r\\nHost: x\\r\\nContent-Length: 2\\r\\n\\r\\n{}')",
        "await reader.readuntil(b'Moist.')",
        leaves,
        "return {'text': 'Moist.'}",
    ]
    done = run(Question("left-open", 0, "", ""), LibraryCode(["kept = []"], [], body), HELD)
    assert done.returncode == exit_code, done.stdout + done.stderr


CLIENT = ("class Client:", "    def __del__(self):", "        self.writer.close()")
CLOSES = {"the call": ("client.writer.close()", 0), "the client, as it is dropped": ("pass", 1)}


@pytest.mark.parametrize(("leaves", "exit_code"), CLOSES.values(), ids=CLOSES)
def test_a_client_that_takes_its_connection_along_outlives_the_call(leaves: str, exit_code: int) -> None:
    body = [
        "reader, client.writer = await asyncio.open_connection('127.0.0.1', int(url.rpartition(':')[2]))",
        "client.writer.write(b'POST / HTTP/1.1\\r\\nHost: x\\r\\nContent-Length: 2\\r\\n\\r\\n{}')",
        "await reader.readuntil(b'Moist.')",
        leaves,
        "return {'text': 'Moist.'}",
    ]
    done = run(Question("left-open", 0, "", ""), LibraryCode(CLIENT, [], body, ["client = Client()"]), HELD)
    assert done.returncode == exit_code, done.stdout + done.stderr


RAISES = {
    "before it sends a request": (["raise ValueError('no messages')"], 1),
    "another class": (["raise KeyError('no messages')"], 0),
    "once it has sent one": (["urllib.request.urlopen(url, b'{}')"], 0),
}


@pytest.mark.parametrize(("body", "exit_code"), RAISES.values(), ids=RAISES)
def test_an_exception_ahead_of_all_requests_is_no_exception_of_an_exchange(body: list[str], exit_code: int) -> None:
    question = Question("raised", 0, "", ("ValueError", "RemoteDisconnected"), before_requests=True)
    done = run(question, LibraryCode(["import urllib.request"], [], body))
    assert done.returncode == exit_code, done.stdout + done.stderr
    assert done.stdout.startswith(("DEFECT: ", "gone: ")), done.stderr


PRINTS = {"words": ("'Asking.'", 1), "nothing": ("'', end=''", 0), "to another file": ("'Asking.', file=sys.stderr", 0)}


@pytest.mark.parametrize(("words", "exit_code"), PRINTS.values(), ids=PRINTS)
def test_what_goes_to_standard_output_is_printed_whoever_holds_it(words: str, exit_code: int) -> None:
    code = LibraryCode(["held = sys.stdout"], [], [f"print({words})", "raise OSError(url)"])
    done = run(Question("printed", 0, "", ""), code, ANSWER)
    assert (done.returncode, "Asking." in done.stdout) == (exit_code, bool(exit_code)), done.stdout + done.stderr


HOLDS = {
    "in its words": ("raise OSError('wait 17 s')", 0),
    "as a field": ("error = OSError('wait'); error.wait = 17.0; raise error", 0),
    "in what it came from": ("raise OSError('wait') from KeyError('retry-after: 17')", 0),
    "nowhere": ("raise OSError('wait')", 1),
    "as a part of another number": ("raise OSError('request 2174')", 1),
    "with no error": ("return {'text': ''}", 0),
}


@pytest.mark.parametrize(("line", "exit_code"), HOLDS.values(), ids=HOLDS)
def test_an_error_lacks_what_nothing_of_it_holds(line: str, exit_code: int) -> None:
    question = Question("unheld", 0, "", r"(?<![\w.])17(\.0)?s?(?!\w)")
    done = run(question, LibraryCode([], [], line.split("; ")), ANSWER)
    assert done.returncode == exit_code, done.stdout + done.stderr


def run(question: Question, code: LibraryCode, *answers: RecordedAnswer) -> subprocess.CompletedProcess[str]:
    """Run a file with this call of a library."""
    summary = FindingSummary("garden", "It is wrong.", "what is right", "a run", ())
    source = file_source(summary, question, code, answers, "")
    return subprocess.run([sys.executable, "-c", source], capture_output=True, text=True, timeout=60, check=False)
