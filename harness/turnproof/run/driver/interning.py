"""One copy of what a run says over and over: every call and every snapshot repeats the history, every request sends it.

The run's events come through a pipe, each with messages of its own. Those that are the same become the same objects
again, and so do long texts, wherever they stand; else a single large result would be held once for every event.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

import msgspec

from ...messages import Message, Part, Text, Thought, ToolResult, same
from ..transcript import CallBegan, Event, HelperCalled, HistorySnapshot, Loaded

_LONG: Final = 4096


class Shared:
    """What has been seen in one run so far."""

    def __init__(self) -> None:
        self._messages: dict[str, Message] = {}
        self._texts: dict[str, str] = {}

    def event(self, event: Event) -> Event:
        """The event, with messages that were seen before."""
        if isinstance(event, CallBegan | HelperCalled | HistorySnapshot | Loaded):
            return msgspec.structs.replace(event, messages=tuple(map(self._message, event.messages)))
        return event

    def text(self, text: str) -> str:
        """The text, as the object that was seen first."""
        return self._texts.setdefault(text, text) if len(text) >= _LONG else text

    def json(self, value: Any) -> Any:
        """A plain JSON value, with its long texts shared; its objects and arrays are changed in place."""
        if isinstance(value, str):
            return self.text(value)
        items: Iterable[tuple[Any, Any]] = ()
        if isinstance(value, dict):
            items = value.items()
        elif isinstance(value, list):
            items = enumerate(value)
        for key, item in items:
            if isinstance(item, dict | list):
                self.json(item)
            elif isinstance(item, str) and len(item) >= _LONG:
                value[key] = self.text(item)
        return value

    def _message(self, message: Message) -> Message:
        known = self._messages.get(message.message_id)
        if known is not None and same(known, message):
            return known
        self._messages[message.message_id] = message
        for part in message.parts:
            self.text(_texts(part))
        return message


def _texts(part: Part) -> str:
    """What of a part a request will carry as it is."""
    match part:
        case Text(text=text) | Thought(text=text):
            return text
        case ToolResult(result=str(text)):
            return text
    return ""
