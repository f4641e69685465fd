"""The pytest plugin: asleep until asked.

With `--turnproof-adapter NAME_OR_MODULE:ATTRIBUTE` the run gets one more item per requirement and path. The fixtures
`turnproof_endpoint` (a scripted emulator) and `turnproof_cassette` (a replay) serve a project's own tests. Without
either, no hook of ours does anything and nothing heavy is imported.
"""

from __future__ import annotations

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


def pytest_configure(config: pytest.Config) -> None:
    adapters = config.getoption("--turnproof-adapter", default=[])
    if not adapters:
        return
    from .commands.certify.pytest_session import open_campaign

    try:
        plugin = open_campaign(adapters, config.getoption("--turnproof-only"), config)
    except Exception as error:
        from .errors import TurnproofError

        if isinstance(error, TurnproofError):
            raise pytest.UsageError(f"turnproof: {error}") from error
        raise
    config.pluginmanager.register(plugin, "turnproof-items")


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
