"""Telemetry: the spans of a session, against what it did and by OpenTelemetry's conventions for generative AI.

What the conventions require decides about certification; what they recommend is reported beside it. Names of spans,
spans of other kinds and further attributes are a session's own business.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby

from turnproof.messages import JSON, TokenUsage
from turnproof.requirements import Findings, check
from turnproof.transcript import Refused, Retried, SpanMade
from turnproof.verdict import violated
from turnproof.view import View
from turnproof.view.diff import show

from .reading import calls_in
from .spans import (
    Answer,
    TurnSpans,
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


@check("telemetry/turn-has-a-span-tree")
def turn_has_a_span_tree(view: View) -> Findings:
    """One tree a turn, in which every call of the model and every tool has one span, and every span has ended."""
    for turn in turn_spans(view):
        wrong = next(_off_the_tree(turn), "")
        if wrong:
            yield violated(f"{turn.where}: {wrong}")
        elif turn.spans:
            yield "span trees"


def _off_the_tree(turn: TurnSpans) -> Iterator[str]:
    if not turn.spans and (turn.calls or turn.exchanges):
        yield "it called the model, and made no span"
    for span in turn.spans:
        if not span.ended:
            yield f"the span {span.name!r} was begun and never ended"
    if len(turn.roots) > 1:
        yield f"its spans form {len(turn.roots)} trees, under {', '.join(repr(root.name) for root in turn.roots)}"
    for root in turn.roots:
        if calls_the_model(root) or runs_a_tool(root):
            yield f"the turn has no span: nothing stands above {root.name!r}"
    yield from _model_calls(turn)
    yield from _tools(turn)


def _model_calls(turn: TurnSpans) -> Iterator[str]:
    for call in turn.calls:
        if len(covering := turn.covering(call)) != 1:
            yield f"{call.where} has {len(covering)} spans of a model call"
    done, made = len(turn.exchanges), len(turn.model_calls)
    if not turn.calls:
        whole = all(exchange.clean for exchange in turn.exchanges)
        if made > done or (made < done if whole else made < min(done, 1)):
            yield f"requests for an answer: {done}, spans of model calls: {made}"
    elif turn.outcome == "answer" and (idle := [one for one in turn.model_calls if one.calls[0] == one.calls[1]]):
        yield f"no model was called in the span {idle[0].name!r}"


def _tools(turn: TurnSpans) -> Iterator[str]:
    for outcome in turn.tool_outcomes if turn.named_by_id else ():
        # An id may come again with a call that runs nothing; too many spans in all are counted below.
        if len(found := turn.tool_spans(outcome)) < turn.ids[outcome.call_id]:
            yield f"the call {outcome.call_id!r} of {outcome.name!r} has {len(found)} spans"
    ran, made, offered = len(turn.tool_outcomes), len(turn.tools), turn.calls_offered
    if made < ran:
        yield f"tools that ran: {ran}, spans of tools: {made}"
    elif turn.outcome == "answer" and made > offered:
        yield f"tools that the model called: {offered}, spans of tools: {made}"


@check("telemetry/calls-follow-the-conventions")
def calls_follow_the_conventions(view: View) -> Findings:
    """What they require is there, and what is there is right."""
    for span in session_spans(view):
        if "gen_ai.request.model" in span.attributes and not operation(span):
            yield violated(f"turn {span.turn}: the span {span.name!r} names a model and no operation")
    for turn in turn_spans(view):
        for answer in turn.answers:
            wrong = next(_misnamed_call(turn, answer), "")
            yield violated(f"{turn.where}, {answer.span.name!r}: {wrong}") if wrong else "spans of model calls"
        for span in turn.tools:
            wrong = _misnamed_tool(turn, span)
            yield violated(f"{turn.where}, {span.name!r}: {wrong}") if wrong else "spans of tools"


def _misnamed_call(turn: TurnSpans, answer: Answer) -> Iterator[str]:
    said = answer.span.attributes
    # Earlier versions call the provider a system, and ask nobody to change that.
    if not said.get("gen_ai.provider.name", said.get("gen_ai.system")):
        yield "it names no provider"
    asked = {turn.view.transcript.model, *(one.call.model for one in answer.exchanges if one.call is not None)}
    if said.get("gen_ai.request.model") not in asked:
        yield f"the model {turn.view.transcript.model!r} was asked, it says {said.get('gen_ai.request.model')!r}"
    if answer.calls and said.get("gen_ai.request.stream", answer.calls[-1].began.streamed) != (
        answer.calls[-1].began.streamed
    ):
        yield f"it says {said['gen_ai.request.stream']!r} of whether the answer was streamed"
    response = answer.response
    named = said.get("gen_ai.response.model")
    if response is not None and response.model and named not in (None, response.model):
        yield f"{response.model!r} answered, it says {named!r}"
    reasons = said.get("gen_ai.response.finish_reasons")
    if reasons is not None and answer.finishes and not answer.cancelled and not _is_one_of(reasons, answer.finishes):
        yield f"the answer ended with {_listed(answer.finishes)}, it says {reasons!r}"


def _is_one_of(reasons: JSON, finishes: frozenset[str]) -> bool:
    return isinstance(reasons, list) and len(reasons) == 1 and str(reasons[0]) in finishes


def _misnamed_tool(turn: TurnSpans, span: SpanMade) -> str:
    names = {call.name for call in turn.calls_made} | {
        tool.name for tool in turn.view.scenario.tools_in(turn.turn.index)
    }
    if (name := span.attributes.get("gen_ai.tool.name")) not in names:
        return f"no tool is named {name!r}" if name else "it names no tool"
    own, ids = span.attributes.get("gen_ai.tool.call.id"), {call.id for call in turn.calls_made}
    if own is not None and own not in ids:
        return f"no call has the id {own!r}"
    return ""


_FIGURES = {
    "input tokens": (("gen_ai.usage.input_tokens",), "prompt_tokens"),
    "output tokens": (("gen_ai.usage.output_tokens",), "output_tokens"),
    "tokens read from the cache": (("gen_ai.usage.cache_read.input_tokens",), "cache_read_tokens"),
    "tokens written to the cache": (
        ("gen_ai.usage.cache_creation.input_tokens", "gen_ai.usage.cache_write.input_tokens"),
        "cache_creation_tokens",
    ),
}
"""Each figure by the attributes that may give it (the conventions are about to rename one) and its field in usage."""


@check("telemetry/figures-are-the-providers")
def figures_are_the_providers(view: View) -> Findings:
    """Of a whole answer all that are not zero are there; of a cancelled one those that are there are right."""
    for turn in turn_spans(view):
        for answer in turn.answers:
            usage = answer.usage
            if usage is None or not usage.total_tokens or answer.failed:
                continue
            wrong = [
                f"{wanted} {what} were reported, it says {given!r}"
                for what, wanted, given in _figures(answer.span, usage)
                if given != wanted and (given or not answer.cancelled)
            ]
            if wrong:
                yield violated(f"{turn.where}, {answer.span.name!r}: {wrong[0]}")
            else:
                yield "figures of model calls"


def _figures(span: SpanMade, usage: TokenUsage) -> Iterator[tuple[str, int, JSON]]:
    """Each figure: its name, what the provider reported, and what the span says, 0 where it says nothing."""
    for what, (names, field) in _FIGURES.items():
        yield what, getattr(usage, field) or 0, next(filter(None, map(span.attributes.get, names)), 0)


@check("telemetry/errors-are-marked")
def errors_are_marked(view: View) -> Findings:
    """What failed has the error status and names its error; what came to its end has no error status."""
    for turn in turn_spans(view):
        for span, failed, what in _ends(turn):
            if failed and span.status != "error":
                yield violated(f"{turn.where}: {what} failed, and the status of {span.name!r} is {span.status!r}")
            elif failed and operation(span) and not error_type(span):
                yield violated(f"{turn.where}: {what} failed, and {span.name!r} has no error.type")
            elif not failed and span.status == "error":
                yield violated(f"{turn.where}: {what} did not fail, and {span.name!r} is marked as an error")
            else:
                yield "spans of what failed" if failed else "spans of what went well"


def _ends(turn: TurnSpans) -> Iterator[tuple[SpanMade, bool, str]]:
    """Spans of which it is known whether what they stand for failed. Of a cancelled turn that is not said."""
    if turn.outcome == "cancelled":
        return
    for root in turn.roots:
        yield root, turn.outcome == "error", "the turn"
    for answer in turn.answers:
        if answer.failed:
            yield answer.span, True, "the call of the model"
        elif not answer.cancelled and turn.outcome == "answer":
            yield answer.span, False, "the call of the model"
    for outcome in turn.tool_outcomes:
        found = turn.tool_spans(outcome)
        if len(found) == 1:
            yield found[0], outcome.failed, f"the tool {outcome.name!r}"


@check("telemetry/a-cancel-is-no-error")
def a_cancel_is_no_error(view: View) -> Findings:
    """Somebody wanted it: an alarm about it would be a false one."""
    for turn in turn_spans(view):
        stopped = list(turn.roots) if turn.outcome == "cancelled" else []
        stopped += [answer.span for answer in turn.answers if answer.cancelled]
        for span in stopped:
            if span.status == "error":
                yield violated(f"{turn.where}: it was cancelled, and {span.name!r} is marked as an error")
            else:
                yield "cancelled spans"


@check("telemetry/waits-and-collections-are-seen")
def waits_and_collections_are_seen(view: View) -> Findings:
    """A wait before another attempt has a span, or each attempt has; so has a collection that was asked for."""
    for turn in turn_spans(view):
        for wait, done in _waits(turn):
            around = [span for span in turn.spans if span.calls == (done, done) and not _stands_for_more(turn, span)]
            if around or len(turn.model_calls) >= len(turn.calls):
                yield "waits"
            else:
                yield violated(f"{turn.where}: no span shows the wait before attempt {wait.attempt + 1}")
    for step in operations_done(view, "gc"):
        if any(isinstance(event, Refused) for event in step.events):
            continue
        if any(span.during == "gc" and span.turn == step.turn.index for span in session_spans(view)):
            yield "collections"
        else:
            yield violated(f"{step.where}: no span shows the collection")


def _waits(turn: TurnSpans) -> Iterator[tuple[Retried, int]]:
    """Each wait with how many provider calls had been made before it."""
    made = 0
    for event in turn.step.events:
        if isinstance(event, Retried) and turn.calls:
            yield event, made
        made = max(made, event.call + 1)


def _stands_for_more(turn: TurnSpans, span: SpanMade) -> bool:
    return span in turn.roots or calls_the_model(span) or runs_a_tool(span)


@check("telemetry/work-belongs-to-its-span")
def work_belongs_to_its_span(view: View) -> Findings:
    """The span of a call, or of a tool, is the current one where a provider, or that tool, does its work."""
    every = {span.span: span for span in view.transcript.of(SpanMade)}
    for work in filter(is_ours, every.values()):
        tool, above = work.attributes["turnproof.work.tool"], every.get(work.parent)
        while above is not None and not operation(above):
            above = every.get(above.parent)
        what = f"what the tool {tool!r} does" if tool else "what the provider does"
        if above is None:
            yield violated(f"turn {work.turn}: {what} belongs to no span")
        elif not (above.attributes.get("gen_ai.tool.name") == tool if tool else calls_the_model(above)):
            yield violated(f"turn {work.turn}: {what} belongs to the span {above.name!r}")
        else:
            yield "work in its span"


@check("telemetry/spans-say-what-is-recommended")
def spans_say_what_is_recommended(view: View) -> Findings:
    """Names, kinds, why an answer ended and which model gave it, and the ids of tool calls."""
    for turn in turn_spans(view):
        for answer in turn.answers:
            lacking = next(_left_out(answer), "")
            yield violated(f"{turn.where}, {answer.span.name!r}: {lacking}") if lacking else "spans of model calls"
        for span in turn.tools:
            if span.name != f"execute_tool {span.attributes.get('gen_ai.tool.name')}":
                yield violated(f"{turn.where}: a tool's span is named {span.name!r}")
            elif "gen_ai.tool.call.id" not in span.attributes:
                yield violated(f"{turn.where}, {span.name!r}: it has no id of the call")
            else:
                yield "spans of tools"


def _left_out(answer: Answer) -> Iterator[str]:
    span, response = answer.span, answer.response
    if span.name != f"{operation(span)} {span.attributes.get('gen_ai.request.model')}":
        yield "the name is not its operation and its model"
    if span.kind not in ("client", "internal"):
        yield f"its kind is {span.kind!r}"
    if answer.failed or answer.cancelled:
        return
    if answer.finishes and "gen_ai.response.finish_reasons" not in span.attributes:
        yield "it does not say why the answer ended"
    if response is not None and response.model and "gen_ai.response.model" not in span.attributes:
        yield "it does not say which model answered"


@check("telemetry/paths-give-the-same-tree", aspect=lambda view: _outlines(view))
def paths_give_the_same_tree(view: View) -> Findings:
    """An undisturbed turn is what the scenario says: a call of the model, its tools, the next call."""
    for turn in turn_spans(view):
        if not turn.spans or not turn.step.ordinary or len(turn.tool_outcomes) != turn.calls_offered:
            continue  # a call of a tool that nobody knows runs nothing, and need not have a span
        wanted = []
        for exchange in turn.exchanges:
            answer = exchange.answer
            wanted += ["call", *(["tool"] * len(calls_in(answer.parts)) if answer is not None else [])]
        found = [_what(span) for span in turn.spans if calls_the_model(span) or runs_a_tool(span)]
        if found == wanted:
            yield "trees of undisturbed turns"
        else:
            yield violated(f"{turn.where}: what happened is {show(wanted)}, its spans are {show(found)}")


def _what(span: SpanMade) -> str:
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
    return {"what": _what(span), "tool": tool, "status": span.status, "error": error_type(span), "below": under}


def _ordered(outlines: Iterable[JSON], at_once: bool) -> list[JSON]:
    """Tools that may have begun at once by what they are: the ids, by which spans are in order, differ by path."""
    return sorted(outlines, key=repr) if at_once else list(outlines)


def _listed(words: frozenset[str]) -> str:
    return " or ".join(map(repr, sorted(words)))
