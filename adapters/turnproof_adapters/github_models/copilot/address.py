"""Where Copilot is served, and where its tokens are issued."""

from __future__ import annotations

from urllib.parse import urlsplit

API = "https://api.githubcopilot.com"
TOKEN_URL = "https://api.github.com/copilot_internal/v2/token"

_EXCHANGE = "/copilot_internal/v2/token"


def base_of(base_url: str | None) -> str | None:
    """The address that was asked for, without what the paths of the API stand behind; None for the usual one."""
    return base_url.rstrip("/").removesuffix("/v1").rstrip("/") if base_url else None


def token_url_of(setting: str | None, base: str | None) -> str:
    """Where a GitHub token is exchanged: where the settings say, else at GitHub; an address that is not one of
    Copilot's own, a gateway or a test's, issues its tokens itself."""
    if setting:
        return setting
    return TOKEN_URL if base is None or _is_copilots(base) else base + _EXCHANGE


def api_of(base: str | None, issued: str | None) -> str:
    """Where requests go: to the address that was asked for, else to the one that came with the token.

    A plan has a host of its own (`api.individual.githubcopilot.com`). One that is not reached by TLS gets no token.
    """
    if base is not None:
        return base
    return issued.rstrip("/") if issued is not None and issued.startswith("https://") else API


def _is_copilots(base: str) -> bool:
    host = urlsplit(base).hostname or ""
    return host == "githubcopilot.com" or host.endswith(".githubcopilot.com")
