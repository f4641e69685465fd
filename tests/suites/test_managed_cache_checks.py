"""Requirements on managed caches, held against one real run whose cache expires between two turns."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Literal

import pytest
from msgspec.structs import replace

import turnproof_suites
from turnproof.dialects import dialect
from turnproof.judge.verdict import Status
from turnproof.judge.view import View
from turnproof.run.driver import Runner, RunSpec
from turnproof.run.transcript import RunKey, Transcript, TurnEnded, WireRequest, WireResponse
from turnproof.scenarios import Scenario, load

from .build import spoilt
from .cases import Case, good_runs_hold, status

pytestmark = pytest.mark.usefixtures("forked_workers")

SCENARIO = "cache/managed_expiry"


@cache
def transcript(mutant: str | None = None) -> Transcript:
    """What the reference adapter does, or does when it is broken."""
    with Runner(jobs=1) as runner:
        return runner.run(RunSpec("google_genai", scenario(), RunKey(SCENARIO, "stateless", "stream"), mutant))


@cache
def scenario() -> Scenario:
    folder = Path(turnproof_suites.__file__).parent
    return load(folder / "scenarios" / f"{SCENARIO}.yaml")


def run(mutant: str | None = None) -> View:
    return View(transcript(mutant), dialect("gemini"), scenario())


def in_full(event: WireRequest) -> WireRequest:
    """The request as if its prefix had not been stored."""
    if event.operation != "generate":
        return event
    body = {name: value for name, value in event.body.items() if name != "cachedContent"}
    words = "The greenhouse has twelve beds. " * 800
    return replace(event, body=body | {"systemInstruction": {"parts": [{"text": words}]}})


def without_deletions(event: WireRequest) -> WireRequest | None:
    return None if event.method == "DELETE" else event


CASES = [
    Case(
        "cache/managed-cache-serves-the-prefix",
        run,
        lambda view: spoilt(view, WireRequest, in_full, every=True),
        "got all of them in the request",
        "in-full",
        "/systemInstruction/parts",
    ),
    Case(
        "cache/managed-cache-is-made-once",
        run,
        lambda view: run("managed-cache-made-twice"),
        "at most 2 managed caches for them, of which the service lost 1; got 4",
        "again",
        "",
    ),
    Case(
        "cache/lost-cache-is-replaced",
        run,
        lambda view: spoilt(view, TurnEnded, lambda event: replace(event, outcome="error"), 2),
        'expected the outcome "answer", though the service has lost',
        "outcome",
    ),
    Case(
        "cache/managed-caches-are-deleted",
        run,
        lambda view: spoilt(view, WireRequest, without_deletions, every=True),
        "1 managed caches deleted (2 made, 1 lost by the service); got 0",
        "left",
    ),
]


test_the_good_run_holds_and_the_spoilt_one_does_not = good_runs_hold(CASES)


def test_a_name_that_the_service_had_lost_is_not_named_again() -> None:
    refusals = [
        event
        for event in run().transcript.of(WireResponse)
        if event.status == 403 and event.turn == 2 and event.call >= 0
    ]
    requests = (
        event for event in run().transcript.of(WireRequest) if event.turn == 2 and event.operation == "generate"
    )
    named = next(requests).body["cachedContent"]
    assert len(refusals) == 1

    def again(event: WireRequest) -> WireRequest:
        if event.operation != "generate" or event.turn != 2:
            return event
        return replace(event, body=event.body | {"cachedContent": named})

    view = spoilt(run(), WireRequest, again, every=True)
    verdict = Case("cache/lost-cache-is-replaced", run, lambda view: view).verdict(view)
    assert verdict.status is Status.VIOLATED
    (found,) = verdict.findings
    assert (found.code, found.place.pointer) == ("cache/lost-cache-is-replaced/named-again", "/cachedContent")


def test_where_nothing_is_cached_nothing_is_compared() -> None:
    bare = View(transcript(), dialect("gemini"), replace(scenario(), cache=False))
    verdict = Case("cache/managed-cache-serves-the-prefix", run, lambda view: view).verdict(bare)
    assert verdict.status is Status.INCONCLUSIVE


@pytest.mark.parametrize(("origin", "expected"), [("service", Status.INCONCLUSIVE), ("", Status.VIOLATED)])
def test_where_the_real_service_makes_no_cache_there_is_none_to_name(
    origin: Literal["service", ""], expected: Status
) -> None:
    """As a server does that only imitates the API. Our own emulator refuses what is wrong with the request."""
    creations = [event for event in run().transcript.of(WireRequest) if event.path.endswith("cachedContents")]
    prefix = {name: value for name, value in creations[0].body.items() if name in ("systemInstruction", "tools")}
    numbers = {event.exchange for event in creations}

    def sent_in_full(event: WireRequest) -> WireRequest:
        if event.operation != "generate":
            return event
        rest = {name: value for name, value in event.body.items() if name != "cachedContent"}
        return replace(event, body=rest | prefix)

    def refused(event: WireResponse) -> WireResponse:
        return replace(event, status=404, origin=origin) if event.exchange in numbers else event

    view = spoilt(spoilt(run(), WireRequest, sent_in_full, every=True), WireResponse, refused, every=True)
    assert status("cache/managed-cache-serves-the-prefix", view) is expected
