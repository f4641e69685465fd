"""Telemetry: the spans of a turn form one tree that shows what happened in it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby

from turnproof.judge.finding import Compared, Finding, Side
from turnproof.judge.requirements import Findings, check, finding
from turnproof.judge.view import View
from turnproof.messages import JSON
from turnproof.run.transcript import Refused, Retried, SpanMade

from .content import calls_in
from .spans import (
    TurnSpans,
    at_span,
    below,
    calls_the_model,
    error_type,
    is_ours,
    operation,
    runs_a_tool,
    session_spans,
    turn_spans,
)
from .steps import operations_done

_NO_SPAN = finding(
    "telemetry/turn-has-a-span-tree/no-span", "A turn that called the model has no span.", "spans of the turn", "none"
)
_NEVER_ENDED = finding(
    "telemetry/turn-has-a-span-tree/never-ended", "A span never ended.", "the end of the span {span}", "none"
)
_SEVERAL_TREES = finding(
    "telemetry/turn-has-a-span-tree/several-trees",
    "The spans of a turn do not form one tree.",
    "one span at the top",
    "the spans {observed}",
)
_NO_TURN_SPAN = finding(
    "telemetry/turn-has-a-span-tree/no-turn-span",
    "The span of a model call or a tool has no parent in its turn.",
    "the turn's own span above {observed}",
    "nothing above it",
)
_CALL_SPANS = finding(
    "telemetry/turn-has-a-span-tree/model-call-spans",
    "A call of the model does not have one span.",
    "{expected} span of a model call",
)
_REQUEST_SPANS = finding(
    "telemetry/turn-has-a-span-tree/request-spans",
    "The number of spans of model calls is not that of the requests.",
    "spans of model calls for {expected} requests",
)
_IDLE_SPAN = finding(
    "telemetry/turn-has-a-span-tree/idle-span",
    "No model was called in the span of a model call.",
    "a call of the model in the span {span}",
    "none",
)
_TOOL_SPANS = finding(
    "telemetry/turn-has-a-span-tree/tool-call-spans",
    "A tool call has too few spans.",
    "{expected} spans for the call {call} of the tool {tool}",
)
_TOOL_SPANS_MISSING = finding(
    "telemetry/turn-has-a-span-tree/tool-spans-missing",
    "There are fewer spans of tools than tools that ran.",
    "spans for {expected} tools that ran",
)
_TOOL_SPANS_EXTRA = finding(
    "telemetry/turn-has-a-span-tree/tool-spans-extra",
    "There are more spans of tools than the model called.",
    "spans for {expected} tools that the model called",
)


@check("telemetry/turn-has-a-span-tree")
def turn_has_a_span_tree(view: View) -> Findings:
    """One tree a turn, in which every call of the model and every tool has one span, and every span has ended."""
    for turn in turn_spans(view):
        wrong = list(_off_the_tree(turn))
        yield from wrong
        if not wrong and turn.spans:
            yield Compared("span trees")


def _off_the_tree(turn: TurnSpans) -> Iterator[Finding]:
    if not turn.spans and (turn.calls or turn.exchanges):
        yield _NO_SPAN(turn.turn.at(Side.SPAN))
        return
    for span in turn.spans:
        if not span.ended:
            yield _NEVER_ENDED(turn.at_span(span, "ended"), span=span.name)
    if len(turn.roots) > 1:
        first, *others = turn.roots
        names = [root.name for root in turn.roots]
        yield _SEVERAL_TREES(turn.at_span(others[0]), expected=1, observed=names, related=[turn.at_span(first)])
    for root in turn.roots:
        if calls_the_model(root) or runs_a_tool(root):
            yield _NO_TURN_SPAN(turn.at_span(root), observed=root.name)
    yield from _model_calls(turn)
    yield from _tools(turn)


def _model_calls(turn: TurnSpans) -> Iterator[Finding]:
    for call in turn.calls:
        if len(covering := turn.covering(call)) != 1:
            related = [turn.at_span(span) for span in covering]
            yield _CALL_SPANS(call.at(Side.SPAN), expected=1, observed=len(covering), related=related)
    done, span_count = len(turn.exchanges), len(turn.model_calls)
    if not turn.calls:
        # A call may be made again for an answer that no adapter can return, and has one span all the same.
        all_clean = all(each.clean and not (each.answer and each.answer.broken_calls) for each in turn.exchanges)
        if span_count > done or (span_count < done if all_clean else span_count < min(done, 1)):
            related = [exchange.at() for exchange in turn.exchanges]
            yield _REQUEST_SPANS(turn.turn.at(Side.SPAN), expected=done, observed=span_count, related=related)
    elif turn.outcome == "answer":
        for span in turn.model_calls:
            if span.calls[0] == span.calls[1]:
                yield _IDLE_SPAN(turn.at_span(span), span=span.name)


def _tools(turn: TurnSpans) -> Iterator[Finding]:
    for outcome in turn.tool_outcomes if turn.named_by_id else ():
        # An id may come again with a call that runs nothing; too many spans in all are counted below.
        if len(found := turn.tool_spans(outcome)) < turn.ids[outcome.call_id]:
            yield _TOOL_SPANS(
                turn.turn.at(Side.SPAN),
                expected=turn.ids[outcome.call_id],
                observed=len(found),
                call=outcome.call_id,
                tool=outcome.name,
            )
    outcome_count, span_count, offered = len(turn.tool_outcomes), len(turn.tools), turn.calls_offered
    if span_count < outcome_count:
        yield _TOOL_SPANS_MISSING(turn.turn.at(Side.SPAN), expected=outcome_count, observed=span_count)
    elif turn.outcome == "answer" and span_count > offered:
        yield _TOOL_SPANS_EXTRA(turn.at_span(turn.tools[offered]), expected=offered, observed=span_count)


_NO_WAIT = finding(
    "telemetry/waits-and-collections-are-seen/no-wait",
    "No span shows the wait before another attempt.",
    "a span for the wait before attempt {attempt}",
    "none",
)
_NO_COLLECTION = finding(
    "telemetry/waits-and-collections-are-seen/no-collection",
    "No span shows a collection.",
    "a span of the collection",
    "none",
)


@check("telemetry/waits-and-collections-are-seen")
def waits_and_collections_are_seen(view: View) -> Findings:
    """A wait before another attempt has a span, or each attempt has; so has a collection that was asked for."""
    for turn in turn_spans(view):
        for wait, done in _retries_with_calls(turn):
            around = [span for span in turn.spans if span.calls == (done, done) and not _stands_for_more(turn, span)]
            if around or len(turn.model_calls) >= len(turn.calls):
                yield Compared("waits")
            else:
                related = [turn.turn.at_event(wait)]
                yield _NO_WAIT(turn.turn.at(Side.SPAN), attempt=wait.attempt + 1, related=related)
    for step in operations_done(view, "gc"):
        if any(isinstance(event, Refused) for event in step.events):
            continue
        if any(span.during == "gc" and span.turn == step.turn.index for span in session_spans(view)):
            yield Compared("collections")
        else:
            yield _NO_COLLECTION(step.turn.at(Side.SPAN))


def _retries_with_calls(turn: TurnSpans) -> Iterator[tuple[Retried, int]]:
    """Each wait with how many provider calls had been made before it."""
    call_count = 0
    for event in turn.step.events:
        if isinstance(event, Retried) and turn.calls:
            yield event, call_count
        call_count = max(call_count, event.call + 1)


def _stands_for_more(turn: TurnSpans, span: SpanMade) -> bool:
    return span in turn.roots or calls_the_model(span) or runs_a_tool(span)


_WORK_ALONE = finding(
    "telemetry/work-belongs-to-its-span/no-span",
    "What a provider or a tool does belongs to no span.",
    "a span above what {who:words} does",
    "none",
)
_WORK_ELSEWHERE = finding(
    "telemetry/work-belongs-to-its-span/other-span",
    "What a provider or a tool does belongs to the span of something else.",
    "the span of its own call above what {who:words} does",
    "the span {observed}",
)


@check("telemetry/work-belongs-to-its-span")
def work_belongs_to_its_span(view: View) -> Findings:
    """The span of a call, or of a tool, is the current one where a provider, or that tool, does its work."""
    every = {span.span: span for span in view.transcript.of(SpanMade)}
    for work in filter(is_ours, every.values()):
        tool, above = work.attributes["turnproof.work.tool"], every.get(work.parent)
        while above is not None and not operation(above):
            above = every.get(above.parent)
        who = f"the tool {tool}" if tool else "the provider"
        if above is None:
            yield _WORK_ALONE(at_span(view, work), who=who)
        elif not (above.attributes.get("gen_ai.tool.name") == tool if tool else calls_the_model(above)):
            related = [at_span(view, above)]
            yield _WORK_ELSEWHERE(at_span(view, work), observed=above.name, who=who, related=related)
        else:
            yield Compared("work in its span")


_OTHER_TREE = finding(
    "telemetry/paths-give-the-same-tree/other-order",
    "The spans of a turn are not what happened in it.",
    "spans for {expected}, in this order",
)


@check("telemetry/paths-give-the-same-tree", aspect=lambda view: _outlines(view))
def paths_give_the_same_tree(view: View) -> Findings:
    """An undisturbed turn is what the scenario says: a call of the model, its tools, the next call."""
    for turn in turn_spans(view):
        if not turn.spans or not turn.step.ordinary or len(turn.tool_outcomes) != turn.calls_offered:
            continue  # a call of a tool that nobody knows runs nothing, and need not have a span
        expected = []
        for exchange in turn.exchanges:
            answer = exchange.answer
            expected += ["call", *(["tool"] * len(calls_in(answer.parts)) if answer is not None else [])]
        found = [_span_kind(span) for span in turn.spans if calls_the_model(span) or runs_a_tool(span)]
        if found == expected:
            yield Compared("trees of undisturbed turns")
        else:
            yield _OTHER_TREE(turn.turn.at(Side.SPAN), expected=expected, observed=found)


def _span_kind(span: SpanMade) -> str:
    return "call" if calls_the_model(span) else "tool" if runs_a_tool(span) else operation(span)


def _outlines(view: View) -> JSON:
    """The trees of the turns before the first paused answer, which only some paths can take up again."""
    found = {}
    for turn in turn_spans(view):
        if any(call.paused for call in turn.calls):
            break
        found[str(turn.turn.index)] = [_outline(turn.spans, root) for root in turn.roots]
    return found or None


def _outline(spans: tuple[SpanMade, ...], span: SpanMade) -> JSON:
    under = [
        outline
        for at_once, group in groupby(filter(operation, below(spans, span.span)), key=runs_a_tool)
        for outline in _ordered((_outline(spans, one) for one in group), at_once)
    ]
    tool = span.attributes.get("gen_ai.tool.name")
    return {"what": _span_kind(span), "tool": tool, "status": span.status, "error": error_type(span), "below": under}


def _ordered(outlines: Iterable[JSON], at_once: bool) -> list[JSON]:
    """Tools that may have begun at once by what they are: the ids, by which spans are in order, differ by path."""
    return sorted(outlines, key=repr) if at_once else list(outlines)
