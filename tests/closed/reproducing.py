"""A closed session whose client is broken, with the source of a conversation: the broken one, and the right one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from turnproof.messages import ProviderResponse, Text
from turnproof.reproducer import LibrarySession, SessionCode, source_of
from turnproof_adapters.openai.binding import BINDING

from .sessions import closed

BREAK = (
    "def broken(provider):",
    "    ask = provider.complete",
    "    def complete(messages, system=None, tools=None, cancel_token=None, **more):",
    "        try:",
    "            return ask(messages, None, tools, **more)",
    "        except Exception:",
    "            return ProviderResponse((Text('All is well.'),))",
    "    provider.complete = complete",
    "    return provider",
)
"""A client that sends no system text, cannot be cancelled, and takes a broken stream for an answer."""

_IMPORTS = (
    "from turnproof.cancel import CancelToken",
    "from turnproof.messages import *",
    "from turnproof.provider import Endpoint",
    "from turnproof.session.binding import REFERENCE",
    "from turnproof.subject import SessionSetup, SessionTurn, Tool",
    "from turnproof_adapters.openai.binding import BINDING",
)


class ClosedCode:
    """A `SessionReproducer` for the reference session with its own client, broken or not."""

    packages: Sequence[str] = ("turnproof", "openai")

    def __init__(self, *, broken: bool) -> None:
        self._broken = broken

    def code(self, session: LibrarySession) -> SessionCode:
        arguments = f"text, SessionTurn(token := CancelToken(), {'show' if session.streamed else 'None'})"
        turn = [f"reply = (await asyncio.to_thread(REFERENCE.send, session, {arguments})).text"]
        held = "[message.text for message in REFERENCE.history(session)]"
        return SessionCode(_IMPORTS, list(self._opening(session)), turn, "token.cancel()", held)

    def _opening(self, session: LibrarySession) -> Iterator[str]:
        yield from BREAK if self._broken else ()
        client = "broken" if self._broken else ""
        yield f"endpoint, nothing = Endpoint(url, 'key', {session.model!r}, {dict(session.options)!r}), lambda *_: None"
        yield f"provider = lambda path: {client}(BINDING.opener(path)(endpoint))"
        tools = (
            f"Tool(ToolSchema({one.name!r}, {one.description!r}, {source_of(one.parameters)}),"
            f" lambda given, token: run({one.name!r}, given))"
            for one in session.tools
        )
        own = f"system={session.system!r}, tools=({''.join(f'{one}, ' for one in tools)})"
        ids = "map(str, range(10**6)).__next__"
        waits = f"sleep=nothing, random=nothing, ids={ids}, on_tool=nothing, on_retry=nothing"
        opened = f"endpoint, provider, ('stateless',), 'stateless', {waits}, {own}"
        yield f"session = REFERENCE.open(SessionSetup({opened}))"


def _break(provider: Any, path: str) -> Any:
    names: dict[str, Any] = {"ProviderResponse": ProviderResponse, "Text": Text}
    exec("\n".join(BREAK), names)
    return names["broken"](provider)


BROKEN = replace(closed(BINDING, _break), name="closed-broken", reproducer=ClosedCode(broken=True))
MENDED = replace(BROKEN, reproducer=ClosedCode(broken=False))
"""The same as certified, while its reproducer uses the right one."""
UNTOLD = replace(BROKEN, reproducer=None)
RIGHT = replace(closed(BINDING), reproducer=ClosedCode(broken=False))
