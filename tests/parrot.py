"""An agent in this process, for tests of whatever speaks to agents. It keeps sessions in its home, as programs do.

It repeats what is said to it. `look` has it call that tool first, `wait` say two words and then wait for a cancel,
`fail` fail after one word, and `system?` tell its system text.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from turnproof.agents import AgentBinding, AgentSetup
from turnproof.cancel import CancelToken
from turnproof.errors import ResumeError, TransportError, UsageError
from turnproof.messages import FinishReason, FunctionCall, Message, Part, ProviderResponse, Text, TokenUsage, ToolResult
from turnproof.sessions import SessionCapabilities, SessionInfo, SessionPage, SessionSourceBase

ALL = SessionCapabilities(can_list=True, can_load=True, can_continue_last=True, can_delete=True, can_fork=True)
START = datetime(2026, 11, 22, 12, tzinfo=UTC)


class Parrot(SessionSourceBase):
    """The agent. `setup` is what it was opened with."""

    def __init__(self, setup: AgentSetup, can: SessionCapabilities = ALL) -> None:
        super().__init__()
        self.setup = setup
        self.sent: list[tuple[str | None, str]] = []
        self.resumed: list[str] = []
        self.broken: set[str] = set()
        self._can = can
        self._file = Path(setup.home) / "sessions.json"
        stored = self._stored()
        if setup.session in stored:
            self._session_id = setup.session
        elif setup.continue_last:
            self.continue_last(setup.cwd)

    @property
    def session_capabilities(self) -> SessionCapabilities:
        return self._can

    @property
    def history(self) -> Sequence[Message]:
        turns = [] if self._session_id is None else self._stored()[self._session_id]["said"]
        return [message for one in turns for message in _messages(*one)]

    def send(
        self,
        content: str | Sequence[Part],
        *,
        cancel_token: CancelToken | None = None,
        on_chunk: Any = None,
        **_: Any,
    ) -> ProviderResponse:
        text = content if isinstance(content, str) else Message.user(*content).text
        if cancel_token is not None:
            cancel_token.raise_if_cancelled()
        self.sent.append((self._session_id, text))
        if text == "wait":
            on_chunk("I ")
            on_chunk("was")
            assert cancel_token is not None
            assert cancel_token.wait(30)
            self._keep(text, "I was")
            return ProviderResponse((Text("I was"),), TokenUsage(), FinishReason.CANCELLED)
        if text == "fail":
            if on_chunk:
                on_chunk("I")
            raise TransportError("the program ended in mid-turn")
        answer = str(self.setup.system) if text == "system?" else f"You said: {text}"
        if on_chunk and text != "silent":
            for word in answer.split(" "):
                on_chunk(word if answer.startswith(word) else f" {word}")
        self._keep(text, answer)
        return ProviderResponse((Text(answer),), TokenUsage(3, 2, 5), FinishReason.STOP)

    def shutdown(self) -> None:
        pass

    def list_sessions(self, *, cwd: str | None = None, cursor: str | None = None) -> SessionPage:
        """Two to a page, the oldest first: an agent's order says nothing."""
        stored = [(name, one) for name, one in self._stored().items() if cwd in (None, one["cwd"])]
        at = int(cursor or 0)
        page = tuple(
            SessionInfo(
                name,
                "parrot",
                one["cwd"],
                one["said"][0][0] if one["said"] else None,
                START + timedelta(minutes=one["tick"]),
                "damaged" if name in self.broken else None,
            )
            for name, one in stored[at : at + 2]
        )
        return SessionPage(page if self._can.can_list else (), str(at + 2) if at + 2 < len(stored) else None)

    def _load(self, session_id: str) -> None:
        if session_id not in self._stored():
            raise ResumeError(f"no conversation found with session id {session_id!r}", session_id=session_id)
        self.resumed.append(session_id)

    def _fork(self, session_id: str) -> str:
        stored = self._stored()
        copy = f"s{len(stored) + 1}-copy"
        self._write({**stored, copy: stored[session_id]})
        return copy

    def _delete(self, session_id: str) -> None:
        stored = self._stored()
        if session_id not in stored:
            raise UsageError(f"there is no session {session_id!r}")
        del stored[session_id]
        self._write(stored)

    def _keep(self, text: str, answer: str) -> None:
        stored = self._stored()
        if self._session_id is None:
            self._session_id = f"s{len(stored) + 1}-{'abcdef'[len(stored) % 6] * 6}"
        one = stored.setdefault(self._session_id, {"cwd": self.setup.cwd, "said": []})
        one["said"].append([text, answer])
        one["tick"] = 1 + max((other.get("tick", 0) for other in stored.values()), default=0)
        self._write(stored)

    def _stored(self) -> dict[str, Any]:
        return dict(json.loads(self._file.read_text())) if self._file.exists() else {}

    def _write(self, stored: dict[str, Any]) -> None:
        self._file.write_text(json.dumps(stored))


def _messages(text: str, answer: str) -> list[Message]:
    if text != "look":
        return [Message.user(text), Message.model(answer)]
    call = FunctionCall("c1", "look", {"at": "the sky"})
    return [
        Message.user(text),
        Message.model(call),
        Message.tool(ToolResult("c1", "look", "blue")),
        Message.model(answer),
    ]


class Lying(Parrot):
    """Says that it can resume, and cannot."""

    def _load(self, session_id: str) -> None:
        raise NotImplementedError("not today")


def binding(can: SessionCapabilities = ALL, **options: Any) -> AgentBinding:
    """The parrot, with so much of its abilities."""
    return AgentBinding(
        "parrot", "anthropic-messages", "claude-haiku-4-5", lambda setup: Parrot(setup, can), sessions=can, **options
    )


AGENT = binding()
LISTS_ALONE = binding(SessionCapabilities(can_list=True))
FORGETFUL = binding(SessionCapabilities())
NO_LIST = binding(SessionCapabilities(can_load=True))
LYING = AgentBinding(
    "parrot", "anthropic-messages", "m", lambda setup: Lying(setup, SessionCapabilities(can_load=True))
)
