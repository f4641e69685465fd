"""What a session never does to an adapter: its methods beside `complete()`, and histories that no API accepts.

Both are probes: they come behind the conversation and take the calls that were made in it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import msgspec

from ...messages import Message, Text, ToolSchema
from ..tracebacks import text_of
from ..transcript import CallBegan, HelperCalled
from .recorder import Recorder

_LAST_WORDS = "And what about tomorrow?"
"""What the user says behind a call that nobody answered."""


def call_helpers(provider: Any, calls: Sequence[CallBegan], recorder: Recorder) -> None:
    """Count and serialise the messages of each call. A method that the adapter lacks is put down as one that raised."""
    recorder.call = -1
    recorder.control.ask("call-begins", (-1, recorder.probe))
    for call in calls:
        messages = list(call.messages)
        _record(call, recorder, "count_tokens", partial(_count, provider, messages, call.system, call.tools))
        if call is calls[0] and (call.system or call.tools):
            _record(call, recorder, "count_tokens", partial(_count, provider, messages, None, ()), alone=True)
        _record(call, recorder, "deserialize_history", partial(_there_and_back, provider, messages))
    recorder.end()


def _count(provider: Any, messages: list[Message], system: str | None, tools: Sequence[ToolSchema]) -> dict[str, Any]:
    found = provider.count_tokens(messages, system, list(tools) or None)
    whole = isinstance(found, int) and not isinstance(found, bool)
    return {"returned": found if whole and found.bit_length() < 64 else repr(found)}


def _there_and_back(provider: Any, messages: list[Message]) -> dict[str, Any]:
    text = provider.serialize_history(messages)
    if not isinstance(text, str):
        return {"returned": f"{type(text).__name__} instead of a text, by serialize_history()"}
    loaded = provider.deserialize_history(text)
    if not isinstance(loaded, list) or not all(isinstance(one, Message) for one in loaded):
        return {"returned": f"{type(loaded).__name__} instead of a list of messages, by deserialize_history()"}
    return {"messages": tuple(loaded)}


def _record(
    call: CallBegan, recorder: Recorder, method: str, action: Callable[[], dict[str, Any]], *, alone: bool = False
) -> None:
    where: dict[str, Any] = {"turn": -1, "call": call.call, "probe": recorder.probe}
    try:
        found = action()
    except Exception as error:
        found = {"error": type(error).__name__, "said": text_of(error), "raised": recorder.raised(error)}
    recorder.event(HelperCalled(method=method, alone=alone, **found, **where))


def broken_histories(calls: Sequence[CallBegan]) -> Iterator[CallBegan]:
    """The last call of the conversation with its history broken, one way after the other, each under a name."""
    last = calls[-1]
    numbers = iter(range(last.call + 1, last.call + 100))
    seen: list[tuple[Message, ...]] = []
    for name, messages in _broken(list(last.messages)):
        if messages not in seen:
            seen.append(messages)
            yield msgspec.structs.replace(last, broken=name, messages=messages, call=next(numbers))


def _broken(messages: list[Message]) -> Iterator[tuple[str, tuple[Message, ...]]]:
    yield "no-messages", ()
    blank = Message("user", (Text(" "),))
    yield "blank-message", (*messages[:-1], blank, messages[-1])
    yield "message-without-parts", (*messages[:-1], Message("model", ()), messages[-1])
    at = next((n for n, one in enumerate(messages) if one.calls), None)
    if at is None or at + 1 >= len(messages) or not messages[at + 1].results:
        return
    before, call_message, result_message = messages[:at], messages[at], messages[at + 1]
    rest = messages[at + 2 :]
    closing = [] if rest else [Message.model("41 %."), Message.user(_LAST_WORDS)]
    yield "call-without-result", (*before, call_message, *(rest or closing[1:]))
    yield "result-without-call", (*before, result_message, *rest, *closing)
    yield (
        "result-given-twice",
        (*before, call_message, Message.tool(*result_message.results, *result_message.results), *rest, *closing),
    )
    if len(result_message.results) > 1:
        yield (
            "result-missing-among-others",
            (*before, call_message, Message.tool(*result_message.results[1:]), *rest, *closing),
        )
