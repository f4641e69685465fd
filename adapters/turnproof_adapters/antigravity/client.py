"""The HTTP client that both paths speak through, and what it says of itself."""

from __future__ import annotations

import platform

import httpx2
import msgspec

from .._http import Connection, client_arguments
from .._interrupt import make_cuttable
from .projects import METADATA

VERSION = "1.15.8"
"""The version of Antigravity that the gateway is told: it refuses ones that are too old. State of December 2025 (notes
of NoeFabris/opencode-antigravity-auth)."""

_MACHINES = {"x86_64": "amd64", "AMD64": "amd64", "aarch64": "arm64"}


def user_agent() -> str:
    """What Antigravity calls itself on this machine."""
    machine = platform.machine()
    return f"antigravity/{VERSION} {platform.system().lower()}/{_MACHINES.get(machine, machine)}"


def open_client(connection: Connection, host: str, agent: str | None) -> httpx2.Client:
    """A client for the hosts of which this is the first. Every request says who asks, none in whose name."""
    headers = {
        "user-agent": agent or user_agent(),
        "x-goog-api-client": "google-cloud-sdk vscode_cloudshelleditor/0.1",
        "client-metadata": msgspec.json.encode(METADATA).decode(),
    }
    return make_cuttable(httpx2.Client(headers=headers, **client_arguments(connection, host)))
