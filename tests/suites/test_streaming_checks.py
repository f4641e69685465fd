"""Streaming checks, each on a run that keeps the requirement and on one spoilt in one place."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from msgspec.structs import replace

from turnproof.dialects.base import ReplyPart
from turnproof.judge.requirements import judge
from turnproof.judge.verdict import Status
from turnproof.judge.view import View
from turnproof.messages import Text, Thought
from turnproof.run.transcript import (
    Chunk,
    FunctionCallDetected,
    LateCallback,
    Response,
    WireResponse,
)

from .build import RunBuilder, response_with, scripted, spoilt
from .cases import Case, good_runs_hold, suite
from .conversations import (
    CUT_CALL,
    THREE,
    disturbed,
    no_arguments,
    overlapping,
    plain,
    read,
    tools,
)
from .test_core_checks import raised


def left_in_the_middle(view: View) -> View:
    """The client closed before the server had written the end of the first answer."""
    return spoilt(
        view,
        WireResponse,
        lambda event: replace(event, ended="cut-by-peer", written=1, body=event.body.partition("\n\n")[0] + "\n\n"),
    )


LONG = ReplyPart(Text("Bed 3 is moist. " * 5), ("Bed 3 is moist. " * 2, "Bed 3 is moist. ", "Bed 3 is moist. " * 2))


def in_one_piece(answer: ReplyPart) -> Callable[[View], View]:
    """The text of three pieces in one."""

    def change(view: View) -> View:
        for number in (2, 1):
            view = spoilt(view, Chunk, lambda _: None, number)
        return spoilt(view, Chunk, lambda event: replace(event, text="".join(answer.pieces)))

    return change


CASES = [
    Case(
        "streaming/chunks-make-up-the-text",
        plain,
        lambda view: spoilt(view, Chunk, lambda event: None),
        "moist",
        "changed",
        "/0/text",
    ),
    Case(
        "streaming/text-is-passed-on-in-pieces",
        lambda: RunBuilder(scripted([LONG])).turn("How is bed 3?").call(LONG).end().view(),
        in_one_piece(LONG),
        "a text that came in 3 pieces",
        "at-once",
        "/0",
    ),
    Case(
        "streaming/no-callback-after-the-return",
        plain,
        lambda view: spoilt(view, Chunk, lambda event: LateCallback(kind="chunk", turn=event.turn, call=event.call)),
        "after its call had returned",
        "late",
        "/1/kind",
    ),
    Case(
        "streaming/calls-are-announced-once",
        tools,
        lambda view: spoilt(
            view,
            FunctionCallDetected,
            lambda event: replace(event, function_call=replace(event.function_call, args={})),
        ),
        "as in the response",
        "changed",
        "/2/function_call/args",
    ),
    Case(
        "streaming/callbacks-follow-the-models-order",
        tools,
        # The first announcement comes before the text: events change places.
        lambda view: _moved(view),
        "expected callbacks for",
        "order",
        "/0",
    ),
    Case(
        "streaming/characters-survive-the-cut",
        lambda: disturbed("split"),
        lambda view: spoilt(view, Response, response_with(parts=(Text("Gr\ufffd\ufffde ☀"),))),
        "split",
        "changed",
        "/parts/0/text",
    ),
    Case(
        "streaming/spelling-changes-nothing",
        lambda: disturbed("respelled"),
        raised,
        "however the stream is",
        "raised",
        "/error",
    ),
    Case(
        "streaming/keep-alives-change-nothing", lambda: disturbed("comment"), raised, "keep-alives", "raised", "/error"
    ),
    Case(
        "streaming/keep-alives-change-nothing",
        lambda: disturbed("comment"),
        lambda view: raised(left_in_the_middle(view)),
        "keep-alives",
        "raised",
        "/error",
    ),
    Case(
        "streaming/keep-alives-change-nothing",
        lambda: disturbed("comment"),
        lambda view: spoilt(view, Response, response_with(parts=(Text("Größe"), read(bed="4")))),
        "with any keep-alives",
        "changed",
        "/parts/0/text",
    ),
    Case(
        "streaming/spelling-changes-nothing",
        lambda: disturbed("respelled"),
        lambda view: spoilt(view, Response, response_with(parts=(Text("Größe ☀"), read(bed="4")))),
        'expected "3"',
        "changed",
        "/parts/1/args/bed",
    ),
    Case(
        "streaming/pieces-go-to-their-block",
        overlapping,
        raised,
        "whichever blocks are open at once",
        "raised",
        "/error",
    ),
    Case(
        "streaming/pieces-go-to-their-block",
        overlapping,
        lambda view: spoilt(view, Response, response_with(parts=(Text("Größe ☀"), read("4"), read("3", "toolu_2")))),
        'expected "3", whichever blocks are open at once',
        "changed",
        "/parts/1/args/bed",
    ),
]


def _moved(view: View) -> View:
    events = list(view.transcript.events)
    announced = next(n for n, event in enumerate(events) if isinstance(event, FunctionCallDetected))
    first = next(n for n, event in enumerate(events) if isinstance(event, Chunk))
    events.insert(first, events.pop(announced))
    return View(replace(view.transcript, events=tuple(events)), view.dialect, view.scenario)


test_a_good_run_holds_and_a_spoilt_one_is_found = good_runs_hold(CASES)


def modes(view: View, other: View) -> Status:
    return judge(suite().catalogue["streaming/stream-and-batch-agree"], "stateless", [view, other]).status


def test_streamed_and_whole_answers_are_compared_with_each_other() -> None:
    stream, batch = tools(), tools(mode="batch")
    assert modes(stream, batch) is Status.HELD
    other = spoilt(batch, Response, response_with(parts=(Text("Bed 3."),)), 1)
    assert modes(stream, other) is Status.VIOLATED


def test_a_blank_thought_that_carries_nothing_is_none_in_either_mode() -> None:
    stream, batch = tools(), tools(mode="batch")
    (answer,) = [event.response for event in batch.transcript.of(Response) if event.call == 1]
    blank = spoilt(batch, Response, response_with(parts=(Thought(" "), *answer.parts)), 1)
    assert modes(stream, blank) is Status.HELD
    telling = spoilt(batch, Response, response_with(parts=(Thought("Hm."), *answer.parts)), 1)
    assert modes(stream, telling) is Status.VIOLATED


def test_an_answer_that_the_client_left_and_returned_in_part_says_nothing_of_keep_alives() -> None:
    view = left_in_the_middle(disturbed("comment"))
    verdict = judge(suite().catalogue["streaming/keep-alives-change-nothing"], "stateless", [view])
    assert verdict.status is Status.INCONCLUSIVE


@pytest.mark.parametrize(
    ("requirement", "view"),
    [
        ("streaming/spelling-changes-nothing", lambda: disturbed("respelled", CUT_CALL)),
        ("streaming/characters-survive-the-cut", lambda: disturbed("split", CUT_CALL)),
        ("tools/no-arguments-are-an-empty-object", lambda: no_arguments(CUT_CALL)),
    ],
)
def test_a_call_whose_arguments_are_no_json_is_a_reason_to_raise_however_its_answer_came(
    requirement: str, view: Callable[[], View]
) -> None:
    verdict = judge(suite().catalogue[requirement], "stateless", [raised(view())])
    assert verdict.status is Status.INCONCLUSIVE


def test_overlapping_blocks_are_no_spelling_that_every_service_may_use() -> None:
    """They are asked for by a requirement of their own, which no other spelling shows."""
    spelling, blocks = "streaming/spelling-changes-nothing", "streaming/pieces-go-to-their-block"
    catalogue = suite().catalogue
    assert judge(catalogue[spelling], "stateless", [raised(overlapping())]).status is Status.INCONCLUSIVE
    assert judge(catalogue[blocks], "stateless", [raised(disturbed("respelled"))]).status is Status.INCONCLUSIVE


def test_an_answer_of_a_real_service_that_was_given_up_accuses_nobody() -> None:
    """Nobody knows what it was given up for, or what would have come."""
    view = raised(left_in_the_middle(disturbed("comment")))
    of_service = spoilt(view, WireResponse, lambda event: replace(event, origin="service"))
    requirement = suite().catalogue["streaming/keep-alives-change-nothing"]
    assert judge(requirement, "stateless", [view]).status is Status.VIOLATED
    assert judge(requirement, "stateless", [of_service]).status is Status.INCONCLUSIVE


def test_modes_are_not_compared_where_the_wire_itself_differed() -> None:
    stream, batch = plain(), RunBuilder(scripted(["No."]), mode="batch").turn("How?").call("No.").end().view()
    assert modes(stream, batch) is Status.INCONCLUSIVE


def test_a_short_text_may_be_gathered() -> None:
    requirement = suite().catalogue["streaming/text-is-passed-on-in-pieces"]
    verdict = judge(requirement, "stateless", [in_one_piece(THREE)(plain())])
    assert verdict.status is not Status.VIOLATED


@pytest.mark.parametrize(
    ("requirement", "view", "lost"),
    [
        ("streaming/chunks-make-up-the-text", plain, Chunk),
        ("streaming/calls-are-announced-once", tools, FunctionCallDetected),
    ],
)
def test_a_library_need_call_no_callback_of_its_caller_after_one_that_raised(
    requirement: str, view: Callable[[], View], lost: type[Chunk | FunctionCallDetected]
) -> None:
    without = spoilt(view(), lost, lambda event: None)
    assert judge(suite().catalogue[requirement], "stateless", [without]).status is Status.VIOLATED
    after_one_raised = without
    for number, _ in enumerate(without.transcript.of(Response)):
        after_one_raised = spoilt(
            after_one_raised, Response, lambda event: replace(event, callback_raised=True), number
        )
    assert judge(suite().catalogue[requirement], "stateless", [after_one_raised]).status is Status.INCONCLUSIVE
