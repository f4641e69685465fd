"""Checks of spans: beside what a turn was, by the conventions, and without what was said."""

from __future__ import annotations

from collections.abc import Callable
from operator import attrgetter
from typing import Any

import pytest
from msgspec.structs import replace

from turnproof.judge.requirements import judge_parity
from turnproof.judge.verdict import Status
from turnproof.judge.view import View
from turnproof.messages import FunctionCall, ToolResult
from turnproof.run.transcript import Collected, Response, SpanMade

from .build import RunBuilder, response_with, scripted, spoilt
from .cases import Case, good_runs_hold, status, suite
from .conversations import (
    READ,
    cancelled,
    cancelled_early,
    cancelled_in_arguments,
    cancelled_in_backoff,
    cancelled_in_tools,
    growing,
    overloaded,
    plain,
    read,
    refused,
    result,
    tools,
)
from .spans import Change, changed, hidden, saying, traced, with_span
from .wire import MODEL

(TREE, NAMES, FIGURES, ERRORS, CONTENT, PATHS, CANCEL, WAITS, WORK, RECOMMENDED) = every = [
    f"telemetry/{name}"
    for name in (
        "turn-has-a-span-tree",
        "calls-follow-the-conventions",
        "figures-are-the-providers",
        "errors-are-marked",
        "content-stays-out",
        "paths-give-the-same-tree",
        "a-cancel-is-no-error",
        "waits-and-collections-are-seen",
        "work-belongs-to-its-span",
        "spans-say-what-is-recommended",
    )
]


def of(make: Callable[..., View], **how: Any) -> Callable[[], View]:
    """The run with its spans."""
    return lambda: traced(make(), **how)


def without_span(span: SpanMade) -> None:
    return None


def begun_only(span: SpanMade) -> SpanMade:
    return replace(span, ended=False)


def own_tree(span: SpanMade) -> SpanMade:
    return replace(span, parent=-1)


def with_status(status: str) -> Change:
    return lambda span: replace(span, status=status)


def twice(view: View) -> View:
    """One model call with two spans, as two instrumentations beside each other make them."""
    chat = next(span for span in view.transcript.of(SpanMade) if span.name.startswith("chat"))
    return with_span(**{**{name: getattr(chat, name) for name in chat.__struct_fields__}, "span": 99, "parent": 1})(
        view
    )


def under(tool: str, parent: int) -> Callable[[View], View]:
    """What a tool does (or, without a name, a provider) stands below another span."""

    def moved(span: SpanMade) -> SpanMade:
        return replace(span, parent=parent) if span.attributes["turnproof.work.tool"] == tool else span

    return changed(moved, "turnproof.work")


def idle(view: View) -> View:
    attributes = {"gen_ai.operation.name": "chat"}
    return with_span(name="chat", parent=0, calls=(1, 1), attributes=attributes)(view)


def one_tool_more(view: View) -> View:
    return with_span(name="execute_tool", parent=0, attributes={"gen_ai.operation.name": "execute_tool"})(view)


def one_tool_less(view: View) -> View:
    return changed(without_span, TOOL, 0)(changed(saying(gen_ai__tool__call__id=None), TOOL)(view))


def answered_by_another(view: View) -> View:
    named = spoilt(view, Response, response_with(model="claude-3"))
    return changed(saying(gen_ai__response__model="claude-2"), "chat", 0)(named)


def collected() -> View:
    """Three turns with a collection in front of the last."""
    builder = RunBuilder(
        *(scripted(["Noted."], user=f"Entry {n}.", before=("gc",) if n == 2 else ()) for n in range(3)), name="gc/made"
    )
    for n in range(3):
        if n == 2:
            builder.operated("gc", Collected(before=(), after=()), history=builder.history[2:])
        builder.turn(f"Entry {n}.").call("Noted.").end()
    return builder.view()


CHAT, TOOL, AGENT = "chat", "execute_tool", "invoke_agent"

