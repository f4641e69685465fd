"""What a session uses of its provider, and when: phases 4 and 5.

complete() is what a provider is for. Its facts may be asked at any time: they need no request and know no history.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping

from ...judge.view import TurnView, View
from ...run.transcript import Collected, Event, Loaded, ProviderTouched, Reset, Saved, WireResponse
from .codes import closes, is_not_asked, leaves_undecided
from .combined_runs import seen_in
from .decision import Decision, Reason, decided, with_counts
from .measurement import Measured
from .phases import Criterion, Situation
from .provider_events import HOW_TO_SHOW, providers_of, runs_of

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


_SETS = closes(
    "provider-untouched/sets",
    "The session sets something on its provider.",
    "no use of provider.{attribute:words} during {during:words}",
    "an assignment",
)
_PRIVATE = closes(
    "provider-untouched/private-field",
    "The session uses a private field of its provider.",
    "no use of provider.{attribute:words} during {during:words}",
    "a use of it",
)
_READS_HISTORY = closes(
    "provider-untouched/reads-history",
    "The session reads a history of its provider.",
    "no use of provider.{attribute:words} during {during:words}",
    "a read of it",
)
_CALLS = closes(
    "provider-untouched/calls",
    "The session calls a method of its provider.",
    "no call of provider.{attribute:words}() during {during:words}",
    "one",
)
_HIDDEN = leaves_undecided(
    "provider-untouched/provider-not-shown",
    f"What the session uses of its provider cannot be seen: {HOW_TO_SHOW}.",
)
_NEVER = leaves_undecided(
    "provider-untouched/never-happened",
    "There was nothing to see.",
    "a run with {situations:words}",
    "none",
)
_NO_OVERFLOW = is_not_asked(
    "provider-untouched/no-refusal", "The API refuses no prompt for its length, so that no retry is needed."
)


def provider_untouched(measured: Measured, criterion: Criterion) -> Decision:
    """Nothing else of the provider is used in these situations; undecided where a session shows no use of any."""
    left: dict[str, Reason] = {}
    happened: Counter[str] = Counter()
    hidden = False
    for view in runs_of(measured, criterion):
        visible = bool(providers_of(view))
        for situation in criterion.situations:
            for turn in view.turns:
                times, touches = _READERS[situation](view, turn)
                hidden = hidden or bool(times and not visible)
                if not visible:
                    continue
                happened[_WORDS[situation]] += times
                for touch in touches:
                    if wrong := _wrong(view, touch, situation):
                        left.setdefault(wrong.name, seen_in(wrong, view))
    situations_seen = [(what, times) for what, times in happened.items() if times]
    if not left and not situations_seen:
        if criterion.situations == ("overflow",) and not measured.subject.claims().claims("wire:refuses-long-prompts"):
            return decided([_NO_OVERFLOW()])
        words = " or ".join(_WORDS[situation] for situation in criterion.situations)
        return decided([_HIDDEN() if hidden else _NEVER(situations=words)])
    return decided((left[name] for name in sorted(left)), with_counts(situations_seen))


def _wrong(view: View, touch: ProviderTouched, situation: Situation) -> Reason | None:
    """What is wrong with a use of the provider; None where nothing is."""
    name = f"provider.{touch.name}"
    if touch.how == "written":
        code, name = _SETS, f"{name} is set during {touch.during}"
    elif touch.name.startswith("_"):
        code, name = _PRIVATE, f"{name}, a private field, is used during {touch.during}"
    elif touch.how == "read":
        if touch.name not in _HISTORIES:
            return None
        code, name = _READS_HISTORY, f"{name} is read during {touch.during}"
    elif touch.name in FACTS or (touch.name == "complete" and situation in _CALLS_COMPLETE):
        return None
    else:
        code, name = _CALLS, f"{name}() is called during {touch.during}"
    return code(view.at_event(touch), name=name, attribute=touch.name, during=touch.during)


# -- which uses belong to a situation ------------------------------------------------------------------------------

_Found = tuple[int, list[ProviderTouched]]


def _operation(kind: type[Event], word: str) -> Callable[[View, TurnView], _Found]:
    def reader(view: View, turn: TurnView) -> _Found:
        return sum(isinstance(event, kind) for event in turn.events), _touches(turn.events, word)

    return reader


def _budget(view: View, turn: TurnView) -> _Found:
    """Turns in which nothing is cancelled, as far as nothing is too long, and what the budget asks outside of turns."""
    if not turn.has_user_message or _is_about_a_cancel(view, turn):
        return 0, []
    return 1, _touches(turn.events[: _too_long_at(view, turn)], "turn", "context", "usage")


def _cancelled(view: View, turn: TurnView) -> _Found:
    """Turns that are cancelled, and those right behind them: there a note would be said."""
    return (1, _touches(turn.events, "turn")) if turn.has_user_message and _is_about_a_cancel(view, turn) else (0, [])


def _is_about_a_cancel(view: View, turn: TurnView) -> bool:
    earlier = [one for one in view.turns if one.index < turn.index]
    return turn.cancelled or (bool(earlier) and earlier[-1].cancelled)


def _overflow(view: View, turn: TurnView) -> _Found:
    """What is done from the answer on that says that the prompt is too long."""
    at = _too_long_at(view, turn)
    return (0, []) if at is None else (1, _touches(turn.events[at:], "turn"))


def _too_long_at(view: View, turn: TurnView) -> int | None:
    """Where among a turn's events the service says that the prompt is too long."""
    refusals = {one.number for one in view.exchanges_in(turn.events) if one.error_meaning == "context-limit"}
    found = (n for n, one in enumerate(turn.events) if isinstance(one, WireResponse) and one.exchange in refusals)
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
