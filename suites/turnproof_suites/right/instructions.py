"""Freedoms of the system text: its form, its role, and where it stands."""

from __future__ import annotations

from typing import Any

from ..mutants._wire import Json
from ._body import OfEachAPI
from ._right import right


@right("system-as-string")
class _SystemInTheOtherForm(OfEachAPI):
    """The system text goes out as a bare text where it was a list of one block, and as a list where it was bare."""

    def change_messages(self, body: Json) -> None:
        match body.get("system"):
            case [{"type": "text", "text": str(text), **rest}] if not rest:
                body["system"] = text

    def change_chat(self, body: Json) -> None:
        for message in _instructions(body["messages"]):
            if isinstance(message["content"], str):
                message["content"] = [{"type": "text", "text": message["content"]}]

    def change_gemini(self, body: Json) -> None:
        # A content has a role or none: of the system text nobody reads it.
        if "systemInstruction" in body:
            body["systemInstruction"].setdefault("role", "user")


@right("system-as-developer")
class _SystemAsDeveloper(OfEachAPI):
    """Instructions go out in the role of the developer, which is the newer name of the system's."""

    def change_chat(self, body: Json) -> None:
        for message in _instructions(body["messages"]):
            message["role"] = "developer"

    def change_responses(self, body: Json) -> None:
        if isinstance(body["input"], list):
            for item in _instructions(body["input"]):
                item["role"] = "developer"


@right("system-in-two-blocks")
class _SystemInTwoBlocks(OfEachAPI):
    """The system text goes out in two blocks, or two messages of the system: services join them."""

    def change_messages(self, body: Json) -> None:
        match body.get("system"):
            case [{"type": "text", "text": str(text)} as block] if halves := _halves(text):
                # A breakpoint stands on the last block of what it closes.
                body["system"] = [{"type": "text", "text": halves[0]}, block | {"text": halves[1]}]

    def change_chat(self, body: Json) -> None:
        messages = body["messages"]
        if messages[0]["role"] in ("system", "developer") and (halves := _halves(messages[0]["content"])):
            messages[:1] = [messages[0] | {"content": half} for half in halves]

    def change_gemini(self, body: Json) -> None:
        match body.get("systemInstruction"):
            case {"parts": [{"text": str(text)}]} if halves := _halves(text):
                body["systemInstruction"]["parts"] = [{"text": half} for half in halves]


@right("instructions-as-message")
class _InstructionsAsMessage(OfEachAPI):
    """The instructions of a response go out as the first item of its input, in the role of the system."""

    def change_responses(self, body: Json) -> None:
        instructions = body.pop("instructions", None)
        if instructions:
            conversation = body["input"]
            items = [{"role": "user", "content": conversation}] if isinstance(conversation, str) else conversation
            body["input"] = [{"role": "system", "content": instructions}, *items]


def _instructions(messages: list[Json]) -> list[Json]:
    return [one for one in messages if one.get("role") in ("system", "developer")]


def _halves(text: Any) -> tuple[str, str] | None:
    """Both halves of a text, the second from a blank on; None where there is none in its second half."""
    if not isinstance(text, str):
        return None
    border = text.find(" ", len(text) // 2)
    first, second = text[:border], text[border:]
    return (first, second) if border > 0 and first.strip() and second.strip() else None
