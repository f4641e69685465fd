"""Hand-made spans: what a session that follows the conventions would have made of a hand-made run."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from msgspec.structs import replace

from turnproof.judge.view import ProviderCall, TurnView, View
from turnproof.messages import FunctionCall, ToolResult
from turnproof.run.transcript import CallBegan, Event, Retried, SpanMade
from turnproof_suites.steps import Step, steps

from .test_history_checks import uncalled
from .wire import MODEL

Change = Callable[[SpanMade], SpanMade | None]


@dataclass
class Spans:
    """Spans in the making, parents first."""

    events: list[SpanMade] = field(default_factory=list)

    def add(self, name: str, step: Step, calls: tuple[int, int], below: int = -1, **fields: Any) -> int:
        """One more, by its number."""
        number = len(self.events)
        known: dict[str, Any] = {"turn": step.turn.index, "during": step.kind, "kind": "internal", "status": "unset"}
        self.events.append(SpanMade(span=number, parent=below, name=name, calls=calls, **{**known, **fields}))
        return number


def traced(view: View, *, per_attempt: bool = False) -> View:
    """The run with spans. With `per_attempt` each attempt of a model call has one, and no wait has."""
    spans = Spans()
    for step in steps(view):
        if step.kind == "gc":
            spans.add("collect", step, (0, 0))
        elif step.kind == "turn":
            _turn(spans, step, per_attempt)
    events = (*view.transcript.events[:-1], *spans.events, view.transcript.events[-1])
    return View(replace(view.transcript, events=events), view.dialect, view.scenario)


def hidden(view: View, **how: Any) -> View:
    """The same of a session that does not show its provider calls."""
    return changed(lambda span: replace(span, calls=(0, 0)))(uncalled(traced(view, **how)))


def changed(change: Change, named: str = "", nth: int | None = None) -> Callable[[View], View]:
    """Other spans: those whose name begins so, or the `nth` of them; None takes one out."""

    def spoil(view: View) -> View:
        matching = [span for span in view.transcript.of(SpanMade) if span.name.startswith(named)]
        chosen = {span.span for span in (matching if nth is None else [matching[nth]])}
        events: list[Event] = []
        for event in view.transcript.events:
            new = change(event) if isinstance(event, SpanMade) and event.span in chosen else event
            events += [new] if new is not None else []
        return View(replace(view.transcript, events=tuple(events)), view.dialect, view.scenario)

    return spoil


def saying(**attributes: Any) -> Change:
    """Another value of attributes, with `__` for a dot; None takes one away."""

    def change(span: SpanMade) -> SpanMade:
        span_attributes = {**span.attributes, **{name.replace("__", "."): value for name, value in attributes.items()}}
        return replace(span, attributes={name: value for name, value in span_attributes.items() if value is not None})

    return change


def with_span(**fields: Any) -> Callable[[View], View]:
    """One span more at the end, of somebody else's kind unless `fields` say so."""

    def spoil(view: View) -> View:
        usual = {"span": 99, "name": "GET", "kind": "client", "status": "unset", "calls": (0, 0)}
        span_fields: dict[str, Any] = {**usual, "turn": 0, "during": "turn", **fields}
        events = (*view.transcript.events[:-1], SpanMade(**span_fields), view.transcript.events[-1])
        return View(replace(view.transcript, events=events), view.dialect, view.scenario)

    return spoil


def _turn(spans: Spans, step: Step, per_attempt: bool) -> None:
    turn = step.turn
    first = turn.calls[0].index if turn.calls else 0
    failed = turn.ended is not None and turn.ended.outcome == "error"
    last = turn.calls[-1].index + 1 if turn.calls else first
    root = spans.add("invoke_agent", step, (first, last), attributes={"gen_ai.operation.name": "invoke_agent"})
    if failed:
        spans.events[root] = _failed(spans.events[root])
    for attempts in _model_calls(turn, per_attempt):
        call = attempts[-1]
        around = (attempts[0].index, call.index + 1)
        chat = spans.add(f"chat {MODEL}", step, around, root, kind="client", attributes=_chat_attributes(call))
        if call.failed is not None and turn.ended is not None and turn.ended.outcome != "cancelled":
            spans.events[chat] = _failed(spans.events[chat])
        for again in attempts[1:]:
            spans.add("retry", step, (again.index, again.index), chat)
        for attempt in attempts:
            _work(spans, step, attempt.index + 1, chat)
        for tool_call in call.response.calls if call.response is not None else ():
            _tool(spans, step, tool_call, call.index + 1, root)


def _model_calls(turn: TurnView, per_attempt: bool) -> Iterator[list[ProviderCall]]:
    waited: set[int] = set()
    last = -1
    for event in turn.events:
        if isinstance(event, CallBegan):
            last = event.call
        elif isinstance(event, Retried):
            waited.add(last)
    group: list[ProviderCall] = []
    for call in turn.calls:
        group.append(call)
        if per_attempt or call.index not in waited or call is turn.calls[-1]:
            yield group
            group = []


def _chat_attributes(call: ProviderCall) -> dict[str, Any]:
    attributes: dict[str, Any] = {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "anthropic",
        "gen_ai.request.model": MODEL,
    }
    if call.began.streamed:
        attributes["gen_ai.request.stream"] = True
    if call.response is not None:
        usage = call.response.usage
        attributes |= {
            "gen_ai.response.model": call.response.model or MODEL,
            "gen_ai.response.finish_reasons": [call.response.raw_finish or call.response.finish_reason.value],
            "gen_ai.usage.input_tokens": usage.prompt_tokens,
            "gen_ai.usage.output_tokens": usage.output_tokens,
        }
        cached = {"cache_read": usage.cache_read_tokens, "cache_creation": usage.cache_creation_tokens}
        attributes |= {f"gen_ai.usage.{kind}.input_tokens": count for kind, count in cached.items() if count}
    return attributes


def _tool(spans: Spans, step: Step, call: FunctionCall, calls: int, root: int) -> None:
    results: list[ToolResult] = [result for message in step.history for result in message.results]
    known = next((result for result in results if result.call_id == call.id), None)
    attributes = {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": call.name,
        "gen_ai.tool.call.id": call.id,
    }
    number = spans.add(f"execute_tool {call.name}", step, (calls, calls), root, attributes=attributes)
    _work(spans, step, calls, number, call.name)
    if known is not None and known.is_error and not step.turn.cancelled:
        spans.events[number] = _failed(spans.events[number])


def _work(spans: Spans, step: Step, calls: int, below: int, tool: str = "") -> None:
    """What turnproof itself makes a span of, where a provider is called or a tool runs."""
    spans.add("turnproof.work", step, (calls, calls), below, attributes={"turnproof.work.tool": tool})


def _failed(span: SpanMade) -> SpanMade:
    return replace(span, status="error", attributes={**span.attributes, "error.type": "SomeError"})
