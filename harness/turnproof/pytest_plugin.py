"""The pytest plugin: asleep until asked.

With `--turnproof-adapter NAME_OR_MODULE:ATTRIBUTE` the run gets one more item per requirement and path, with
`--turnproof-bench` one per caller and length of history, for pytest-benchmark. The fixtures `turnproof_endpoint` (a
scripted emulator), `turnproof_transport` (the same without a socket) and `turnproof_cassette` (a replay) serve a
project's own tests. Without any of them, no hook of ours does anything and nothing heavy is imported.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("turnproof", "certify LLM provider adapters")
    group.addoption(
        "--turnproof-adapter",
        action="append",
        default=[],
        metavar="ADAPTER",
        help="add one item per requirement and path of this adapter (a name, or module:attribute)",
    )
    group.addoption("--turnproof-only", action="append", default=[], metavar="PATTERN", help="requirement ids to check")
    group.addoption(
        "--turnproof-bench",
        action="append",
        default=[],
        metavar="ADAPTER",
        help="add benchmarks of this adapter's turns, for pytest-benchmark (needs turnproof[bench])",
    )
    group.addoption(
        "--turnproof-bench-messages",
        action="append",
        type=int,
        default=[],
        metavar="N",
        help="length of the history in --turnproof-bench (default: 2, 20, 200 and 1000)",
    )
    group.addoption(
        "--turnproof-bench-rounds", type=int, default=5, metavar="N", help="rounds of --turnproof-bench (default: 5)"
    )


def pytest_configure(config: pytest.Config) -> None:
    adapters = config.getoption("--turnproof-adapter", default=[])
    if adapters:
        from .commands.certify.pytest_session import open_campaign

        with _usage_errors():
            campaign = open_campaign(adapters, config.getoption("--turnproof-only"), config)
        config.pluginmanager.register(campaign, "turnproof-items")
    measured = config.getoption("--turnproof-bench", default=[])
    if measured:
        from .commands.bench.pytest_items import BenchItems

        messages, rounds = (config.getoption(f"--turnproof-bench-{name}") for name in ("messages", "rounds"))
        with _usage_errors():
            items = BenchItems(measured, messages, rounds, config)
        config.pluginmanager.register(items, "turnproof-bench-items")


@contextlib.contextmanager
def _usage_errors() -> Iterator[None]:
    """What turnproof raises is shown as pytest shows a wrong option."""
    from .errors import TurnproofError

    try:
        yield
    except TurnproofError as error:
        raise pytest.UsageError(f"turnproof: {error}") from error


@pytest.fixture
def turnproof_endpoint() -> Iterator[Callable[..., Any]]:
    """A function `(scenario, dialect="anthropic-messages", model=None) -> ScriptedEndpoint`: a scripted emulator.

    `scenario` is a `Scenario`, or the path of a YAML file. The endpoint has `base_url`, `api_key` and `model` for the
    client under test, `arm(turn)` to choose the scenario's turn, and `requests` for what arrived.
    """
    from .certify.fixtures import endpoints

    with endpoints() as opened:
        yield opened


@pytest.fixture
def turnproof_transport() -> Iterator[Callable[..., Any]]:
    """`turnproof_endpoint` without a socket: the same function, for sync and async clients on httpx and httpx2.

    Scenarios that need a socket (a cancel that has to wake a blocked read) are refused. Needs `turnproof[transport]`.
    """
    from .certify.fixtures import transports

    with transports() as opened:
        yield opened


@pytest.fixture
def turnproof_cassette() -> Iterator[Callable[..., Any]]:
    """A function `(cassette_path) -> ReplayEndpoint`: a local server that replays a cassette to any client."""
    from .certify.fixtures import replays

    with replays() as opened:
        yield opened
