"""The steps with an agent's sessions in front of a turn: `- resume: first`, `- open: {last: true, cwd: elsewhere}`."""

from __future__ import annotations

from typing import Final, get_args

from .._base.suggestions import did_you_mean
from ._located_value import LocatedValue
from .model import EVERYWHERE, FIRST, NOBODY, Doing, SessionStep

DOING: Final[tuple[Doing, ...]] = get_args(Doing)

_OPEN: Final = ("session", "last", "cwd", "label")


class StepReader:
    """Reads the steps in order and remembers which sessions there may be: those with a label so far."""

    def __init__(self) -> None:
        self._labels = [FIRST]

    def read(self, spot: LocatedValue) -> tuple[SessionStep, ...]:
        """The steps in front of a turn. Raises ScenarioError."""
        return tuple(self._step(item) for item in spot.items("a list of steps with sessions"))

    def _step(self, spot: LocatedValue) -> SessionStep:
        spot.mapping(DOING, what="a step with sessions")
        if len(spot.value) != 1:
            spot.refuse("is one step: one of " + ", ".join(DOING))
        do = spot.with_value(next(iter(spot.value))).choice(DOING)
        place = spot.at(do)
        match do:
            case "open":
                return self._open_step(place)
            case "new" | "fork":
                return SessionStep(do, label=self._new_label(place))
            case "resume":
                return SessionStep(do, session=self._known_label(place, NOBODY))
            case "delete":
                return SessionStep(do, session=self._known_label(place, NOBODY))
            case "damage":
                return SessionStep(do, session=self._known_label(place))
            case "later":
                if place.value is not None:
                    place.refuse("takes nothing: {later: null}")
                return SessionStep(do)
            case "continue" | "list":
                return SessionStep(
                    do, cwd=place.nonempty_text("a working directory") if place.value is not None else None
                )

    def _open_step(self, spot: LocatedValue) -> SessionStep:
        spot.mapping(_OPEN, what="what an agent is opened with")
        session, last, cwd, label = (spot.get(key) for key in _OPEN)
        known_label = self._known_label(session, NOBODY) if session else None
        return SessionStep(
            "open",
            session=known_label,
            label=self._new_label(label) if label else None,
            cwd=cwd.nonempty_text("a working directory") if cwd else None,
            last=last is not None and last.flag(),
        )

    def _new_label(self, spot: LocatedValue) -> str:
        label = spot.nonempty_text("a label")
        if label in (*self._labels, NOBODY, EVERYWHERE):
            spot.refuse(f"{label!r} is another session's label; give one of its own")
        self._labels.append(label)
        return label

    def _known_label(self, spot: LocatedValue, *more: str) -> str:
        label, known = spot.nonempty_text("the label of a session"), [*self._labels, *more]
        if label not in known:
            spot.refuse(f"no session is labelled {label!r}{did_you_mean(label, known)}")
        return label
