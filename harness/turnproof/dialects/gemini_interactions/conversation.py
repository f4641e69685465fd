"""The steps of a request as one conversation: what the service holds in front, then messages.

Neighbouring steps of the model make one message, neighbouring results another. `input` may be a text, one content or a
list of them: each is what the user says.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from ...messages import JSON, FunctionCall, Message, Part, Role
from .addresses import Step
from .steps import CONTENTS, Unreadable, kind_of, parts_of


def steps_of(value: JSON) -> tuple[Step, ...]:
    """The `input` of a request as steps. Raises `Unreadable` for what is none."""
    match value:
        case None:
            return ()
        case str():
            return (_said({"type": "text", "text": value}),)
        case dict():
            return (_said(value),)
        case list():
            for n, each in enumerate(value):
                if not isinstance(each, dict):
                    raise Unreadable(f"[{n}]", "a step or a content")
            if value and all(kind_of(each) in CONTENTS for each in value):
                return ({"type": "user_input", "content": value},)
            return tuple(value)
    raise Unreadable("", "a text, a content, or a list of contents or steps")


def _said(content: Step) -> Step:
    return {"type": "user_input", "content": [content]}


def role_of(step: Step) -> Role:
    """Who speaks in a step."""
    match kind_of(step):
        case "user_input":
            return "user"
        case "function_result":
            return "tool"
        case _:
            return "model"


def messages(steps: Sequence[Step], model: str) -> tuple[Message, ...]:
    """The steps as messages, each named after the place of its first step."""
    return tuple(_messages(list(enumerate(steps)), model))


def _messages(placed: Sequence[tuple[int, Step]], model: str) -> Iterator[Message]:
    names: dict[str, str] = {}
    for (role, _), run in groupby(placed, key=lambda each: _place(*each)):
        parts: list[Part] = []
        first = -1
        for n, step in run:
            first = n if first < 0 else first
            parts += parts_of(step, model, names)
        names |= {part.id: part.name for part in parts if isinstance(part, FunctionCall)}
        yield Message(role, tuple(parts), f"input[{first}]")


def _place(n: int, step: Step) -> tuple[Role, int]:
    """What neighbours share that make one message: each thing that the user says is one."""
    role = role_of(step)
    return role, n if role == "user" else -1
