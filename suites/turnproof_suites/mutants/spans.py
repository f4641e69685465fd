"""Sessions whose spans tell something else than what happened, or more than they should."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from opentelemetry.context import Context, attach, detach
from opentelemetry.trace import INVALID_SPAN, Span, Status, StatusCode

from turnproof.cancel import CancelToken
from turnproof.subject import SessionReply, SessionSetup, SessionTurn, Tool

from ._mutant import suite_mutant
from ._spans import Attributes, BrokenSpans, Start, WrappedSpan


@suite_mutant("tool-spans-on-their-own")
class ToolSpansOnTheirOwn(BrokenSpans):
    """Tools run in threads to which nobody hands the context: each of their spans begins a tree."""

    def start_span(self, start: Start, attributes: Attributes, **options: Any) -> Span:
        no_parent = {"context": Context()} if options["name"].startswith("execute_tool") else {}
        return super().start_span(start, attributes, **{**options, **no_parent})


@suite_mutant("failed-spans-left-open")
class FailedSpansLeftOpen(BrokenSpans):
    """Spans are ended where an answer is returned: after an error nobody does."""

    def set_span_status(self, span: WrappedSpan, status: Status) -> None:
        super().set_span_status(span, status)
        span.failed = True

    def end_span(self, span: WrappedSpan, at: int | None) -> None:
        if not span.failed:
            super().end_span(span, at)


@suite_mutant("provider-not-named")
class ProviderNotNamed(BrokenSpans):
    """The provider stands in an attribute of the session's own."""

    def change_attributes(self, span: WrappedSpan, attributes: Attributes) -> Attributes:
        named = {"gen_ai.provider.name", "gen_ai.system"}
        return {("llm.vendor" if key in named else key): value for key, value in attributes.items()}


@suite_mutant("cached-tokens-left-out")
class CachedTokensLeftOut(BrokenSpans):
    """Input is what the service counts as fresh: what its cache served or stored is not part of it."""

    def change_attributes(self, span: WrappedSpan, attributes: Attributes) -> Attributes:
        figures = dict(attributes)
        cached = [figures.get(f"gen_ai.usage.{kind}.input_tokens", 0) for kind in ("cache_read", "cache_creation")]
        if isinstance(input_tokens := figures.get("gen_ai.usage.input_tokens"), int):
            figures["gen_ai.usage.input_tokens"] = input_tokens - sum(
                count for count in cached if isinstance(count, int)
            )
        return figures


@suite_mutant("failures-not-marked")
class FailuresNotMarked(BrokenSpans):
    """Errors are named in an attribute, and the status of the span is left as it is."""

    def set_span_status(self, span: WrappedSpan, status: Status) -> None:
        pass


@suite_mutant("handled-failures-marked")
class HandledFailuresMarked(BrokenSpans):
    """A tool that fails marks its turn as an error too, although the model was told of it and answered."""

    turn: Span | None = None

    def send(self, text: str, turn: SessionTurn) -> SessionReply:
        self.turn = None
        return super().send(text, turn)

    def start_span(self, start: Start, attributes: Attributes, **options: Any) -> Span:
        span = super().start_span(start, attributes, **options)
        self.turn = self.turn or span
        return span

    def set_span_status(self, span: WrappedSpan, status: Status) -> None:
        super().set_span_status(span, status)
        if self.turn is not None:
            self.turn.set_status(status)


@suite_mutant("prompts-recorded")
class PromptsRecorded(BrokenSpans):
    """What the user says stands in the span of the turn, for whoever debugs it."""

    prompt = ""

    def send(self, text: str, turn: SessionTurn) -> SessionReply:
        self.prompt = text
        return super().send(text, turn)

    def start_span(self, start: Start, attributes: Attributes, **options: Any) -> Span:
        return super().start_span(start, {**attributes, "input.value": self.prompt[:80]}, **options)


@suite_mutant("errors-alike-on-the-legacy-path")
class ErrorsAlikeOnTheLegacyPath(BrokenSpans):
    """The legacy path knows one kind of error, whatever the provider raised."""

    def change_attributes(self, span: WrappedSpan, attributes: Attributes) -> Attributes:
        return {key: "provider_error" if key == "error.type" else value for key, value in attributes.items()}


@suite_mutant("cancel-marked-as-error")
class CancelMarkedAsError(BrokenSpans):
    """Whatever ends after somebody has cancelled the turn has failed."""

    turn: SessionTurn | None = None

    def send(self, text: str, turn: SessionTurn) -> SessionReply:
        self.turn = turn
        return super().send(text, turn)

    def end_span(self, span: WrappedSpan, at: int | None) -> None:
        if self.turn is not None and self.turn.cancel_token.is_cancelled:
            span.inner.set_status(StatusCode.ERROR)
        super().end_span(span, at)


@suite_mutant("only-calls-have-spans")
class OnlyCallsHaveSpans(BrokenSpans):
    """What the conventions have no word for has no span."""

    def start_span(self, start: Start, attributes: Attributes, **options: Any) -> Span:
        return (
            super().start_span(start, attributes, **options) if "gen_ai.operation.name" in attributes else INVALID_SPAN
        )


@suite_mutant("context-lost-in-tools")
class ContextLostInTools(BrokenSpans):
    """Tools run in threads that know of no span: what they do begins trees of its own."""

    def open_handle(self, setup: SessionSetup) -> Any:
        return super().open_handle(replace(setup, tools=tuple(map(_alone, setup.tools))))


def _alone(tool: Tool) -> Tool:
    def run(args: dict[str, Any], token: CancelToken) -> Any:
        before = attach(Context())
        try:
            return tool.run(args, token)
        finally:
            detach(before)

    return replace(tool, run=run)


@suite_mutant("ids-of-calls-not-told")
class IdsOfCallsNotTold(BrokenSpans):
    """Nobody can say which call of the model a tool's span answers."""

    def change_attributes(self, span: WrappedSpan, attributes: Attributes) -> Attributes:
        return {key: value for key, value in attributes.items() if key != "gen_ai.tool.call.id"}
