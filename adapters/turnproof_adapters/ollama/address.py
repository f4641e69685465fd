"""Where the server is, as the environment variable of Ollama's own clients says it."""

from __future__ import annotations

import os
from ipaddress import IPv6Address, ip_address
from urllib.parse import urlsplit

PORT = 11434


def address_of_environment() -> str | None:
    """The address in OLLAMA_HOST, or None where it is not set.

    Like Ollama's Python client it takes a host with or without scheme, port and path: a host alone is asked by HTTP at
    the server's usual port, one with a scheme at that of the scheme. Raises ValueError for a port that is none.
    """
    said = os.environ.get("OLLAMA_HOST", "").strip()
    if not said:
        return None
    scheme, mark, rest = said.partition("://")
    if not mark:
        scheme, rest = "http", said
    parts = urlsplit(f"{scheme}://{rest}")
    port = parts.port or ({"http": 80, "https": 443}.get(scheme, PORT) if mark else PORT)
    path = parts.path.strip("/")
    return f"{scheme}://{_bracketed(parts.hostname or '127.0.0.1')}:{port}" + (f"/{path}" if path else "")


def _bracketed(host: str) -> str:
    try:
        return f"[{host}]" if isinstance(ip_address(host), IPv6Address) else host
    except ValueError:
        return host
