"""The emulated gateway with its accounts and hosts, and providers that know some of them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from turnproof.dialects.antigravity import DIALECT
from turnproof.provider import Endpoint
from turnproof.wire.emulator import EmulatorServer, ScriptResponder, ServerRun
from turnproof_adapters.antigravity.binding import BINDING

from .kit import GEMINI

KEY = "key-of-the-canal"


def refresh_token(name: str, key: str = KEY) -> str:
    """The refresh token of an account in the state that its name says."""
    return f"1//{key}/{name}"


@dataclass
class Gateway:
    """One run of the emulator."""

    run: ServerRun

    def options(self, *names: str, hosts: tuple[str, ...] = (), **more: Any) -> dict[str, Any]:
        """Settings of a provider with these accounts, and after the first host these others."""
        return {
            "accounts": [{"refresh_token": refresh_token(name)} for name in names],
            "client_id": "c",
            "client_secret": "the-secret",
            "token_url": f"{self.run.base_url}/token",
            "fallback_urls": [f"{self.run.base_url}/{host}" for host in hosts],
            "clock": self.clock,
            **more,
        }

    def clock(self) -> float:
        """Time as the emulator sees it."""
        return self.run.world.clock()

    def opened(
        self, path: str, *names: str, host: str = "", url: str | None = None, model: str = GEMINI, **options: Any
    ) -> Any:
        """A provider of a path with these accounts, that asks this host first, or another address."""
        address = url or (f"{self.run.base_url}/{host}" if host else self.run.base_url)
        opener = BINDING.opener("legacy" if path == "legacy" else "stateless")
        assert opener is not None
        return opener(Endpoint(address, KEY, model, self.options(*names, **options)))

    @property
    def answer_requests(self) -> list[tuple[str, str, int]]:
        """For every request for an answer the host, the account and the status."""
        found = []
        for exchange in self.run.exchanges:
            assert exchange.done.wait(60)
            if exchange.operation == "generate":
                host = exchange.request.path.partition("/v1internal:")[0].removeprefix("/")
                account = getattr(exchange.call, "account", None)
                found.append((host, account.name if account is not None else "", exchange.status))
        return found

    def count(self, operation: str) -> int:
        """How many requests of a kind there were."""
        return [exchange.operation for exchange in self.run.exchanges].count(operation)

    @property
    def paths(self) -> list[str]:
        """What was asked besides, in order."""
        return [exchange.request.path for exchange in self.run.exchanges if exchange.operation != "generate"]


@contextmanager
def emulated(server: EmulatorServer) -> Iterator[Gateway]:
    """A run of its own."""
    run = server.open_run(DIALECT, ScriptResponder(), keys=frozenset({KEY}))
    yield Gateway(run)
    server.close_run(run)