CASES = [
    Case(TREE, of(plain), changed(without_span), "turn 0: expected spans of the turn; got none", "no-span", ""),
    Case(TREE, of(plain), changed(without_span, CHAT, 1),
         "turn 1 round 0 (call 1): expected 1 span of a model call; got 0", "model-call-spans"),
    Case(TREE, of(plain), twice, "turn 0 round 0 (call 0): expected 1 span of a model call; got 2",
         "model-call-spans"),
    Case(TREE, of(plain), idle, 'a call of the model in the span "chat"', "idle-span", "/6"),
    Case(TREE, of(plain), changed(begun_only, CHAT, 0), f'expected the end of the span "chat {MODEL}"', "never-ended",
         "/1/ended"),
    Case(TREE, of(refused), changed(begun_only, AGENT, 1), 'turn 1: expected the end of the span "invoke_agent"',
         "never-ended"),
    Case(TREE, of(plain), changed(without_span, AGENT), f'own span above "chat {MODEL}"', "no-turn-span", "/0"),
    Case(TREE, of(tools), changed(without_span, AGENT, 0), "expected one span at the top", "several-trees"),
    Case(TREE, of(tools), changed(own_tree, TOOL), 'got the spans ["invoke_agent", "execute_tool', "several-trees"),
    Case(TREE, of(tools), changed(without_span, TOOL, 1),
         '1 spans for the call "toolu_2" of the tool "read_sensor"; got 0', "tool-call-spans"),
    Case(TREE, of(tools), one_tool_more, "spans for 2 tools that the model called; got 3", "tool-spans-extra"),
    Case(TREE, lambda: hidden(tools()), changed(without_span, CHAT, 0), "spans of model calls for 2 requests; got 1",
         "request-spans"),
    Case(TREE, lambda: hidden(tools()), one_tool_less, "spans for 2 tools that ran; got 1", "tool-spans-missing"),
    Case(NAMES, of(plain), changed(saying(gen_ai__operation__name=None), CHAT, 0), "names a model and no operation",
         "no-operation", "/1/attributes/gen_ai.request.model"),
    Case(NAMES, of(plain), changed(saying(gen_ai__provider__name=None), CHAT), "names no provider", "no-provider",
         "/1/attributes"),
    Case(NAMES, of(plain), changed(saying(gen_ai__request__model="default"), CHAT),
         'as `gen_ai.request.model`; got "default"', "request-model"),
    Case(NAMES, of(plain), changed(saying(gen_ai__request__model=None), CHAT),
         "as `gen_ai.request.model`; got nothing", "request-model"),
    Case(NAMES, of(plain), changed(saying(gen_ai__request__stream=False), CHAT),
         "expected true as `gen_ai.request.stream`; got false", "stream"),
    Case(NAMES, of(plain), answered_by_another, 'expected "claude-3" as `gen_ai.response.model`; got "claude-2"',
         "response-model"),
    Case(NAMES, of(tools), changed(saying(gen_ai__response__finish_reasons=["length"]), CHAT, 0), 'got ["length"]',
         "finish-reason"),
    Case(NAMES, of(tools), changed(saying(gen_ai__response__finish_reasons="stop"), CHAT, 1), 'got "stop"',
         "finish-reason"),
    Case(NAMES, of(tools), changed(saying(gen_ai__tool__name=None), TOOL, 0), "names no tool", "no-tool-name"),
    Case(NAMES, of(tools), changed(saying(gen_ai__tool__name="look"), TOOL, 0), 'got "look"', "tool-name"),
    Case(NAMES, of(tools), changed(saying(gen_ai__tool__call__id="7"), TOOL, 0), 'got "7"', "tool-call-id"),
    Case(FIGURES, of(growing), changed(saying(gen_ai__usage__input_tokens=5), CHAT, 2), "input tokens; got 5",
         "figure"),
    Case(FIGURES, of(plain), changed(saying(gen_ai__usage__output_tokens=None), CHAT), "output tokens; got 0",
         "figure"),
    Case(FIGURES, of(growing), changed(saying(gen_ai__usage__cache_read__input_tokens=None), CHAT),
         "expected 2000 tokens read from the cache; got 0", "figure"),
    Case(FIGURES, lambda: hidden(growing()), changed(saying(gen_ai__usage__cache_creation__input_tokens=1), CHAT),
         "written to the cache; got 1", "figure"),
    Case(ERRORS, of(refused), changed(with_status("unset"), AGENT), "for the turn, which failed", "unmarked"),
    Case(ERRORS, of(refused), changed(with_status("unset"), CHAT, 1), "for the call of the model, which failed",
         "unmarked"),
    Case(ERRORS, of(refused), changed(saying(error__type=None), CHAT, 1), "expected `error.type` in the span",
         "no-error-type"),
    Case(ERRORS, of(tools), changed(with_status("ok"), TOOL), "for the tool read_sensor, which failed", "unmarked"),
    Case(ERRORS, of(tools), changed(with_status("error"), AGENT, 0), "no error for the turn, which did not fail",
         "wrongly-marked", "/0/status"),
    Case(ERRORS, of(overloaded), changed(with_status("error"), CHAT), "for the call of the model, which did not fail",
         "wrongly-marked"),
    Case(ERRORS, lambda: hidden(tools()), changed(with_status("error"), TOOL, 0),
         "for the tool read_sensor, which did not fail", "wrongly-marked"),
    Case(CONTENT, of(plain), changed(saying(input__value="How is bed 3?"), AGENT, 0), "which is a user's text",
         "text", "/0/attributes/input.value"),
    Case(CONTENT, of(plain), changed(saying(x="Bed 3 is moist. So"), CHAT, 0),
         '"Bed3ismoist.", which is a model\'s text'),
    Case(CONTENT, of(plain), changed(saying(x=["keep a greenhouse log: You keep a greenhouse log."])),
         "a system text"),
    Case(CONTENT, of(tools), changed(saying(x=r'"{\"bed\": \"3\", \"litres\": 50}"'), TOOL, 0),
         "an argument of a tool"),
    Case(CONTENT, of(plain), changed(lambda span: replace(span, name="How is bed 3? (chat)"), CHAT, 0),
         '"Howisbed3?", which is a user\'s text', "text", "/1/name"),
    Case(CONTENT, of(plain),
         changed(lambda span: replace(span, notes=({"name": "x", "attributes": {"y": "How is bed 3?"}},)), CHAT, 0),
         "which is a user's text", "text", "/1/notes/0"),
    Case(CONTENT, of(plain), changed(saying(gen_ai__input__messages="[{}]"), CHAT, 0), "content is not switched on",
         "attribute", "/1/attributes/gen_ai.input.messages"),
    Case(PATHS, of(tools), changed(lambda span: replace(span, name="x", attributes={}), TOOL, 0), "in this order",
         "other-order"),
    Case(CANCEL, of(cancelled), changed(with_status("error"), AGENT, 0),
         'no error in the span "invoke_agent"; got the status "error"', "marked"),
    Case(CANCEL, of(cancelled), changed(with_status("error"), CHAT, 0),
         'no error in the span "chat claude-sonnet-4-5"', "marked"),
    Case(WAITS, of(overloaded), changed(without_span, "retry"),
         "turn 0: expected a span for the wait before attempt 2", "no-wait"),
    Case(WAITS, of(collected), changed(without_span, "collect"), "turn 2: expected a span of the collection",
         "no-collection"),
    Case(WORK, of(tools), under("read_sensor", -1), "a span above what the tool read_sensor does", "no-span"),
    Case(WORK, of(tools), under("read_sensor", 0), 'got the span "invoke_agent"', "other-span"),
    Case(WORK, of(plain), under("", 0), 'what the provider does; got the span "invoke_agent"', "other-span"),
    Case(WORK, lambda: hidden(tools()), under("read_sensor", 1), "above what the tool read_sensor does; got the span",
         "other-span"),
    Case(RECOMMENDED, of(plain), changed(lambda span: replace(span, name="llm"), CHAT), 'got "llm"',
         "model-call-name", "/1/name"),
    Case(RECOMMENDED, of(plain), changed(lambda span: replace(span, kind="server"), CHAT), 'got "server"',
         "model-call-kind", "/1/kind"),
    Case(RECOMMENDED, of(plain), changed(saying(gen_ai__response__finish_reasons=None), CHAT),
         "lacks the finish reason", "no-finish-reason"),
    Case(RECOMMENDED, of(tools), changed(saying(gen_ai__tool__call__id=None), TOOL, 0),
         "does not have the id of the call", "no-tool-call-id"),
    Case(RECOMMENDED, of(tools), changed(lambda span: replace(span, name="tool"), TOOL, 0), 'got "tool"',
         "tool-span-name"),
]  # fmt: skip


