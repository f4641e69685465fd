"""Adapters that raise something else than what happened, or do not raise at all."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from turnproof import errors
from turnproof.messages import FinishReason, Message, ProviderResponse, Text

from ._broken import Broken, CallInputs, Proceed, record_callbacks
from ._mutant import suite_mutant
from ._rewriting import Rewriting
from ._wire import Json, Wire


class Failing(Broken):
    """An adapter whose provider errors go through `failure`, which raises another one or gives an answer instead."""

    def failure(self, error: errors.ProviderError) -> ProviderResponse:
        raise error

    def call(self, inputs: CallInputs, proceed: Proceed) -> ProviderResponse:
        try:
            return proceed(inputs)
        except errors.ProviderError as error:
            return self.failure(error)


class MisnamedError(Failing):
    """An adapter that raises errors of the first class as errors of the second: message, status and kind stay."""

    classes: tuple[type[errors.ProviderError], type[errors.ProviderError]]

    def failure(self, error: errors.ProviderError) -> ProviderResponse:
        error_class, raised_class = self.classes
        if isinstance(error, error_class):
            raise raised_class(error.message, status=error.status, kind=error.kind) from error
        raise error


@suite_mutant("failures-untyped")
class FailuresUntyped(Failing):
    """The mapper of errors falls over, and its own error is what the caller gets."""

    def failure(self, error: errors.ProviderError) -> ProviderResponse:
        raise AttributeError("'NoneType' object has no attribute 'status_code'")


@suite_mutant("error-returned-as-empty-answer")
class ErrorReturnedAsEmptyAnswer(Failing):
    """A refused request comes back as an answer without content."""

    def failure(self, error: errors.ProviderError) -> ProviderResponse:
        if error.status is None or error.status < 400:
            raise error
        return ProviderResponse(finish_reason=FinishReason.STOP)


@suite_mutant("status-lost")
class StatusLost(Failing):
    """Errors say that the HTTP status is unknown."""

    def failure(self, error: errors.ProviderError) -> ProviderResponse:
        error.status = None
        raise error


@suite_mutant("bad-key-is-a-bad-request")
class BadKeyIsABadRequest(MisnamedError):
    """A refused key is raised as an invalid request."""

    classes = errors.AuthenticationError, errors.InvalidRequestError


@suite_mutant("rate-limit-not-recognised")
class RateLimitNotRecognised(Failing):
    """A 429 is raised as a plain error that nobody retries."""

    def failure(self, error: errors.ProviderError) -> ProviderResponse:
        if isinstance(error, errors.RateLimitError):
            raise errors.ProviderError(
                error.message, status=error.status, kind=error.kind, retry_after=error.retry_after
            )
        raise error


class _LastingOverload(errors.OverloadedError):
    """Overloaded, but not to be tried again."""

    retryable = False


@suite_mutant("overload-is-final")
class OverloadIsFinal(MisnamedError):
    """Errors of the service are not marked as worth another attempt."""

    classes = errors.OverloadedError, _LastingOverload


class _PassingRefusal(errors.InvalidRequestError):
    """Invalid, but to be tried again."""

    retryable = True


@suite_mutant("refusal-tried-again")
class RefusalTriedAgain(MisnamedError):
    """An invalid request is marked as worth another attempt."""

    classes = errors.InvalidRequestError, _PassingRefusal


@suite_mutant("retry-after-dropped")
class RetryAfterDropped(Failing):
    """What says how long to wait, in a header or in the error itself, is not read."""

    def failure(self, error: errors.ProviderError) -> ProviderResponse:
        error.retry_after = None
        raise error


@suite_mutant("words-of-the-service-lost")
class WordsOfTheServiceLost(Failing):
    """A refusal is raised with a sentence of the adapter's own."""

    def failure(self, error: errors.ProviderError) -> ProviderResponse:
        if isinstance(error, errors.InvalidRequestError) and not isinstance(error, errors.CacheExpiredError):
            raise errors.InvalidRequestError("the request failed", status=error.status, kind=error.kind) from error
        raise error


@suite_mutant("error-type-dropped")
class ErrorTypeDropped(Failing):
    """Errors have a status and a message, and not the service's own type."""

    def failure(self, error: errors.ProviderError) -> ProviderResponse:
        error.kind = None
        raise error


@suite_mutant("error-type-of-its-own")
class ErrorTypeOfItsOwn(Failing):
    """The type of an error is the name of the class that was raised."""

    def failure(self, error: errors.ProviderError) -> ProviderResponse:
        error.kind = type(error).__name__
        raise error


@suite_mutant("arrived-text-lost-with-the-error")
class ArrivedTextLostWithTheError(Failing):
    """An error has nothing of what had arrived before the stream failed."""

    def failure(self, error: errors.ProviderError) -> ProviderResponse:
        error.partial = ()
        raise error


@suite_mutant("context-figures-dropped")
class ContextFiguresDropped(Failing):
    """An error of a prompt that is too long says no numbers."""

    def failure(self, error: errors.ProviderError) -> ProviderResponse:
        if isinstance(error, errors.ContextLimitError):
            error.limit = error.requested = None
        raise error


