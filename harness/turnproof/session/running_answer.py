"""The answer that a service works on in the background for a running turn: begun, taken up, lost or cancelled."""

from __future__ import annotations

import logging
from collections.abc import Sequence

from ..background_answers import BackgroundCall, BackgroundPolicy, RunningAnswer
from ..errors import AnswerLostError, ProviderError
from ..messages import Message, ProviderResponse
from .history import SessionHistory
from .observer import SessionObserver
from .ports import Port, PortCall

_log = logging.getLogger(__name__)


class AnswersInBackground:
    """Makes the calls of one turn, in the background if there is a policy.

    A call that fails on its way leaves its answer at the service. The next attempt takes that answer up: it is neither
    lost nor paid for again. `running` is the answer that an earlier process has asked for.
    """

    def __init__(
        self,
        policy: BackgroundPolicy | None,
        port: Port,
        history: SessionHistory,
        observer: SessionObserver,
        provider: object,
        running: RunningAnswer | None = None,
    ) -> None:
        self._policy = policy
        self._port = port
        self._history = history
        self._observer = observer
        self._provider = provider
        self._running = running
        self._first: str | None = None

    def begin_turn(self, first: Message) -> None:
        """The message that the turn begins with."""
        self._first = first.message_id

    def request_answer(self, call: PortCall) -> ProviderResponse:
        """Have the last message answered, as `Port.complete`. Raises AnswerLostError where the policy is to fail."""
        if self._policy is None:
            return self._port.complete(call)
        try:
            return self._answer(call, self._policy)
        except AnswerLostError:
            self._end()
            if self._policy.lost == "fail":
                raise
        call.relay.restart()
        return self._answer(call, self._policy)

    def cancel(self) -> None:
        """Have the service cancel the answer that it works on, if it does. A failure is logged."""
        if (running := self._running) is None:
            return
        try:
            self._port.cancel_answer(running)
        except ProviderError:
            _log.warning("the answer %r could not be cancelled at the service", running.id, exc_info=True)
        self._end()

    def _answer(self, call: PortCall, policy: BackgroundPolicy) -> ProviderResponse:
        running = self._running
        if running is not None:
            self._refuse_another_model(running)
        background = BackgroundCall(
            on_began=self._begin, on_ended=self._end, running=running, poll_seconds=policy.poll_seconds
        )
        response = self._port.complete(
            PortCall(call.messages, call.context, call.relay, call.token, call.response_schema, background)
        )
        self._end()
        return response

    def _refuse_another_model(self, running: RunningAnswer) -> None:
        model = getattr(self._provider, "model_name", None)
        if model is not None and running.model != model:
            raise AnswerLostError(
                f"the answer {running.id!r} is one of {running.model!r}, and the session now has {model!r}",
                answer=running.id,
            )

    def _begin(self, answer: RunningAnswer) -> None:
        self._running = answer
        self._observer.on_answer_began(answer, self._turn_messages())

    def _end(self) -> None:
        if (running := self._running) is not None:
            self._running = None
            self._observer.on_answer_ended(running)

    def _turn_messages(self) -> Sequence[Message]:
        """The turn up to here; nothing where a collection has removed its beginning."""
        messages = self._history.messages
        start = next((at for at, one in enumerate(messages) if one.message_id == self._first), len(messages))
        return messages[start:]
