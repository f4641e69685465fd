"""How an adapter comes to its end: with nothing left open."""

from __future__ import annotations

from turnproof.judge.finding import Compared
from turnproof.judge.requirements import Findings, check, finding
from turnproof.judge.view import View

_LEFT_OPEN = finding(
    "core/no-connection-is-left-open/open",
    "Connections are open after the adapter has shut down.",
    "none",
    "{observed} open connections",
)


@check("core/no-connection-is-left-open", needs="wire")
def no_connection_is_left_open(view: View) -> Findings:
    """As the server sees it, a while after the shutdown."""
    end = view.transcript.end
    if end.connections_left:
        yield _LEFT_OPEN(view.at_event(end, "connections_left"), observed=end.connections_left)
    elif end.connections_left is not None:
        yield Compared("connections after the shutdown")
