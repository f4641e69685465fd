"""What waits for a session is bounded, and what a child said can be taken back as long as no turn has it."""

from __future__ import annotations

from functools import partial

import pytest

from turnproof.errors import UsageError
from turnproof.messages import Message
from turnproof.session.inbox import Inbox, InboxFullError, Prompt

from ..fakes import open_session, reply
from .kit import in_thread, over


def prompt(text: str, sender: str = "child") -> Prompt:
    return Prompt(Message.user(text), sender)  # type: ignore[arg-type]


def texts(inbox: Inbox) -> list[str]:
    return [message.text for message in inbox.waiting]


def test_a_full_inbox_takes_no_more_says_so_and_keeps_what_it_has() -> None:
    inbox = Inbox(limit=2)
    inbox.put(prompt("a"))
    inbox.put(prompt("b", "user"))
    with pytest.raises(InboxFullError, match="2 messages waiting for this session, and no more are taken") as failure:
        inbox.put(prompt("c"))
    assert isinstance(failure.value, UsageError)
    assert texts(inbox) == ["b", "a"]


def test_what_is_put_back_is_never_refused() -> None:
    inbox = Inbox(limit=1)
    inbox.put(prompt("a"))
    messages = inbox.take_all()
    inbox.put(prompt("b"))
    inbox.put_back(messages)
    assert texts(inbox) == ["a", "b"]


def test_parent_user_and_system_come_first_and_each_class_in_its_order() -> None:
    inbox = Inbox()
    for number, sender in enumerate(("child", "system", "child", "parent", "user")):
        inbox.put(prompt(f"{sender} {number}", sender))
    assert texts(inbox) == ["system 1", "parent 3", "user 4", "child 0", "child 2"]


def test_many_threads_lose_nothing_and_each_keeps_its_order() -> None:
    inbox = Inbox(limit=400)

    def speak(who: str) -> None:
        for number in range(50):
            inbox.put(prompt(f"{who} {number:02}"))

    for thread in [in_thread(partial(speak, who)) for who in "abcd"]:
        over(thread)
    waiting = texts(inbox)
    assert len(waiting) == 200
    for who in "abcd":
        own = [text for text in waiting if text.startswith(who)]
        assert own == sorted(own)


def test_what_a_child_said_is_taken_back_once() -> None:
    session, provider = open_session("stateless", reply("Ok."))
    session.interject("one", sender="child")
    report = session.interject("two", sender="child")
    assert session.recall(report)
    assert not session.recall(report)
    session.send("hi")
    assert [message.text for message in provider.requests[0].messages] == ["one", "hi"]


def test_what_a_turn_has_taken_or_somebody_else_said_is_not_taken_back() -> None:
    session, _ = open_session("stateless", reply("Ok."))
    report = session.interject("done", sender="child")
    session.send("hi")
    assert not session.recall(report)
    assert not session.recall(session.interject("wait", sender="user"))
    assert len(session.waiting) == 1
