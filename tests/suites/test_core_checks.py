"""Core checks, each on a run that keeps the requirement and on one spoilt in one place."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from msgspec.structs import replace

from turnproof.judge.requirements import judge
from turnproof.judge.verdict import Status
from turnproof.judge.view import View
from turnproof.messages import FinishReason, Opaque, ProviderData, Text, Thought
from turnproof.run.transcript import (
    Response,
    RunEnded,
    WireRequest,
    WireResponse,
)

from .build import RunBuilder, body_with, error, response_with, scripted, spoilt
from .cases import Case, good_runs_hold, suite
from .conversations import (
    READ,
    answered_turns,
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


CASES = [
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


test_the_good_run_holds_and_the_spoilt_one_does_not = good_runs_hold(CASES)


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
    ("parts", "expected"),
    [
        ((Text("I look. "), read(), Text("It takes"), Text(" a moment.")), Status.HELD),
        ((Text("I look. It takes a moment."), read()), Status.VIOLATED),
        ((Text("I look."), read()), Status.INCONCLUSIVE),  # a text is missing, which another requirement tells
    ],
)
def test_a_text_behind_a_call_is_not_joined_to_the_one_in_front_of_it(parts: Any, expected: Status) -> None:
    answer = ("I look. ", read(), "It takes a moment.")
    run = RunBuilder(scripted(list(answer)), tools=(READ,)).turn("How is bed 3?").call(*answer).end()
    view = spoilt(run.view(), Response, response_with(parts=parts))
    requirement = suite().catalogue["core/parts-keep-the-models-order"]
    assert judge(requirement, "stateless", [view]).status is expected


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
