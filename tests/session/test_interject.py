"""What is said while a turn runs: answered in that turn, never between a call and its result, and never lost."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from properties import examples

from turnproof.cancel import CancelToken
from turnproof.errors import InvalidRequestError, OverloadedError, TransportError, UsageError
from turnproof.messages import Message, ProviderResponse, Thought, ToolResult, same_history
from turnproof.session import Sender, Session, is_paired

from .fakes import (
    PATHS,
    Naps,
    Play,
    Step,
    Watching,
    call,
    model,
    numbered,
    open_session,
    reply,
    results,
    shape,
    tool,
    user,
)

both = pytest.mark.parametrize("path", PATHS)


SEEN = ToolResult("c1", "look", "seen")


def cut_after(*say: str, keeps: ProviderResponse | None = None) -> Step:
    """Streams until its token is set, and hands back what had arrived."""

    def step(play: Play) -> ProviderResponse:
        play.stream(*say)
        assert play.token.is_cancelled, "nobody interrupted"
        return keeps if keeps is not None else reply("".join(say), finish="cancelled")

    return step


def says(session: Callable[[], Session], text: str, at: str) -> Callable[[str], None]:
    """A callback that says something once, when it hears `at`."""
    left = [text]

    def on_chunk(piece: str) -> None:
        if piece == at and left:
            session().interject(left.pop())

    return on_chunk


def opened(path: str, *steps: Step, **options: Any) -> tuple[Session, Any, list[Session]]:
    """As `open_session`, with a place where callbacks that are made first find the session."""
    session, provider = open_session(path, *steps, **options)
    return session, provider, [session]


def in_step(session: Session, provider: Any) -> bool:
    return session.path == "stateless" or same_history(provider.get_history(), session.history.messages, ids=False)


@both
def test_a_prompt_cuts_the_answer_and_is_answered_in_the_same_turn(path: str) -> None:
    session, provider, here = opened(path, cut_after("Bon", "jour"), reply("Hello"))
    shown: list[str] = []
    say = says(lambda: here[0], "In English!", at="jour")

    def on_chunk(piece: str) -> None:
        shown.append(piece)
        say(piece)

    result = session.send("Greet me", on_chunk=on_chunk)
    assert (result.outcome, result.text, result.rounds, result.attempts) == ("answer", "BonjourHello", 1, 2)
    assert "".join(shown) == result.text
    assert shape(session) == [user("Greet me"), model("Bonjour"), user("In English!"), model("Hello")]
    sent = provider.requests[1].messages
    assert [(m.role, m.text) for m in sent] == [("user", "Greet me"), ("model", "Bonjour"), ("user", "In English!")]
    assert in_step(session, provider)
    assert not session.waiting


@both
def test_a_prompt_from_another_thread_wakes_a_stream_that_is_silent(path: str) -> None:
    silent = threading.Event()

    def step(play: Play) -> ProviderResponse:
        silent.set()
        assert play.token.wait(30), "the prompt never arrived"
        return reply(Thought("hm"), finish="cancelled")

    session, _ = open_session(path, step, reply("ok"))
    speaker = threading.Thread(target=lambda: silent.wait(30) and session.interject("Hurry"))
    speaker.start()
    assert session.send("Hi", on_chunk=lambda _: None).text == "ok"
    speaker.join()
    assert shape(session) == [user("Hi"), model(Thought("hm")), user("Hurry"), model("ok")]


@both
def test_nothing_stands_between_two_prompts_when_nothing_had_arrived(path: str) -> None:
    session, provider, here = opened(path)

    def step(play: Play) -> ProviderResponse:
        here[0].interject("And this")
        return reply(finish="cancelled")

    provider.script.steps = [step, reply("ok")]
    assert session.send("Hi").text == "ok"
    assert shape(session) == [user("Hi"), user("And this"), model("ok")]
    assert in_step(session, provider)


@both
@pytest.mark.parametrize("parallel", [True, False], ids=["parallel", "sequential"])
def test_a_prompt_waits_for_the_results_of_the_tools_that_are_running(path: str, parallel: bool) -> None:
    here: list[Session] = []

    def run(args: dict[str, Any], token: CancelToken) -> str:
        here[0].interject("Never mind the rest")
        assert not token.is_cancelled, "a prompt stops no tool"
        return "seen"

    session, provider = open_session(path, reply(call()), reply("ok"), tools=[tool(run=run)], parallel_tools=parallel)
    here.append(session)
    assert session.send("Look").text == "ok"
    assert shape(session) == [user("Look"), model(call()), results(SEEN), user("Never mind the rest"), model("ok")]
    assert [message.role for message in provider.requests[1].messages] == ["user", "model", "tool", "user"]
    assert in_step(session, provider)


@both
def test_a_prompt_that_comes_with_the_calls_waits_for_their_results_too(path: str) -> None:
    def whole(play: Play) -> ProviderResponse:
        here[0].interject("Wait")
        return play.deliver(reply("I look", call()))  # too late to be cut

    session, _, here = opened(path, whole, reply("ok"), tools=[tool()])
    assert session.send("Look", on_chunk=lambda _: None).text == "I lookok"
    assert shape(session)[1:4] == [model("I look", call()), results(SEEN), user("Wait")]


@both
def test_half_a_call_that_a_prompt_cut_is_dropped_and_its_text_kept(path: str) -> None:
    session, _, here = opened(path, cut_after("I look", keeps=reply("I look", call(), finish="cancelled")), reply("ok"))
    session.send("Look", on_chunk=says(lambda: here[0], "Stop", at="I look"))
    assert shape(session) == [user("Look"), model("I look"), user("Stop"), model("ok")]


@both
def test_a_prompt_behind_a_whole_answer_is_answered_next(path: str) -> None:
    def whole(play: Play) -> ProviderResponse:
        here[0].interject("And you?")
        return play.deliver(reply("Fine"))

    session, _, here = opened(path, whole, reply("Me too"))
    assert session.send("How are you?").text == "FineMe too"
    assert shape(session) == [user("How are you?"), model("Fine"), user("And you?"), model("Me too")]


@both
def test_a_call_that_fails_because_it_was_cut_is_not_tried_again(path: str) -> None:
    def shut_down(play: Play) -> ProviderResponse:
        here[0].interject("Wait")
        raise TransportError("socket shut down")

    naps = Naps()
    session, _, here = opened(path, shut_down, reply("ok"), sleep=naps)
    result = session.send("Hi")
    assert (result.text, result.retries, naps.durations) == ("ok", (), [])
    assert shape(session) == [user("Hi"), user("Wait"), model("ok")]


@both
def test_a_prompt_does_not_shorten_the_wait_that_a_provider_asked_for(path: str) -> None:
    naps = Naps()
    session, provider = open_session(path, OverloadedError("busy", retry_after=9), reply("ok"), sleep=naps)
    naps.during = lambda: session.interject("Hurry")
    result = session.send("Hi")
    assert naps.durations == [9]
    assert (result.text, result.attempts, len(provider.requests)) == ("ok", 2, 2)
    assert shape(session) == [user("Hi"), user("Hurry"), model("ok")]
    assert in_step(session, provider)


@both
def test_text_that_was_shown_before_a_failed_attempt_is_kept_when_a_prompt_comes_in_the_wait(path: str) -> None:
    def broken(play: Play) -> ProviderResponse:
        play.stream("Hel")
        raise TransportError("cut")

    naps = Naps()
    session, _ = open_session(path, broken, reply("ok"), sleep=naps)
    naps.during = lambda: session.interject("Hurry")
    assert session.send("Hi", on_chunk=lambda _: None).text == "Helok"
    assert shape(session) == [user("Hi"), model("Hel"), user("Hurry"), model("ok")]


def test_a_prompt_waits_until_a_paused_answer_is_finished() -> None:
    def pauses(play: Play) -> ProviderResponse:
        here[0].interject("Wait")
        return play.deliver(reply("searching", finish="paused"))

    session, _, here = opened("stateless", pauses, reply(" found"), reply("ok"))
    assert session.send("Hi").text == "searching foundok"
    assert shape(session) == [user("Hi"), model("searching"), model(" found"), user("Wait"), model("ok")]


def test_a_prompt_comes_too_late_for_a_turn_that_was_cancelled() -> None:
    def step(play: Play) -> ProviderResponse:
        here[0].interject("Wait")
        here[0].stop()
        return reply("Hel", finish="cancelled")

    session, _, here = opened("stateless", step)
    assert session.send("Hi").outcome == "cancelled"
    assert shape(session) == [user("Hi"), model("Hel")]
    assert [message.text for message in session.waiting] == ["Wait"]


def test_an_answer_that_came_whole_stands_though_the_turn_is_cancelled_with_a_prompt_waiting() -> None:
    def whole(play: Play) -> ProviderResponse:
        here[0].interject("Wait")
        here[0].stop()
        return play.deliver(reply("Hello"))

    session, _, here = opened("stateless", whole)
    result = session.send("Hi")
    assert (result.outcome, result.text) == ("answer", "Hello")
    assert [message.text for message in session.waiting] == ["Wait"]


# What waits


@both
def test_what_is_said_to_an_idle_session_goes_first_in_its_next_turn(path: str) -> None:
    session, provider = open_session(path, reply("ok"))
    message = session.interject("Be brief")
    assert session.waiting == (message,)
    assert shape(session) == []
    session.send("Hi")
    assert shape(session) == [user("Be brief"), user("Hi"), model("ok")]
    assert session.history.messages[0] is message
    assert not session.waiting
    assert in_step(session, provider)


@both
def test_what_waits_can_be_answered_without_saying_more(path: str) -> None:
    session, _ = open_session(path, reply("ok"))
    session.interject("Hi")
    shown: list[str] = []
    result = session.send_waiting(on_chunk=shown.append)
    assert result
    assert (result.text, shown) == ("ok", ["ok"])
    assert shape(session) == [user("Hi"), model("ok")]
    assert session.send_waiting() is None


@both
def test_the_urgent_go_first_and_inside_a_class_the_order_is_kept(path: str) -> None:
    session, _ = open_session(path, reply("ok"))
    order: list[tuple[str, Sender]] = [
        ("child 1", "child"),
        ("parent", "parent"),
        ("child 2", "child"),
        ("user", "user"),
        ("system", "system"),
    ]
    for text, sender in order:
        session.interject(text, sender=sender)
    waiting = [message.text for message in session.waiting]
    assert waiting == ["parent", "user", "system", "child 1", "child 2"]
    session.send_waiting()
    assert [message.text for message in session.history.messages] == [*waiting, "ok"]


@both
def test_what_a_child_says_interrupts_nothing_and_waits_until_the_session_is_idle(path: str) -> None:
    def step(play: Play) -> ProviderResponse:
        here[0].interject("done", sender="child")
        assert not play.token.is_cancelled
        return play.deliver(reply(call()))

    session, _, here = opened(path, step, reply("ok"), reply("so it is"), tools=[tool()])
    session.send("Hi")
    assert [message.role for message in session.history.messages] == ["user", "model", "tool", "model"]
    assert [message.text for message in session.waiting] == ["done"]
    session.send_waiting()
    assert shape(session)[4:] == [user("done"), model("so it is")]


@both
def test_what_a_cancelled_turn_took_and_no_model_got_waits_again_in_front(path: str) -> None:
    session, provider = open_session(path, reply("ok"))
    session.interject("first")
    session.interject("report", sender="child")
    token = CancelToken()
    token.cancel()
    assert session.send("Hi", cancel_token=token).outcome == "cancelled"
    session.interject("second")
    assert shape(session) == []
    assert [message.text for message in session.waiting] == ["first", "second", "report"]
    session.send("Hi")
    assert [message.text for message in session.history.messages] == ["first", "second", "report", "Hi", "ok"]
    assert in_step(session, provider)


@both
def test_what_a_failed_turn_took_waits_again(path: str) -> None:
    def step(play: Play) -> ProviderResponse:
        here[0].interject("second")
        return reply("Hel", finish="cancelled")

    session, provider, here = opened(path, step, InvalidRequestError("no"), reply("ok"))
    session.interject("first")
    with pytest.raises(InvalidRequestError):
        session.send("Hi")
    assert shape(session) == []
    assert [message.text for message in session.waiting] == ["first", "second"]
    session.send_waiting()
    assert shape(session) == [user("first"), user("second"), model("ok")]
    assert in_step(session, provider)


def test_a_turn_that_cannot_begin_leaves_what_waits() -> None:
    refused: list[str] = []

    def run(args: dict[str, Any], token: CancelToken) -> str:
        with pytest.raises(UsageError, match="is running"):
            here[0].withdraw()
        here[0].interject("later", sender="child")
        with pytest.raises(UsageError, match="is running"):
            here[0].send_waiting()
        refused.append("both")
        return "seen"

    session, _, here = opened("stateless", reply(call()), reply("ok"), tools=[tool(run=run)])
    session.send("Hi")
    assert refused == ["both"]
    assert [message.text for message in session.withdraw()] == ["later"]
    assert not session.waiting


def test_nothing_is_refused_here_as_it_is_in_a_turn() -> None:
    session, _ = open_session("stateless")
    with pytest.raises(UsageError, match="content is empty"):
        session.interject([])
    assert not session.waiting


# Who is told


@both
def test_observers_are_told_who_said_what_before_it_is_sent(path: str) -> None:
    events: list[Any] = []
    session, _, here = opened(
        path,
        cut_after("Bon"),
        reply("Hello"),
        observers=[
            Watching(
                on_turn_began=lambda message: events.append(("began", message.text)),
                on_delivered=lambda message, sender: events.append((sender, message.text)),
                on_output=lambda source, text, mode: events.append((text, mode)),
            )
        ],
    )
    session.interject("Ahead", sender="parent")
    session.send("Hi", on_chunk=says(lambda: here[0], "In English!", at="Bon"))
    assert events == [
        ("began", "Hi"),
        ("parent", "Ahead"),
        ("Bon", "write"),
        ("user", "In English!"),
        ("Hello", "write"),
    ]


def test_a_turn_of_what_waits_begins_with_the_first_of_it() -> None:
    messages: list[Message] = []
    session, _ = open_session("stateless", reply("ok"), observers=[Watching(on_turn_began=messages.append)])
    session.interject("report", sender="child")
    first = session.interject("Hi")
    session.send_waiting()
    assert messages == [first]


# In any order


MOMENTS = ("quiet", "in-stream", "with-answer", "in-tool", "as-child")


@examples(40)
@given(
    path=st.sampled_from(PATHS),
    rounds=st.lists(st.tuples(st.booleans(), st.sampled_from(MOMENTS)), min_size=1, max_size=6),
)
def test_whenever_something_is_said_it_is_answered_once_and_every_pair_stays_whole(
    path: str, rounds: list[tuple[bool, str]]
) -> None:
    ids, here, texts = numbered(), list[Session](), list[str]()

    def say(sender: Sender = "user") -> None:
        texts.append(f"said {ids()}")
        here[0].interject(texts[-1], sender=sender)

    def step(calls: bool, moment: str) -> Step:
        def play_it(play: Play) -> ProviderResponse:
            if moment == "in-stream":
                play.stream("par")
                say()
                return reply("par", finish="cancelled")
            if moment in ("with-answer", "as-child"):
                say("child" if moment == "as-child" else "user")
            return play.deliver(reply("t", call(id=ids(), late=moment == "in-tool")) if calls else reply("t"))

        return play_it

    def run(args: dict[str, Any], token: CancelToken) -> str:
        if args["late"]:
            say()
        return "seen"

    # Whatever the rounds ask for, the turn ends: an answer without calls, as often as it may take.
    steps = [step(*one) for one in rounds] + [reply("end")] * 8
    session, provider = open_session(path, *steps, tools=[tool(run=run)])
    here.append(session)
    session.send("Hi", on_chunk=lambda _: None)
    while session.send_waiting(on_chunk=lambda _: None):
        pass
    messages = session.history.messages
    assert is_paired(messages)
    assert all(is_paired(request.messages) for request in provider.requests)
    assert sorted(m.text for m in messages if m.role == "user") == sorted(["Hi", *texts])
    assert messages[-1].role == "model"
    assert in_step(session, provider)


def test_many_threads_that_speak_at_once_are_all_heard_once() -> None:
    ready, sent_messages = threading.Barrier(9), []

    def step(play: Play) -> ProviderResponse:
        ready.wait(30)
        for thread in threads:
            thread.join(30)
        assert play.token.is_cancelled
        return reply("Hel", finish="cancelled")

    session, _ = open_session("stateless", step, reply("ok"))

    def speak(number: int) -> None:
        ready.wait(30)
        for n in range(25):
            sent_messages.append(session.interject(f"{number}.{n}"))

    threads = [threading.Thread(target=speak, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    session.send("Hi", on_chunk=lambda _: None)
    user_messages = [message for message in session.history.messages if message.role == "user"][1:]
    assert {id(message) for message in user_messages} == {id(message) for message in sent_messages}
    assert len(user_messages) == 200
    for number in range(8):
        texts = [m.text for m in user_messages if m.text.startswith(f"{number}.")]
        assert texts == [f"{number}.{n}" for n in range(25)]
