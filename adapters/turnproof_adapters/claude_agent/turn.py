"""The lines of one turn, on their way to a response and into the history.

Text and thinking come from the API's own stream events, for they are there first; what goes into the history comes from
the finished blocks, for those are what the program keeps.
"""

from __future__ import annotations

from collections.abc import Callable

from turnproof.errors import ProviderError, TransportError
from turnproof.messages import FunctionCall, Part, ProviderResponse, TokenUsage

from .._answers import Listeners, cancelled_response, highest_usage
from .._errors import hide_secret
from ..anthropic.assemble import Assembler
from ..anthropic.parts import Restore, finish_reason
from ..anthropic.service import Service
from ..anthropic.usage import NOTHING, tokens
from ..anthropic.wire import Event, Failure
from ..claude_cli.failures import typed_error
from ..claude_cli.lines import Assistant, Line, ProgramMessage, Result, StreamEvent, System, User
from .history import is_of_the_program


class Turn:
    """Feed it lines until one of them is the result. `messages` is what was said in it by then, `ended` whether the
    program has told of its end, and `version` the program's own."""

    def __init__(self, service: Service, restore: Restore, listeners: Listeners, secret: str) -> None:
        self.session_id: str | None = None
        self.version = ""
        self.messages: list[ProgramMessage] = []
        self.ended = False
        self._service = service
        self._restore = restore
        self._listeners = listeners
        self._secret = secret
        self._answers: list[Assembler] = []
        self._stopped = True
        self._refused: Assistant | None = None
        self._shown = TokenUsage()

    def feed(self, line: Line) -> Result | None:
        """Take one line; what a callback raises passes through. Raises TransportError for a stream that begins anew
        after it has broken off: what it has shown cannot be taken back."""
        if line.parent_tool_use_id is not None:
            return None
        match line:
            case StreamEvent():
                self._event(line.event)
            case Assistant() if line.is_api_error_message:
                self._refused = line
            case User() if line.is_synthetic:
                pass
            case Assistant() | User():
                if not is_of_the_program(line.message):
                    self.messages.append(line.message)
            case System(subtype="init"):
                self.session_id = line.session_id or self.session_id
                self.version = line.claude_code_version or self.version
            case Result():
                self.ended = True
                return line
        return None

    def response(self, result: Result) -> ProviderResponse:
        """The response to a turn that ended with this result. Raises ProviderError where it failed.

        An answer that the API has cut off, or withheld the rest of, is a failure to the program, and here an answer.
        """
        reason = result.stop_reason
        if result.is_error:
            if self._refused is not None and self._refused.error == "max_output_tokens":
                reason = "max_tokens"
            elif reason != "refusal":
                raise typed_error(result, self._refused, self._secret)
        if not self._answers:
            raise TransportError(
                f"claude ended the turn without an answer: {hide_secret(result.result or '', self._secret)}"
            )
        return ProviderResponse(
            parts=self.parts,
            usage=tokens(result.usage or NOTHING),
            finish_reason=finish_reason(reason),
            raw_finish=reason,
            model=self._model,
        )

    def cancelled(self, result: Result | None) -> ProviderResponse:
        """What had arrived of a turn that was cancelled, with the result that it ended in, if it did."""
        final_usage = tokens(result.usage or NOTHING) if result is not None else TokenUsage()
        return cancelled_response(self.parts, highest_usage(self._usage(), final_usage), self._model)

    @property
    def parts(self) -> tuple[Part, ...]:
        """All text so far, and the thinking that stands alone: calls were made by the program."""
        return tuple(part for answer in self._answers for part in answer.cancelled().parts)

    @property
    def _model(self) -> str | None:
        return self._answers[-1].cancelled().model if self._answers else None

    def _event(self, event: Event) -> None:
        if event.type == "message_start":
            if not self._stopped:
                raise TransportError("the stream of the answer broke off, and claude asked once more")
            self._stopped = False
            self._answers.append(self._assembler())
        if not self._answers or self._answers[-1].complete:
            return
        self._stopped = self._stopped or (event.delta is not None and event.delta.stop_reason is not None)
        if event.type == "message_stop" and not self._stopped:
            return  # in the program's own name: why it broke off follows
        self._answers[-1].feed(event)
        if (error := self._answers[-1].failure) is not None:
            raise error

    def _assembler(self) -> Assembler:
        on_usage = self._listeners.on_usage_update
        listeners = Listeners(
            self._listeners.on_chunk,
            None if on_usage is None else self._telling(on_usage),
            self._listeners.on_function_call,
            self._listeners.on_thinking,
        )
        return Assembler(self._service, self._restore, listeners, _failed)

    def _telling(self, on_usage: Callable[[TokenUsage], None]) -> Callable[[TokenUsage], None]:
        before = self._usage()

        def tell(now: TokenUsage) -> None:
            self._shown = highest_usage(self._shown, _sum(before, now))
            on_usage(self._shown)

        return tell

    def _usage(self) -> TokenUsage:
        total = TokenUsage()
        for answer in self._answers:
            total = _sum(total, answer.cancelled().usage)
        return total


def _sum(one: TokenUsage, other: TokenUsage) -> TokenUsage:
    return TokenUsage(*(getattr(one, name) + getattr(other, name) for name in TokenUsage.__struct_fields__))


def _failed(failure: Failure) -> ProviderError:
    return TransportError(failure.message or failure.type or "an error without a word")


def watch_calls(listeners: Listeners, calls: dict[str, FunctionCall]) -> Listeners:
    """The listeners, with every call also put down in `calls`."""

    def put(call: FunctionCall) -> None:
        calls[call.id] = call
        if listeners.on_function_call is not None:
            listeners.on_function_call(call)

    return Listeners(listeners.on_chunk, listeners.on_usage_update, put, listeners.on_thinking)
