"""What kept a requirement from being decided, in words, and what to do about it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from .._base.counts import counted
from .._base.printable import one_line
from ..run.tracebacks import at_own_frame
from .undecided import Obstacle, Undecided

ABOUT_ARGUMENTS: Final = "call tools with the arguments of the call, as a dict, and with nothing else in it"
"""What to do where a tool was given something else."""

_NAMED: Final = 3
"""Scenarios and runs that a sentence names; of more it says how many there are."""

_NEVER: Final[Mapping[str, str]] = {
    "calls": "no provider call reached the adapter",
    "requests": "no request for an answer reached the API",
    "answers": "no call returned what the API had answered",
    "callbacks": "no callback was called",
    "failures": "no request failed",
    "helpers": "no method beside `complete()` was called",
    "steps": "nothing was done with a session",
}
"""What did not happen, by what a requirement counts."""


def why_undecided(reason: Undecided) -> str:
    """What stood in the way, in a sentence without its full stop."""
    match reason.kind:
        case Obstacle.OPERATION_RAISED if reason.operation == "tool":
            return f"{one_line(reason.message)}, in {_some(reason.runs)}"
        case Obstacle.OPERATION_RAISED:
            return f"the session's {reason.operation}() raised {_exception(reason)}, in {_some(reason.runs)}"
        case Obstacle.CALL_RAISED:
            return f"a call raised {_exception(reason)}, in {_some(reason.runs)}"
        case Obstacle.REQUEST_REFUSED:
            rule = reason.rule
            api_words = f" ({one_line(rule.message)})" if rule is not None and rule.message else ""
            name = rule.id if rule is not None else "?"
            return f"the API refuses a request by the rule {name}{api_words}, in {_some(reason.runs)}"
        case Obstacle.PROBE_RAISED:
            where = _some(reason.runs)
            return f"the probe {reason.probe} was not made: the adapter raised {_exception(reason)}, in {where}"
        case Obstacle.RUN_CUT:
            detail = f": {one_line(reason.detail)}" if reason.detail else ""
            return f"{_some(reason.runs)} did not come to the end ({reason.how}){detail}"
        case Obstacle.CALLBACK_NEVER_CAME:
            where = _of_scenarios(reason.scenarios)
            return f"your adapter never called {reason.callback} in {where} that would show it"
        case Obstacle.NEVER_ASKED:
            return f"{_NEVER.get(reason.counts, 'nothing was asked')} in {_some(reason.scenarios)}"
        case Obstacle.NOTHING_SHOWN:
            return f"there was nothing to compare in {_some(reason.scenarios)}"
        case Obstacle.NOT_RUN:
            show, them = ("shows", "it") if len(reason.scenarios) == 1 else ("show", "them")
            depth = f" (depth {reason.depth})" if reason.depth else ""
            return f"{_some(reason.scenarios)}{depth} {show} it, and this run left {them} out"
        case Obstacle.CLAIM_MISSING:
            lacks = f"{' and '.join(reason.lacks)}, which {'is' if len(reason.lacks) == 1 else 'are'} not claimed"
            return f"{_showing(reason.scenarios)} {lacks}"


def what_to_do(reason: Undecided) -> str:
    """What would remove it: an imperative sentence without its full stop."""
    match reason.kind:
        case Obstacle.OPERATION_RAISED if reason.operation == "tool":
            return ABOUT_ARGUMENTS
        case Obstacle.OPERATION_RAISED:
            return f"mend {reason.operation}() in the binding first: what it returns is what the requirement looks at"
        case Obstacle.CALL_RAISED:
            return "mend the call first; what the requirement asks for comes behind it"
        case Obstacle.REQUEST_REFUSED:
            return "mend the request first: the requirement that names the rule has the place"
        case Obstacle.PROBE_RAISED:
            return "mend what raised: the probe asks once the object takes what is done to it ahead of a call"
        case Obstacle.RUN_CUT:
            return "find out why the run ended; run it by itself with --scenario and --in-process"
        case Obstacle.CALLBACK_NEVER_CAME:
            return f"call {reason.callback} while the answer arrives"
        case Obstacle.NEVER_ASKED:
            return "look at the conversation in the report: who was not asked has not shown that it holds"
        case Obstacle.NOTHING_SHOWN:
            return "look at the conversation in the report: what the requirement is about is not there"
        case Obstacle.NOT_RUN:
            depth = f" --depth {reason.depth}" if reason.depth else ""
            return f"run it with --scenario {reason.scenarios[0]}{depth}"
        case Obstacle.CLAIM_MISSING:
            return f"claim {' and '.join(reason.lacks)}, if you have it"


def in_one_sentence(reasons: Sequence[Undecided]) -> str:
    """The first reason, and how many more there are; empty for none."""
    if not reasons:
        return ""
    more = len(reasons) - 1
    return why_undecided(reasons[0]) + (f" (and {counted(more, 'more reason')})" if more else "")


def why_not_claimed(reasons: Sequence[Undecided], kind: str) -> str:
    """Why no scenario could ever decide it, with all that each of them needs."""
    every = [name for reason in reasons for name in reason.scenarios]
    ways = list(dict.fromkeys(" and ".join(reason.lacks) for reason in reasons))
    return f"{_showing(every)} what the {kind} does not claim: {', or '.join(ways)}"


def _exception(reason: Undecided) -> str:
    """What was raised, and where."""
    what = f"{reason.error}: {one_line(reason.message)}" if reason.message else reason.error
    return what + at_own_frame(reason.raised)


def _of_scenarios(names: Sequence[str]) -> str:
    return f"the scenario {names[0]}" if len(names) == 1 else f"the {counted(len(names), 'scenario')}"


def _showing(names: Sequence[str]) -> str:
    return f"{_of_scenarios(names)} that {'shows it needs' if len(names) == 1 else 'show it need'}"


def _some(names: Sequence[str]) -> str:
    if len(names) <= _NAMED:
        return " and ".join(filter(None, (", ".join(names[:-1]), *names[-1:])))
    return f"{', '.join(names[:_NAMED])} and {len(names) - _NAMED} more"
