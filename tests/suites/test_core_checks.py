"""Core and streaming checks, each on a run that keeps the requirement and on one spoilt in one place."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from msgspec.structs import replace

from turnproof.dialects.base import ReplyPart
from turnproof.judge.requirements import judge
from turnproof.judge.verdict import Status
from turnproof.judge.view import View
from turnproof.messages import FinishReason, Opaque, ProviderData, Text, Thought
from turnproof.run.transcript import (
    Chunk,
    FunctionCallDetected,
    LateCallback,
    Response,
    RunEnded,
    WireRequest,
    WireResponse,
)

from .build import RunBuilder, body_with, error, response_with, scripted, spoilt
from .cases import Case, good_runs_hold, suite
from .conversations import (
    CUT_CALL,
    THREE,
    answered_turns,
    disturbed,
    no_arguments,
    overlapping,
    plain,
    probed,
    read,
    tools,
)


def ended(**fields: object) -> object:
    def change(view: View) -> View:
        end = replace(view.transcript.end, **fields)
        transcript = replace(view.transcript, events=(*view.transcript.events[:-1], end))
        return View(transcript, view.dialect, view.scenario)

    return change


def raised(view: View) -> View:
    """The first response becomes an exception."""
    return spoilt(
        view, Response, lambda event: replace(error("KeyError", typed=False), turn=event.turn, call=event.call)
    )


def left_in_the_middle(view: View) -> View:
    """The client closed before the server had written the end of the first answer."""
    return spoilt(
        view,
        WireResponse,
        lambda event: replace(event, ended="cut-by-peer", written=1, body=event.body.partition("\n\n")[0] + "\n\n"),
    )


SEARCH = Opaque("anthropic-messages", "server_tool_use", {"type": "server_tool_use", "id": "srvtoolu_1"})
CITED = Text("12 mm.", provider_data=ProviderData("anthropic-messages", "", {"citations": [{"cited_text": "12 mm"}]}))


def searched() -> View:
    """A turn in which the service searches by itself, and one after it."""
    turns = (scripted(["Wait.", SEARCH, CITED], user="Rain?"), scripted(["Yes."], user="Sure?"))
    builder = RunBuilder(*turns, name="service/searches")
    return builder.turn("Rain?").call("Wait.", SEARCH, CITED).end().turn("Sure?").call("Yes.").end().view()


def without_search(view: View) -> View:
    """The search is missing from the second request."""
    return spoilt(view, WireRequest, body_with(lambda body: body["messages"][1]["content"].pop(1) and None), 1)


LONG = ReplyPart(Text("Bed 3 is moist. " * 5), ("Bed 3 is moist. " * 2, "Bed 3 is moist. ", "Bed 3 is moist. " * 2))


def in_one_piece(answer: ReplyPart) -> Callable[[View], View]:
    """The text of three pieces in one."""

    def change(view: View) -> View:
        for number in (2, 1):
            view = spoilt(view, Chunk, lambda _: None, number)
        return spoilt(view, Chunk, lambda event: replace(event, text="".join(answer.pieces)))

    return change


def without_answer(view: View) -> View:
    """The model's message is missing from the second request."""
    return spoilt(view, WireRequest, body_with(lambda body: body["messages"].pop(1) and None), 1)


def finding(event: WireRequest) -> WireRequest:
    refusal = {
        "rule": "anthropic-messages/empty-text",
        "evidence": "ISSUE",
        "status": 400,
        "kind": "invalid_request_error",
        "message": "messages: text content blocks must be non-empty",
        "path": "$.messages.0",
        "enforced": True,
    }
    return replace(event, findings=(refusal,))


def doubled(event: Response) -> Response:
    return replace(event, response=replace(event.response, parts=tuple(reversed(event.response.parts))))


