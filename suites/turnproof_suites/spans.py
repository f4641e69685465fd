"""The spans of a run by the conventions for generative AI: which stand for a turn, for a call of the model, for a tool.

Spans that name no operation of those conventions are anybody's own (HTTP clients, data bases, a framework's parts), and
nothing is asked of them. A call of the model may have one span for all of its attempts, as the conventions want it, or
one for each.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, pairwise
from typing import Any

import msgspec

from turnproof.dialects.base import WireAnswer
from turnproof.judge.finding import Place, Side
from turnproof.judge.view import Exchange, ProviderCall, TurnView, View
from turnproof.messages import FinishReason, FunctionCall, ProviderResponse, TokenUsage
from turnproof.run.transcript import CallBegan, SpanMade, ToolRun

from .content import calls_in, results_in
from .reading import once_per_view
from .steps import Step, turns_done

_MODEL_CALLS = frozenset({"chat", "generate_content", "text_completion"})


def operation(span: SpanMade) -> str:
    """The conventions' word for what a span stands for; empty for a span of another kind."""
    found = span.attributes.get("gen_ai.operation.name")
    return found if isinstance(found, str) else ""


def calls_the_model(span: SpanMade) -> bool:
    """Whether it stands for a call of the model."""
    return operation(span) in _MODEL_CALLS


def runs_a_tool(span: SpanMade) -> bool:
    """Whether it stands for a tool call."""
    return operation(span) == "execute_tool"


def is_ours(span: SpanMade) -> bool:
    """Whether it is one that turnproof makes where a provider is called or a tool runs, as their own clients would."""
    return "turnproof.work.tool" in span.attributes


def error_type(span: SpanMade) -> str:
    """The class of error that a span ended with; empty where it names none."""
    return str(span.attributes.get("error.type") or "")


@dataclass(frozen=True)
class Answer:
    """A span of a model call, with the attempts that fall into it and what came of the last one."""

    span: SpanMade
    calls: tuple[ProviderCall, ...]
    exchanges: tuple[Exchange, ...]

    @property
    def response(self) -> ProviderResponse | None:
        """What the provider returned in the end, where the session shows it."""
        return self.calls[-1].response if self.calls else None

    @property
    def cancelled(self) -> bool:
        """Whether the session was given less than a whole answer because it had asked for no more."""
        failed = self.calls[-1].failed if self.calls else None
        if failed is not None:
            return failed.error == "Cancelled"
        if self.response is not None:
            return self.response.finish_reason is FinishReason.CANCELLED
        return any(exchange.held for exchange in self.exchanges[-1:])

    @property
    def failed(self) -> bool:
        """Whether the last attempt failed."""
        if self.calls:
            return self.calls[-1].failed is not None and not self.cancelled
        return self._seen is not None and (self._seen.status >= 400 or self._seen.error_kind is not None)

    @property
    def places(self) -> tuple[Place, ...]:
        """What the provider returned in the end, or the answer on the wire where the session hides that."""
        if self.calls:
            last = self.calls[-1]
            return (last.at(Side.ERROR if last.failed is not None else Side.RESPONSE),)
        return tuple(exchange.at(Side.STREAM) for exchange in self.exchanges[-1:])

    @property
    def usage(self) -> TokenUsage | None:
        """The figures of the last answer, as the session was given them.

        None where it hides its calls and the stream was held for a cancel: the server may have written figures that
        nobody has read.
        """
        if self.response is not None:
            return self.response.usage
        if any(exchange.held for exchange in self.exchanges[-1:]):
            return None
        return self._seen.usage if self._seen is not None else None

    @property
    def finishes(self) -> frozenset[str]:
        """The words for why the answer ended: the provider's own, turnproof's, and those of the conventions."""
        answer = self._seen
        finish = self.response.finish_reason if self.response is not None else answer.finish if answer else None
        raw = self.response.raw_finish if self.response is not None else answer.raw_finish if answer else None
        if finish is None:
            return frozenset()
        own = {raw, raw.lower()} if raw else set()
        return frozenset({finish.value, *own, *_CONVENTIONAL.get(finish, ())})

    @property
    def _seen(self) -> WireAnswer | None:
        """The last answer on the wire, where the session hides what its provider made of it."""
        return self.exchanges[-1].answer if self.exchanges and not self.calls else None


