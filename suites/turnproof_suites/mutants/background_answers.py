"""Answers in the background that are lost, asked for again, or left running."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import replace
from functools import partial

from turnproof.background_answers import BackgroundCall, RunningAnswer
from turnproof.dialects.base import HttpRequest

from ._broken import Broken
from ._mutant import suite_mutant
from ._rewriting import Rewriting


class BrokenInBackground(Broken):
    """An adapter whose calls in the background are made otherwise."""

    def in_background(self, call: BackgroundCall) -> AbstractContextManager[None]:
        """The adapter's own context, for another call."""
        context: AbstractContextManager[None] = self.inner.in_background(self.change_background(call))
        return context

    def change_background(self, call: BackgroundCall) -> BackgroundCall:
        """The call instead."""
        return call


@suite_mutant("background-answer-asked-again")
class BackgroundAnswerAskedAgain(BrokenInBackground):
    """An answer that runs is not taken up: another one is requested, and paid for."""

    def change_background(self, call: BackgroundCall) -> BackgroundCall:
        return replace(call, running=None)


@suite_mutant("background-answer-named-at-its-end")
class BackgroundAnswerNamedAtItsEnd(BrokenInBackground):
    """The caller learns the id of an answer when the answer is there."""

    def change_background(self, call: BackgroundCall) -> BackgroundCall:
        names: list[Callable[[], None]] = []

        def on_began(answer: RunningAnswer) -> None:
            names.append(partial(call.on_began, answer))

        def on_ended() -> None:
            for tell in names:
                tell()
            call.on_ended()

        return replace(call, on_began=on_began, on_ended=on_ended)


@suite_mutant("background-answer-left-running")
class BackgroundAnswerLeftRunning(Rewriting):
    """The adapter looks at an answer that it should cancel, and cancels none."""

    def request(self, request: HttpRequest) -> HttpRequest:
        """The address of the answer itself."""
        path = request.path.removesuffix("/cancel").removesuffix(":cancel")
        return super().request(request if path == request.path else replace(request, method="GET", path=path))
