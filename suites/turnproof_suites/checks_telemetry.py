"""Telemetry: the spans of a session, against what it did and by OpenTelemetry's conventions for generative AI.

What the conventions require decides about certification; what they recommend is reported beside it. Names of spans,
spans of other kinds and further attributes are a session's own business.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby

from msgspec import UNSET

from turnproof.judge.finding import Compared, Finding, Side
from turnproof.judge.requirements import Findings, check, finding
from turnproof.judge.view import View
from turnproof.messages import JSON, TokenUsage
from turnproof.run.transcript import Refused, Retried, SpanMade

from .reading import calls_in
from .spans import (
    Answer,
    TurnSpans,
    at_attribute,
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
    "telemetry/turn-has-a-span-tree/no-span",
    "A turn that called the model has no span.",
    "spans of the turn",
    "none",
)
_NEVER_ENDED = finding(
    "telemetry/turn-has-a-span-tree/never-ended",
    "A span never ended.",
    "the end of the span {span}",
    "none",
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
    done, made = len(turn.exchanges), len(turn.model_calls)
    if not turn.calls:
        # A call may be made again for an answer that no adapter can return, and has one span all the same.
        all_clean = all(each.clean and not (each.answer and each.answer.broken_calls) for each in turn.exchanges)
        if made > done or (made < done if all_clean else made < min(done, 1)):
            related = [exchange.at() for exchange in turn.exchanges]
            yield _REQUEST_SPANS(turn.turn.at(Side.SPAN), expected=done, observed=made, related=related)
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
    ran, made, offered = len(turn.tool_outcomes), len(turn.tools), turn.calls_offered
    if made < ran:
        yield _TOOL_SPANS_MISSING(turn.turn.at(Side.SPAN), expected=ran, observed=made)
    elif turn.outcome == "answer" and made > offered:
        yield _TOOL_SPANS_EXTRA(turn.at_span(turn.tools[offered]), expected=offered, observed=made)


_NO_OPERATION = finding(
    "telemetry/calls-follow-the-conventions/no-operation",
    "A span names a model and no operation.",
    "`gen_ai.operation.name` in the span {span}, which names the model {model}",
    "none",
)
_NO_PROVIDER = finding(
    "telemetry/calls-follow-the-conventions/no-provider",
    "The span of a model call names no provider.",
    "`gen_ai.provider.name` in the span {span}",
    "none",
)
_REQUEST_MODEL = finding(
    "telemetry/calls-follow-the-conventions/request-model",
    "The span of a model call does not name the requested model.",
    "{expected} as `gen_ai.request.model`",
)
_STREAM = finding(
    "telemetry/calls-follow-the-conventions/stream",
    "The span of a model call has the wrong value for streaming.",
    "{expected} as `gen_ai.request.stream`",
)
_RESPONSE_MODEL = finding(
    "telemetry/calls-follow-the-conventions/response-model",
    "The span of a model call does not name the model that answered.",
    "{expected} as `gen_ai.response.model`",
)
_FINISH_REASON = finding(
    "telemetry/calls-follow-the-conventions/finish-reason",
    "The span of a model call has another reason for the end of the answer.",
    "one of {expected} as `gen_ai.response.finish_reasons`",
)
_NO_TOOL_NAME = finding(
    "telemetry/calls-follow-the-conventions/no-tool-name",
    "The span of a tool call names no tool.",
    "`gen_ai.tool.name` in the span {span}",
    "none",
)
_TOOL_NAME = finding(
    "telemetry/calls-follow-the-conventions/tool-name",
    "The span of a tool call names a tool that there is not.",
    "one of {expected} as `gen_ai.tool.name`",
)
_TOOL_CALL_ID = finding(
    "telemetry/calls-follow-the-conventions/tool-call-id",
    "The span of a tool call has the id of no call.",
    "one of {expected} as `gen_ai.tool.call.id`",
)


@check("telemetry/calls-follow-the-conventions")
def calls_follow_the_conventions(view: View) -> Findings:
    """What they require is there, and what is there is right."""
    for span in session_spans(view):
        if "gen_ai.request.model" in span.attributes and not operation(span):
            place = at_attribute(view, span, "gen_ai.request.model")
            yield _NO_OPERATION(place, span=span.name, model=span.attributes["gen_ai.request.model"])
    for turn in turn_spans(view):
        for answer in turn.answers:
            yield from _or_compared(_misnamed_call(turn, answer), "spans of model calls")
        for span in turn.tools:
            yield from _or_compared(_misnamed_tool(turn, span), "spans of tools")


def _or_compared(found: Iterable[Finding], what: str) -> Findings:
    """These findings; where there are none, what was found in order."""
    wrong = list(found)
    yield from wrong
    if not wrong:
        yield Compared(what)


def _misnamed_call(turn: TurnSpans, answer: Answer) -> Iterator[Finding]:
    span, attributes = answer.span, answer.span.attributes
    # Earlier versions call the provider a system, and ask nobody to change that.
    if not attributes.get("gen_ai.provider.name", attributes.get("gen_ai.system")):
        yield _NO_PROVIDER(at_attribute(turn.view, span, "gen_ai.provider.name", "gen_ai.system"), span=span.name)
    asked = {turn.view.transcript.model, *(one.call.model for one in answer.exchanges if one.call is not None)}
    if (model := attributes.get("gen_ai.request.model")) not in asked:
        place = at_attribute(turn.view, span, "gen_ai.request.model")
        yield _REQUEST_MODEL(place, expected=turn.view.transcript.model, observed=UNSET if model is None else model)
    if answer.calls:
        streamed = answer.calls[-1].began.streamed
        if (stream_attribute := attributes.get("gen_ai.request.stream", streamed)) != streamed:
            yield _STREAM(
                at_attribute(turn.view, span, "gen_ai.request.stream"), expected=streamed, observed=stream_attribute
            )
    response, named = answer.response, attributes.get("gen_ai.response.model")
    if response is not None and response.model and named not in (None, response.model):
        place = at_attribute(turn.view, span, "gen_ai.response.model")
        yield _RESPONSE_MODEL(place, expected=response.model, observed=named, related=answer.places)
    reasons = attributes.get("gen_ai.response.finish_reasons")
    if reasons is not None and answer.finishes and not answer.cancelled and not _is_one_of(reasons, answer.finishes):
        place = at_attribute(turn.view, span, "gen_ai.response.finish_reasons")
        yield _FINISH_REASON(place, expected=sorted(answer.finishes), observed=reasons, related=answer.places)


def _is_one_of(reasons: JSON, finishes: frozenset[str]) -> bool:
    return isinstance(reasons, list) and len(reasons) == 1 and str(reasons[0]) in finishes


def _misnamed_tool(turn: TurnSpans, span: SpanMade) -> Iterator[Finding]:
    names = {call.name for call in turn.calls_made} | {
        tool.name for tool in turn.view.scenario.tools_in(turn.turn.index)
    }
    name = span.attributes.get("gen_ai.tool.name")
    if not name:
        yield _NO_TOOL_NAME(at_attribute(turn.view, span, "gen_ai.tool.name"), span=span.name)
    elif name not in names:
        yield _TOOL_NAME(at_attribute(turn.view, span, "gen_ai.tool.name"), expected=sorted(names), observed=name)
    own, ids = span.attributes.get("gen_ai.tool.call.id"), {call.id for call in turn.calls_made}
    if own is not None and own not in ids:
        yield _TOOL_CALL_ID(at_attribute(turn.view, span, "gen_ai.tool.call.id"), expected=sorted(ids), observed=own)


_KINDS = ("client", "internal")

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


_FIGURE = finding(
    "telemetry/figures-are-the-providers/figure",
    "A figure in the span of a model call is not the provider's.",
    "{expected} {what:words}",
)


@check("telemetry/figures-are-the-providers")
def figures_are_the_providers(view: View) -> Findings:
    """Of a whole answer all that are not zero are there; of a cancelled one those that are there are right."""
    for turn in turn_spans(view):
        for answer in turn.answers:
            usage = answer.usage
            if usage is not None and usage.total_tokens and not answer.failed:
                yield from _or_compared(_wrong_figures(turn, answer, usage), "figures of model calls")


def _wrong_figures(turn: TurnSpans, answer: Answer, usage: TokenUsage) -> Iterator[Finding]:
    for what, (names, field) in _FIGURES.items():
        wanted = getattr(usage, field) or 0
        # What a span does not say counts as 0.
        figure = next(filter(None, map(answer.span.attributes.get, names)), 0)
        if figure != wanted and (figure or not answer.cancelled):
            place = at_attribute(turn.view, answer.span, *names)
            yield _FIGURE(place, expected=wanted, observed=figure, related=answer.places, what=what)


_UNMARKED = finding(
    "telemetry/errors-are-marked/unmarked",
    "The span of something that failed does not have the status of an error.",
    "the status {expected} for {what:words}, which failed",
)
_NO_ERROR_TYPE = finding(
    "telemetry/errors-are-marked/no-error-type",
    "The span of something that failed does not name its error.",
    "`error.type` in the span of {what:words}, which failed",
    "none",
)
_WRONGLY_MARKED = finding(
    "telemetry/errors-are-marked/wrongly-marked",
    "The span of something that did not fail has the status of an error.",
    "no error for {what:words}, which did not fail",
    "the status {observed}",
)


@check("telemetry/errors-are-marked")
def errors_are_marked(view: View) -> Findings:
    """What failed has the error status and names its error; what came to its end has no error status."""
    for turn in turn_spans(view):
        for span, failed, what in _spans_with_outcome(turn):
            if failed and span.status != "error":
                yield _UNMARKED(turn.at_span(span, "status"), expected="error", observed=span.status, what=what)
            elif failed and operation(span) and not error_type(span):
                yield _NO_ERROR_TYPE(at_attribute(view, span, "error.type"), what=what)
            elif not failed and span.status == "error":
                yield _WRONGLY_MARKED(turn.at_span(span, "status"), observed=span.status, what=what)
            else:
                yield Compared("spans of what failed" if failed else "spans of what went well")


def _spans_with_outcome(turn: TurnSpans) -> Iterator[tuple[SpanMade, bool, str]]:
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
            yield found[0], outcome.failed, f"the tool {outcome.name}"


_CANCEL_MARKED = finding(
    "telemetry/a-cancel-is-no-error/marked",
    "The span of something that was cancelled has the status of an error.",
    "no error in the span {span}",
    "the status {observed}",
)


@check("telemetry/a-cancel-is-no-error")
def a_cancel_is_no_error(view: View) -> Findings:
    """Somebody wanted it: an alarm about it would be a false one."""
    for turn in turn_spans(view):
        stopped = list(turn.roots) if turn.outcome == "cancelled" else []
        stopped += [answer.span for answer in turn.answers if answer.cancelled]
        for span in stopped:
            if span.status == "error":
                yield _CANCEL_MARKED(turn.at_span(span, "status"), observed=span.status, span=span.name)
            else:
                yield Compared("cancelled spans")


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
    made = 0
    for event in turn.step.events:
        if isinstance(event, Retried) and turn.calls:
            yield event, made
        made = max(made, event.call + 1)


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


_CALL_NAME = finding(
    "telemetry/spans-say-what-is-recommended/model-call-name",
    "The name of a model call's span is not its operation and its model.",
    "the name {expected}",
)
_CALL_KIND = finding(
    "telemetry/spans-say-what-is-recommended/model-call-kind",
    "The span of a model call is of another kind.",
    "one of the kinds {expected}",
)
_NO_FINISH_REASON = finding(
    "telemetry/spans-say-what-is-recommended/no-finish-reason",
    "The span of a model call lacks the finish reason.",
    "`gen_ai.response.finish_reasons` in the span {span}",
    "none",
)
_NO_RESPONSE_MODEL = finding(
    "telemetry/spans-say-what-is-recommended/no-response-model",
    "The span of a model call lacks the model that answered.",
    "`gen_ai.response.model` in the span {span}",
    "none",
)
_TOOL_SPAN_NAME = finding(
    "telemetry/spans-say-what-is-recommended/tool-span-name",
    "The name of a tool call's span is not its operation and its tool.",
    "the name {expected}",
)
_NO_TOOL_CALL_ID = finding(
    "telemetry/spans-say-what-is-recommended/no-tool-call-id",
    "The span of a tool call does not have the id of the call.",
    "`gen_ai.tool.call.id` in the span {span}",
    "none",
)


@check("telemetry/spans-say-what-is-recommended")
def spans_say_what_is_recommended(view: View) -> Findings:
    """Names, kinds, why an answer ended and which model gave it, and the ids of tool calls."""
    for turn in turn_spans(view):
        for answer in turn.answers:
            yield from _or_compared(_left_out_of_call(turn, answer), "spans of model calls")
        for span in turn.tools:
            yield from _or_compared(_left_out_of_tool(turn, span), "spans of tools")


def _left_out_of_call(turn: TurnSpans, answer: Answer) -> Iterator[Finding]:
    span, response = answer.span, answer.response
    name = f"{operation(span)} {span.attributes.get('gen_ai.request.model')}"
    if span.name != name:
        yield _CALL_NAME(turn.at_span(span, "name"), expected=name, observed=span.name)
    if span.kind not in _KINDS:
        yield _CALL_KIND(turn.at_span(span, "kind"), expected=_KINDS, observed=span.kind)
    if answer.failed or answer.cancelled:
        return
    if answer.finishes and "gen_ai.response.finish_reasons" not in span.attributes:
        yield _NO_FINISH_REASON(at_attribute(turn.view, span), span=span.name)
    if response is not None and response.model and "gen_ai.response.model" not in span.attributes:
        yield _NO_RESPONSE_MODEL(at_attribute(turn.view, span), span=span.name)


def _left_out_of_tool(turn: TurnSpans, span: SpanMade) -> Iterator[Finding]:
    name = f"execute_tool {span.attributes.get('gen_ai.tool.name')}"
    if span.name != name:
        yield _TOOL_SPAN_NAME(turn.at_span(span, "name"), expected=name, observed=span.name)
    if "gen_ai.tool.call.id" not in span.attributes:
        yield _NO_TOOL_CALL_ID(at_attribute(turn.view, span), span=span.name)


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
        wanted = []
        for exchange in turn.exchanges:
            answer = exchange.answer
            wanted += ["call", *(["tool"] * len(calls_in(answer.parts)) if answer is not None else [])]
        found = [_span_kind(span) for span in turn.spans if calls_the_model(span) or runs_a_tool(span)]
        if found == wanted:
            yield Compared("trees of undisturbed turns")
        else:
            yield _OTHER_TREE(turn.turn.at(Side.SPAN), expected=wanted, observed=found)


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