test_good_spans_hold_and_spoilt_ones_are_named = good_runs_hold(CASES)


def accused(view: View) -> list[str]:
    """The requirements that a run violates."""
    return [name for name in every if status(name, view) is Status.VIOLATED]


# -- what must not be accused ----------------------------------------------------------------------------------------

RUNS = (
    plain,
    tools,
    cancelled,
    cancelled_early,
    cancelled_in_arguments,
    cancelled_in_backoff,
    cancelled_in_tools,
    growing,
    overloaded,
    refused,
    collected,
)


@pytest.mark.parametrize("run", RUNS, ids=attrgetter("__name__"))
@pytest.mark.parametrize("how", [{}, {"per_attempt": True}], ids=["one span a call", "one span an attempt"])
def test_spans_by_the_conventions_are_right_whatever_becomes_of_the_turn(
    run: Callable[[], View], how: dict[str, bool]
) -> None:
    assert accused(traced(run(), **how)) == []
    assert accused(hidden(run(), **how)) == []


def test_spans_of_others_may_stand_anywhere() -> None:
    view = with_span(attributes={"http.request.method": "POST"})(traced(tools()))
    below = with_span(parent=1, name="SELECT", status="error")(view)
    assert accused(below) == []


def test_a_conversation_may_have_a_span_of_its_own_above_its_turns() -> None:
    above = changed(lambda span: replace(span, parent=99), AGENT)(traced(tools()))
    assert accused(with_span(name="conversation", turn=-1, during="")(above)) == []


