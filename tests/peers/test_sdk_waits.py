"""SDKs that repeat a call by themselves wait by the setup's `sleep`, on a real connection."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any, ClassVar

import anthropic
import httpx2
import openai
import pytest

from turnproof.cancel import CancelToken
from turnproof_adapters.peers.sdk_waits import SdkWaits

ATTEMPTS = 3
ANSWERS = {
    "/v1/messages": {"id": "msg_1", "type": "message", "role": "assistant", "model": "m", "content": [],
                     "stop_reason": "end_turn", "stop_sequence": None,
                     "usage": {"input_tokens": 1, "output_tokens": 1}},
    "/v1/chat/completions": {"id": "c", "object": "chat.completion", "created": 1, "model": "m", "choices": []},
}  # fmt: skip


class Busy(BaseHTTPRequestHandler):
    """Answers each request by the next of the `failures`, and well when there are none left."""

    failures: ClassVar[list[tuple[int, dict[str, str]]]] = []
    requests: ClassVar[list[str]] = []

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["content-length"]))
        self.requests.append(self.path)
        status, headers = self.failures.pop(0) if self.failures else (200, {})
        body = json.dumps(ANSWERS[self.path] if status == 200 else {"error": {"message": "busy"}}).encode()
        self.send_response(status)
        for name, value in {"content-type": "application/json", "content-length": str(len(body)), **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Nothing."""


@pytest.fixture
def address() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), Busy) as server:
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


REQUEST: dict[str, Any] = {"model": "m", "messages": [{"role": "user", "content": "Hi."}]}


def ask_anthropic(address: str, waits: SdkWaits) -> None:
    own = httpx2.Client(event_hooks={"response": [waits]})
    with anthropic.Anthropic(base_url=address, api_key="key", max_retries=ATTEMPTS - 1, http_client=own) as client:
        client.messages.create(max_tokens=1, **REQUEST)


def ask_openai(address: str, waits: SdkWaits) -> None:
    async def ask() -> None:
        own = httpx2.AsyncClient(event_hooks={"response": [waits.asynchronous]})
        where = f"{address}/v1"
        async with openai.AsyncOpenAI(
            base_url=where, api_key="key", max_retries=ATTEMPTS - 1, http_client=own
        ) as client:
            await client.chat.completions.create(**REQUEST)

    asyncio.run(ask())


both = pytest.mark.parametrize("ask", [ask_anthropic, ask_openai])
STATUS_ERRORS = (anthropic.APIStatusError, openai.APIStatusError)


@pytest.fixture
def waited() -> list[float]:
    return []


@pytest.fixture
def token() -> CancelToken:
    return CancelToken()


@pytest.fixture
def waits(waited: list[float], token: CancelToken) -> SdkWaits:
    def sleep(seconds: float, turn_token: CancelToken | None) -> bool:
        assert turn_token is token
        waited.append(seconds)
        return token.is_cancelled

    Busy.requests.clear()
    return SdkWaits(sleep, lambda: token, ATTEMPTS, longest=120)


@both
def test_the_waits_are_the_setups_and_take_no_time(
    ask: Any, address: str, waits: SdkWaits, waited: list[float]
) -> None:
    Busy.failures[:] = [(429, {"retry-after": "17"}), (503, {})]
    began = time.monotonic()
    ask(address, waits)
    assert waited == [17, 1.0]
    assert len(Busy.requests) == ATTEMPTS
    assert time.monotonic() - began < 15


@both
def test_nothing_is_waited_for_behind_the_last_attempt_or_a_failure_for_good(
    ask: Any, address: str, waits: SdkWaits, waited: list[float]
) -> None:
    Busy.failures[:] = [(503, {})] * ATTEMPTS
    with pytest.raises(STATUS_ERRORS):
        ask(address, waits)
    assert waited == [0.5, 1.0]
    for failure in ((400, {}), (503, {"x-should-retry": "false"})):
        Busy.failures[:] = [failure]
        with pytest.raises(STATUS_ERRORS):
            ask(address, waits)
    assert waited == [0.5, 1.0]
    assert len(Busy.requests) == ATTEMPTS + 2


@both
def test_a_call_that_is_cancelled_while_it_waits_is_not_repeated(
    ask: Any, address: str, waits: SdkWaits, waited: list[float], token: CancelToken
) -> None:
    Busy.failures[:] = [(503, {})]
    token.cancel()
    with pytest.raises(STATUS_ERRORS):
        ask(address, waits)
    assert (waited, len(Busy.requests)) == ([0.5], 1)


def test_a_wait_that_the_sdk_refuses_stays_refused(address: str, waits: SdkWaits, waited: list[float]) -> None:
    Busy.failures[:] = [(429, {"retry-after": "3600"})]
    with pytest.raises(openai.APIStatusError):
        ask_openai(address, waits)
    assert (waited, len(Busy.requests)) == ([], 1)
