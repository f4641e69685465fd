"""Operations on a session: reset, revert, collect, save, load and swap do what they say, and nothing else."""

from __future__ import annotations

from turnproof.gc import turn_starts
from turnproof.messages import same_history
from turnproof.requirements import Findings, check
from turnproof.transcript import Loaded, Saved
from turnproof.verdict import Verdict, violated
from turnproof.view import View
from turnproof.view.diff import differences
from turnproof.view.plain import plain

from .reading import in_two_roles
from .steps import Step, change, ends_alike, operations_done, steps, told, unpaired


@check("history/reset-empties-it")
def reset_empties_it(view: View) -> Findings:
    """System text and tools stay, which the next request shows; messages do not."""
    for step in operations_done(view, "reset"):
        if refused := _refused(step):
            yield refused
        elif step.held:
            yield violated(f"{step.where}: {len(step.held)} messages are still held, the first {told(step.held[0])}")
        elif step.before:
            yield "histories after a reset"


@check("history/reset-asks-nobody")
def reset_asks_nobody(view: View) -> Findings:
    """The session forgets by itself."""
    for step in operations_done(view, "reset"):
        if step.exchanges:
            asked = step.exchanges[0].request
            yield violated(f"{step.where}: the reset made a request, {asked.method} {asked.path}")
        elif step.refusal is None:
            yield "resets"


@check("history/revert-keeps-the-earlier-turns")
def revert_keeps_the_earlier_turns(view: View) -> Findings:
    """The turns up to the one that was named, whole; the later ones are gone."""
    for step in operations_done(view, "revert"):
        target = step.turn.script.revert if step.turn.script is not None else None
        if target is None or target >= step.turns_before:
            continue
        if refused := _refused(step):
            yield refused
            continue
        starts = [*turn_starts(step.before), len(step.before)]
        wanted = step.before[: starts[target + 1]]
        if same_history(wanted, step.held, ids=False):
            yield "histories after a revert"
        else:
            yield violated(f"{step.where}: after going back to turn {target}: {change(wanted, step.held)}")


@check("history/revert-out-of-range-is-refused")
def revert_out_of_range_is_refused(view: View) -> Findings:
    """With an error, and with nothing lost."""
    for step in operations_done(view, "revert"):
        target = step.turn.script.revert if step.turn.script is not None else None
        if target is None or target < step.turns_before:
            continue
        there = f"{step.where}: the history had {step.turns_before} turns, and going back to turn {target}"
        if step.refusal is None:
            yield violated(f"{there} was not refused")
        elif not step.unchanged:
            yield violated(f"{there} was refused, but changed it: {change(step.before, step.held)}")
        else:
            yield "reverts out of range"


@check("history/collection-drops-the-oldest-turns")
def collection_drops_the_oldest_turns(view: View) -> Findings:
    """Whole ones. A summary, or what was pinned, may stand in front of the turns that are kept."""
    for step in operations_done(view, "gc"):
        if refused := _refused(step):
            yield refused
            continue
        kept = ends_alike(step.before, step.held)
        first = next((message for message in step.held if message.role != "system"), None)
        if not step.before or unpaired(step.before):
            continue  # what was taken over may be mended before it is collected
        if not kept:
            yield violated(f"{step.where}: the newest message is gone: {change(step.before, step.held)}")
        elif len(step.before) - kept not in (0, *turn_starts(step.before)):
            yield violated(
                f"{step.where}: a turn was cut in two: kept is {told(step.held[len(step.held) - kept])} onwards"
            )
        elif first is None or first.role != "user":
            yield violated(f"{step.where}: the history begins with {told(first) if first else 'nothing'}")
        else:
            yield "histories after a collection"


@check("history/damaged-save-is-refused")
def damaged_save_is_refused(view: View) -> Findings:
    """Half of a saved session is offered; it must not be half loaded."""
    for step in operations_done(view, "damaged-load"):
        loaded = step.first(Loaded)
        if step.first(Saved) is None:
            continue  # saving itself failed: nothing was offered
        if loaded is not None:
            yield violated(f"{step.where}: half of a saved session was loaded, with {len(loaded.messages)} messages")
        elif not step.unchanged:
            yield violated(f"{step.where}: the damaged session was refused, but: {change(step.before, step.held)}")
        else:
            yield "damaged sessions"


@check("history/swap-keeps-it")
def swap_keeps_it(view: View) -> Findings:
    """The new provider gets the conversation; the session's own copy stays as it is."""
    for step in operations_done(view, "new-provider"):
        if refused := _refused(step):
            yield refused
        elif not step.unchanged:
            yield violated(f"{step.where}: with another provider: {change(step.before, step.held)}")
        elif step.before:
            yield "histories after a swap"


@check("history/provider-holds-the-same")
def provider_holds_the_same(view: View) -> Findings:
    """After every turn and every operation, as long as there are two copies."""
    for step in steps(view):
        if step.provider is None or unpaired(step.held):
            continue  # what was taken over broken may be mended by the provider first
        both = [plain(in_two_roles(messages)) for messages in (step.held, step.provider)]
        found = differences(*both, names=("session", "provider"))
        if found:
            yield violated(f"{step.where}: the provider holds something else: {found[0]}", detail="\n".join(found))
        else:
            yield "histories of session and provider"


def _refused(step: Step) -> Verdict | None:
    refusal = step.refusal
    if refusal is None:
        return None
    return violated(f"{step.where}: it was refused: {refusal.error}: {refusal.message}")