@suite_mutant("context-figures-swapped")
class ContextFiguresSwapped(Failing):
    """The figures of a prompt that is too long are taken in the order in which the service says them, whichever."""

    def failure(self, error: errors.ProviderError) -> ProviderResponse:
        if isinstance(error, errors.ContextLimitError):
            error.limit, error.requested = error.requested, error.limit
        raise error


class RetriesOfItsOwn(Broken):
    """The adapter retries by itself, below the session's retries."""

    def call(self, inputs: CallInputs, proceed: Proceed) -> ProviderResponse:
        try:
            return proceed(inputs)
        except errors.ProviderError as error:
            if not error.retryable:
                raise
            return proceed(inputs)


RetriesStacked = suite_mutant("retries-stacked")(RetriesOfItsOwn)

TextStreamedAgainByARetry = suite_mutant("text-streamed-again-by-a-retry")(RetriesOfItsOwn)


@suite_mutant("context-limit-not-recognised")
class ContextLimitNotRecognised(MisnamedError):
    """A prompt that is too long is an invalid request like any other."""

    classes = errors.ContextLimitError, errors.InvalidRequestError


@suite_mutant("no-room-made-for-a-long-prompt")
class NoRoomMadeForALongPrompt(MisnamedError):
    """The refusal of a prompt that is too long is raised as an overload, so that it is sent again as it is."""

    classes = errors.ContextLimitError, errors.OverloadedError


@suite_mutant("any-maximum-is-a-context-limit")
class AnyMaximumIsAContextLimit(Failing):
    """Refusals with the word "maximum" in them are taken for a prompt that is too long."""

    def failure(self, error: errors.ProviderError) -> ProviderResponse:
        if isinstance(error, errors.InvalidRequestError) and "maximum" in error.message:
            raise errors.ContextLimitError(error.message, status=error.status, kind=error.kind) from error
        raise error


@suite_mutant("broken-connection-misnamed")
class BrokenConnectionMisnamed(Failing):
    """A connection that broke is raised as the service's being overloaded."""

    def failure(self, error: errors.ProviderError) -> ProviderResponse:
        if isinstance(error, errors.TransportError):
            raise errors.OverloadedError(error.message) from error
        raise error


class _Swallowing(Broken):
    """Gives what a stream had told before it failed, instead of its error."""

    swallowed: type[errors.ProviderError]

    def call(self, inputs: CallInputs, proceed: Proceed) -> ProviderResponse:
        inputs, record = record_callbacks(inputs)
        try:
            return proceed(inputs)
        except self.swallowed:
            if not record.text:
                raise
            return ProviderResponse((Text("".join(record.text)),), record.usage, FinishReason.STOP)


@suite_mutant("error-event-swallowed")
class ErrorEventSwallowed(_Swallowing):
    """An error event in a stream is skipped like an event that nobody knows."""

    swallowed = errors.OverloadedError


@suite_mutant("cut-stream-taken-as-answer")
class CutStreamTakenAsAnswer(_Swallowing):
    """A stream that stops is a stream that has ended."""

    swallowed = errors.TransportError


@suite_mutant("legacy-keeps-failed-message")
class LegacyKeepsFailedMessage(Broken):
    """The user's message is appended before the call, and stays there when the call fails."""

    def call(self, inputs: CallInputs, proceed: Proceed) -> ProviderResponse:
        before: list[Message] = list(self.inner.get_history())
        try:
            return proceed(inputs)
        except errors.ProviderError:
            self.set_history([*before, *inputs.messages])
            raise


@suite_mutant("client-dead-after-a-fault")
class ClientDeadAfterAFault(Broken):
    """After a failure the connection is not given back, and no later call gets one."""

    dead = False

    def call(self, inputs: CallInputs, proceed: Proceed) -> ProviderResponse:
        if self.dead:
            raise errors.TransportError("no connection became free in time")
        try:
            return proceed(inputs)
        except errors.ProviderError:
            self.dead = True
            raise


@suite_mutant("retry-repeats-the-message")
class RetryRepeatsTheMessage(Broken):
    """What a failed attempt was to send is sent again beside what the next one is to send."""

    failed: Sequence[Message] = ()

    def change_inputs(self, inputs: CallInputs) -> CallInputs:
        return replace(inputs, messages=[*inputs.messages, *self.failed]) if self.failed else inputs

    def call(self, inputs: CallInputs, proceed: Proceed) -> ProviderResponse:
        try:
            response = proceed(inputs)
        except errors.ProviderError:
            self.failed = inputs.messages[-1:]
            raise
        self.failed = ()
        return response


@suite_mutant("retry-repeats-the-results")
class RetryRepeatsTheResults(Rewriting):
    """A request that is made again has the results of the failed attempt and those of the new one."""

    count = 0

    def change_request(self, wire: Wire, body: Json) -> None:
        count = len(wire.messages(body))
        again, self.count = count == self.count, count
        blocks = wire.blocks(wire.messages(body)[-1])
        if again and wire.kind(blocks[0]) == "result":
            blocks.insert(0, dict(blocks[0]))
