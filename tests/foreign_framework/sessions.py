"""The framework's sessions, from the one whose history is its provider's to the one that owns it."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from .providers import Answer, Chat, OnText, Tools
from .service import ServiceError, StopSign


@dataclass
class Host:
    """What a session is given by the program around it."""

    run_tool: Callable[[dict[str, Any]], tuple[str, bool]]
    sleep: Callable[[float], object]
    attempts: int = 3


class Session(ABC):
    """`send` takes a turn: it asks, runs the tools that are called, and asks again until none is called.

    A turn that fails leaves no trace. One that was stopped keeps what was said until then.
    """

    def __init__(self, provider: Any, host: Host, system: str | None, tools: Tools) -> None:
        self.provider, self.host = provider, host
        self.system, self.tools = system, tools
        self.stop = StopSign()
        self.accounts: list[tuple[int, int]] = []

    # -- turns

    def send(self, text: str, on_text: OnText | None = None, stop: StopSign | None = None) -> str:
        self.stop = stop or StopSign()
        before = self.read_chat()
        try:
            answer = self.say({"role": "user", "content": [{"type": "text", "text": text}]}, on_text)
            self.accounts.append((answer.tokens_in, answer.tokens_out))
            while answer.calls and not answer.stopped:
                results = {"role": "user", "content": [self._result_of(call) for call in answer.calls]}
                if self.stop.up:
                    self.replace([*self.read_chat(), results])
                    break
                answer = self.say(results, on_text)
            return answer.text
        except BaseException:
            self.replace(before)
            raise

    def say(self, message: dict[str, Any], on_text: OnText | None) -> Answer:
        """The answer to a message, after as many attempts as it takes; none where text was shown already."""
        shown: list[str] = []

        def show(text: str) -> None:
            shown.append(text)
            if on_text is not None:
                on_text(text)

        for attempt in range(1, self.host.attempts + 1):
            try:
                return self.ask(message, show if on_text is not None else None)
            except ServiceError as error:
                if self.stop.up:
                    break
                if not error.transient or shown or attempt == self.host.attempts:
                    raise
                self.host.sleep(error.retry_after or 0.5 * attempt)
                if self.stop.up:
                    break
        return Answer(stopped=True)

    def _result_of(self, call: dict[str, Any]) -> dict[str, Any]:
        if self.stop.up:
            text, failed = "stopped by the user", True
        else:
            text, failed = self.host.run_tool(call)
        return {"type": "tool_result", "tool_use_id": call["id"], "content": text, "is_error": failed}

    # -- the conversation

    @abstractmethod
    def ask(self, message: dict[str, Any], on_text: OnText | None) -> Answer:
        """The answer to a message; what it leads to is held."""

    @abstractmethod
    def read_chat(self) -> Chat:
        """The conversation, as a list of its own."""

    @abstractmethod
    def replace(self, chat: Chat) -> None:
        """Go on from this conversation."""

    # -- between turns

    def configure(self, system: str | None, tools: Tools) -> None:
        self.system, self.tools = system, tools
        self.replace(self.read_chat())

    def reset(self) -> None:
        self.accounts.clear()
        self.replace([])

    def collect(self, keep_turns: int) -> None:
        chat = self.read_chat()
        starts = [place for place, message in enumerate(chat) if _begins_a_turn(message)]
        if len(starts) > keep_turns:
            self.replace(chat[starts[-keep_turns] :])

    def save(self) -> str:
        return json.dumps({"system": self.system, "chat": self.read_chat()})

    def load(self, saved: str) -> None:
        found = json.loads(saved)
        self.system = found["system"]
        self.replace(found["chat"])

    def close(self) -> None:
        self.provider.shutdown()


def _begins_a_turn(message: dict[str, Any]) -> bool:
    return message["role"] == "user" and any(block["type"] == "text" for block in message["content"])


class ProviderKeeps(Session):
    """Phase 0: the conversation is its provider's, and the session shows none."""

    def __init__(self, provider: Any, host: Host, system: str | None, tools: Tools) -> None:
        super().__init__(provider, host, system, tools)
        self.chat: Chat = []
        provider.create_session(system, tools)

    def ask(self, message: dict[str, Any], on_text: OnText | None) -> Answer:
        content: Sequence[dict[str, Any]] = message["content"]
        if content[0]["type"] == "text":
            answer: Answer = self.provider.send_message(content[0]["text"], on_text, self.stop)
        else:
            answer = self.provider.send_tool_results(content, on_text, self.stop)
        return answer

    def read_chat(self) -> Chat:
        chat: Chat = self.provider.get_history()
        return chat

    def replace(self, chat: Chat) -> None:
        self.provider.create_session(self.system, self.tools, chat)


class Synchronises(ProviderKeeps):
    """Phase 1: after each operation its copy is made anew from its provider."""

    def send(self, text: str, on_text: OnText | None = None, stop: StopSign | None = None) -> str:
        try:
            return super().send(text, on_text, stop)
        finally:
            self.synchronise()

    def replace(self, chat: Chat) -> None:
        super().replace(chat)
        self.synchronise()

    def synchronise(self) -> None:
        self.chat = self.provider.get_history()


class ForgetsStoppedTurns(Synchronises):
    """Wrong: its copy lacks what a stopped turn has left at the provider."""

    def synchronise(self) -> None:
        if not self.stop.up:
            super().synchronise()


class SessionKeeps(Session):
    """The session owns the conversation, and asks its provider with all of it."""

    def __init__(self, provider: Any, host: Host, system: str | None, tools: Tools) -> None:
        super().__init__(provider, host, system, tools)
        self.chat: Chat = []

    def ask(self, message: dict[str, Any], on_text: OnText | None) -> Answer:
        chat = [*self.chat, message]
        answer: Answer = self.provider.complete(chat, self.system, self.tools, on_text, self.stop)
        if answer.blocks:
            chat.append({"role": "assistant", "content": answer.blocks})
        self.chat = chat
        return answer

    def read_chat(self) -> Chat:
        return list(self.chat)

    def replace(self, chat: Chat) -> None:
        self.chat = list(chat)


class AsksToSave(SessionKeeps):
    """Wrong: has its provider write the conversation down."""

    def save(self) -> str:
        return json.dumps({"system": self.system, "chat": json.loads(self.provider.serialize_history(self.chat))})
