"""What a session uses of its provider, and when: phases 4 and 5.

complete() is what a provider is for. Its facts may be asked at any time: they need no request and know no history.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping

from ..transcript import (
    Collected,
    Event,
    Loaded,
    ProviderTouched,
    Reset,
    Saved,
    WireResponse,
)
from ..verdict import held, inconclusive
from ..view import TurnView, View
from .decision import Decision, closed, unseen
from .measured import Measured
from .phases import Criterion, Situation
from .seen import HOW_TO_SHOW, given, runs_of

FACTS = frozenset(
    {
        "classify_error",
        "get_context_limit",
        "get_retry_after",
        "is_connected",
        "supports_stop",
        "supports_streaming",
        "supports_structured_output",
        "supports_thinking",
    }
)
"""Methods that say something of the model or of an error, by what the provider knows."""

_HISTORIES = frozenset({"history", "messages", "conversation", "chat"})

_CALLS_COMPLETE = frozenset[Situation]({"budget", "cancel", "overflow", "collection"})
"""When complete() may be called: a summary is made by it, too."""

_WORDS: Mapping[Situation, str] = {
    "budget": "turns",
    "save": "saves",
    "cancel": "cancels",
    "overflow": "prompts that were too long",
    "collection": "collections",
    "restore": "restores",
    "reset": "resets",
}


def provider_untouched(measured: Measured, criterion: Criterion) -> Decision:
    """Nothing else of the provider is used in these situations; undecided where a session shows no use of any."""
    left: dict[str, View] = {}
    counted: Counter[str] = Counter()
    hidden = False
    for view in runs_of(measured, criterion):
        visible = bool(given(view))
        for situation in criterion.situations:
            for turn in view.turns:
                times, touches = _READERS[situation](view, turn)
                hidden = hidden or bool(times and not visible)
                if not visible:
                    continue
                counted[_WORDS[situation]] += times
                for touch in touches:
                    if wrong := _wrong(touch, situation):
                        left.setdefault(wrong, view)
    if left:
        view = next(iter(left.values()))
        return closed(left, where=str(view.key), evidence=(one.digest for one in left.values()))
    if not counted.total() and hidden:
        session = measured.subject.session.name
        return unseen(f"what session {session!r} uses of its provider cannot be seen: {HOW_TO_SHOW}")
    if not counted.total():
        words = " or ".join(_WORDS[situation] for situation in criterion.situations)
        return Decision(inconclusive(f"no run has {words}, so there was nothing to see"))
    return Decision(held(*(f"{what} ×{times}" for what, times in counted.items() if times)))


def _wrong(touch: ProviderTouched, situation: Situation) -> str:
    """What is wrong with a use of the provider; empty where nothing is."""
    name = f"provider.{touch.name}"
    if touch.how == "written":
        return f"{name} is set during {touch.during}"
    if touch.name.startswith("_"):
        return f"{name}, a private field, is used during {touch.during}"
    if touch.how == "read":
        return f"{name} is read during {touch.during}" if touch.name in _HISTORIES else ""
    if touch.name in FACTS or (touch.name == "complete" and situation in _CALLS_COMPLETE):
        return ""
    return f"{name}() is called during {touch.during}"


# -- which uses belong to a situation ------------------------------------------------------------------------------

_Found = tuple[int, list[ProviderTouched]]


def _operation(kind: type[Event], word: str) -> Callable[[View, TurnView], _Found]:
    def reader(view: View, turn: TurnView) -> _Found:
        return sum(isinstance(event, kind) for event in turn.events), _touches(turn.events, word)

    return reader


def _budget(view: View, turn: TurnView) -> _Found:
    """Turns in which nothing is cancelled, as far as nothing is too long, and what the budget asks outside of turns."""
    if not turn.spoken or _is_about_a_cancel(view, turn):
        return 0, []
    return 1, _touches(turn.events[: _too_long_at(view, turn)], "turn", "context", "usage")


def _cancelled(view: View, turn: TurnView) -> _Found:
    """Turns that are cancelled, and those right behind them: there a note would be said."""
    return (1, _touches(turn.events, "turn")) if turn.spoken and _is_about_a_cancel(view, turn) else (0, [])


def _is_about_a_cancel(view: View, turn: TurnView) -> bool:
    earlier = [one for one in view.turns if one.index < turn.index]
    return turn.cancelled or (bool(earlier) and earlier[-1].cancelled)


def _overflow(view: View, turn: TurnView) -> _Found:
    """What is done from the answer on that says that the prompt is too long."""
    at = _too_long_at(view, turn)
    return (0, []) if at is None else (1, _touches(turn.events[at:], "turn"))


def _too_long_at(view: View, turn: TurnView) -> int | None:
    """Where among a turn's events the service says that the prompt is too long."""
    said = {one.number for one in view.exchanges_in(turn.events) if one.error_meaning == "context-limit"}
    found = (n for n, one in enumerate(turn.events) if isinstance(one, WireResponse) and one.exchange in said)
    return next(found, None)


def _touches(events: Iterable[Event], *during: str) -> list[ProviderTouched]:
    return [one for one in events if isinstance(one, ProviderTouched) and one.during in during]


_READERS: Mapping[Situation, Callable[[View, TurnView], _Found]] = {
    "budget": _budget,
    "save": _operation(Saved, "save"),
    "cancel": _cancelled,
    "overflow": _overflow,
    "collection": _operation(Collected, "gc"),
    "restore": _operation(Loaded, "restore"),
    "reset": _operation(Reset, "reset"),
}
