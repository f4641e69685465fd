"""What the marks and symbols on the page mean."""

from __future__ import annotations

from ...dialects.base import Evidence

EVIDENCE = {
    Evidence.RECORDED: ("recorded", "seen in a public recording of the real API"),
    Evidence.DOCUMENTED: ("documented", "stated in the provider's own documentation"),
    Evidence.CLIENT: ("client", "read in the source code of the provider's client library"),
    Evidence.SERVER: ("server", "read in the source code of the server itself"),
    Evidence.ISSUE: ("issue", "a real answer that was pasted in a public issue, or in published notes"),
    Evidence.INFERRED: (
        "inferred",
        "inferred from the others, never observed; no violation rests on it alone",
    ),
}
"""Where a rule of an API is known from, strongest first: a word for each mark, and what it means."""

SYMBOLS = {
    "◀ here": "the place that a finding, or a rule of the API that was broken, points to",
    "≠": "a line in which both paths differ",
    "… 3 more …": "so many items, or lines, are left out",
    r"\n \u2028": "a character that cannot be seen, or would break the line",
    "■ ✂ ⊣": "where a turn was cancelled, where a fault was made, where the connection was closed",
}
"""What else stands on the page beside words."""
