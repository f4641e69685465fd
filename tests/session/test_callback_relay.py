"""`CallbackRelay`: whatever an attempt repeats, the caller hears it once."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from turnproof.messages import TokenUsage
from turnproof.session.callback_relay import CallbackRelay, Callbacks, Diverged, Interrupted

from .fakes import call


class Listener:
    """Callbacks that note what they are told; with `takes_back` they take back what they are told to."""

    def __init__(self, *, takes_back: bool = False) -> None:
        self.taken_back: list[str] = []
        self.text: list[str] = []
        self.thoughts: list[str] = []
        self.calls: list[Any] = []
        self.usage: list[TokenUsage] = []
        self.relay = CallbackRelay(
            Callbacks(
                self.text.append,
                self.usage.append,
                self.calls.append,
                self.thoughts.append,
                self._take_back if takes_back else None,
            )
        )

    def _take_back(self, text: str) -> None:
        self.taken_back.append(text)
        assert "".join(self.text).endswith(text)
        self.text[:] = ["".join(self.text).removesuffix(text)]
        self.thoughts.clear()
        self.calls.clear()

    def attempt(self, *pieces: str) -> None:
        self.relay.restart()
        assert self.relay.on_chunk
        for piece in pieces:
            self.relay.on_chunk(piece)


def test_a_callback_that_was_not_given_is_not_passed_on_either() -> None:
    relay = CallbackRelay(Callbacks(on_thinking=lambda text: None))
    assert (relay.on_chunk, relay.on_usage_update, relay.on_function_call) == (None, None, None)
    assert relay.on_thinking


def test_a_first_attempt_is_passed_on_piece_by_piece() -> None:
    listener = Listener()
    listener.attempt("He", "llo")
    assert listener.text == ["He", "llo"]
    assert listener.relay.shown_text == "Hello"
    listener.relay.verify(complete=True)


def test_a_repetition_in_other_pieces_is_swallowed_and_the_rest_passed_on() -> None:
    listener = Listener()
    listener.attempt("Hel", "lo wo")
    listener.attempt("H", "ello ", "world", "!")
    assert listener.text == ["Hel", "lo wo", "rld", "!"]
    listener.relay.verify(complete=True)


@given(st.text(min_size=1), st.data())
def test_however_often_and_wherever_it_is_cut_the_text_is_heard_once(text: str, data: st.DataObject) -> None:
    listener = Listener()
    for last in (False, False, True):
        end = len(text) if last else data.draw(st.integers(0, len(text)))
        cuts = sorted(data.draw(st.lists(st.integers(0, end), max_size=4)))
        bounds = [0, *cuts, end]
        listener.attempt(*(text[a:b] for a, b in pairwise(bounds)))
    listener.relay.verify(complete=True)
    assert "".join(listener.text) == text


def test_another_text_than_before_is_not_shown_and_interrupts_the_call() -> None:
    listener = Listener()
    listener.attempt("Hello")
    with pytest.raises(Diverged):
        listener.attempt("Goodbye")
    with pytest.raises(Interrupted) as failure:
        listener.relay.verify()
    assert isinstance(failure.value.reason, Diverged)
    assert listener.text == ["Hello"]


def test_a_complete_attempt_that_says_less_than_was_shown_is_interrupted() -> None:
    listener = Listener()
    listener.attempt("Hello world")
    listener.attempt("Hello")
    assert listener.relay.is_catching_up
    listener.relay.verify()  # it may still come
    with pytest.raises(Interrupted):
        listener.relay.verify(complete=True)


def test_other_thoughts_than_before_are_kept_back_but_do_no_harm() -> None:
    listener = Listener()
    on_thinking = listener.relay.on_thinking
    assert on_thinking
    on_thinking("first I")
    listener.relay.restart()
    for piece in ("second", "first I", " wait"):
        on_thinking(piece)
    listener.relay.restart()
    for piece in ("first", " I look"):
        on_thinking(piece)
    listener.relay.verify(complete=True)
    assert listener.thoughts == ["first I", " look"]


def test_a_repeated_call_is_told_once_though_its_id_is_new() -> None:
    listener = Listener()
    on_call = listener.relay.on_function_call
    assert on_call
    on_call(call(id="old", x=1))
    listener.relay.restart()
    on_call(call(id="new", x=1))
    on_call(call(id="more", x=2))
    assert [each.id for each in listener.calls] == ["old", "more"]
    listener.relay.verify(complete=True)


def test_another_call_than_was_told_of_interrupts() -> None:
    listener = Listener()
    on_call = listener.relay.on_function_call
    assert on_call
    on_call(call(x=1))
    listener.relay.restart()
    with pytest.raises(Diverged):
        on_call(call(x=2))


def test_a_told_call_that_does_not_come_again_interrupts() -> None:
    listener = Listener()
    assert listener.relay.on_function_call
    listener.relay.on_function_call(call())
    listener.relay.restart()
    with pytest.raises(Interrupted):
        listener.relay.verify(complete=True)


def test_what_was_shown_is_taken_back_before_other_words_are_shown() -> None:
    listener = Listener(takes_back=True)
    listener.attempt("Monday: ", "dry")
    listener.attempt("Mon", "day, ", "I watered.")
    listener.relay.verify(complete=True)
    assert listener.taken_back == ["Monday: dry"]
    assert "".join(listener.text) == listener.relay.shown_text == "Monday, I watered."


def test_an_answer_that_ends_before_what_was_shown_replaces_it() -> None:
    listener = Listener(takes_back=True)
    listener.attempt("Hello world")
    listener.attempt("Hello")
    assert listener.taken_back == []  # the rest may still come
    listener.relay.verify(complete=True)
    assert (listener.taken_back, "".join(listener.text)) == (["Hello world"], "Hello")


def test_thoughts_and_calls_of_an_answer_are_taken_back_with_its_text() -> None:
    listener = Listener(takes_back=True)
    on_call, on_thinking = listener.relay.on_function_call, listener.relay.on_thinking
    assert on_call
    assert on_thinking
    on_thinking("first")
    listener.attempt("One.")
    on_call(call(id="old", x=1))
    listener.relay.restart()
    on_thinking("second")
    for piece in ("On", "e."):
        assert listener.relay.on_chunk
        listener.relay.on_chunk(piece)
    on_call(call(id="new", x=2))
    listener.relay.verify(complete=True)
    assert listener.taken_back == ["One."]
    assert (listener.thoughts, "".join(listener.text), [each.id for each in listener.calls]) == (
        ["second"],
        "One.",
        ["new"],
    )


@given(st.lists(st.lists(st.sampled_from(["a", "b", "ab"])), min_size=1, max_size=4))
def test_whatever_attempts_say_the_last_is_what_was_shown_in_the_end(attempts: list[list[str]]) -> None:
    listener = Listener(takes_back=True)
    for pieces in attempts:
        listener.attempt(*pieces)
    listener.relay.verify(complete=True)
    assert "".join(listener.text) == listener.relay.shown_text == "".join(attempts[-1])


def test_a_caller_that_fails_when_text_is_taken_back_interrupts() -> None:
    def refuse(text: str) -> None:
        raise ValueError("this window cannot")

    relay = CallbackRelay(Callbacks(on_chunk=lambda text: None, on_taken_back=refuse))
    assert relay.on_chunk
    relay.on_chunk("Hello")
    relay.restart()
    with pytest.raises(ValueError, match="this window"):
        relay.on_chunk("Goodbye")
    with pytest.raises(Interrupted, match="this window"):
        relay.verify()


def test_usage_never_falls_across_attempts() -> None:
    listener = Listener()
    on_usage = listener.relay.on_usage_update
    assert on_usage
    first, later = TokenUsage(10, 5, 15), TokenUsage(10, 7, 17)
    on_usage(first)
    listener.relay.restart()
    on_usage(TokenUsage(10, 1, 11))
    on_usage(later)
    assert listener.usage == [first, later]
    assert listener.relay.usage == later


def test_what_a_callback_raises_is_kept_though_the_provider_swallows_it() -> None:
    pieces: list[str] = []

    def on_chunk(piece: str) -> None:
        pieces.append(piece)
        raise KeyError("mine")

    relay = CallbackRelay(Callbacks(on_chunk=on_chunk))
    assert relay.on_chunk
    with pytest.raises(KeyError):
        relay.on_chunk("a")
    relay.on_chunk("b")  # a provider that goes on regardless
    assert pieces == ["a"]
    with pytest.raises(Interrupted) as failure:
        relay.verify()
    assert isinstance(failure.value.reason, KeyError)
