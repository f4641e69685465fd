"""What a file of a library compares, for a finding of a run."""

from __future__ import annotations

import pytest
from msgspec.structs import replace
from suites.build import RunBuilder, response_with, scripted, spoilt
from suites.cases import suite

from turnproof.commands.reproduce.question import Question, question_of
from turnproof.commands.reproduce.run_findings import UnreproducibleError
from turnproof.judge.requirements import judge
from turnproof.judge.view import View
from turnproof.messages import FinishReason
from turnproof.run.transcript import Response, WireResponse


def question(requirement: str, view: View) -> Question:
    (finding, *_) = judge(suite().catalogue[requirement], "stateless", [view]).findings
    return question_of(finding, view.transcript, view.dialect, own_types=False)


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
