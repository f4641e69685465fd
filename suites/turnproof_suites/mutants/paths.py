"""Adapters whose two paths part ways."""

from __future__ import annotations

from msgspec.structs import replace

from turnproof.errors import ContentFilterError
from turnproof.messages import FinishReason, FunctionCall, Message, Part, ProviderResponse, Text, ToolResult

from ._broken import Broken, CallInputs, Proceed
from ._mutant import mutant


@mutant(
    "refusals-raised",
    "outputs",
    caught_by="parity/same-outcome-of-each-turn",
    scenarios="finish/reasons",
    sources=("behaviours:C7", "behaviours:H9"),
    capability=("wire:refusals",),
)
class RefusalsRaised(Broken):
    """A refusal, the model's or the service's, is raised as an error, and the turn is taken back."""

    def answer(self, given: CallInputs, response: ProviderResponse) -> ProviderResponse:
        if response.finish_reason in (FinishReason.REFUSAL, FinishReason.SAFETY):
            raise ContentFilterError("the model refused to answer")
        return response


@mutant(
    "answers-asked-for-twice",
    "outputs",
    caught_by="parity/same-number-of-requests",
    scenarios="basics/plain",
    sources="behaviours:N3",
    paths=("stateless",),
)
class AnswersAskedForTwice(Broken):
    """Each question is sent twice, the first time to warm something up."""

    def call(self, given: CallInputs, proceed: Proceed) -> ProviderResponse:
        proceed(CallInputs(given.messages, given.system, given.tools, given.schema, given.token))
        return proceed(given)


@mutant(
    "legacy-history-keeps-text-and-calls",
    "outputs",
    caught_by="parity/same-history-after-each-turn",
    scenarios="media/image_and_document",
    sources="defects:LS12",
    paths=("legacy",),
)
class LegacyHistoryKeepsTextAndCalls(Broken):
    """The provider's history has nothing but text, calls and results."""

    def get_history(self) -> list[Message]:
        """The history without pictures, documents and thoughts."""
        return [_plain(message) for message in self.inner.get_history()]


def _plain(message: Message) -> Message:
    parts: list[Part] = [part for part in message.parts if isinstance(part, Text | FunctionCall | ToolResult)]
    return replace(message, parts=tuple(parts))
