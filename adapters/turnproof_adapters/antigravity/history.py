"""Contents of the API as a conversation is kept in them, made of neutral messages and read back.

Out and back keeps the meaning: texts, thoughts, files, code, calls under their ids, results with their attachments, and
every signature of the model in its part. Message ids and cache marks have no place there, nor has what belongs to
another service.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import takewhile
from typing import Any, TypeAlias

from turnproof.messages import FileRef, FunctionCall, InlineData, Message, Part, Thought, ToolResult, thaw

from ..google_genai.arrange import contents as arranged
from ..google_genai.assemble import Called, Restore, Words
from ..google_genai.convert import NO_SIGNATURE_NEEDED, identity
from ..google_genai.target import Target
from ..google_genai.wire import pieces

Content: TypeAlias = dict[str, Any]


def contents_of(messages: Sequence[Message], to: Target) -> list[Content]:
    """The contents for a history, arranged as the API insists on it. Calls at its very end are left open.

    Raises InvalidRequestError for a part that cannot be sent.
    """
    contents = arranged(messages, replace(to, own_ids=True, anthropic=False))
    if any(message.calls for message in takewhile(lambda message: message.role == "model", reversed(messages))):
        # The arrangement closes with responses that say the calls were not carried out: they may still be.
        contents.pop()
    plain: list[Content] = thaw(contents)
    return plain


def answer_contents(parts: Sequence[Part], to: Target) -> list[Content]:
    """The content for an answer. One that is nothing but thinking is kept as well, although it is not sent again."""
    contents = contents_of([Message("model", tuple(parts))], to)
    thoughts = [{"text": part.text, "thought": True} for part in parts if isinstance(part, Thought)]
    return contents or ([{"role": "model", "parts": thoughts}] if thoughts else [])


def sendable_contents(contents: Sequence[Content], to: Target) -> list[Content]:
    """The contents as they go out: as the service takes ids and thoughts, and the order of what follows a call."""
    going = []
    for content in contents:
        parts = [_identified(part, to) for part in content["parts"]]
        if to.anthropic:
            parts = sorted(filter(_is_signed_if_thought, parts), key=_follows_responses)
        if any(map(_is_signed_if_thought, parts)):
            going.append({**content, "parts": parts})
    return going


def messages_of(contents: Iterable[Content], to: Target, restore: Restore) -> list[Message]:
    """The messages that contents stand for, under new message ids. `restore` gives tools their own names back."""
    found: list[Message] = []
    for content in contents:
        if content["role"] == "model":
            found.append(Message("model", tuple(_answer(content["parts"], to, restore))))
        else:
            found += _user_messages(content["parts"], to, restore)
    return [message for message in found if message.parts]


def open_calls(contents: Sequence[Content], to: Target, restore: Restore) -> tuple[FunctionCall, ...]:
    """The calls at the end, which nothing has answered yet."""
    last = list(takewhile(lambda content: content["role"] == "model", reversed(contents)))
    return tuple(call for message in messages_of(reversed(last), to, restore) for call in message.calls)


def _answer(parts: Sequence[dict[str, Any]], to: Target, restore: Restore) -> Iterator[Part]:
    for piece in pieces(parts, to):
        match piece:
            case Words(kind=kind, text=text, issued=issued):
                yield kind(text=text, provider_data=issued or (to.mark if kind is Thought else None))
            case Called(issued=issued):
                data = issued if issued is None or issued.data["signature"] != NO_SIGNATURE_NEEDED else None
                yield FunctionCall(piece.id or "", restore(piece.name or ""), piece.args or {}, provider_data=data)
            case None:
                pass
            case _:
                yield piece


def _user_messages(parts: Sequence[dict[str, Any]], to: Target, restore: Restore) -> Iterator[Message]:
    """The user's side: a content holds results of tools, or what was said."""
    results: list[ToolResult] = []
    for part in parts:
        if (response := part.get("functionResponse")) is not None:
            results.append(_result(response, to, restore))
        elif results:
            # What a response cannot hold itself stands behind it.
            results[-1] = _with(results[-1], _answer([part], to, restore))
    yield Message.tool(*results)
    yield Message("user", tuple(_answer([] if results else parts, to, restore)))


def _result(response: dict[str, Any], to: Target, restore: Restore) -> ToolResult:
    ((key, value),) = response["response"].items()
    result = ToolResult(response["id"], restore(response["name"]), value, key == "error")
    return _with(result, _answer(response.get("parts", ()), to, restore))


def _with(result: ToolResult, more: Iterable[Part]) -> ToolResult:
    files = (part for part in more if isinstance(part, InlineData | FileRef))
    return ToolResult(result.call_id, result.name, result.result, result.is_error, (*result.attachments, *files))


def _is_signed_if_thought(part: dict[str, Any]) -> bool:
    return not part.get("thought") or "thoughtSignature" in part


def _follows_responses(part: dict[str, Any]) -> bool:
    return "functionResponse" not in part


def _identified(part: dict[str, Any], to: Target) -> dict[str, Any]:
    for kind in ("functionCall", "functionResponse"):
        if kind in part:
            rest = {name: value for name, value in part[kind].items() if name != "id"}
            return {**part, kind: {**identity(part[kind]["id"], to), **rest}}
    return part
