"""An answer that broke after text was shown, and comes in other words when it is asked for again."""

from __future__ import annotations

from typing import Any

import pytest

from turnproof.errors import OverloadedError
from turnproof.messages import ProviderResponse

from .fakes import PATHS, Play, Watching, call, model, open_session, reply, shape, tool, user


def broken(play: Play) -> ProviderResponse:
    """Shows text, and fails."""
    play.stream("Monday: ", "dry")
    raise OverloadedError("busy")


class Window:
    """Shows text, and takes it back."""

    def __init__(self) -> None:
        self.shown = ""

    def show(self, text: str) -> None:
        self.shown += text

    def take_back(self, text: str) -> None:
        assert text
        assert self.shown.endswith(text)
        self.shown = self.shown.removesuffix(text)


@pytest.mark.parametrize("path", PATHS)
def test_by_default_the_turn_fails_with_what_broke_the_answer_and_the_history_is_as_before(path: str) -> None:
    window = Window()
    session, _ = open_session(path, reply("Hello."), broken, reply("On |Monday."))
    session.send("Hi.", on_chunk=window.show)
    before = shape(session)
    with pytest.raises(OverloadedError, match="busy"):
        session.send("Recite.", on_chunk=window.show)
    assert shape(session) == before == [user("Hi."), model("Hello.")]


@pytest.mark.parametrize("path", PATHS)
def test_where_the_user_can_be_told_the_turn_goes_on_with_the_new_answer(path: str) -> None:
    window, texts = Window(), list[Any]()
    session, _ = open_session(path, broken, reply("On |Monday."), observers=[Watching(on_taken_back=texts.append)])
    result = session.send("Recite.", on_chunk=window.show, on_taken_back=window.take_back)
    assert window.shown == result.text == "On Monday."
    assert texts == ["Monday: dry"]
    assert shape(session) == [user("Recite."), model("On Monday.")]


def test_only_the_answer_that_broke_is_taken_back_not_the_rounds_before_it() -> None:
    window = Window()
    session, _ = open_session("stateless", reply("Let me look. ", call()), broken, reply("It |rained."), tools=[tool()])
    result = session.send("Recite.", on_chunk=window.show, on_taken_back=window.take_back)
    assert window.shown == result.text == "Let me look. It rained."


def test_the_same_words_are_not_taken_back() -> None:
    window, texts = Window(), list[str]()
    session, _ = open_session("stateless", broken, reply("Monday: |dry, |Tuesday: wet."))
    session.send("Recite.", on_chunk=window.show, on_taken_back=texts.append)
    assert (window.shown, texts) == ("Monday: dry, Tuesday: wet.", [])
