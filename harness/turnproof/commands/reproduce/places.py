"""The value at a place of a run: in the body of a request, in an answer, in what a callback got, or in an error."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from msgspec import UNSET

from ...judge.finding import Finding, tokens
from ...messages import ProviderResponse, Thought, thaw, to_builtins
from ...run.transcript import Chunk, Event, Failed, FunctionCallDetected, Thinking, UsageUpdate

CONVERSATIONS = frozenset(("messages", "contents", "input"))
"""Members of a request that grow with the conversation: places in them are counted from their end."""

BY_CONTEXT = frozenset(("role", "type"))
"""Members whose values are right or wrong by what stands around them."""

_MISSING_FIGURES = {"cancellation/usage-is-kept/prompt-missing": "prompt_tokens"}
"""Findings about a figure that is not there, so that no place names it."""

_PARTS = {"text": "text", "thought": "thoughts", "call": "calls"}

ERROR_FIELDS = ("status", "retry_after", "limit", "requested", "retryable")
"""What an error of the contract has beside its class and its words."""

_OURS = "turnproof"


def existing(body: Any, text: str) -> tuple[tuple[str | int, ...], Any]:
    """The steps to a place in a body, as far as there is something, and its value; messages count from the end."""
    steps: list[str | int] = []
    here = body
    for token in tokens(text):
        if isinstance(here, list | tuple) and token.isdecimal() and int(token) < len(here):
            counted = int(token) - len(here) if len(steps) == 1 and steps[0] in CONVERSATIONS else int(token)
            steps.append(counted)
            here = here[counted]
        elif isinstance(here, dict) and token in here:
            steps.append(token)
            here = here[token]
        else:
            break
    return tuple(steps), here


def member_of_body(body: Any, text: str) -> tuple[tuple[str | int, ...], Any]:
    """The member of a body that a place is in, all of it: what is wrong may be something beside the place."""
    steps, value = existing(body, text)
    return (steps[:1], body[steps[0]]) if steps else (steps, value)


def texts_in(value: Any) -> Iterator[str]:
    """The texts in a JSON value, without the names of members."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list | tuple):
        for item in value.values() if isinstance(value, dict) else value:
            yield from texts_in(item)


def is_alone(steps: tuple[str | int, ...], value: Any, text: str) -> bool:
    """Whether the value at a place is there, and right or wrong by itself."""
    found = len(steps) == len(tokens(text)) and not isinstance(value, dict | list) and steps != ()
    return found and steps[-1] not in BY_CONTEXT


def answer_member(response: ProviderResponse, finding: Finding, text: str) -> tuple[str, ...] | None:
    """The member of an answer that a place in a response is about; None where it has none."""
    match tokens(text):
        case ("parts", index, *_) if index.isdecimal() and int(index) < len(response.parts):
            part = response.parts[int(index)]
            kind = _PARTS.get(str(part.__struct_config__.tag))
            return (kind,) if kind else None
        case ("usage", name, *_):
            return "usage", name
        case ("usage",) if finding.code in _MISSING_FIGURES:
            return "usage", _MISSING_FIGURES[finding.code]
        case ("finish_reason" | "raw_finish", *_):
            return ("finish",)
        case () | ("parts", *_) if isinstance(finding.observed, str) and finding.observed == response.text:
            return ("text",)
        case () | ("parts", *_) if (
            finding.observed is UNSET and isinstance(finding.expected, str) and not response.text
        ):
            return ("text",)
        case () | ("parts", *_) if finding.observed is UNSET and isinstance(finding.expected, dict | list):
            return ("calls",)  # the arguments of a call that the library did not return
        case () | ("parts", *_) if response.calls and isinstance(finding.observed, list | int):
            return None if _are_kinds(finding.observed) else ("calls",)
    return None


def _are_kinds(value: Any) -> bool:
    """Whether a value is the order of kinds of parts, which no member of an answer has."""
    return isinstance(value, list) and all(one in ("text", "call", "thought") for one in value)


def member_of(response: ProviderResponse, member: Sequence[str]) -> Any:
    """What a recorded response has of a member of an answer, in the form in which libraries' code returns it."""
    match tuple(member):
        case ("text",):
            return response.text
        case ("thoughts",):
            return "".join(part.text for part in response.parts if isinstance(part, Thought))
        case ("calls",):
            return [[call.name, thaw(call.args)] for call in response.calls]
        case ("finish",):
            return response.raw_finish
        case ("finish_reason",):
            return str(response.finish_reason)
        case ("usage", name):
            return getattr(response.usage, name)
    raise LookupError(member)


def callback_row(event: Event) -> list[Any]:
    """What a callback got, as `[kind, value]`."""
    match event:
        case Chunk():
            return ["chunk", event.text]
        case Thinking():
            return ["thinking", event.text]
        case FunctionCallDetected():
            return ["function_call", to_builtins(event.function_call)]
        case UsageUpdate():
            return ["usage", to_builtins(event.usage)]
    raise LookupError(type(event).__name__)


def classes_of(event: Failed, *, own_types: bool) -> list[str]:
    """The names of the classes that say that it was raised: the adapter's own error, or the library's behind it."""
    if own_types:
        return [event.error.rpartition(".")[2]]
    names, raised = [], event.raised
    while raised is not None:
        if raised.module.partition(".")[0] != _OURS:
            names.append(raised.type)
        raised = raised.cause or raised.context
    return names