def test_names_of_earlier_and_later_versions_are_taken() -> None:
    earlier = changed(saying(gen_ai__provider__name=None, gen_ai__system="anthropic"), CHAT)(traced(growing()))
    figure = "gen_ai.usage.cache_creation.input_tokens"

    def renamed(span: SpanMade) -> SpanMade:
        later = figure.replace("creation", "write")
        return replace(span, attributes={later if k == figure else k: v for k, v in span.attributes.items()})

    assert accused(changed(renamed, CHAT)(earlier)) == []


@pytest.mark.parametrize("word", ["tool_use", "tool_call", "tool_calls"])
def test_why_an_answer_ended_may_be_said_in_the_words_of_the_provider_or_of_the_conventions(word: str) -> None:
    view = changed(saying(gen_ai__response__finish_reasons=[word]), CHAT, 0)(traced(tools()))
    assert status(NAMES, view) is Status.HELD


def test_what_is_only_recommended_may_be_left_out() -> None:
    least = saying(gen_ai__response__finish_reasons=None, gen_ai__request__stream=None, gen_ai__tool__call__id=None)
    assert accused(changed(least)(traced(tools()))) == [RECOMMENDED]


def test_tools_without_ids_are_known_by_their_names_where_these_are_unique() -> None:
    builder = RunBuilder(scripted([read()], ["No."], user="How is bed 3?"), tools=(READ,))
    builder.turn("How is bed 3?").call(read()).results(result(value="no sensor", is_error=True)).call("No.").end()
    nameless = changed(saying(gen_ai__tool__call__id=None), TOOL)(traced(builder.view()))
    assert status(ERRORS, nameless) is Status.HELD
    assert status(ERRORS, changed(with_status("unset"), TOOL)(nameless)) is Status.VIOLATED


def test_a_call_of_a_tool_that_nobody_knows_may_have_no_span() -> None:
    builder = RunBuilder(scripted([FunctionCall("toolu_9", "look", {})], ["No."], user="Look!"), tools=(READ,))
    builder.turn("Look!").call(FunctionCall("toolu_9", "look", {}))
    builder.results(ToolResult("toolu_9", "look", "there is no such tool", is_error=True)).call("No.").end()
    view = traced(builder.view())
    assert accused(view) == []
    assert accused(changed(without_span, "turnproof.work", 1)(changed(without_span, TOOL)(view))) == []


