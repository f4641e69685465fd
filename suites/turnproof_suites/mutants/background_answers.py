"""Answers in the background that are lost, asked for again, received in part, or left running."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import replace
from functools import partial

from turnproof.background_answers import BackgroundCall, RunningAnswer
from turnproof.dialects.base import Call, HttpRequest, Rendered, WireEvent

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


class ResumedElsewhere(Rewriting, ABC):
    """An adapter that resumes a stream by one event behind, or ahead of, the last one that it has."""

    is_resumed = False

    def request(self, request: HttpRequest) -> HttpRequest:
        """The request as it is."""
        self.is_resumed = request.method == "GET" and not _CURSORS.isdisjoint(request.query)
        return super().request(request)

    def response(self, call: Call, rendered: Rendered) -> Rendered:
        """A stream that is resumed, with its first piece of text changed."""
        place = next((n for n, event in enumerate(rendered.events) if event.text), None)
        if not self.is_resumed or place is None:
            return super().response(call, rendered)
        pieces, rest = self.instead(rendered.events[place]), rendered.events[place + 1 :]
        # An adapter that counts events has to find no gap: it would know then that it is elsewhere.
        shift = len(pieces) - 1
        moved = tuple(_with_number(event, shift) for event in rest)
        return replace(rendered, events=(*rendered.events[:place], *pieces, *moved))

    @abstractmethod
    def instead(self, piece: WireEvent) -> tuple[WireEvent, ...]:
        """What comes in place of the first piece of text."""


_CURSORS = frozenset({"starting_after", "last_event_id"})
"""Parameters that name the event behind which a stream is resumed."""

_NUMBER = re.compile(rb'(?<="sequence_number":)\d+')
_ID = re.compile(rb'(?<="event_id":")')


def _with_number(event: WireEvent, shift: int) -> WireEvent:
    """The event with its number moved."""
    return replace(event, data=_NUMBER.sub(lambda found: b"%d" % (int(found[0]) + shift), event.data))


@suite_mutant("resumed-stream-without-a-piece")
class ResumedStreamWithoutAPiece(ResumedElsewhere):
    """A stream that broke is resumed one event too late."""

    def instead(self, piece: WireEvent) -> tuple[WireEvent, ...]:
        return ()


@suite_mutant("resumed-stream-with-a-piece-twice")
class ResumedStreamWithAPieceTwice(ResumedElsewhere):
    """A stream that broke is resumed, and a piece of it is shown again."""

    def instead(self, piece: WireEvent) -> tuple[WireEvent, ...]:
        again = replace(_with_number(piece, 1), data=_ID.sub(b"again_", _with_number(piece, 1).data))
        return (piece, again)


@suite_mutant("background-answer-left-running")
class BackgroundAnswerLeftRunning(Rewriting):
    """The adapter looks at an answer that it should cancel, and cancels none."""

    def request(self, request: HttpRequest) -> HttpRequest:
        """The address of the answer itself."""
        path = request.path.removesuffix("/cancel").removesuffix(":cancel")
        return super().request(request if path == request.path else replace(request, method="GET", path=path))
