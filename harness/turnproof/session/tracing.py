"""Spans of what a session does: OpenTelemetry's API, in the words of its conventions for generative AI.

    invoke_agent                       a turn
    ├── collect                        history was collected: before the turn, in it, or on its own
    ├── chat MODEL                     one call of the model, with all of its attempts
    │   └── retry                      the wait before an attempt
    └── execute_tool NAME              one call of a tool; spans of the tool's own nest here, a subagent's turn too
        └── permission                 the wait for somebody's leave

Without an SDK nothing is recorded, and nothing but names is worked out. What was said is recorded only with
`capture_content`. Telemetry never changes a session: what a tracer raises is logged.
"""

from __future__ import annotations

import logging

from opentelemetry import trace
from opentelemetry.trace import Span, SpanKind, Tracer

from .. import __version__
from ..messages import FunctionCall
from ..provider import Path
from .captured_content import captured_json
from .retry import Retry
from .spans import Attributes, CallSpan, CollectSpan, CurrentSpan, PermissionSpan, ToolSpan, TurnSpan, without_none

_log = logging.getLogger(__name__)


class Tracing:
    """Makes a session's spans.

    `tracer` is that of the global tracer provider if none is given, also of one that is set later. `agent` names who
    takes the turns, `conversation` is the id under which the application keeps the conversation. `capture_content`
    also records what was said: messages, system text, arguments and results of tools, texts of errors.
    """

    def __init__(
        self,
        tracer: Tracer | None = None,
        *,
        agent: str | None = None,
        conversation: str | None = None,
        capture_content: bool = False,
    ) -> None:
        self._tracer = tracer or trace.get_tracer("turnproof.session", __version__)
        self._capture = capture_content
        self._turn_name = f"invoke_agent {agent}" if agent else "invoke_agent"
        self._turn: Attributes = {
            "gen_ai.operation.name": "invoke_agent",
            "gen_ai.agent.name": agent,
            "gen_ai.conversation.id": conversation,
        }
        self._conversation = conversation

    def turn(self, path: Path) -> TurnSpan:
        """The span of a turn, current until it is left."""
        span = self._start(self._turn_name, {**self._turn, "turnproof.path": path})
        return TurnSpan(span, capture_content=self._capture)

    def call(self, provider: object, *, streamed: bool = False, structured: bool = False) -> CallSpan:
        """The span of a call of the model, current until it is left."""
        model = _text_attribute(provider, "model_name")
        attributes: Attributes = {
            "gen_ai.operation.name": "chat",
            "gen_ai.provider.name": provider_name(provider),
            "gen_ai.request.model": model,
            "gen_ai.request.stream": streamed or None,
            "gen_ai.output.type": "json" if structured else None,
            "gen_ai.conversation.id": self._conversation,
        }
        span = self._start(f"chat {model}" if model else "chat", attributes, SpanKind.CLIENT)
        return CallSpan(span, capture_content=self._capture)

    def retry(self, retry: Retry) -> CurrentSpan:
        """The span of the wait before a call is made again."""
        attributes: Attributes = {
            "turnproof.retry.attempt": retry.attempt,
            "turnproof.retry.delay": retry.delay,
            "turnproof.retry.cause": type(retry.error).__name__,
            "http.response.status_code": retry.error.status,
        }
        return CurrentSpan(self._start("retry", attributes))

    def tool(self, call: FunctionCall) -> ToolSpan:
        """The span of a call that is handed to its tool. It begins now, and ends with `ended`."""
        attributes: Attributes = {
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.tool.name": call.name,
            "gen_ai.tool.call.id": call.id,
            "gen_ai.tool.type": "function",
        }
        span = ToolSpan(self._start(f"execute_tool {call.name}", attributes), capture_content=self._capture)
        if self._capture:
            span.add_attributes(lambda: {"gen_ai.tool.call.arguments": captured_json(call.args)})
        return span

    def permission(self, call: FunctionCall) -> PermissionSpan:
        """The span of the wait until somebody allows or refuses a call, current until it is left."""
        attributes: Attributes = {"gen_ai.tool.name": call.name, "gen_ai.tool.call.id": call.id}
        return PermissionSpan(self._start("permission", attributes))

    def collect(self, reason: str) -> CollectSpan:
        """The span of a collection, current until it is left. `reason` is what set it off: `threshold`, `overflow`."""
        span = self._start("collect", {"turnproof.gc.reason": reason})
        return CollectSpan(span, capture_content=self._capture)

    def _start(self, name: str, attributes: Attributes, kind: SpanKind = SpanKind.INTERNAL) -> Span:
        """A span under the current one; one that records nothing where the tracer fails."""
        try:
            return self._tracer.start_span(name, kind=kind, attributes=without_none(attributes))
        except Exception:
            _log.exception("the tracer failed")
            return trace.INVALID_SPAN


def provider_name(provider: object) -> str:
    """The name under which conventions know a provider, else its own, else that of its class."""
    return _text_attribute(provider, "telemetry_name") or _text_attribute(provider, "name") or type(provider).__name__


def _text_attribute(provider: object, attribute: str) -> str | None:
    """A text that a provider has of itself; None for anything else that stands, or happens, in its place."""
    try:
        found = getattr(provider, attribute, None)
    except Exception:
        _log.exception("%s.%s failed", type(provider).__name__, attribute)
        return None
    return found if isinstance(found, str) else None
