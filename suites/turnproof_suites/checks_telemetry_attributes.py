"""Telemetry: what a span says, by OpenTelemetry's conventions for generative AI.

What the conventions require decides about certification; what they recommend is reported beside it. Names of spans,
spans of other kinds and further attributes are a session's own business.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from msgspec import UNSET

from turnproof.judge.finding import Finding
from turnproof.judge.requirements import Findings, check, finding, findings_or_compared
from turnproof.judge.view import View
from turnproof.messages import JSON, TokenUsage
from turnproof.run.transcript import SpanMade

from .spans import Answer, TurnSpans, at_attribute, operation, session_spans, turn_spans

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
    yield from findings_or_compared(wrong, what)


def _misnamed_call(turn: TurnSpans, answer: Answer) -> Iterator[Finding]:
    span, attributes = answer.span, answer.span.attributes
    # Earlier versions call the provider a system, and ask nobody to change that.
    if not attributes.get("gen_ai.provider.name", attributes.get("gen_ai.system")):
        yield _NO_PROVIDER(at_attribute(turn.view, span, "gen_ai.provider.name", "gen_ai.system"), span=span.name)
    known_models = {turn.view.transcript.model, *(one.call.model for one in answer.exchanges if one.call is not None)}
    if (model := attributes.get("gen_ai.request.model")) not in known_models:
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
        expected = getattr(usage, field) or 0
        # What a span does not say counts as 0.
        figure = next(filter(None, map(answer.span.attributes.get, names)), 0)
        if figure != expected and (figure or not answer.cancelled):
            place = at_attribute(turn.view, answer.span, *names)
            yield _FIGURE(place, expected=expected, observed=figure, related=answer.places, what=what)


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
