"""One turn: from the user's message to an answer, through as many tool rounds as the model wants.

The history grows only by what can be sent again: messages of the user, answers, and one tool message behind each
answer with calls. Calls are run, and recorded, only where the response ended in an ordinary way; one that stands
in a response that was cut off or blocked goes unrecorded, because nothing will ever answer it.

What is said while the turn runs cuts the answer that is being given, or waits for the results of the tools that are
running, and is answered next.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from .._base.counts import counted
from ..cancel import CancelToken
from ..errors import Cancelled, ContextLimitError, ProviderError, TurnproofError
from ..messages import FinishReason, FunctionCall, Message, MessageIds, Part, ProviderResponse, Text, TokenUsage
from ..provider import JSONSchema
from .callback_relay import CallbackRelay, Callbacks, Diverged, Interrupted
from .context_window import TurnRoom
from .history import SessionHistory
from .inbox import Inbox, Prompt
from .missing_call import MissingCalls
from .observer import SessionObserver
from .ports import Context, Port, PortCall
from .request_pacer import RequestPacer
from .result import TurnResult
from .retry import Retry, RetryPolicy, Sleep
from .running_answer import AnswersInBackground
from .tools import ToolBox
from .tracing import Tracing
from .window import SendWindow

_CALLS_STAND = {FinishReason.TOOL_USE, FinishReason.STOP, FinishReason.PAUSED, FinishReason.UNKNOWN}


class TooManyRounds(TurnproofError):
    """The model kept on calling tools (or pausing) for `rounds` responses; the turn was taken back."""

    def __init__(self, rounds: int) -> None:
        super().__init__(
            f"the turn had no end after {counted(rounds, 'response')} of the model; the history is as before it. "
            "If that many are wanted, raise max_rounds"
        )
        self.rounds = rounds


@dataclass(frozen=True, slots=True)
class TurnSetup:
    """What a turn works with."""

    history: SessionHistory
    port: Port
    context: Context
    tools: ToolBox
    retry: RetryPolicy
    pacer: RequestPacer | None
    sleep: Sleep
    observer: SessionObserver
    inbox: Inbox
    ids: MessageIds
    max_rounds: int
    room: TurnRoom
    answers: AnswersInBackground
    provider: object
    tracing: Tracing
    window: SendWindow | None = None


class Turn:
    """Runs once. On any exception the history is left half-way: the session takes it back.

    `reached_model` tells whether the model got anything of the turn.
    """

    reached_model = False

    def __init__(
        self, setup: TurnSetup, callbacks: Callbacks, token: CancelToken, response_schema: JSONSchema | None = None
    ) -> None:
        self._setup = setup
        self._history = setup.history
        self._callbacks = callbacks
        self._token = token
        self._schema = response_schema
        self._text: list[str] = []
        self._usage = TokenUsage()
        self._rounds = 0
        self._attempts = 0
        self._retries: list[Retry] = []
        self._failed: ProviderError | None = None
        self._nudges = MissingCalls(setup.ids)
        self._prompts: list[Prompt] = []
        self._unheard: list[Message] = []
        self._sent_from = 0

    def take_up(self, messages: Sequence[Message]) -> TurnResult:
        """Go on with a turn that an earlier process began: its messages up to the answer that is taken up."""
        self._open_window()
        try:
            self._setup.answers.begin_turn(messages[0])
            for message in messages:
                self._history.append(message)
            self.reached_model = True
            return self._until_answered(take_waiting=False)
        except BaseException:
            self._setup.inbox.put_back(self._prompts)
            raise
        finally:
            self._setup.inbox.close()

    def run(self, user: Message | None) -> TurnResult:
        """Say what waits in the inbox, then `user`, and run tools until nothing is called or said any more.

        What the model did not get waits again afterwards: all that was taken, if the turn fails.
        """
        inbox, tasks = self._setup.inbox, self._setup.tools.tasks
        before = len(tasks)
        self._open_window()
        try:
            self._deliver(inbox.take_all())
            if user is not None:
                self._append_prompt(user)
            return self._until_answered()
        except BaseException:
            inbox.put_back(self._prompts)
            tasks.drop_from(before)
            raise
        finally:
            inbox.close()

    def _until_answered(self, *, take_waiting: bool = True) -> TurnResult:
        inbox, paused = self._setup.inbox, not take_waiting
        response = ProviderResponse(finish_reason=FinishReason.CANCELLED)
        while True:
            if self._rounds >= self._setup.max_rounds and not self._token.is_cancelled:
                raise TooManyRounds(self._rounds)
            # What was said in a pause waits until the model has finished what it paused in.
            call, messages = inbox.open_call(self._token, take=not paused)
            self._deliver(messages)
            paused = False
            relay = CallbackRelay(self._callbacks, self._setup.observer)
            try:
                response = self._call(relay, call)
            except Cancelled:
                # No request was open: before the first, between two, or while waiting to try again.
                if not relay.shown_text:
                    if self._interrupted(call):
                        continue
                    return self._nothing_heard(response)
                response = _partial(relay, relay.usage or TokenUsage())
            self.reached_model, self._unheard = True, []
            interrupted = self._interrupted(call)
            if response.finish_reason is FinishReason.CANCELLED:
                response = self._keep_partial(relay, response)
                if interrupted:
                    continue
                return self._result(response, "cancelled")
            self._rounds += 1
            relay.finish(response)
            message = self._record(response)
            if message and message.calls:
                # A cancel in here ends the turn at the next call, which is then not made.
                self._append_results(message.calls)
            elif response.finish_reason is FinishReason.TOOL_USE:
                self._append_prompt(self._nudges.next())
            elif response.finish_reason is FinishReason.PAUSED and message and self._setup.port.continues:
                paused = True
            elif not inbox.urgent or self._token.is_cancelled:
                return self._result(response, "answer")

    def _deliver(self, prompts: Sequence[Prompt]) -> None:
        """What was said to the session since the last call becomes part of the conversation."""
        for prompt in prompts:
            self._prompts.append(prompt)
            self._append_prompt(prompt.message)
            self._setup.observer.on_delivered(prompt.message, prompt.sender)

    def _append_prompt(self, message: Message) -> None:
        if not self._unheard and not self.reached_model:
            self._setup.answers.begin_turn(message)
        self._history.append(message)
        self._unheard.append(message)

    def _interrupted(self, call: CancelToken) -> bool:
        """Whether a call was cut because there is something else to answer first."""
        if not call.is_cancelled or self._token.is_cancelled:
            return False
        if self._setup.inbox.urgent:
            return True
        # Set by the provider itself: to everybody who is handed it, a call's token is the turn's.
        self._token.cancel()
        return False

    def _call(self, relay: CallbackRelay, call: CancelToken) -> ProviderResponse:
        """One answer, with retries, and with less history where the provider says that it is too long."""
        self._failed = None
        while True:
            try:
                return self._call_with_retries(relay, call)
            except ContextLimitError as error:
                if not self._setup.room.make(error):
                    raise
                self._sent_from = 0  # what is held now is short enough

    def _call_with_retries(self, relay: CallbackRelay, call: CancelToken) -> ProviderResponse:
        setup = self._setup

        def attempt() -> ProviderResponse:
            relay.restart()
            if setup.pacer is not None:
                setup.pacer.wait(call, setup.sleep)
            call.raise_if_cancelled()
            self._attempts += 1
            try:
                response = setup.answers.request_answer(
                    PortCall(self._sent_messages, setup.context, relay, call, self._schema)
                )
            except ProviderError as error:
                relay.verify()
                self._failed = error
                if error.retryable and call.is_cancelled:
                    raise Cancelled("the turn was cancelled while its call failed") from error
                raise
            except Exception:
                relay.verify()
                raise
            relay.verify(complete=response.finish_reason is not FinishReason.CANCELLED)
            return response

        call.raise_if_cancelled()  # before there is a span of a call that is never made
        streamed = self._callbacks.on_chunk is not None
        with setup.tracing.call(setup.provider, streamed=streamed, structured=self._schema is not None) as span:
            span.asks(self._sent_messages, setup.context.system)
            try:
                # The provider demands the wait: what is said meanwhile does not shorten it, and is answered after it.
                response = setup.retry.call(attempt, token=self._token, sleep=self._pause, on_retry=self._retried)
            except Interrupted as stop:
                # Only a repeated attempt can diverge, so there is an error that made it necessary.
                raise (self._failed if self._failed and isinstance(stop.reason, Diverged) else stop.reason) from None
            except Cancelled:
                setup.answers.cancel()
                raise
            span.record_response(response)
        setup.observer.on_response(response)
        return response

    def _open_window(self) -> None:
        """What is sent of the history: with a window the end of what there was before the turn."""
        window = self._setup.window
        self._sent_from = window(self._history.messages_ref) if window is not None else 0

    @property
    def _sent_messages(self) -> Sequence[Message]:
        messages = self._history.messages_ref
        return messages[self._sent_from :] if self._sent_from else messages

    def _pause(self, seconds: float, token: CancelToken) -> bool:
        with self._setup.tracing.retry(self._retries[-1]):
            return self._setup.sleep(seconds, token)

    def _retried(self, retry: Retry) -> None:
        self._retries.append(retry)
        self._setup.observer.on_retry(retry)

    def _append_results(self, calls: tuple[FunctionCall, ...]) -> None:
        results = self._setup.tools.run(calls, self._token)
        self._history.append(Message("tool", results, self._setup.ids()))

    def _record(self, response: ProviderResponse) -> Message | None:
        """The model's message in the history; none for an empty answer, which no provider would take back."""
        parts = _recorded(response)
        self._text.extend(part.text for part in parts if isinstance(part, Text))
        message = Message("model", parts, self._setup.ids()) if parts else None
        whole = response.finish_reason is not FinishReason.CANCELLED and len(parts) == len(response.parts)
        if not whole:
            self._setup.room.cut_off(response.usage)
        if message is not None:
            self._history.append(message)
        if whole:
            self._setup.room.record_usage(response.usage)
        self._usage = response.usage if response.usage.total_tokens else self._usage
        return message

    def _keep_partial(self, relay: CallbackRelay, response: ProviderResponse) -> ProviderResponse:
        """Cut in the middle of an answer: what arrived is recorded, and never less text than was shown."""
        if relay.is_catching_up:
            response = _partial(relay, response.usage)
        self._record(response)
        return response

    def _nothing_heard(self, last: ProviderResponse) -> TurnResult:
        """Cancelled while no request was open: what no model got is no part of the conversation."""
        for _ in self._unheard:
            self._history.pop_last()
        self._setup.inbox.put_back(prompt for prompt in self._prompts if prompt.message in self._unheard)
        return self._result(last, "cancelled")

    def _result(self, response: ProviderResponse, outcome: Literal["answer", "cancelled"]) -> TurnResult:
        return TurnResult(
            response=response,
            text="".join(self._text),
            rounds=self._rounds,
            usage=self._usage,
            outcome=outcome,
            attempts=self._attempts,
            retries=tuple(self._retries),
        )


def _recorded(response: ProviderResponse) -> tuple[Part, ...]:
    if response.finish_reason in _CALLS_STAND:
        return response.parts
    return tuple(part for part in response.parts if not isinstance(part, FunctionCall))


def _partial(relay: CallbackRelay, usage: TokenUsage) -> ProviderResponse:
    return ProviderResponse((Text(relay.shown_text),), usage, FinishReason.CANCELLED)
