"""Operations on a session: reset, revert, collect, save, load and swap do what they say, and nothing else."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import UNSET

from turnproof.gc import turn_starts
from turnproof.judge.finding import Compared, Finding
from turnproof.judge.requirements import FindingCode, Findings, check, finding
from turnproof.judge.view import Exchange, View
from turnproof.judge.view.plain_content import plain
from turnproof.messages import JSON, Message, same_history
from turnproof.run.transcript import Loaded, Saved

from .content import in_two_roles
from .part_rows import value_differences
from .phrases import ERROR_AND_MESSAGE
from .steps import Step, content, ends_alike, operations_done, steps, unpaired

_RESET_REFUSED = finding(
    "history/reset-empties-it/refused", "The session refuses a reset.", "an empty history", ERROR_AND_MESSAGE
)
_STILL_HELD = finding(
    "history/reset-empties-it/messages-held",
    "The session still holds messages after a reset.",
    "no messages",
    "{observed}",
)


@check("history/reset-empties-it")
def reset_empties_it(view: View) -> Findings:
    """System text and tools stay, which the next request shows; messages do not."""
    for step in operations_done(view, "reset"):
        if step.refusal is not None:
            yield _refused(step, _RESET_REFUSED)
        elif step.history:
            yield _STILL_HELD(step.at_history(), expected=[], observed=[_in_short(message) for message in step.history])
        elif step.history_before:
            yield Compared("histories after a reset")


_RESET_ASKS = finding(
    "history/reset-asks-nobody/request-made",
    "A reset makes a request.",
    "no request",
    "{method:words} {observed:words}",
)


@check("history/reset-asks-nobody")
def reset_asks_nobody(view: View) -> Findings:
    """The session forgets by itself. What it still counts in the background, of what it had sent, is no part of it."""
    for step in operations_done(view, "reset"):
        exchanges = [one for one in step.exchanges if not _counts_what_was_sent(view, one)]
        for exchange in exchanges:
            yield _RESET_ASKS(exchange.at(), observed=exchange.request.path, method=exchange.request.method)
        if not exchanges and step.refusal is None:
            yield Compared("resets")


def _counts_what_was_sent(view: View, exchange: Exchange) -> bool:
    """Whether it only counts the tokens of a conversation that went out before, perhaps with the answer to it: that may
    come at any time."""
    counted = exchange.call
    if exchange.generates or counted is None:
        return False
    sent = (one.call.messages for one in view.exchanges if one.generates and one.call is not None)
    return any(one and same_history(one, counted.messages[: len(one)], ids=False) for one in sent)


_REVERT_REFUSED = finding(
    "history/revert-keeps-the-earlier-turns/refused",
    "The session refuses to go back to an earlier turn.",
    "the history as it was after that turn",
    ERROR_AND_MESSAGE,
)
_REVERT_WRONG = finding(
    "history/revert-keeps-the-earlier-turns/history-changed",
    "After going back to an earlier turn the history is not what it was then.",
    "{expected}, as it was after that turn",
    "{observed}",
)


@check("history/revert-keeps-the-earlier-turns")
def revert_keeps_the_earlier_turns(view: View) -> Findings:
    """The turns up to the one that was named, whole; the later ones are gone."""
    for step in operations_done(view, "revert"):
        target = step.turn.script.revert if step.turn.script is not None else None
        if target is None or target >= step.turns_before:
            continue
        if step.refusal is not None:
            yield _refused(step, _REVERT_REFUSED)
            continue
        starts = [*turn_starts(step.history_before), len(step.history_before)]
        expected = step.history_before[: starts[target + 1]]
        if same_history(expected, step.history, ids=False):
            yield Compared("histories after a revert")
        else:
            yield from _changed(step, expected, _REVERT_WRONG)


_OUT_OF_RANGE_ACCEPTED = finding(
    "history/revert-out-of-range-is-refused/accepted",
    "Going back to a turn that the history does not have raises no error.",
    "an error for turn {target} of a history with {turns} turns",
    "none",
)
_OUT_OF_RANGE_CHANGES = finding(
    "history/revert-out-of-range-is-refused/history-changed",
    "Going back to a turn that the history does not have is refused, and changes the history.",
    "{expected}, as before",
    "{observed}",
)


@check("history/revert-out-of-range-is-refused")
def revert_out_of_range_is_refused(view: View) -> Findings:
    """With an error, and with nothing lost."""
    for step in operations_done(view, "revert"):
        target = step.turn.script.revert if step.turn.script is not None else None
        if target is None or target < step.turns_before:
            continue
        if step.refusal is None:
            yield _OUT_OF_RANGE_ACCEPTED(step.at_history(), target=target, turns=step.turns_before)
        elif not step.unchanged:
            yield from _changed(step, step.history_before, _OUT_OF_RANGE_CHANGES)
        else:
            yield Compared("reverts out of range")


_COLLECTION_REFUSED = finding(
    "history/collection-drops-the-oldest-turns/refused",
    "The session refuses to collect its history.",
    "a history of the newest turns",
    ERROR_AND_MESSAGE,
)
_NEWEST_GONE = finding(
    "history/collection-drops-the-oldest-turns/newest-missing",
    "The newest message is not held after a collection.",
    "a history that ends with {expected}",
    "{observed}",
)
_TURN_CUT = finding(
    "history/collection-drops-the-oldest-turns/turn-cut",
    "A collection keeps only a part of a turn.",
    "a message that begins a turn as the first of those that stay",
    "{observed}",
)
_WRONG_BEGINNING = finding(
    "history/collection-drops-the-oldest-turns/wrong-beginning",
    "The history does not begin with a message of the user after a collection.",
    "a message of the role {expected}",
    "{observed}",
)


@check("history/collection-drops-the-oldest-turns")
def collection_drops_the_oldest_turns(view: View) -> Findings:
    """Whole ones. A summary, or what was pinned, may stand in front of the turns that are kept."""
    for step in operations_done(view, "gc"):
        if step.refusal is not None:
            yield _refused(step, _COLLECTION_REFUSED)
            continue
        if not step.history_before or unpaired(step.history_before):
            continue  # what was taken over may be mended before it is collected
        if (wrong := _wrong_collection(step)) is not None:
            yield wrong
        else:
            yield Compared("histories after a collection")


def _wrong_collection(step: Step) -> Finding | None:
    alike = ends_alike(step.history_before, step.history)
    first = next((n for n, message in enumerate(step.history) if message.role != "system"), None)
    if not alike:
        newest = len(step.history_before) - 1
        return _NEWEST_GONE(
            step.at_history(*([len(step.history) - 1] if step.history else [])),
            expected=_in_short(step.history_before[-1]),
            observed=_in_short(step.history[-1]) if step.history else UNSET,
            related=step.at_before(newest),
        )
    if len(step.history_before) - alike not in (0, *turn_starts(step.history_before)):
        at = len(step.history) - alike
        return _TURN_CUT(
            step.at_history(at),
            observed=_in_short(step.history[at]),
            related=step.at_before(len(step.history_before) - alike),
        )
    if first is None or step.history[first].role != "user":
        return _WRONG_BEGINNING(
            step.at_history(*([first] if first is not None else [])),
            expected="user",
            observed=UNSET if first is None else _in_short(step.history[first]),
        )
    return None


_DAMAGED_LOADED = finding(
    "history/damaged-save-is-refused/accepted",
    "A damaged save is loaded without an error.",
    "an error",
    "a loaded session, with {observed} as the number of its messages",
)
_DAMAGED_CHANGES = finding(
    "history/damaged-save-is-refused/history-changed",
    "A damaged save is refused, and changes the history.",
    "{expected}, as before",
    "{observed}",
)


@check("history/damaged-save-is-refused")
def damaged_save_is_refused(view: View) -> Findings:
    """Half of a saved session is offered; it must not be half loaded."""
    for step in operations_done(view, "damaged-load"):
        loaded, saved = step.first(Loaded), step.first(Saved)
        if saved is None:
            continue  # saving itself failed: nothing was offered
        if loaded is not None:
            yield _DAMAGED_LOADED(step.at_event(loaded), observed=len(loaded.messages), related=(step.at_event(saved),))
        elif not step.unchanged:
            yield from _changed(step, step.history_before, _DAMAGED_CHANGES)
        else:
            yield Compared("damaged sessions")


_SWAP_REFUSED = finding(
    "history/swap-keeps-it/refused",
    "The session refuses another provider.",
    "a session with another provider",
    ERROR_AND_MESSAGE,
)
_SWAP_CHANGES = finding(
    "history/swap-keeps-it/history-changed",
    "The history changes with the provider.",
    "{expected}, as before",
    "{observed}",
)


@check("history/swap-keeps-it")
def swap_keeps_it(view: View) -> Findings:
    """The new provider gets the conversation; the session's own copy stays as it is."""
    for step in operations_done(view, "new-provider"):
        if step.refusal is not None:
            yield _refused(step, _SWAP_REFUSED)
        elif not step.unchanged:
            yield from _changed(step, step.history_before, _SWAP_CHANGES)
        elif step.history_before:
            yield Compared("histories after a swap")


