"""Requests in which the calls and results of a conversation are written as texts, as for models without tool calls.

Such a request says the same as one with the calls, so that it is compared as that. An adapter that writes it has to say
so (`Capabilities.native_calls`): that calls go out as calls is asked of everyone else.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence

from msgspec.structs import replace

from ..messages import JSON, FileRef, FunctionCall, InlineData, Message, Part, Text, ToolResult, thaw
from .atoms import media_key
from .text_equality import leaves

_MORE_WORDS = 64
"""Characters that a text may have for each call beside its own (`Calling tool: ...`)."""


def with_native_calls(
    history: Sequence[Message], sent: Sequence[Message], wire_name: Callable[[str], str] = str
) -> Sequence[Message]:
    """The messages of a request, with calls and results in place of the texts that have the names, arguments and values
    of those held, in their order; unchanged if it has a call or result as such, or if one held is in no text.

    `wire_name` gives the name of a tool as the request declares it: a text may have the one that the session knows."""
    rounds = _rounds(history)
    if not rounds or any(message.calls or message.results for message in sent):
        return sent
    restored: list[Message] = []
    left = list(sent)
    for model, results, following in rounds:
        at = next((n for n, message in enumerate(left) if message.role == "model" and _calls_in(message, model)), None)
        if at is None:
            return sent
        restored += [*left[:at], _with_calls(left[at], model, wire_name)]
        del left[: at + 1]
        if results:
            if not left or left[0].role != "user" or not _results_in(left[0], results):
                return sent
            restored += _with_results(left.pop(0), results, following)
    return [*restored, *left]


_Round = tuple[Message, list[Message], list[Message]]


def _rounds(history: Sequence[Message]) -> list[_Round]:
    """Each message with calls, the messages with results behind it, and what the user says behind those."""
    rounds: list[_Round] = []
    last: _Round | None = None
    for message in history:
        if message.role == "model":
            last = (message, [], []) if message.calls else None
            rounds += [last] if last is not None else []
        elif last is not None and message.results:
            last[1].append(message)
        elif last is not None and message.role == "user":
            last[2].append(message)
    return rounds


def _calls_in(message: Message, call_message: Message) -> bool:
    words = [word for call in call_message.calls for word in (call.name, *leaves(thaw(call.args)))]
    room = sum(_written_length(call) + _MORE_WORDS for call in call_message.calls)
    return len(message.text) <= len(call_message.text) + room and _has(message.text, words)


def _results_in(message: Message, result_messages: Sequence[Message]) -> bool:
    values = [thaw(result.result) for one in result_messages for result in one.results]
    return _has(message.text, [word for value in values for word in leaves(value)])


def _has(text: str, words: Sequence[str]) -> bool:
    return all(_is_in(text, word.strip()) for word in words)


def _is_in(text: str, word: str) -> bool:
    """Whether a text has a word: as it is, as in JSON, or as Python shows it."""
    if word in text:
        return True
    return any(form[1:-1] in text for form in (json.dumps(word), json.dumps(word, ensure_ascii=False), repr(word)))


def _written_length(call: FunctionCall) -> int:
    """Characters of a call in the longest form that is usual, that of chat completions, at the most."""
    form = {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": ""}}
    return len(str(form)) + _length(thaw(call.args))


def _length(value: JSON) -> int:
    """Characters that a value takes in JSON at the most: quotes, escapes and blanks are counted twice."""
    return 2 * len(str(value))


def _with_calls(message: Message, call_message: Message, wire_name: Callable[[str], str]) -> Message:
    """The message with the held calls, and of the held texts those that it has."""
    own: list[Part] = [part for part in message.parts if not isinstance(part, Text)]
    for part in call_message.parts:
        if isinstance(part, FunctionCall):
            own.append(replace(part, name=wire_name(part.name)))
        elif isinstance(part, Text) and part.text.strip() in message.text:
            own.append(part)
    return replace(message, parts=tuple(own))


def _with_results(message: Message, result_messages: Sequence[Message], following: Sequence[Message]) -> list[Message]:
    """The held results, with what of their attachments the message has, and what else the user says in it."""
    media = [part for part in message.parts if isinstance(part, InlineData | FileRef)]
    shown = {media_key(part) for part in media}
    attached = {media_key(part) for one in result_messages for result in one.results for part in result.attachments}
    results = [replace(one, parts=tuple(_shown(part, shown) for part in one.parts)) for one in result_messages]
    user_parts: list[Part] = [
        Text(one.text) for one in following if one.text.strip() and one.text.strip() in message.text
    ]
    user_parts += [part for part in media if media_key(part) not in attached]
    return [*results, *([Message("user", tuple(user_parts))] if user_parts else [])]


def _shown(part: Part, shown: set[object]) -> Part:
    if not isinstance(part, ToolResult):
        return part
    value = thaw(part.result)
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return replace(part, result=text, attachments=tuple(one for one in part.attachments if media_key(one) in shown))
