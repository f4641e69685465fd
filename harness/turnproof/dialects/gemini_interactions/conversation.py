"""The steps of a request as one conversation: what the service holds in front, then messages.

Neighbouring steps of the model make one message, neighbouring results another. `input` may be a text, one content or a
list of them: each is what the user says.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from ...messages import JSON, Message, Role
from ..item_messages import item_messages
from .addresses import Step
from .steps import CONTENTS, Unreadable, kind_of, parts_of


def steps_of(value: JSON) -> tuple[Step, ...]:
    """The `input` of a request as steps. Raises `Unreadable` for what is none."""
    match value:
        case None:
            return ()
        case str():
            return (_user_step({"type": "text", "text": value}),)
        case dict():
            return (_user_step(value),)
        case list():
            for n, each in enumerate(value):
                if not isinstance(each, dict):
                    raise Unreadable(f"[{n}]", "a step or a content")
            if value and all(kind_of(each) in CONTENTS for each in value):
                return ({"type": "user_input", "content": value},)
            return tuple(value)
    raise Unreadable("", "a text, a content, or a list of contents or steps")


def _user_step(content: Step) -> Step:
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
    return tuple(item_messages(enumerate(steps), role_of, partial(parts_of, model=model), apart=("user",)))
