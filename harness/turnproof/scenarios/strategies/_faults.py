"""What goes wrong in a turn: where it is cancelled, and what happens to the socket."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final, get_args

from hypothesis import strategies as st

from ...dialects.sse import Spelling
from .._consistency import ATTEMPTS
from ..documents import Round, events, running
from ._weights import Setting, seldom, weighted

_PASSING: Final = (429, 500, 502, 503, 529)
_LASTING: Final = {400: "InvalidRequestError", 401: "AuthenticationError", 403: "AuthenticationError",
                   404: "InvalidRequestError", 422: "InvalidRequestError"}  # fmt: skip
_HARMLESS: Final = ("split", "drip", "comment", "respelled", "merged", "compressed", "idle-close")
_SPELLINGS: Final[tuple[Spelling, ...]] = get_args(Spelling)
_WORDS: Final = st.sampled_from((
    "This would exceed your rate limit of 30,000 input tokens per minute. Reduce the prompt length.",
    "max_tokens: 100000 > 64000, the maximum for this model: not found, unauthorized, overloaded",
))  # fmt: skip
"""What a service may say beside a status, and what tells nothing of its kind."""


@st.composite
def cancelled(draw: st.DrawFn, setting: Setting, answers: Sequence[Round]) -> dict[str, Any]:
    """The keys of a turn that is cancelled somewhere: `cancel`, the answers up to there, and `faults` to wait after."""
    number = draw(st.integers(0, len(answers) - 1))
    calls = len(running(answers[number]))
    claims = setting.means.claims
    points = {"before-start": 1, "backoff": 2 if claims.typed_errors else 0}
    points["event"] = 8 if setting.streamed else 0
    points["batch"] = 2 if "batch" not in setting.modes or claims.cancel_batch else 0
    points |= {"tool": 4, "between-tools": 2} if calls else {}
    point = draw(weighted(points))
    if point == "before-start":
        return {"cancel": point}
    cut: dict[str, Any] = {"round": number} if number else {}
    turn: dict[str, Any] = {"model": list(answers[: number + 1])}
    if point == "event":
        cut["after"] = draw(st.sampled_from([*events(answers[number]), "usage:1"]))
    else:
        cut = {"at": point} | cut
    if point in ("tool", "between-tools") and (index := draw(st.integers(0, calls - 1))):
        cut["index"] = index
    if point == "backoff":
        fault = draw(_fault(setting, answers, number, lasting=False, harmless=False))
        fault["times"] = draw(st.integers(1, ATTEMPTS - 1))
        if index := draw(st.integers(0, fault["times"] - 1)):
            cut["index"] = index
        turn["faults"] = fault
    if setting.means.can("stop") and draw(st.booleans()):
        cut["by"] = "stop"
    return turn | {"cancel": cut}


@st.composite
def disturbed(draw: st.DrawFn, setting: Setting, answers: Sequence[Round]) -> dict[str, Any]:
    """The keys of a turn in which something goes wrong on the way: `faults`, and `error` where it never goes well."""
    number = draw(st.integers(0, len(answers) - 1))
    typed = setting.means.claims.typed_errors
    fault = draw(_fault(setting, answers, number, lasting=typed, harmless=True))
    if fault["kind"] in _HARMLESS or not typed:
        return {"faults": fault}
    status = fault.get("status", 0)
    if status in _LASTING:
        fault["times"] = ATTEMPTS
        return {"faults": fault, "error": _LASTING[status]}
    times = draw(weighted({1: 4, ATTEMPTS - 1: 1, ATTEMPTS: 2}))
    if times > 1:
        fault["times"] = times
    return {"faults": fault} | ({"error": _error_of(fault)} if times == ATTEMPTS else {})


def _error_of(fault: dict[str, Any]) -> str:
    status = fault.get("status", 0)
    if not status:
        return "TransportError"
    return "RateLimitError" if status == 429 else "OverloadedError"


@st.composite
def _fault(
    draw: st.DrawFn, setting: Setting, answers: Sequence[Round], number: int, *, lasting: bool, harmless: bool
) -> dict[str, Any]:
    kind = draw(weighted(dict(_kinds(setting, lasting=lasting, harmless=harmless))))
    fault: dict[str, Any] = {"kind": kind} | ({"round": number} if number else {})
    if kind == "status":
        fault["status"] = draw(st.sampled_from((*_PASSING, *(_LASTING if lasting else ()))))
        if fault["status"] == 429 and draw(st.booleans()):
            fault["retry-after"] = 17
        if draw(seldom(3)):
            fault["message"] = draw(_WORDS)
    elif kind == "error-event":
        fault |= {"after": draw(_place(answers[number])), "status": draw(st.sampled_from((500, 529)))}
    elif kind == "respelled":
        fault["spelling"] = draw(st.sampled_from(_SPELLINGS))
    elif kind in ("garbage", "truncate", "no-end"):
        fault["after"] = draw(_place(answers[number]))
    elif kind == "reset":
        fault |= {"after": draw(_place(answers[number]))} if setting.streamed and draw(st.booleans()) else {"index": -1}
    return fault


def _kinds(setting: Setting, *, lasting: bool, harmless: bool) -> Iterator[tuple[str, int]]:
    """The kinds of fault that there may be, with their weights."""
    if setting.means.claims.typed_errors or not harmless:
        yield from (("status", 5), ("reset", 4), ("refuse-connection", 1))
        if setting.streamed:
            yield from (("error-event", 2), ("truncate", 2), ("no-end", 2), ("garbage", 1))
    if harmless:
        yield from (("split", 2), ("drip", 1), ("compressed", 1), ("idle-close", 1))
        if setting.streamed:
            yield from (("comment", 1), ("respelled", 1), ("merged", 1))


def _place(answer: Round) -> st.SearchStrategy[str]:
    return st.sampled_from(events(answer))
