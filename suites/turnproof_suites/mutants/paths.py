"""Adapters whose two paths part ways."""

from __future__ import annotations

from msgspec.structs import replace

from turnproof.errors import ContentFilterError
from turnproof.messages import FinishReason, FunctionCall, Message, Part, ProviderResponse, Text, ToolResult

from ._broken import Broken, CallInputs, Proceed
from ._mutant import suite_mutant


@suite_mutant("refusals-raised")
class RefusalsRaised(Broken):
    """A refusal, the model's or the service's, is raised as an error, and the turn is taken back."""

    def change_response(self, inputs: CallInputs, response: ProviderResponse) -> ProviderResponse:
        if response.finish_reason in (FinishReason.REFUSAL, FinishReason.SAFETY):
            raise ContentFilterError("the model refused to answer")
        return response


@suite_mutant("answers-asked-for-twice")
class AnswersAskedForTwice(Broken):
    """Each question is sent twice, the first time to warm something up."""

    def call(self, inputs: CallInputs, proceed: Proceed) -> ProviderResponse:
        proceed(CallInputs(inputs.messages, inputs.system, inputs.tools, inputs.schema, inputs.token))
        return proceed(inputs)


@suite_mutant("legacy-history-keeps-text-and-calls")
class LegacyHistoryKeepsTextAndCalls(Broken):
    """The provider's history has nothing but text, calls and results."""

    def get_history(self) -> list[Message]:
        """The history without pictures, documents and thoughts."""
        return [_plain(message) for message in self.inner.get_history()]


def _plain(message: Message) -> Message:
    parts: list[Part] = [part for part in message.parts if isinstance(part, Text | FunctionCall | ToolResult)]
    return replace(message, parts=tuple(parts))
