"""What a file of a library compares, for a finding of a run."""

from __future__ import annotations

import pytest
from msgspec import UNSET
from msgspec.structs import replace
from suites.build import RunBuilder, response_with, scripted, spoilt
from suites.cases import suite

from turnproof import errors
from turnproof.commands.reproduce.question import Question, question_of
from turnproof.commands.reproduce.run_findings import UnreproducibleError
from turnproof.judge.requirements import judge
from turnproof.judge.view import View
from turnproof.messages import FinishReason, FunctionCall, Text, ToolResult, ToolSchema
from turnproof.run.tracebacks import Raised
from turnproof.run.transcript import Failed, Response, WireResponse

KINDS: dict[str, type[errors.ProviderError]] = {"Busy": errors.RateLimitError, "Refused": errors.InvalidRequestError}
"""What the classes of a library's errors are, by its binding."""


def question(requirement: str, view: View) -> Question:
    (finding, *_) = judge(suite().catalogue[requirement], "stateless", [view]).findings
    return question_of(finding, view.transcript, view.dialect, own_types=False, kinds=KINDS)


def answered(fault: str | None = None) -> View:
    builder = RunBuilder(scripted(["Dry."], user="Bed 3?")).turn("Bed 3?")
    return builder.call("Dry.", fault=fault).end().view()


def without_its_end(event: WireResponse) -> WireResponse:
    return replace(event, body=event.body.partition("event: message_delta")[0], ended="cut-by-us")


def test_an_answer_that_broke_off_is_known_by_its_text_where_the_finish_word_is_the_apis_own() -> None:
    view = spoilt(answered("no-end"), WireResponse, without_its_end)
    view = spoilt(view, Response, response_with(finish_reason=FinishReason.STOP, raw_finish=None))
    found = question("errors/a-stream-without-its-end-is-no-answer", view)
    assert (found.sight, found.observed, found.steps) == ("returned", "Dry.", ("text",))


def test_what_the_adapter_makes_of_the_apis_own_finish_word_is_not_the_librarys() -> None:
    view = spoilt(answered(), Response, response_with(finish_reason=FinishReason.SAFETY, raw_finish="end_turn"))
    with pytest.raises(UnreproducibleError, match="own finish word"):
        question("core/finish-reason-says-why", view)


@pytest.mark.parametrize(("own_types", "steps"), [(False, ("whole",)), (True, ("answer", "parts", 0, "id"))])
def test_an_id_that_a_library_draws_is_known_by_the_apis_own_that_is_not_there(
    own_types: bool, steps: tuple[object, ...]
) -> None:
    own, tools = FunctionCall("2c8c70bcd", "read", {"bed": "3"}), (ToolSchema("read", "Read", {"type": "object"}),)
    turn = scripted([replace(own, id="toolu_1")], ["Dry."], user="Bed 3?")
    run = RunBuilder(turn, tools=tools).turn("Bed 3?").call(replace(own, id="toolu_1"))
    run.history[-1] = replace(run.history[-1], parts=(own,))
    view = run.results(ToolResult(own.id, "read", "dry")).call("Dry.").end().view()
    view = spoilt(view, Response, response_with(parts=(own,)), 0)
    (finding, *_) = judge(suite().catalogue["tools/call-ids-are-kept"], "stateless", [view]).findings
    found = question_of(finding, view.transcript, view.dialect, own_types=own_types)
    assert (found.sight, found.observed, found.steps) == ("unnamed", "toolu_1", steps)


def test_a_call_that_is_missing_from_the_answer_is_looked_for_among_the_calls() -> None:
    """Two blocks were open at once, and the pieces of both went to the last one."""
    calls = [FunctionCall("a", "read", {"bed": "3"}), FunctionCall("b", "read", {"bed": "4"})]
    tools = (ToolSchema("read", "Read", {"type": "object"}),)
    builder = RunBuilder(scripted(["I look.", *calls], user="Beds?"), tools=tools).turn("Beds?")
    view = builder.call("I look.", *calls, fault="respelled").end().view()
    view = spoilt(view, Response, response_with(parts=(Text("I look."), calls[1])))
    found = missing_call(view)
    assert (found.sight, found.steps) == ("answer", ("calls",))
    assert found.observed == [["read", {"bed": "4"}]]


def missing_call(view: View) -> Question:
    (finding, *_) = judge(suite().catalogue["tools/parallel-calls-stay-apart"], "stateless", [view]).findings
    place = replace(finding.place, pointer="/parts")
    lost = replace(finding, place=place, expected={"bed": "3"}, observed=UNSET)
    return question_of(lost, view.transcript, view.dialect, own_types=False, kinds=KINDS)


def refused(error: str, *classes: str) -> View:
    """A call that the API answers with 529. The adapter raises this error, from the library's of these classes."""
    raised = None
    for name in reversed(classes):
        raised = Raised(type=name, module="garden", cause=raised)
    raised = Raised(type=error, module="turnproof.errors", cause=raised)
    failed = Failed(scope="call", error=error, message="No.", typed=True, status=529, raised=raised)
    return RunBuilder(scripted(["Dry."], user="Bed 3?")).turn("Bed 3?").refused(529, failed).end("error").view()


def test_a_class_of_the_library_that_stands_for_the_wrong_error_is_looked_at() -> None:
    found = question("errors/class-fits-the-status", refused("RateLimitError", "Busy", "HTTPError"))
    assert (found.sight, found.observed) == ("raised", ["Busy"])


def test_a_class_below_says_what_the_error_is_and_the_one_that_users_see_is_looked_at() -> None:
    found = question("errors/class-fits-the-status", refused("RateLimitError", "RuntimeError", "Busy"))
    assert (found.sight, found.observed) == ("raised", ["RuntimeError"])


@pytest.mark.parametrize(
    ("error", "classes", "reason"),
    [
        ("InvalidRequestError", ["Busy"], "Busy is RateLimitError by the binding's own table"),
        ("RateLimitError", ["Refusal"], "does not say which error the library's Refusal is"),
        ("RateLimitError", [], "the library raised nothing"),
    ],
)
def test_what_the_binding_makes_of_the_librarys_error_is_not_the_librarys(
    error: str, classes: list[str], reason: str
) -> None:
    with pytest.raises(UnreproducibleError, match=reason):
        question("errors/class-fits-the-status", refused(error, *classes))
