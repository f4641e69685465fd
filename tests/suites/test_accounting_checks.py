"""Checks of accounting: figures are the wire's, each call counts for itself."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from turnproof.judge.verdict import Status
from turnproof.judge.view import View
from turnproof.messages import TokenUsage
from turnproof.run.transcript import (
    Response,
    UsageUpdate,
    WireRequest,
)

from .build import RunBuilder, scripted, spoilt
from .cases import Case, good_runs_hold, status
from .conversations import answered_turns, growing, plain


def usage(nth: int = 0, **figures: Any) -> Any:
    """Figures of a response, changed by name: a number, or what to add to the present one."""

    def change(event: Response) -> Response:
        return replace(event, response=replace(event.response, usage=replace(event.response.usage, **figures)))

    return lambda view: spoilt(view, Response, change, nth)


def summed(view: View) -> View:
    """The second response adds the prompt of the first."""
    first, second = (event.response.usage for event in view.transcript.of(Response))
    prompt = first.prompt_tokens + second.prompt_tokens
    return usage(1, prompt_tokens=prompt, total_tokens=prompt + second.output_tokens)(view)  # type: ignore[no-any-return]


def fallen(view: View) -> View:
    """An update without the prompt's figures comes after one that had them."""
    at = next(n for n, event in enumerate(view.transcript.events) if isinstance(event, UsageUpdate))
    events = view.transcript.events
    late = UsageUpdate(usage=TokenUsage(output_tokens=9, total_tokens=9), turn=0, call=0)
    return View(
        replace(view.transcript, events=(*events[: at + 1], late, *events[at + 1 :])), view.dialect, view.scenario
    )


def rising(view: View) -> View:
    """An update comes before the one that there is."""
    at = next(n for n, event in enumerate(view.transcript.events) if isinstance(event, UsageUpdate))
    events = view.transcript.events
    first = replace(events[at], usage=TokenUsage(prompt_tokens=1, total_tokens=1))
    return View(replace(view.transcript, events=(*events[:at], first, *events[at:])), view.dialect, view.scenario)


def thoughtful() -> View:
    """An answer whose tokens were mostly thinking, by the figures of the service."""
    builder = RunBuilder(scripted(["Dry."], user="Hi."))
    return builder.turn("Hi.").call("Dry.", usage={"output": 40, "thinking": 30}).end().view()


CASES = [
    Case(
        "accounting/updates-are-told",
        lambda: answered_turns("basics/plain", "stream"),
        lambda view: spoilt(view, UsageUpdate, lambda event: None),
        "at least one call of `on_usage_update`",
        "never",
        "",
    ),
    Case(
        "accounting/updates-are-told",
        lambda: answered_turns("basics/plain", "stream"),
        lambda view: spoilt(view, UsageUpdate, lambda event: replace(event, usage=TokenUsage())),
        "figures, for an answer with the usage",
        "zeros",
        "/3/usage",
    ),
    Case(
        "accounting/prompt-counts-everything",
        growing,
        usage(2, prompt_tokens=5),
        "prompt tokens",
        "wrong-count",
        "/usage/prompt_tokens",
    ),
    Case(
        "accounting/output-is-what-the-wire-says",
        plain,
        usage(output_tokens=1),
        "4 output tokens; got 1",
        "wrong-count",
        "/usage/output_tokens",
    ),
    Case(
        "accounting/thinking-tokens-are-kept",
        thoughtful,
        usage(thinking_tokens=7),
        "expected 30 thinking tokens; got 7",
        "wrong-count",
        "/usage/thinking_tokens",
    ),
    Case(
        "accounting/total-is-prompt-plus-output",
        plain,
        usage(total_tokens=7),
        "22 total tokens",
        "wrong-sum",
        "/usage/total_tokens",
    ),
    Case(
        "accounting/cache-figures-are-kept",
        growing,
        usage(2, cache_read_tokens=0),
        "2500 as `cache_read_tokens`",
        "wrong-count",
        "/usage",
    ),
    Case(
        "accounting/updates-never-fall",
        lambda: rising(plain()),
        fallen,
        "at least 1 as `prompt_tokens`; got 0",
        "fell",
        "/4/usage",
    ),
    Case(
        "accounting/response-has-the-last-update", plain, usage(prompt_tokens=0), "last usage update", "lower", "/usage"
    ),
    Case(
        "accounting/each-call-counts-for-itself",
        plain,
        summed,
        "the sum with 18",
        "earlier-calls-added",
        "/usage/prompt_tokens",
    ),
]


test_a_good_run_holds_and_a_spoilt_one_is_found = good_runs_hold(CASES)


def compacted_on_the_way(view: View) -> View:
    """The first update has the prompt before the service made it shorter; the wire's last figures are without it."""
    at = next(n for n, event in enumerate(view.transcript.events) if isinstance(event, UsageUpdate))
    events = view.transcript.events
    first = replace(events[at], usage=TokenUsage(prompt_tokens=55_196, total_tokens=55_196))
    return View(replace(view.transcript, events=(*events[:at], first, *events[at:])), view.dialect, view.scenario)


def last_update_before_the_compaction(view: View) -> View:
    """The only update has the prompt before the service made it shorter."""
    return spoilt(view, UsageUpdate, lambda event: replace(event, usage=TokenUsage(prompt_tokens=55_196)))


def test_figures_may_fall_where_those_of_the_service_fall() -> None:
    assert status("accounting/updates-never-fall", compacted_on_the_way(plain())) is Status.HELD
    assert status("accounting/response-has-the-last-update", last_update_before_the_compaction(plain())) is Status.HELD


def test_figures_that_fall_to_something_else_than_the_service_said_are_found() -> None:
    view = usage(prompt_tokens=1)(last_update_before_the_compaction(plain()))

    assert status("accounting/response-has-the-last-update", view) is Status.VIOLATED


def asked_again(view: View) -> View:
    """The call got the same answer twice, since it asked for it twice."""
    events = list(view.transcript.events)
    at = next(n for n, event in enumerate(events) if isinstance(event, WireRequest))
    again = [replace(event, exchange=99) for event in events[at : at + 2]]
    return View(
        replace(view.transcript, events=(*events[: at + 2], *again, *events[at + 2 :])), view.dialect, view.scenario
    )


@pytest.mark.parametrize("figure", ["prompt_tokens", "output_tokens"])
def test_a_call_that_asked_twice_may_report_what_both_answers_cost(figure: str) -> None:
    requirement = {
        "prompt_tokens": "accounting/prompt-counts-everything",
        "output_tokens": "accounting/output-is-what-the-wire-says",
    }[figure]
    own = next(iter(plain().transcript.of(Response))).response.usage
    both = {name: 2 * getattr(own, name) for name in ("prompt_tokens", "output_tokens", "total_tokens")}
    assert status(requirement, asked_again(plain())) is Status.HELD
    assert status(requirement, usage(**both)(asked_again(plain()))) is Status.HELD
    assert status(requirement, usage(**both)(plain())) is Status.VIOLATED, "it asked once"
    more = both | {figure: 3 * getattr(own, figure)}
    assert status(requirement, usage(**more)(asked_again(plain()))) is Status.VIOLATED
