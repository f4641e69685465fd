"""What Loom promises to those who use it, whoever holds the history."""

from __future__ import annotations

import unittest
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

from loom import Session, Tool
from loom.http import ModelError, Stop
from loom.providers import AnthropicProvider


class Scripted:
    """In place of the network: gives these answers, and keeps what was asked."""

    def __init__(self, *answers: Any) -> None:
        self.answers = [*answers]
        self.requests: list[dict[str, Any]] = []

    def whole(self, path: str, body: dict[str, Any], stop: Stop) -> dict[str, Any]:
        self.requests.append(body)
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return {"content": answer, "usage": {"input_tokens": 9, "output_tokens": 3}}

    def events(self, path: str, body: dict[str, Any], stop: Stop) -> Iterator[dict[str, Any]]:
        raise NotImplementedError


def text(words: str) -> list[dict[str, Any]]:
    return [{"type": "text", "text": words}]


def session(*answers: Any, tools: tuple[Tool, ...] = ()) -> tuple[Session, Scripted]:
    provider, script = AnthropicProvider("http://localhost", "key", "model"), Scripted(*answers)
    provider._http = script  # type: ignore[assignment]
    return Session(provider, tools=tools, sleep=lambda seconds: None), script


class Turns(unittest.TestCase):
    def test_a_turn_sends_what_was_said_before(self) -> None:
        chat, script = session(text("Hello."), text("Fine."))
        chat.send("Hi.")
        assert chat.send("How are you?") == "Fine."
        assert [one["role"] for one in script.requests[1]["messages"]] == ["user", "assistant", "user"]

    def test_a_tool_is_run_and_its_outcome_sent(self) -> None:
        call = {"type": "tool_use", "id": "c1", "name": "add", "input": {"a": 2, "b": 3}}
        add = Tool("add", "Adds.", {"type": "object"}, lambda arguments: str(arguments["a"] + arguments["b"]))
        chat, script = session([call], text("It is 5."), tools=(add,))
        assert chat.send("2 + 3?") == "It is 5."
        assert script.requests[1]["messages"][-1]["content"][0]["content"] == "5"

    def test_a_turn_that_fails_leaves_no_trace(self) -> None:
        chat, script = session(ModelError(400, "no"), text("Hello."))
        with suppress(ModelError):
            chat.send("Something forbidden.")
        chat.send("Hi.")
        assert len(script.requests[1]["messages"]) == 1

    def test_what_was_saved_goes_on(self) -> None:
        first, _ = session(text("Hello."))
        first.send("Hi.")
        second, script = session(text("You said hi."))
        second.load(first.save())
        second.send("What did I say?")
        assert len(script.requests[0]["messages"]) == 3


if __name__ == "__main__":
    unittest.main()
