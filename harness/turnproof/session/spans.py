"""The spans of a session, each with what it can be told.

Attributes are worked out only for a span that records. What a span processor raises, or what cannot be told, is logged
and changes nothing.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from contextvars import Token
from time import time_ns
from types import TracebackType
from typing import Final, Self, TypeAlias

from opentelemetry import context as contexts
from opentelemetry import trace
from opentelemetry.trace import Span, Status, StatusCode
from opentelemetry.util.types import AttributeValue

from ..errors import Cancelled, ProviderError
from ..gc import GCResult
from ..messages import FinishReason, Message, ProviderResponse, TokenUsage, ToolResult
from ..provider import SystemInstruction
from .captured_content import captured_json, captured_messages, captured_response, captured_system
from .result import TurnResult

OUTCOME: Final = "turnproof.outcome"
"""`answer` or `cancelled`; a span that failed has an error status instead."""

Attributes: TypeAlias = Mapping[str, AttributeValue | None]
"""Attributes by name; None stands for one that is not known, and is left out."""

_NO_ERROR: Final = object()

_log = logging.getLogger(__name__)


def without_none(attributes: Attributes) -> dict[str, AttributeValue]:
    """The attributes that are."""
    return {name: value for name, value in attributes.items() if value is not None}


class CurrentSpan:
    """A span that is the current one inside `with`, and ends there.

    Left by an exception it has an error status and the exception's type; a `Cancelled` is no error.
    """

    def __init__(self, span: Span, *, capture_content: bool = False) -> None:
        self._span = span
        self._capture_content = capture_content
        self._token: Token[contexts.Context] | None = None

    def __enter__(self) -> Self:
        self._token = contexts.attach(trace.set_span_in_context(self._span))
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._token is not None:
            contexts.detach(self._token)
        if error is not None:
            self.failed(error)
        self.end()

    def failed(self, error: BaseException) -> None:
        """Note that what the span stands for failed with this, or was cancelled."""
        if isinstance(error, Cancelled):
            self.add_attributes(lambda: {OUTCOME: "cancelled"})
            return
        status = error.status if isinstance(error, ProviderError) else None
        self.add_attributes(lambda: {"error.type": type(error).__name__, "http.response.status_code": status}, error)

    def add_attributes(self, attributes: Callable[[], Attributes], error: object = _NO_ERROR) -> None:
        """Add attributes, which are worked out only if the span records; with an `error`, set the error status."""
        if not self._span.is_recording():
            return
        try:
            self._span.set_attributes(without_none(attributes()))
            if error is not _NO_ERROR:
                description = str(error) if self._capture_content else None
                self._span.set_status(Status(StatusCode.ERROR, description))
        except Exception:
            _log.exception("a span could not be told")

    def end(self, at: int | None = None) -> None:
        """End the span, now or `at` a time in nanoseconds."""
        try:
            self._span.end(at)
        except Exception:  # a span processor of the application
            _log.exception("a span could not be ended")


class TurnSpan(CurrentSpan):
    """The span of a turn."""

    def record_result(self, result: TurnResult) -> None:
        """Note how the turn ended."""
        self.add_attributes(
            lambda: {
                OUTCOME: result.outcome,
                "turnproof.turn.rounds": result.rounds,
                "turnproof.turn.attempts": result.attempts,
            }
        )


class CallSpan(CurrentSpan):
    """The span of a call of the model."""

    def asks(self, messages: Sequence[Message], system: SystemInstruction) -> None:
        """Note what the model is given; only where content is captured."""
        if self._capture_content:
            self.add_attributes(
                lambda: {
                    "gen_ai.input.messages": captured_messages(messages),
                    "gen_ai.system_instructions": captured_system(system),
                }
            )

    def record_response(self, response: ProviderResponse) -> None:
        """Note what the model answered, or what had arrived of it when the call was cancelled."""
        cancelled = response.finish_reason is FinishReason.CANCELLED
        self.add_attributes(
            lambda: {
                **usage_attributes(response.usage),
                OUTCOME: "cancelled" if cancelled else "answer",
                "gen_ai.response.model": response.model,
                "gen_ai.response.finish_reasons": [response.raw_finish or response.finish_reason.value],
            }
        )
        if self._capture_content:
            self.add_attributes(lambda: {"gen_ai.output.messages": captured_response(response)})


class CollectSpan(CurrentSpan):
    """The span of a collection."""

    def collected(self, result: GCResult, used: int) -> None:
        """Note how much there was, in messages and in tokens (`used`, by the budget), and how much is left."""
        self.add_attributes(
            lambda: {
                "turnproof.gc.messages.before": result.before,
                "turnproof.gc.messages.after": result.after,
                "turnproof.gc.tokens.before": used,
                "turnproof.gc.tokens.after": used - result.tokens_freed,
            }
        )
        if not result.success:
            self.add_attributes(lambda: {"error.type": "collection_failed"}, result.error)


class PermissionSpan(CurrentSpan):
    """The span of a wait for permission."""

    def decided(self, granted: bool) -> None:
        """Note the answer."""
        self.add_attributes(lambda: {"turnproof.permission.granted": granted})


class ToolSpan(CurrentSpan):
    """The span of a tool call: begun where the call is handed over, current where the tool runs, ended once."""

    _raised: BaseException | None = None
    _left: int | None = None

    def __enter__(self) -> Self:
        self._left = None
        return super().__enter__()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        # Results are taken in call order: the tool may have been done long before its span is ended.
        self._left = time_ns() if self._span.is_recording() else None
        if self._token is not None:
            contexts.detach(self._token)

    def raised(self, error: BaseException) -> None:
        """Remember what the tool raised, which `ended` names as the type of its failure."""
        self._raised = error

    def end_with(self, result: ToolResult, *, cancelled: bool = False) -> None:
        """End the span with the call's result, or with what stands for it since the turn was cancelled."""
        if cancelled:
            self.add_attributes(lambda: {OUTCOME: "cancelled"})
        elif result.is_error:
            self.add_attributes(
                lambda: {"error.type": type(self._raised).__name__ if self._raised else "tool_error"}, result.result
            )
        if self._capture_content:
            self.add_attributes(lambda: {"gen_ai.tool.call.result": captured_json(result.result)})
        self.end(None if cancelled else self._left)


def usage_attributes(usage: TokenUsage) -> Attributes:
    """Token figures by the names of the conventions, where the provider gave any.

    Input counts all of the prompt and output all that was generated, as in `TokenUsage`; parts of them only where
    they are not zero.
    """
    if not usage.total_tokens:
        return {}
    return {
        "gen_ai.usage.input_tokens": usage.prompt_tokens,
        "gen_ai.usage.output_tokens": usage.output_tokens,
        "gen_ai.usage.cache_read.input_tokens": usage.cache_read_tokens or None,
        "gen_ai.usage.cache_creation.input_tokens": usage.cache_creation_tokens or None,
        "gen_ai.usage.reasoning.output_tokens": usage.thinking_tokens or None,
    }
