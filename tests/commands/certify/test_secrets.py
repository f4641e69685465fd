"""A real key is in nothing that a command writes or prints, whoever repeated it. A loopback server is the real API."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
import threading
from base64 import b64encode
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from os import environ
from pathlib import Path
from typing import ClassVar
from urllib.parse import quote

import pytest

HERE = Path(__file__).parent

REAL = "sk-ant-real/0123456789+abcdefghijk="
FORMS = (REAL, quote(REAL, safe=""), b64encode(REAL.encode()).decode(), REAL.encode().hex(), json.dumps(REAL)[1:-1])


class Repeating(BaseHTTPRequestHandler):
    """Refuses every request, and repeats its key in every form, in a header too."""

    seen: ClassVar[list[dict[str, str]]] = []

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers.get("content-length", 0)))
        type(self).seen.append(dict(self.headers))
        error = {"type": "invalid_request_error", "message": " or ".join(FORMS)}
        body = json.dumps({"type": "error", "error": error}).encode()
        self.send_response(400)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.send_header("request-id", REAL)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Nothing."""


@pytest.fixture
def service() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Repeating)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_address[1]}"
    server.shutdown()
    server.server_close()


def certify(folder: Path, *words: str, **variables: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "turnproof", "certify", *words, "--scenario", "basics/plain", "--out", "reports"]
    return subprocess.run(
        [*command, "-j", "1", "-v"],
        cwd=folder,
        env={**environ, "PYTHONPATH": str(HERE), "NO_COLOR": "1", **variables},
        capture_output=True,
        text=True,
        timeout=200,
        check=False,
    )


def everything(folder: Path, done: subprocess.CompletedProcess[str]) -> dict[str, str]:
    """Every file that was written, and what was printed."""
    files = [path for path in folder.rglob("*") if path.is_file()]
    content = {
        path.name: gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes() for path in files
    }
    assert any(name.endswith(".json.gz") for name in content)
    return {name: data.decode(errors="replace") for name, data in content.items()} | {
        "stdout": done.stdout,
        "stderr": done.stderr,
    }


def with_the_key(texts: dict[str, str]) -> list[str]:
    return [name for name, text in texts.items() if any(form in text for form in FORMS)]


@pytest.mark.long
def test_a_live_certification_keeps_and_prints_no_form_of_the_key(service: str, tmp_path: Path) -> None:
    live = ("anthropic", "--backend", "live", "--path", "stateless")
    done = certify(tmp_path, *live, ANTHROPIC_API_KEY=REAL, ANTHROPIC_BASE_URL=service)
    assert any(REAL in value for headers in Repeating.seen for value in headers.values())
    texts = everything(tmp_path, done)
    assert with_the_key(texts) == []
    assert any("[key] or " in text for name, text in texts.items() if name.endswith(".json.gz"))
    assert done.stderr.splitlines()[-1].startswith("exit "), done.stderr


def test_keys_of_the_environment_that_an_adapter_tells_are_in_no_report(tmp_path: Path) -> None:
    done = certify(tmp_path, "broken:TELLS", GITHUB_TOKEN=REAL, SOME_SECRET=REAL)
    texts = everything(tmp_path, done)
    assert "RuntimeError" in texts["run.ndjson"]
    assert with_the_key(texts) == []
