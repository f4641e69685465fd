"""Counting from outside: each way to take from a list or to look into a message is seen, and nothing is seen twice."""

from __future__ import annotations

import copy
import operator
from collections.abc import Callable
from typing import Any

import msgspec
import pytest

from turnproof.commands.bench.call_counts import CallCounts
from turnproof.messages import FunctionCall, Message, Text, dump_messages, same

FIVE = [Message.user("one"), Message.model("two"), Message.user("three"), Message.model("four"), Message.user("five")]

TAKES: dict[str, tuple[Callable[[Any], object], int]] = {
    "nothing": (lambda held: None, 0),
    "its length": (len, 0),
    "whether there are any": (bool, 0),
    "a copy": (list, 5),
    "a tuple": (tuple, 5),
    "its own copy": (lambda held: held.copy(), 5),
    "copy.copy": (copy.copy, 5),
    "a full slice": (lambda held: held[:], 5),
    "unpacked": (lambda held: [*held], 5),
    "added to": (lambda held: operator.add(held, [Message.user("more")]), 5),
    "added from the right": (lambda held: operator.add([Message.user("more")], held), 5),
    "extending another": (lambda held: [].extend(held), 5),
    "backwards": (lambda held: list(reversed(held)), 5),
    "mapped": (lambda held: list(map(id, held)), 5),
    "two passes": (lambda held: (list(held), list(held)), 10),
    "the last one": (lambda held: held[-1], 1),
    "a short slice": (lambda held: held[3:], 2),
    "a pass that stops early": (lambda held: next(message for message in held if message.role == "model"), 2),
}


def provider(uses: Callable[[Any], object]) -> Any:
    class Provider:
        name = "fake"

        def complete(self, messages: Any, **options: Any) -> str:
            uses(messages)
            return "done"

        def create_session(self, system: Any = None, tools: Any = None, history: Any = None) -> None:
            uses(history)

    return Provider()


@pytest.mark.parametrize(("uses", "count"), TAKES.values(), ids=TAKES)
def test_what_is_taken_out_of_a_list_is_counted(uses: Callable[[Any], object], count: int) -> None:
    watch = CallCounts()
    assert watch.provider(provider(uses)).complete(watch.messages(FIVE)) == "done"
    assert watch.reads == count


def test_a_list_given_by_name_is_watched_too() -> None:
    watch = CallCounts()
    watch.provider(provider(list)).create_session(None, [], history=watch.messages(FIVE))
    assert (watch.reads, watch.calls) == (5, {"create_session": 1})


READS: dict[str, tuple[Callable[[Any], object], int]] = {
    "nobody": (list, 0),
    "roles and ids": (lambda held: [(message.role, message.message_id) for message in held], 0),
    "the parts of one": (lambda held: held[2].parts, 1),
    "the texts": (lambda held: [message.text for message in held], 5),
    "the calls of two": (lambda held: [message.calls for message in held[:2]], 2),
    "one, three times": (lambda held: [held[0].text, held[0].parts, held[0].results], 1),
    "a copy of one and itself": (lambda held: [held[0].text, msgspec.structs.replace(held[0], role="model").text], 1),
    "by matching": (lambda held: [text for message in held for text in matched(message)], 5),
}


def matched(message: Message) -> tuple[Any, ...]:
    match message:
        case Message(parts=(Text(text=text),)):
            return (text,)
    return ()


@pytest.mark.parametrize(("uses", "read"), READS.values(), ids=READS)
def test_messages_that_are_looked_into_are_counted_once_each(uses: Callable[[Any], object], read: int) -> None:
    watch = CallCounts()
    watch.provider(provider(uses)).complete(watch.messages(FIVE))
    assert watch.read == read


def test_what_others_do_between_the_calls_is_not_the_providers() -> None:
    watch = CallCounts()
    conversation = watch.messages(FIVE)
    wrapped = watch.provider(provider(lambda messages: messages[0].text))
    assert [message.text for message in conversation] == ["one", "two", "three", "four", "five"]
    wrapped.complete(conversation)
    assert conversation[3].text == "four"
    assert (watch.read, watch.reads) == (1, 1)


def test_a_watched_message_is_the_message() -> None:
    call = Message.model(FunctionCall("c1", "read", {"bed": 3}))
    [watched] = CallCounts().messages([call])
    assert isinstance(watched, Message)
    assert same(watched, call)
    assert dump_messages([watched]) == dump_messages([call])


def test_calls_are_counted_by_method_and_attributes_are_not_calls() -> None:
    watch = CallCounts()
    wrapped = watch.provider(provider(lambda messages: None))
    wrapped.complete([])
    wrapped.complete([])
    wrapped.create_session()
    assert wrapped.name == "fake"
    assert watch.calls == {"complete": 2, "create_session": 1}
    assert not hasattr(wrapped, "send_message")


def test_a_failed_call_counts_and_ends() -> None:
    def fail(messages: Any) -> None:
        raise OverflowError(messages[0].text)

    watch = CallCounts()
    conversation = watch.messages(FIVE)
    with pytest.raises(OverflowError, match="one"):
        watch.provider(provider(fail)).complete(conversation)
    assert conversation[1].text == "two"
    assert (watch.calls, watch.read) == ({"complete": 1}, 1)


def test_counting_begins_anew() -> None:
    watch = CallCounts()
    wrapped = watch.provider(provider(lambda messages: [message.text for message in messages]))
    conversation = watch.messages(FIVE)
    wrapped.complete(conversation)
    watch.clear()
    assert (watch.calls, watch.read, watch.reads) == ({}, 0, 0)
    wrapped.complete(conversation[:2])
    assert (watch.calls, watch.read, watch.reads) == ({"complete": 1}, 2, 2)
