"""What the canned server is to answer: whoever is measured meets the emulator once, which answers as the API does.

So the answers have the form that this caller asked for, its side requests (token counts, model lists) are answered too,
and nobody is measured who cannot hold the conversation in the first place.
"""

from __future__ import annotations

from collections.abc import Callable

from ...dialects.base import ReplyPart
from ...dialects.contract import Dialect
from ...messages import FinishReason, Text
from ...scenarios.model import ScriptRound, Turn
from ...wire.emulator import EmulatorServer, ScriptResponder
from ...wire.emulator.server_run import Exchange
from .callers import Caller, checked
from .conversations import QUESTION, TOOL, Answer


def canned_responses(
    server: EmulatorServer, dialect: Dialect, open_at: Callable[[str], Caller], answer: Answer
) -> dict[str, bytes]:
    """Responses by "METHOD /path", as `CannedServer.add` takes them.

    Raises whatever the caller raises, and ProviderError if it does not give the answer as it was.
    """
    run = server.open_run(dialect, ScriptResponder())
    reply = ScriptRound((ReplyPart(Text(answer.text), answer.pieces),), FinishReason.STOP)
    run.arm(0, Turn(user=(Text(QUESTION),), rounds=(reply,)), (TOOL,))
    caller = open_at(run.base_url)
    try:
        checked(caller, answer)
    finally:
        caller.close()
        server.close_run(run)
    return {f"{each.request.method} {each.request.path}": _response(each) for each in run.end_call(0)}


def _response(exchange: Exchange) -> bytes:
    """The answer as bytes: one chunk an event where it is a stream, all at once where it is not."""
    events = [event.data for event in exchange.events]
    if [event.kind for event in exchange.events] == ["body"]:
        length, body = f"content-length: {len(events[0])}", events[0]
    else:
        length = "transfer-encoding: chunked"
        body = b"".join(b"%x\r\n%b\r\n" % (len(event), event) for event in events) + b"0\r\n\r\n"
    framing = ("content-length", "transfer-encoding", "connection", "date")
    headers = [f"{name}: {value}" for name, value in exchange.headers.items() if name.lower() not in framing]
    head = "\r\n".join([f"HTTP/1.1 {exchange.status} Canned", *headers, length, "", ""])
    return head.encode("latin-1") + body
