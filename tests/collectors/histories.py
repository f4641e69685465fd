"""Conversations for the tests of collectors: examples, and any valid one."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count

from hypothesis import strategies as st

from turnproof.budget import Note, note
from turnproof.messages import FunctionCall, InlineData, Message, ToolResult, same_history
from turnproof.session import is_paired

PICTURE = InlineData("image/png", b"\x89PNG")


def ask(*ids: str) -> Message:
    return Message.model(*(FunctionCall(id, "look") for id in ids))


def give(*ids: str, result: str = "seen") -> Message:
    return Message.tool(*(ToolResult(id, "look", result) for id in ids))


def talk(turns: int, *, size: int = 40) -> list[Message]:
    """So many turns of two messages, each about `size` bytes long."""
    return [
        message
        for n in range(turns)
        for message in (Message.user(f"turn {n} ".ljust(size, "x")), Message.model(f"answer {n} ".ljust(size, "y")))
    ]


def work(turns: int, *, size: int = 400) -> list[Message]:
    """So many turns with a tool round each, whose result is about `size` bytes long."""
    messages: list[Message] = []
    for n in range(turns):
        messages += [
            Message.user(f"task {n}"),
            ask(f"c{n}"),
            give(f"c{n}", result="r" * size),
            Message.model(f"done {n}"),
        ]
    return messages


def ids(messages: Sequence[Message]) -> list[str]:
    return [message.message_id for message in messages]


def same_objects(a: Sequence[Message], b: Sequence[Message]) -> bool:
    return len(a) == len(b) and all(x is y for x, y in zip(a, b, strict=True))


def assert_sound(messages: Sequence[Message]) -> None:
    """What every provider asks of a history that goes on."""
    assert is_paired(messages)
    assert len(set(ids(messages))) == len(messages)
    if messages:
        assert messages[0].role == "user"
        assert messages[0].text
    for n, message in enumerate(messages):
        if message.role == "system":
            assert messages[n - 1].role in ("user", "tool"), "an instruction follows the user's side"
            assert n + 1 == len(messages) or messages[n + 1].role == "model", "and stands before an answer"


@st.composite
def histories(draw: st.DrawFn) -> list[Message]:
    """Valid conversations: tool rounds, cancelled turns, files, instructions in between, earlier collections."""
    number = count(1)
    messages: list[Message] = []

    def say(message: Message) -> None:
        messages.append(Message(message.role, message.parts, f"m{next(number)}"))

    calls = 0
    for turn in range(draw(st.integers(1, 6))):
        text = f"turn {turn} " * draw(st.sampled_from([1, 30]))
        say(Message.user(*([PICTURE] if draw(st.integers(0, 5)) == 0 else []), text))
        if draw(st.integers(0, 9)) == 0:
            say(Message.user(PICTURE))
        for _ in range(draw(st.integers(0, 3))):
            if draw(st.integers(0, 7)) == 0:
                say(Message.system("be kind"))
            names = [f"c{calls + n}" for n in range(draw(st.integers(1, 3)))]
            calls += len(names) if draw(st.booleans()) else 0  # providers may use their ids again
            say(ask(*names))
            say(give(*names, result="seen " * draw(st.sampled_from([1, 100]))))
        if draw(st.integers(0, 3)):
            say(Message.model("done"))
        if draw(st.integers(0, 9)) == 0:
            say(Message.model("and more, after a pause"))
    kinds: list[Note] = ["notice", "summary"]
    for kind in kinds:
        if draw(st.integers(0, 3)) == 0:
            messages.insert(0, note(kind, f"a {kind} of what went before", [Message("user", (), f"gone {kind}")]))
    assert_sound(messages)
    return messages


def is_part_of(left: Sequence[Message], history: Sequence[Message]) -> bool:
    """Whether it is the same messages, in the same order, some of them left out."""
    rest = iter(history)
    return all(any(message is other for other in rest) for message in left)


def untouched(history: Sequence[Message], copy: Sequence[Message]) -> bool:
    return same_objects(history, copy) and same_history(history, copy)