_CONVENTIONAL = {
    FinishReason.STOP: ("stop",),
    FinishReason.MAX_TOKENS: ("length",),
    FinishReason.TOOL_USE: ("tool_call", "tool_calls"),
    FinishReason.SAFETY: ("content_filter",),
    FinishReason.REFUSAL: ("content_filter",),
    FinishReason.ERROR: ("error",),
}
"""The words of the conventions' schema of output messages, and those that they have from OpenAI."""


@dataclass(frozen=True)
class Outcome:
    """What became of a tool call that was not cancelled."""

    call_id: str
    name: str
    failed: bool


@dataclass(frozen=True)
class TurnSpans:
    """The spans that began in one turn, beside what happened in it."""

    view: View
    step: Step
    spans: tuple[SpanMade, ...]

    @property
    def turn(self) -> TurnView:
        """The turn."""
        return self.step.turn

    def at_span(self, span: SpanMade, *tokens: str | int) -> Place:
        """The place of a span, or of a field of it."""
        return at_span(self.view, span, *tokens)

    @property
    def outcome(self) -> str:
        """How the turn ended: `answer`, `error` or `cancelled`."""
        return self.turn.ended.outcome if self.turn.ended is not None else ""

    @cached_property
    def roots(self) -> tuple[SpanMade, ...]:
        """The topmost spans above those that name an operation, within the turn."""
        by_number = {span.span: span for span in self.spans}
        found: dict[int, SpanMade] = {}
        for span in self.spans:
            if not operation(span):
                continue
            while span.parent in by_number:
                span = by_number[span.parent]
            found[span.span] = span
        return tuple(found.values())

    @cached_property
    def model_calls(self) -> tuple[SpanMade, ...]:
        """The spans of model calls, in order."""
        return tuple(filter(calls_the_model, self.spans))

    @cached_property
    def tools(self) -> tuple[SpanMade, ...]:
        """The spans of tool calls."""
        return tuple(filter(runs_a_tool, self.spans))

    @cached_property
    def calls(self) -> tuple[ProviderCall, ...]:
        """The provider calls of the turn, as far as the session shows them."""
        began = {event.call for event in self.step.events if isinstance(event, CallBegan) and not event.child}
        return tuple(call for call in self.turn.calls if call.index in began)

    @property
    def exchanges(self) -> tuple[Exchange, ...]:
        """The requests for an answer that were made in the turn."""
        return self.step.generated

    def covering(self, call: ProviderCall) -> list[SpanMade]:
        """The spans of model calls in which a provider call was made."""
        return [span for span in self.model_calls if span.calls[0] <= call.index < span.calls[1]]

    @cached_property
    def answers(self) -> tuple[Answer, ...]:
        """The spans of model calls, each with what it stands for, as far as that is known.

        Of a session that hides its calls it is where there are as many requests as spans, and of those requests that
        the service refused, or whose answer the session took: it may have had its reasons to ask again.
        """
        if self.calls:
            found = (
                (span, tuple(call for call in self.calls if span in self.covering(call))) for span in self.model_calls
            )
            return tuple(
                Answer(span, calls, tuple(exchange for call in calls for exchange in call.generated))
                for span, calls in found
                if calls
            )
        if len(self.model_calls) != len(self.exchanges):
            return ()
        both = zip(self.model_calls, self.exchanges, pairwise((*self.exchanges, None)), strict=True)
        hidden = ((Answer(span, (), (exchange,)), after) for span, exchange, (_, after) in both)
        return tuple(
            answer for answer, after in hidden if answer.failed or self._is_accepted(answer.exchanges[0], after)
        )

    def _is_accepted(self, exchange: Exchange, after: Exchange | None) -> bool:
        """Whether an answer was what the session wanted: it asks for something else afterwards, or for nothing."""
        if after is None:
            return self.outcome != "error" and (exchange.clean or exchange.held)
        return exchange.clean and after.body != exchange.body

    @cached_property
    def tool_outcomes(self) -> tuple[Outcome, ...]:
        """The tools that ran to their end: as the session told of them, else by the results that it holds.

        Results that stand for calls of another turn are not among them: those were made up.
        """
        runs = [event for event in self.step.events if isinstance(event, ToolRun)]
        done = [
            Outcome(run.call_id, run.name, run.outcome == "error") for run in runs if run.outcome in ("ok", "error")
        ]
        if not runs and self.outcome == "answer":
            declared = {tool.name for tool in self.view.scenario.tools_in(self.turn.index)}
            results = [one for one in results_in(self.step.added or ()) if one.name in declared]
            done = [Outcome(one.call_id, one.name, one.is_error) for one in results]
        call_ids = {call.id for call in self.calls_made}
        return tuple(outcome for outcome in done if outcome.call_id in call_ids)

    @cached_property
    def calls_made(self) -> tuple[FunctionCall, ...]:
        """The calls that the model made in the turn, as the session was given them and as they stood on the wire."""
        responses = (call.response.calls for call in self.calls if call.response is not None)
        answers = (calls_in(one.answer.parts) for one in self.exchanges if one.answer is not None)
        return tuple(chain(*responses, *answers))

    @cached_property
    def calls_offered(self) -> int:
        """How many tool calls the model made in the turn, broken ones among them."""
        answers = [exchange.answer for exchange in self.exchanges if exchange.answer is not None]
        return sum(len(calls_in(answer.parts)) + answer.broken_calls for answer in answers)

    def tool_spans(self, outcome: Outcome) -> tuple[SpanMade, ...]:
        """The spans of a tool call: by its id, or by its tool's name where the spans have no ids."""
        by_id = self.named_by_id
        return tuple(
            span
            for span in self.tools
            if (
                _text(span, "gen_ai.tool.call.id") == outcome.call_id
                if by_id
                else _text(span, "gen_ai.tool.name") == outcome.name
            )
        )

    @cached_property
    def named_by_id(self) -> bool:
        """Whether every tool call's span has the id of its call."""
        return all(_text(span, "gen_ai.tool.call.id") for span in self.tools)

    @cached_property
    def ids(self) -> Counter[str]:
        """How often each id stands in the turn's tool calls: some services use one again."""
        return Counter(outcome.call_id for outcome in self.tool_outcomes)


