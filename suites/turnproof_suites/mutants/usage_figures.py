"""Adapters that miscount."""

from __future__ import annotations

from dataclasses import replace as replace_inputs
from typing import Any

from msgspec.structs import replace

from turnproof.messages import ProviderResponse, TokenUsage
from turnproof.provider import Path

from ._broken import Broken, CallInputs, Proceed
from ._mutant import suite_mutant
from ._rewriting import Rewriting
from ._wire import Json, Wire


class Miscounting(Broken):
    """An adapter whose figures go through `count`, in updates and in the response alike."""

    def count(self, usage: TokenUsage) -> TokenUsage:
        return usage

    def change_inputs(self, inputs: CallInputs) -> CallInputs:
        if (on_usage := inputs.on_usage) is None:
            return inputs
        return replace_inputs(inputs, on_usage=lambda usage: on_usage(self.count(usage)))

    def change_response(self, inputs: CallInputs, response: ProviderResponse) -> ProviderResponse:
        return replace(response, usage=self.count(response.usage))


@suite_mutant("updates-not-told")
class UpdatesNotTold(Broken):
    """A callback for usage is accepted and never called."""

    def change_inputs(self, inputs: CallInputs) -> CallInputs:
        return replace_inputs(inputs, on_usage=None)


@suite_mutant("updates-of-zeros")
class UpdatesOfZeros(Miscounting):
    """Updates come before the figures do, and have none."""

    def change_inputs(self, inputs: CallInputs) -> CallInputs:
        return inputs.with_callback("on_usage", lambda on_usage: lambda _: on_usage(TokenUsage()))


@suite_mutant("thinking-tokens-forgotten")
class ThinkingTokensForgotten(Miscounting):
    """What was thinking is not told from what was said."""

    def count(self, usage: TokenUsage) -> TokenUsage:
        return replace(usage, thinking_tokens=0)


@suite_mutant("thinking-tokens-counted-on-top")
class ThinkingTokensCountedOnTop(Miscounting):
    """Thinking is added to an output that has it already."""

    def count(self, usage: TokenUsage) -> TokenUsage:
        thinking = usage.thinking_tokens
        return replace(usage, output_tokens=usage.output_tokens + thinking, total_tokens=usage.total_tokens + thinking)


def _cached(usage: TokenUsage) -> int:
    return usage.cache_read_tokens + usage.cache_creation_tokens


@suite_mutant("prompt-without-the-cached")
class PromptWithoutTheCached(Miscounting):
    """The prompt is what was not in the cache."""

    def count(self, usage: TokenUsage) -> TokenUsage:
        prompt = usage.prompt_tokens - _cached(usage)
        return replace(usage, prompt_tokens=prompt, total_tokens=prompt + usage.output_tokens)


@suite_mutant("output-from-the-start-of-the-stream")
class OutputFromTheStartOfTheStream(Miscounting):
    """Of the output only the figure that a stream begins with is read."""

    def count(self, usage: TokenUsage) -> TokenUsage:
        output = min(usage.output_tokens, 1)
        return replace(usage, output_tokens=output, total_tokens=usage.prompt_tokens + output)


@suite_mutant("cached-counted-on-top")
class CachedCountedOnTop(Miscounting):
    """What the cache served or stored is added to a prompt that contains it."""

    def count(self, usage: TokenUsage) -> TokenUsage:
        prompt = usage.prompt_tokens + _cached(usage)
        return replace(usage, prompt_tokens=prompt, total_tokens=prompt + usage.output_tokens)


@suite_mutant("total-without-the-cached")
class TotalWithoutTheCached(Miscounting):
    """The total leaves out what the cache served or stored."""

    def count(self, usage: TokenUsage) -> TokenUsage:
        return replace(usage, total_tokens=usage.total_tokens - _cached(usage))


@suite_mutant("cache-figures-wiped")
class CacheFiguresWiped(Rewriting):
    """The last figures of an answer replace the first ones, and have none for the cache."""

    def change_document(self, wire: Wire, document: Json) -> None:
        usage = wire.final_usage(document)
        if usage is not None:
            wire.clear_cache_figures(usage)


@suite_mutant("cache-figures-doubled")
class CacheFiguresDoubled(Miscounting):
    """First and last figures of a stream, both cumulative, are added up."""

    def count(self, usage: TokenUsage) -> TokenUsage:
        return replace(
            usage, cache_read_tokens=usage.cache_read_tokens * 2, cache_creation_tokens=usage.cache_creation_tokens * 2
        )


@suite_mutant("updates-fall")
class UpdatesFall(Broken):
    """The last update has only the output, every other figure is zero."""

    def change_response(self, inputs: CallInputs, response: ProviderResponse) -> ProviderResponse:
        if inputs.on_usage is not None:
            output = response.usage.output_tokens
            inputs.on_usage(TokenUsage(output_tokens=output, total_tokens=output))
        return response


@suite_mutant("response-forgets-the-updates")
class ResponseForgetsTheUpdates(Broken):
    """Figures are told while the answer streams; the response has none."""

    def change_response(self, inputs: CallInputs, response: ProviderResponse) -> ProviderResponse:
        return replace(response, usage=TokenUsage()) if inputs.on_usage is not None else response


@suite_mutant("prompts-summed")
class PromptsSummed(Broken):
    """Each response has the tokens of all calls before it, too."""

    def __init__(self, inner: Any, path: Path) -> None:
        super().__init__(inner, path)
        self.total = 0

    def call(self, inputs: CallInputs, proceed: Proceed) -> ProviderResponse:
        response = proceed(inputs)
        own = response.usage.prompt_tokens
        prompt = own + self.total
        self.total += own
        usage = replace(response.usage, prompt_tokens=prompt, total_tokens=prompt + response.usage.output_tokens)
        return replace(response, usage=usage)


@suite_mutant("streamed-figures-not-read")
class StreamedFiguresNotRead(Broken):
    """The part of a stream that has the figures and nothing else is passed over."""

    def change_inputs(self, inputs: CallInputs) -> CallInputs:
        return replace_inputs(inputs, on_usage=None) if inputs.on_chunk is not None else inputs

    def change_response(self, inputs: CallInputs, response: ProviderResponse) -> ProviderResponse:
        return replace(response, usage=TokenUsage()) if inputs.on_chunk is not None else response
