"""Whether a host is this machine: what runs here costs nothing, needs no encryption and confirms nothing."""

from __future__ import annotations

from ipaddress import ip_address


def is_loopback(host: str) -> bool:
    """Whether a host, by name or number and perhaps with its port, is this machine."""
    has_port = host.count(":") == 1 or (host.startswith("[") and not host.endswith("]"))
    name = (host.rpartition(":")[0] if has_port else host).strip("[]").lower()
    try:
        return ip_address(name).is_loopback
    except ValueError:
        return name == "localhost" or name.endswith(".localhost")
