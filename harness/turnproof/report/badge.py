"""`badge-<adapter>.json`: a shields.io endpoint. The badge names the profiles' date and how far the proof goes."""

from __future__ import annotations

import msgspec

from ._inline_text import one_line
from .certification import Certification


def badge_json(report: Certification, adapter: str) -> bytes:
    """The endpoint document of one adapter (https://shields.io/badges/endpoint-badge)."""
    found = report.adapters[adapter]
    must = [profile.must for profile in found.profiles.values()]
    numbers = f"{sum(count for count, _ in must)}/{sum(claimed for _, claimed in must)} MUSTs held"
    proof = f"{report.profiles}, {found.claim}"
    if not report.complete:
        message, colour = "run was cut", "lightgrey"
    elif found.certified:
        message, colour = f"certified ({proof})", "brightgreen"
    elif found.conditional:
        message, colour = f"conditional, {numbers} ({proof})", "yellow"
    elif any(profile.unmeasured for profile in found.profiles.values()):
        message, colour = f"partial run, {numbers} ({proof})", "lightgrey"
    else:
        message, colour = f"not certified, {numbers} ({proof})", "red"
    badge = {
        "schemaVersion": 1,
        "label": one_line(f"turnproof {adapter}"),
        "message": one_line(message),
        "color": colour,
        "isError": not (found.certified or found.conditional),
    }
    return msgspec.json.format(msgspec.json.encode(badge), indent=2) + b"\n"
