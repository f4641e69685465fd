"""Hand-made runs of an agent: which session each turn is said in, what was done before it, and what is then sent."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from msgspec.structs import replace

from turnproof.judge.view import View
from turnproof.messages import Message
from turnproof.run.transcript import Event, SessionInForce, SessionStepped
from turnproof.scenarios.model import SessionStep

from .build import RunBuilder, scripted

CAN = ("can_list", "can_load", "can_continue_last", "can_delete", "can_fork")

Stepped = tuple[SessionStep, SessionStepped]


@dataclass(frozen=True)
class Say:
    """A turn. `sent` is what goes out before its message, where that is not what was said in the session.

    `history` is what is held after it, `reply` what its user is told, where these are not what is to be expected.
    """

    user: str
    answer: str
    session: str | None = "first"
    steps: tuple[Stepped, ...] = ()
    sent: Sequence[Message] | None = None
    history: Sequence[Message] | None = None
    reply: str | None = None
    events: tuple[Event, ...] = ()
    script: dict[str, object] = field(default_factory=dict)


def done(do: str, outcome: str = "done", *, now: str | None = "", **fields: object) -> Stepped:
    """A step, and what came of it. `now` is the session of its turn unless something else is said."""
    expected = {key: fields.pop(key) for key in ("session", "label", "cwd", "last") if key in fields}
    event = SessionStepped(do=do, outcome=outcome, now=now, **fields)  # type: ignore[arg-type]
    return SessionStep(do, **expected), event  # type: ignore[arg-type]


def conversation(*turns: Say, system: str | None = None) -> View:
    """The run of an agent that goes on from what was said in the session of each turn."""
    scripts = [
        scripted([one.answer], user=one.user, sessions=tuple(step for step, _ in one.steps), **one.script)
        for one in turns
    ]
    builder = RunBuilder(*scripts, system=system, name="sessions/made")
    histories: dict[str | None, list[Message]] = {}
    was: str | None = None
    for number, one in enumerate(turns):
        for step, event in one.steps:
            now = one.session if event.now == "" else event.now
            builder.operated(step.do, replace(event, was=was, now=now), history=histories.get(now, []))
            was = now
        builder.history = list(histories.get(one.session, []) if one.sent is None else one.sent)
        builder.turn(one.user).call(one.answer)
        builder.add(*(replace(event, turn=number) for event in one.events))
        builder.add(SessionInForce(session=one.session, can=CAN, turn=number))
        whole = builder.history
        histories[one.session] = [*histories.get(one.session, []), *whole[-2:]]
        builder.history = list(whole if one.history is None else one.history)
        builder.end()
        if one.reply is not None:
            ended = len(builder.events) - 2
            builder.events[ended] = replace(builder.events[ended], text=one.reply)
        was = one.session
    return builder.view()
