"""What a turn costs in CPU, against the length of the history: floor, SDK, legacy and stateless, interleaved.

Each test is one case in one pass; within a pass the cases run in shuffled order. Histories are made outside the timed
region, in each subject's own form, which favours the SDK. The stateless path has encoded all but the new message, as
it has in any session; a first call outside the timed region sees to that.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from typing import Any

import anthropic
import httpx2
import pytest
from conversations import SYSTEM, TOOL, native, neutral

from turnproof.messages import Message
from turnproof.provider import Endpoint
from turnproof_adapters.anthropic.binding import BINDING

LENGTHS = (2, 20, 200, 1000)
PASSES = 7
TURNS = {2: 40, 20: 40, 200: 20, 1000: 10}
MODEL = "claude-sonnet-4-5"

Turn = Callable[[], object]
Setup = Callable[[str, int], tuple[Turn, Turn]]
"""What happens before each turn, untimed; and the turn."""


def floor(base_url: str, length: int) -> tuple[Turn, Turn]:
    """POST of bytes that were encoded long ago."""
    client = httpx2.Client()
    # The very bytes that the SDK would send: taken from it, once.
    captured: list[bytes] = []

    def capture(request: httpx2.Request) -> httpx2.Response:
        captured.append(request.content)
        raise RuntimeError("captured")

    mock = httpx2.Client(transport=httpx2.MockTransport(capture))
    probe = anthropic.Anthropic(api_key="k", base_url=base_url, max_retries=0, http_client=mock)
    with pytest.raises((RuntimeError, anthropic.APIConnectionError)):
        probe.messages.create(**_arguments(length))
    url, headers = f"{base_url}/v1/messages", {"content-type": "application/json", "authorization": "Bearer k"}
    return (lambda: None), lambda: client.post(url, content=captured[0], headers=headers).json()


def sdk(base_url: str, length: int) -> tuple[Turn, Turn]:
    """The official call with dicts."""
    client = anthropic.Anthropic(api_key="k", base_url=base_url, max_retries=0)
    arguments = _arguments(length)
    return (lambda: None), lambda: client.messages.create(**arguments)


def legacy(base_url: str, length: int) -> tuple[Turn, Turn]:
    """`send_message()` on the provider that owns the history, reset to the same length before each turn."""
    assert BINDING.open_legacy is not None
    provider = BINDING.open_legacy(Endpoint(base_url, "k", MODEL))
    history = neutral(length)
    return (
        lambda: provider.create_session(SYSTEM, [TOOL], history),
        lambda: provider.send_message("How moist is bed 3?"),
    )


def stateless(base_url: str, length: int) -> tuple[Turn, Turn]:
    """`complete()` with the session's history and one new message."""
    assert BINDING.open_stateless is not None
    provider = BINDING.open_stateless(Endpoint(base_url, "k", MODEL))
    history = neutral(length)
    turn: list[Message] = []

    def before() -> None:
        turn[:] = [*history, Message.user("How moist is bed 3?")]

    before()
    provider.complete(turn, SYSTEM, [TOOL])
    return before, lambda: provider.complete(turn, SYSTEM, [TOOL])


CASES: dict[str, Setup] = {"floor": floor, "sdk": sdk, "legacy": legacy, "stateless": stateless}


def _arguments(length: int) -> dict[str, Any]:
    tool = {"name": TOOL.name, "description": TOOL.description, "input_schema": dict(TOOL.parameters)}
    messages = native([*neutral(length), Message.user("How moist is bed 3?")])
    return {"model": MODEL, "max_tokens": 4096, "system": SYSTEM, "tools": [tool], "messages": messages}


def _nothing(_: object) -> None:
    """pytest-benchmark takes what a setup returns for arguments of the turn."""


def _plan() -> list[Any]:
    shuffle = random.Random(0).shuffle
    plan = []
    for number in range(PASSES):
        for length in LENGTHS:
            cases = list(CASES)
            shuffle(cases)
            plan += [pytest.param(number, length, case, id=f"{length}-{case}-pass{number}") for case in cases]
    return plan


@pytest.fixture(scope="session")
def subjects(base_url: str) -> dict[tuple[str, int], tuple[Turn, Turn]]:
    """Every case at every length, opened once."""
    return {(case, length): setup(base_url, length) for case, setup in CASES.items() for length in LENGTHS}


@pytest.mark.benchmark(timer=time.process_time, disable_gc=False, warmup=False)
@pytest.mark.parametrize(("number", "length", "case"), _plan())
def test_cpu_of_a_turn(
    benchmark: Any, subjects: dict[tuple[str, int], tuple[Turn, Turn]], number: int, length: int, case: str
) -> None:
    before, turn = subjects[case, length]
    benchmark.extra_info.update({"messages": length, "case": case, "pass": number})
    benchmark.group = f"{length} messages"
    before()
    turn()
    benchmark.pedantic(turn, setup=lambda: _nothing(before()), rounds=TURNS[length], iterations=1)