def at_span(view: View, span: SpanMade, *tokens: str | int) -> Place:
    """The place of a span, or of a field of it, with the turn in which the span began."""
    return msgspec.structs.replace(view.at_event(span, *tokens), turn=span.turn)


def at_attribute(view: View, span: SpanMade, *names: str) -> Place:
    """The place of the first of these attributes that a span has; of all its attributes where it has none of them."""
    name = next((name for name in names if name in span.attributes), None)
    if name is not None:
        return at_span(view, span, "attributes", name)
    return at_span(view, span, *(["attributes"] if span.attributes else []))


@once_per_view
def session_spans(view: View) -> tuple[SpanMade, ...]:
    """The spans of the session, in the run's order."""
    return tuple(span for span in view.transcript.of(SpanMade) if not is_ours(span))


@once_per_view
def turn_spans(view: View) -> tuple[TurnSpans, ...]:
    """The turns that the user spoke in, each with its spans."""
    spans = session_spans(view)
    return tuple(
        TurnSpans(view, step, tuple(span for span in spans if span.turn == step.turn.index and span.during == "turn"))
        for step in turns_done(view)
        if step.turn.ended is not None
    )


def below(spans: tuple[SpanMade, ...], parent: int) -> Iterator[SpanMade]:
    """The spans right below one of them."""
    return (span for span in spans if span.parent == parent)


def _text(span: SpanMade, name: str) -> str:
    found: Any = span.attributes.get(name)
    return found if isinstance(found, str) else ""