CORE = [
    Case("core/turns-come-to-an-end", plain, ended(how="hung"), "hung", "hung", "/0/how"),  # type: ignore[arg-type]
    Case(
        "core/turns-come-to-an-end",
        plain,
        lambda view: spoilt(view, WireResponse, lambda event: replace(event, fault="circle"), 1),
        "1 requests in one turn",
        "circles",
        "",
    ),
    Case("core/wire-is-what-the-session-holds", plain, without_answer, "turn 1", "lost-text", "/messages"),
    Case(
        "core/system-text-is-sent-each-turn",
        plain,
        lambda view: spoilt(view, WireRequest, body_with(lambda body: body.pop("system") and None), 1),
        "greenhouse",
        "missing",
        "",
    ),
    Case(
        "core/new-message-goes-out-once",
        plain,
        lambda view: spoilt(
            view, WireRequest, body_with(lambda body: body["messages"].append(body["messages"][-1])), 1
        ),
        "got 2 in the request",
        "more-than-once",
        "/messages/3/content/0",
    ),
    Case(
        "core/no-request-is-refused",
        plain,
        lambda view: spoilt(view, WireRequest, finding),
        "empty-text",
        "refused",
        "/messages/0",
    ),
    Case(
        "core/text-is-what-the-wire-carried",
        plain,
        lambda view: spoilt(view, Response, response_with(parts=(Text("Bed 3 is moist"),))),
        "moist.",
        "changed",
        "/parts/0/text",
    ),
    Case(
        "core/parts-keep-the-models-order",
        tools,
        lambda view: spoilt(view, Response, doubled),
        "in this order",
        "order",
        "/parts",
    ),
    Case(
        "core/finish-reason-says-why",
        tools,
        lambda view: spoilt(view, Response, response_with(finish_reason=FinishReason.STOP)),
        'the finish reason "tool_use"',
        "wrong",
        "/finish_reason",
    ),
    Case(
        "core/providers-own-finish-word-is-kept",
        plain,
        lambda view: spoilt(view, Response, response_with(raw_finish="stop")),
        "end_turn",
        "changed",
        "/raw_finish",
    ),
    Case("core/a-good-answer-is-returned", plain, raised, "KeyError", "raised", "/error"),
    Case(
        "core/asks-for-the-model-it-was-given",
        plain,
        lambda view: spoilt(view, WireRequest, body_with(lambda body: body | {"model": "claude-haiku-4-5"})),
        "haiku",
        "another-model",
        "/model",
    ),
    Case(
        "core/arguments-are-left-alone",
        plain,
        lambda view: spoilt(view, Response, lambda event: replace(event, mutated=("messages",))),
        "messages",
        "changed",
        "",
    ),
    Case(
        "core/a-fresh-object-sends-the-same",
        lambda: probed("fresh"),
        lambda view: spoilt(view, WireRequest, body_with(lambda body: body | {"metadata": {"n": 2}}), 1),
        'got {"n": 2}',
        "changed",
        "/metadata",
    ),
    Case(
        "core/what-the-service-did-goes-back",
        searched,
        without_search,
        "a request without it",
        "missing",
        "/messages/1/content",
    ),
    Case(
        "core/order-of-conversations-does-not-matter",
        lambda: probed("reversed"),
        lambda view: spoilt(view, WireRequest, body_with(lambda body: body | {"system": "Another."}), 1),
        'got "Another."',
        "changed",
        "/system",
    ),
    Case(
        "core/event-loops-may-come-and-go",
        lambda: probed("loops"),
        lambda view: spoilt(view, Response, response_with(parts=(Text("Another answer."),)), 1),
        "Another answer",
        "changed",
        "/parts/0/text",
    ),
    Case(
        "core/threads-are-not-mixed",
        lambda: probed("threads"),
        lambda view: spoilt(view, Response, response_with(parts=(Text("Another answer."),)), 1),
        "Another answer",
        "changed",
        "/parts/0/text",
    ),
    Case(
        "core/side-requests-stay-few",
        plain,
        lambda view: View(
            replace(
                view.transcript,
                events=tuple(
                    one
                    for event in view.transcript.events
                    for one in (
                        [event, *[replace(event, operation="count_tokens")] * 3]
                        if type(event) is WireRequest
                        else [event]
                    )
                ),
            ),
            view.dialect,
            view.scenario,
        ),
        "got 3, to /v1/messages",
        "too-many",
    ),
    Case("core/adapter-prints-nothing", plain, ended(stdout="debug!"), "debug!", "printed", "/0/stdout"),  # type: ignore[arg-type]
    Case(
        "core/shutdown-does-not-fail",
        plain,
        lambda view: spoilt(view, Response, lambda event: replace(error("OSError", typed=False), turn=0), 1),
        "OSError",
        "raised",
        "/2/error",
    ),
]

