"""Histories that only a session makes, before the judge of the real wire: commands, prompts in mid turn, nudges.

Over HTTP, because whether a provider takes such a history is decided by its own rules, which the emulator has.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from turnproof.cancel import CancelToken
from turnproof.certify.fixtures import ScriptedEndpoint, endpoints
from turnproof.dialects import dialect
from turnproof.messages import Message, Text, ToolSchema
from turnproof.provider import Endpoint
from turnproof.run.bindings import resolve_binding
from turnproof.scenarios import from_data
from turnproof.session import Session, Tool
from turnproof.session.missing_call import NUDGE

from .fakes import PATHS

pytestmark = pytest.mark.filterwarnings("ignore:The model .* is deprecated:DeprecationWarning")

SYSTEM = "Be brief."
LOOK = ToolSchema("look", "Look around", {"type": "object", "properties": {}})
SCRIPT = from_data(
    {
        "title": "A look",
        "system": SYSTEM,
        "tools": [{"name": "look", "description": "Look around"}],
        "turns": [
            {
                "user": "Hi",
                "model": [[{"text": ["Let me", " look."]}, {"call": "look", "args": {}}], [{"text": ["Found"]}]],
                "results": {"look": "seen"},
            }
        ],
    },
    "wire/look",
)


class Talk:
    """A session of an adapter, talking to the emulator of its wire."""

    def __init__(self, session: Session, endpoint: ScriptedEndpoint, wire: str) -> None:
        self.session = session
        self._endpoint, self._wire = endpoint, dialect(wire)

    def was_taken_as_held(self) -> None:
        """Every request was answered without a complaint, and the last one said what the session holds."""
        exchanges = self._endpoint.exchanges
        assert [(exchange.status, list(exchange.findings)) for exchange in exchanges] == [(200, [])] * len(exchanges)
        call, messages = exchanges[-1].call, self.session.history.messages[:-1]
        assert call
        assert self._wire.differences(messages, SYSTEM, (LOOK,), call, self._endpoint.model) == []


@pytest.fixture(params=[(name, path) for name in ("anthropic", "google_genai") for path in PATHS], ids="-".join)
def open_talk(request: pytest.FixtureRequest) -> Iterator[Callable[..., Talk]]:
    name, path = request.param
    binding = resolve_binding(name)
    opened: list[Any] = []
    with endpoints() as served:

        def open_one(run: Callable[[], object] = lambda: "seen", **options: Any) -> Talk:
            endpoint = served(SCRIPT, binding.dialect, binding.model)
            opener = binding.opener(path)
            assert opener
            opened.append(opener(Endpoint(endpoint.base_url, endpoint.api_key, endpoint.model)))
            tools = [Tool(LOOK, lambda args, token: run())]
            session = Session(opened[-1], path=path, system=SYSTEM, tools=tools, **options)
            return Talk(session, endpoint, binding.dialect)

        yield open_one
        for provider in opened:
            provider.shutdown()


def roles(session: Session) -> list[str]:
    return [message.role for message in session.history.messages]


def test_commands_at_the_start_and_a_prompt_behind_results(open_talk: Callable[..., Talk]) -> None:
    def run() -> str:
        session.interject("And hurry")
        return "seen"

    talk = open_talk(run)
    session = talk.session
    session.inject("ls", {"files": ["a.py"]})
    session.inject("pwd", "/work")
    assert session.send("Hi").text == "Let me look.Found"
    assert roles(session) == ["user", "user", "user", "model", "tool", "user", "model"]
    talk.was_taken_as_held()
    session.inject("ls", "b.py")
    session.send("Again")
    talk.was_taken_as_held()


def test_a_prompt_that_cuts_the_stream(open_talk: Callable[..., Talk]) -> None:
    talk, left = open_talk(), ["In short!"]
    session = talk.session

    def on_chunk(piece: str) -> None:
        if left:
            session.interject(left.pop())

    result = session.send("Hi", on_chunk=on_chunk)
    assert result.outcome == "answer"
    assert roles(session)[:3] == ["user", "model", "user"]
    assert "Let me look.".startswith(session.history.messages[1].text)
    talk.was_taken_as_held()


def test_a_note_behind_results_that_a_cancel_left(open_talk: Callable[..., Talk]) -> None:
    token = CancelToken()
    talk = open_talk(token.cancel, cancel_note="(stopped by the user)")
    session = talk.session
    assert session.send("Hi", cancel_token=token).outcome == "cancelled"
    session.send("Hi again")
    assert session.history.messages[3].parts == (Text("(stopped by the user)"), Text("Hi again"))
    talk.was_taken_as_held()


def test_what_a_nudge_leaves(open_talk: Callable[..., Talk]) -> None:
    talk = open_talk()
    talk.session.reset(
        [Message.user("Before"), Message.model("Let me see"), Message.user(NUDGE), Message.model("Sorry")]
    )
    talk.session.send("Hi")
    talk.was_taken_as_held()
    talk.session.reset([Message.user("Before"), Message.user(NUDGE), Message.user(NUDGE), Message.model("Sorry")])
    talk.session.send("Hi")
    talk.was_taken_as_held()
