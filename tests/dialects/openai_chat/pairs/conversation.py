"""Pairs about messages: their roles and contents, calls and results, images."""

from __future__ import annotations

from turnproof.dialects.openai_chat.surfaces import Surface

from ...requests import Json
from ..asks import Pair, ask, loop
from ..builders import OPENING, PNG, TOOL, UNREACHABLE, assistant, call, image, result, system, user

_DANGLING = (
    "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The "
    "following tool_call_ids did not have response messages: "
)
_ORPHAN = "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'."
_LONG = "call_" + "x" * 36


def _messages() -> list[Pair]:
    null = "Invalid value for 'content': expected a string, got null."
    too_long = "string too long. Expected a string with maximum length 40, but got a string with length 41 instead."
    sheet: Json = {"type": "file", "file": {"file_id": "file-1"}}
    return [
        Pair(
            "empty-list",
            ask(messages=[]),
            "Invalid 'messages': empty array. Expected an array with minimum length 1, but got an empty array instead.",
            ask(),
            kind="empty_array",
            param="messages",
        ),
        Pair(
            "empty-list",
            ask(OPENING, {"role": "assistant", "content": "41 %", "tool_calls": []}),
            "Invalid 'messages[1].tool_calls': empty array. Expected an array with minimum length 1, but got an empty "
            "array instead.",
            ask(OPENING, assistant("41 %")),
            kind="empty_array",
            param="messages[1].tool_calls",
            variant="calls",
        ),
        Pair("system-unsupported", ask(system("Be brief."), OPENING, model="o1-mini"),
             "Unsupported value: 'messages[0].role' does not support 'system' with this model.",
             ask(OPENING, model="o1-mini"), kind="unsupported_value", param="messages[0].role"),
        Pair("null-content", ask(user(None)), null, ask(user("")), param="messages.[0].content"),
        Pair("null-content", ask(OPENING, assistant(None), OPENING), null,
             ask(OPENING, assistant(None, refusal="I will not."), OPENING), param="messages.[1].content",
             variant="assistant"),
        Pair("tool-content", loop(result(content=[sheet])),
             "Invalid 'messages[2]'. Content blocks are expected to be either text or image_url type.",
             loop(result(content=[{"type": "text", "text": "41 %"}, image(PNG)])), kind="invalid_value",
             param="messages[2]"),
        Pair("call-id-length", ask(OPENING, assistant(None, call(_LONG)), result(_LONG)),
             f"Invalid 'messages[1].tool_calls[0].id': {too_long}",
             ask(OPENING, assistant(None, call(_LONG[:40])), result(_LONG[:40])), kind="string_above_max_length",
             param="messages[1].tool_calls[0].id"),
        Pair(
            "tool-name",
            ask(OPENING, assistant(None, call(name="read sensor")), result()),
            "Invalid 'messages[1].tool_calls[0].function.name': string does not match pattern. Expected a string that "
            "matches the pattern '^[a-zA-Z0-9_-]+$'.",
            ask(OPENING, assistant(None, call(name="read_sensor")), result()),
            kind="invalid_value",
            param="messages[1].tool_calls[0].function.name",
            variant="in-a-call",
        ),
        Pair("unreachable-image", ask(user([image(UNREACHABLE)])), f"Error while downloading {UNREACHABLE}.",
             ask(user([image("https://garden.example/here.png")])), kind="invalid_image_url"),
        Pair("zai-parameter", ask(system("Be brief."), surface=Surface.ZAI),
             "The messages parameter is illegal. Please check the documentation.",
             ask(system("Be brief."), OPENING, surface=Surface.ZAI), kind="1214"),
    ]  # fmt: skip


def _pairing() -> list[Pair]:
    dangling = (OPENING, assistant(None, call("a"), call("b")), result("a"))
    return [
        Pair("dangling-call", ask(*dangling, user("Well?"), tools=[TOOL]), f"{_DANGLING}b",
             ask(*dangling, result("b"), user("Well?"), tools=[TOOL]), param="messages.[3].role"),
        Pair("dangling-call", ask(OPENING, assistant(None, call("a"), call("b"))), f"{_DANGLING}a, b",
             ask(OPENING, assistant(None, call("a"), call("b")), result("b"), result("a")), param="messages.[2].role",
             variant="at-the-end"),
        Pair("dangling-call", ask(*dangling, user("Well?"), tools=[TOOL], surface=Surface.AZURE), f"{_DANGLING}b",
             ask(*dangling, result("b"), tools=[TOOL], surface=Surface.AZURE), param="messages.[3].role",
             variant="azure"),
        Pair("orphan-result", ask(OPENING, result()), _ORPHAN, loop(result()), param="messages.[1].role"),
        Pair("orphan-result", ask(OPENING, assistant(None, call()), result(), user("Well?"), result()), _ORPHAN,
             ask(OPENING, assistant(None, call()), result(), user("Well?")), param="messages.[4].role",
             variant="later"),
        Pair("unknown-call", ask(OPENING, assistant(None, call()), result(), result("call_2")),
             "Invalid parameter: 'tool_call_id' of 'call_2' not found in 'tool_calls' of previous message.",
             ask(OPENING, assistant(None, call(), call("call_2")), result(), result("call_2")),
             param="messages.[3].tool_call_id"),
        Pair("github-pairing", ask(OPENING, result(), surface=Surface.GITHUB), _ORPHAN,
             loop(result(), surface=Surface.GITHUB), kind="BadRequest", enforced=False),
        Pair("copilot-pairing", ask(OPENING, result(), surface=Surface.COPILOT), _ORPHAN,
             loop(result(), surface=Surface.COPILOT), kind="invalid_request_body", enforced=False),
    ]  # fmt: skip


PAIRS: tuple[Pair, ...] = (*_messages(), *_pairing())