STREAMING = [
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


CORE += [
    Case(
        "core/answering-model-is-named",
        lambda: answered_turns("basics/plain"),
        lambda view: spoilt(view, Response, response_with(model=None)),
        "expected the model",
        "missing",
        "",
    ),
    Case(
        "core/answering-model-is-named",
        lambda: answered_turns("basics/plain"),
        lambda view: spoilt(view, Response, response_with(model="default")),
        'got "default"',
        "other",
        "/model",
    ),
]
CASES = CORE + STREAMING

test_the_good_run_holds_and_the_spoilt_one_does_not = good_runs_hold(CASES)


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


def test_an_unlisted_difference_on_the_wire_is_inconclusive_and_shows_both_sides() -> None:
    view = spoilt(plain(), WireRequest, body_with(lambda body: body | {"model": "claude-haiku-4-5"}))
    verdict = judge(suite().catalogue["core/wire-is-what-the-session-holds"], "stateless", [view])
    assert verdict.status is Status.INCONCLUSIVE
    assert "claude-haiku-4-5" in verdict.detail


def test_a_rule_that_is_only_logged_accuses_nobody() -> None:
    view = spoilt(
        plain(),
        WireRequest,
        lambda event: replace(event, findings=({**finding(event).findings[0], "enforced": False, "evidence": "INF"},)),
    )
    assert judge(suite().catalogue["core/no-request-is-refused"], "stateless", [view]).status is Status.HELD


def test_what_is_written_to_standard_error_accuses_nobody() -> None:
    view = ended(stderr="UserWarning: sundown is not a valid FinishReason")(plain())  # type: ignore[operator]
    assert judge(suite().catalogue["core/adapter-prints-nothing"], "stateless", [view]).status is Status.HELD


def test_a_token_that_has_ended_accuses_nobody() -> None:
    """The clock did it, and a client learns of it by being refused."""
    view = spoilt(
        plain(), WireRequest, lambda event: replace(event, findings=({**finding(event).findings[0], "outdated": True},))
    )
    assert judge(suite().catalogue["core/no-request-is-refused"], "stateless", [view]).status is Status.HELD


def test_a_refusal_names_the_evidence_it_rests_on() -> None:
    verdict = judge(
        suite().catalogue["core/no-request-is-refused"], "stateless", [spoilt(plain(), WireRequest, finding)]
    )
    assert verdict.rests_on == "ISSUE"


def test_a_reason_that_comes_as_a_number_may_be_named() -> None:
    """Google's servers write numbers for clients that ask for them."""
    numbered = spoilt(
        plain(), WireResponse, lambda event: replace(event, body=event.body.replace('"end_turn"', '"1"')), every=True
    )
    check = suite().catalogue["core/providers-own-finish-word-is-kept"]
    assert judge(check, "stateless", [plain()]).status is Status.HELD
    assert judge(check, "stateless", [numbered]).status is Status.INCONCLUSIVE


def test_an_adapter_may_merge_texts_and_leave_out_blank_ones() -> None:
    view = spoilt(
        RunBuilder(scripted(["\n\n", "Moist."])).turn("How?").call(Text("\n\n"), Text("Moist.")).end().view(),
        Response,
        response_with(parts=(Text("Moist."),)),
    )
    assert judge(suite().catalogue["core/text-is-what-the-wire-carried"], "stateless", [view]).status is Status.HELD


@pytest.mark.parametrize(
    ("returned", "status"),
    [
        (("\n\nMoist.",), Status.HELD),
        (("Moist.",), Status.HELD),
        (("\n\n", "Moist."), Status.HELD),
        (("\nMoist.",), Status.HELD),  # white space between two texts is free
        (("\n\nMoist",), Status.VIOLATED),
    ],
)
def test_a_blank_text_may_be_joined_to_the_text_beside_it(returned: tuple[str, ...], status: Status) -> None:
    """A message with one text cannot keep them apart."""
    view = spoilt(
        RunBuilder(scripted(["\n\n", Thought("Hm."), "Moist."])).turn("How?").call("\n\n", "Moist.").end().view(),
        Response,
        response_with(parts=tuple(map(Text, returned))),
    )
    assert judge(suite().catalogue["core/text-is-what-the-wire-carried"], "stateless", [view]).status is status


@pytest.mark.parametrize(("sent", "status"), [("to bed 3.", Status.HELD), ("Thanks.", Status.VIOLATED)])
def test_a_text_that_two_messages_say_where_they_meet_need_not_stay_whole(sent: str, status: Status) -> None:
    """An image of a tool may go out between them, in the user's name."""
    run = RunBuilder().turn("Go to").call("Going.").end().turn("bed 3.").call("Done.").end()
    view = run.turn("to bed 3.").call("Yes.").end().view()

    def change(body: Any) -> None:
        body["messages"].insert(1, {"role": "user", "content": [{"type": "text", "text": "See:"}]})
        body["messages"][-1]["content"] = [{"type": "text", "text": sent}]

    requirement = suite().catalogue["core/new-message-goes-out-once"]
    found = spoilt(view, WireRequest, body_with(change), 2)
    assert judge(requirement, "stateless", [found]).status is status


def test_a_short_text_may_be_gathered() -> None:
    requirement = suite().catalogue["streaming/text-is-passed-on-in-pieces"]
    verdict = judge(requirement, "stateless", [in_one_piece(THREE)(plain())])
    assert verdict.status is not Status.VIOLATED


def test_what_is_printed_once_the_application_debugs_accuses_nobody() -> None:
    printed = spoilt(plain(), RunEnded, lambda event: replace(event, stdout="DEBUG: connect"))
    assert printed.scenario is not None
    debugging = View(printed.transcript, printed.dialect, replace(printed.scenario, debug_logs=True))
    requirement = suite().catalogue["core/adapter-prints-nothing"]
    found = [judge(requirement, "stateless", [view]).status for view in (printed, debugging)]
    assert found == [Status.VIOLATED, Status.INCONCLUSIVE]


def test_a_refusal_may_be_raised_as_what_it_is() -> None:
    builder = RunBuilder(scripted(["No."])).turn("Do it!").call("No.", finish=FinishReason.REFUSAL, returns=False)
    view = builder.failed(error("ContentFilterError")).end("error").view()
    verdict = judge(suite().catalogue["core/a-good-answer-is-returned"], "stateless", [view])
    assert verdict.status is Status.INCONCLUSIVE
    assert verdict.message == "no run had anything to compare"


def test_a_call_that_never_ended_is_not_judged_by_anything_else() -> None:
    cut = spoilt(plain(), Response, lambda event: None, 1)
    hung = View(
        replace(cut.transcript, events=(*cut.transcript.events[:-1], replace(cut.transcript.end, how="hung"))),
        cut.dialect,
        cut.scenario,
    )
    verdict = judge(suite().catalogue["core/text-is-what-the-wire-carried"], "stateless", [hung])
    assert verdict.status is Status.INCONCLUSIVE
    assert "hung" in verdict.message


@pytest.mark.parametrize(
    "change",
    [lambda content: content.reverse(), lambda content: content[2].pop("citations")],
    ids=["in-another-order", "without-its-sources"],
)
def test_what_the_service_did_goes_back_whole_and_in_its_order(change: Callable[[Any], object]) -> None:
    view = spoilt(searched(), WireRequest, body_with(lambda body: change(body["messages"][1]["content"]) and None), 1)
    assert (
        judge(suite().catalogue["core/what-the-service-did-goes-back"], "stateless", [view]).status is Status.VIOLATED
    )


@pytest.mark.parametrize(("first", "then", "code"), [("Log. ", "Log.", ""), ("Log beds.", "Log.", "earlier-text")])
def test_a_system_text_that_lost_its_blanks_is_no_earlier_one(first: str, then: str, code: str) -> None:
    builder = RunBuilder(scripted(["Yes."]), scripted(["Yes."]), system=first).turn("Hi.").call("Yes.").end()
    builder.system = then
    view = builder.turn("Still there?").call("Yes.").end().view()
    if code:
        stay = body_with(lambda body: body.update(system=[{"type": "text", "text": f"{then} {first}"}]))
        view = spoilt(view, WireRequest, stay, 1)
    found = judge(suite().catalogue["core/system-text-is-sent-each-turn"], "stateless", [view]).findings
    assert [one.code.rpartition("/")[2] for one in found] == ([code] if code else [])