def test_figures_of_a_cancelled_call_may_be_missing_and_not_wrong() -> None:
    figures = {"gen_ai__usage__input_tokens": None, "gen_ai__usage__output_tokens": None}
    missing = changed(saying(**figures), CHAT, 0)(traced(cancelled()))
    assert status(FIGURES, missing) is Status.HELD
    assert status(FIGURES, changed(saying(gen_ai__usage__input_tokens=1), CHAT, 0)(missing)) is Status.VIOLATED


def test_of_a_cancelled_stream_nobody_knows_which_figures_a_session_that_hides_its_calls_has_read() -> None:
    view = changed(saying(gen_ai__usage__output_tokens=1), CHAT, 0)(hidden(cancelled()))
    assert status(FIGURES, view) is not Status.VIOLATED


def test_words_too_short_to_be_told_from_others_and_names_of_tools_are_no_content() -> None:
    builder = RunBuilder(scripted([read()], ["Yes."], user="read_sensor"), tools=(READ,))
    builder.turn("read_sensor").call(read()).results(result()).call("Yes.").end()
    assert status(CONTENT, traced(builder.view())) is Status.HELD
    assert status(CONTENT, changed(saying(x="Yes. 41 %"))(traced(builder.view()))) is Status.HELD


def test_a_text_that_happens_to_be_the_beginning_of_an_id_is_no_content() -> None:
    builder = RunBuilder(scripted([read(name="toolu_01AB")], ["Yes."], user="toolu_01"), tools=(READ,))
    builder.turn("toolu_01").call(read(name="toolu_01AB")).results(result("toolu_01AB")).call("Yes.").end()
    assert status(CONTENT, traced(builder.view())) is Status.HELD


@pytest.mark.parametrize("requirement", every)
def test_a_run_without_a_turn_decides_nothing(requirement: str) -> None:
    view = traced(RunBuilder().view())
    assert status(requirement, view) is Status.INCONCLUSIVE


def test_spans_of_a_run_that_came_to_no_end_are_not_asked_for() -> None:
    builder = RunBuilder(scripted(["Yes."], user="Sure?")).turn("Sure?").call("Yes.").end()
    assert status(TREE, builder.view(how="hung")) is Status.INCONCLUSIVE


# -- parity ----------------------------------------------------------------------------------------------------------


def parity(legacy: Callable[[View], View], make: Callable[..., View] = tools) -> Any:
    ours, theirs = traced(make()), legacy(traced(make(path="legacy")))
    again = legacy(traced(make(path="legacy", repeat=1)))
    return judge_parity(suite().catalogue[PATHS], [ours], [theirs], [again])


def test_paths_with_the_same_tree_hold() -> None:
    renamed = changed(saying(turnproof__path="legacy", gen_ai__tool__call__id="x"))
    assert parity(renamed).status is Status.HELD


@pytest.mark.parametrize(
    "change",
    [
        changed(without_span, TOOL, 1),
        changed(with_status("ok"), TOOL),
        changed(saying(error__type="tool_error"), TOOL),
        changed(lambda span: replace(span, parent=1), TOOL, 1),
    ],
    ids=["a span less", "another status", "another error", "another place"],
)
def test_paths_with_another_tree_differ(change: Callable[[View], View]) -> None:
    verdict = parity(change)
    assert verdict.status is Status.VIOLATED
    assert verdict.findings[0].code == f"{PATHS}/paths-differ"


def test_two_tools_that_began_at_once_may_stand_in_any_order() -> None:
    def other_way_round(view: View) -> View:
        first, second = (span for span in view.transcript.of(SpanMade) if span.name.startswith(TOOL))
        return changed(lambda span: replace(second, span=first.span), TOOL, 0)(
            changed(lambda span: replace(first, span=second.span), TOOL, 1)(view)
        )

    assert parity(other_way_round).status is Status.HELD
