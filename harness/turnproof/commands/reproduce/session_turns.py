"""The turns of a run as a file has them: what is said, what tools return, where a turn is cancelled, the answers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ...messages import Text, thaw
from ...run.transcript import Transcript, WireRequest, WireResponse
from ...scenarios.model import Scenario, ToolScript, Turn
from .recorded_answers import RecordedAnswer, answers_of, held_answer
from .run_findings import UnreproducibleError


@dataclass(frozen=True)
class FileTurn:
    """A turn that says `text`. `results` are what tools return: `(tool, arguments that this is for, result)`, the
    result a JSON value, or an exception. `cancelled` says how the turn is cancelled where the server does not do so:
    the number of the piece of text that it is cancelled in, or `("tool", 1)`: while its first tool runs."""

    text: str
    results: tuple[tuple[str, dict[str, Any], Any], ...] = ()
    cancelled: int | tuple[str, int] | None = None


def file_turns(scenario: Scenario, first: int, last: int) -> list[FileTurn]:
    """These turns of a scenario. Raises UnreproducibleError, with the reason, where one does more than a file does."""
    if scenario.given or scenario.enrichers:
        raise UnreproducibleError("the session of this run goes on from elsewhere, or changes what is said")
    return [_file_turn(scenario.turns[n], is_first=n == first) for n in range(first, last + 1)]


def is_failing(turns: Sequence[FileTurn]) -> bool:
    """Whether a tool of these turns fails."""
    return any(isinstance(result, Exception) for one in turns for _, _, result in one.results)


def is_cancelled(scenario: Scenario, first: int, last: int) -> bool:
    """Whether one of these turns is cancelled."""
    return any(turn.cancel is not None for turn in scenario.turns[first : last + 1])


def turn_answers(transcript: Transcript, scenario: Scenario, turns: Sequence[int]) -> tuple[RecordedAnswer, ...]:
    """The answers to the requests of these turns, in their order."""
    requests = turn_requests(transcript, turns)
    responses = {one.exchange: one for one in transcript.of(WireResponse)}
    found: list[RecordedAnswer] = []
    for request in requests:
        response = responses.get(request.exchange)
        if response is None:
            continue
        (answer,) = answers_of(transcript, [request])
        cut = scenario.turns[request.turn].cancel
        if response.held and cut is not None and not cut.on_piece:
            if response.fault is not None:
                raise UnreproducibleError("a turn was cancelled in an answer that came in other pieces than its events")
            answer = held_answer(answer, response)
        found.append(answer)
    return tuple(found)


def turn_requests(transcript: Transcript, turns: Sequence[int]) -> list[WireRequest]:
    """The requests of these turns, in order."""
    found = [one for one in transcript.of(WireRequest) if one.turn in turns and not one.probe]
    return sorted(found, key=lambda one: one.exchange)


def _file_turn(turn: Turn, *, is_first: bool) -> FileTurn:
    needed = {*turn.operations} - {"stop", "send_parts"} - ({"configure"} if is_first else set())
    if needed or turn.before or turn.response_schema is not None:
        what = ", ".join(sorted({*needed, *turn.before})) or "structured output"
        raise UnreproducibleError(f"a turn of this run does more than speak ({what})")
    if len(turn.user) != 1 or not isinstance(turn.user[0], Text):
        raise UnreproducibleError("a turn of this run says more than a text")
    return FileTurn(turn.text, tuple(_results(turn)), _cancelled(turn))


def _cancelled(turn: Turn) -> int | tuple[str, int] | None:
    match turn.cancel:
        case None:
            return None
        case cut if cut.on_piece:
            return cut.on_piece
        case cut if cut.at in ("event", "batch"):
            return None  # the server does it
        case cut if cut.at == "tool":
            return "tool", cut.index + 1
    raise UnreproducibleError(f"a turn of this run is cancelled at a moment that no file has ({turn.cancel.at})")


def _results(turn: Turn) -> list[tuple[str, dict[str, Any], Any]]:
    found: list[tuple[str, dict[str, Any], Any]] = []
    for name, script in turn.results.items():
        found += [(name, dict(case.when), _result(case.then)) for case in script.cases]
        found.append((name, {}, _result(script)))
    return found


def _result(script: ToolScript) -> Any:
    if script.attachments:
        raise UnreproducibleError("a tool of this run returns more than a value")
    return RuntimeError(script.error) if script.error is not None else thaw(script.result)