_PROVIDER_DIFFERS = finding(
    "history/provider-holds-the-same/different",
    "The provider holds another history than its session.",
    "{expected}, as in the session",
    "{observed}",
)


@check("history/provider-holds-the-same")
def provider_holds_the_same(view: View) -> Findings:
    """After every turn and every operation, as long as there are two copies."""
    for step in steps(view):
        if step.provider is None or unpaired(step.history):
            continue  # what was taken over broken may be mended by the provider first
        own, theirs = (plain(in_two_roles(messages)) for messages in (step.history, step.provider))
        # What says nothing is left out of both; the numbers of messages are theirs only where none was left out.
        exact = len(theirs) == len(step.provider)
        found = list(value_differences(own, theirs))
        for one in found:
            yield _PROVIDER_DIFFERS(
                step.at_provider(*(one.steps[:1] if exact else ())),
                expected=one.expected,
                observed=one.observed,
                related=(step.at_history(),),
                reading=list(one.steps),
            )
        if not found:
            yield Compared("histories of session and provider")


def _refused(step: Step, code: FindingCode) -> Finding:
    refusal = step.refusal
    assert refusal is not None
    return code.of_error(step.at_event(refusal, "error"), refusal)


def _changed(step: Step, expected: tuple[Message, ...], code: FindingCode) -> Iterator[Finding]:
    for one in value_differences(content(expected), content(step.history)):
        yield code(step.at_change(one), expected=one.expected, observed=one.observed, related=step.at_before())


def _in_short(message: Message) -> JSON:
    """A message by its role and its text, or by the kinds of its parts where it has none."""
    return (
        {"role": message.role, "text": message.text}
        if message.text
        else {"role": message.role, "parts": [type(part).__name__ for part in message.parts]}
    )
