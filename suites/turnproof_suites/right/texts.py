"""Freedoms of the conversation: what is one message or several, one block or several, a block or a bare text."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace as changed

from turnproof.messages import Message, Text

from ..mutants import Rewriting, Wire
from ..mutants._wire import Json
from ._body import OfEachAPI
from ._parts import ChangedParts
from ._right import right


@right("texts-in-two-blocks")
class _TextsInTwoBlocks(Rewriting):
    """A user's text goes out in two text blocks; every API joins the blocks of a message."""

    def change_request(self, wire: Wire, body: Json) -> None:
        for message in wire.messages(body):
            if wire.spoken_by_model(message):
                continue
            blocks = wire.blocks(message)
            for number, block in reversed(list(enumerate(blocks))):
                text = block.get("text")
                # A block with a cache breakpoint ends a prefix: it stays whole.
                if wire.kind(block) != "text" or not isinstance(text, str) or "cache_control" in block:
                    continue
                border = text.find(" ", len(text) // 2)
                if 0 < border < len(text) - 1 and text[border + 1 :].strip():
                    blocks[number : number + 1] = [block | {"text": text[:border]}, wire.text_block(text[border:])]


@right("texts-as-strings")
class _TextsAsStrings(OfEachAPI):
    """A message of one text goes out with that text as its content, not with a list of one block: the short form."""

    def change_messages(self, body: Json) -> None:
        for message in body["messages"]:
            match message["content"]:
                case [{"type": "text", "text": str(text), **rest}] if not rest:
                    message["content"] = text


@right("texts-as-blocks")
class _TextsAsBlocks(OfEachAPI):
    """A text of the user or the model goes out as a list with one text block: the long form."""

    def change_chat(self, body: Json) -> None:
        for message in body["messages"]:
            if message["role"] in ("user", "assistant"):
                message["content"] = _in_a_block(message.get("content"), "text")

    def change_responses(self, body: Json) -> None:
        if isinstance(body["input"], str):
            body["input"] = [{"role": "user", "content": body["input"]}]
        for item in body["input"]:
            if item.get("role") == "user":
                item["content"] = _in_a_block(item["content"], "input_text")


def _in_a_block(content: Any, kind: str) -> Any:
    return [{"type": kind, "text": content}] if isinstance(content, str) and content else content


@right("neighbours-joined")
class _NeighboursJoined(Rewriting):
    """What the user said in several messages in a row goes out in one message, as models take turns."""

    def change_request(self, wire: Wire, body: Json) -> None:
        messages = wire.messages(body)
        for number in range(len(messages) - 1, 0, -1):
            before, message = messages[number - 1], messages[number]
            if _only_said(wire, before) and _only_said(wire, message):
                wire.blocks(before).extend(wire.blocks(message))
                del messages[number]


@right("blocks-in-messages-of-their-own")
class _BlocksApart(Rewriting):
    """Each block of what the user said goes out in a message of its own: a service reads neighbours of one role as one
    turn."""

    def change_request(self, wire: Wire, body: Json) -> None:
        messages = wire.messages(body)
        for number, message in reversed(list(enumerate(messages))):
            blocks = list(wire.blocks(message))
            if len(blocks) < 2 or not _only_said(wire, message):
                continue
            apart = [wire.user_message("") for _ in blocks]
            for one, block in zip(apart, blocks, strict=True):
                wire.blocks(one)[:] = [block]
            messages[number : number + 1] = apart


def _only_said(wire: Wire, message: Json) -> bool:
    """Whether a message is the user's and has no result of a tool."""
    if message.get("role") != "user":
        return False
    return all(wire.kind(block) in ("text", "image", "document") for block in wire.blocks(message))


@right("turns-joined")
class _TurnsJoined(Rewriting):
    """Messages of one role in a row go out as one, results of tools and what the user said behind them as well."""

    def change_request(self, wire: Wire, body: Json) -> None:
        messages = wire.messages(body)
        for number in range(len(messages) - 1, 0, -1):
            before, message = messages[number - 1], messages[number]
            if before.get("role") == message.get("role"):
                wire.blocks(before).extend(wire.blocks(message))
                del messages[number]


@right("messages-with-names")
class _MessagesWithNames(OfEachAPI):
    """Messages of the user and the model name who wrote them, as they do where several agents talk."""

    def change_chat(self, body: Json) -> None:
        for message in body["messages"]:
            if message["role"] in ("user", "assistant"):
                message.setdefault("name", "gardener" if message["role"] == "user" else "helper")


@right("model-texts-trimmed")
class _ModelTextsTrimmed(ChangedParts):
    """What the model said goes back without the blanks at its end, which one service refuses there."""

    def change_message(self, message: Message) -> Message:
        if message.role != "model" or not message.parts or not isinstance(last := message.parts[-1], Text):
            return message
        trimmed = changed(last, text=last.text.rstrip())
        return message if trimmed == last else changed(message, parts=(*message.parts[:-1], trimmed))
