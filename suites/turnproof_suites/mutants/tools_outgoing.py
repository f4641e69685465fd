"""Adapters that garble tools, calls or results on their way out."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from msgspec.structs import replace as changed

from turnproof.messages import Message, Part, ToolResult, ToolSchema
from turnproof.provider import Path

from ._broken import Broken, CallInputs
from ._mutant import suite_mutant
from ._rewriting import Rewriting, blocks_of_kind, keep_only
from ._wire import Json, Wire


@suite_mutant("tools-dropped-with-history")
class ToolsDroppedWithHistory(Broken):
    """Tools are declared only while there is no history yet."""

    def change_inputs(self, inputs: CallInputs) -> CallInputs:
        return replace(inputs, tools=None) if inputs.has_answers else inputs


@suite_mutant("gone-tools-still-declared")
class GoneToolsStillDeclared(Broken):
    """Whatever tool was declared once is declared for ever."""

    def __init__(self, inner: Any, path: Path) -> None:
        super().__init__(inner, path)
        self.seen: dict[str, ToolSchema] = {}

    def change_inputs(self, inputs: CallInputs) -> CallInputs:
        self.seen |= {tool.name: tool for tool in inputs.tools or ()}
        return replace(inputs, tools=list(self.seen.values())) if self.seen else inputs


@suite_mutant("tool-descriptions-dropped")
class ToolDescriptionsDropped(Broken):
    """Tools go out by name and parameters alone."""

    def change_inputs(self, inputs: CallInputs) -> CallInputs:
        if inputs.tools is None:
            return inputs
        return replace(inputs, tools=[changed(tool, description="") for tool in inputs.tools])


@suite_mutant("parallel-result-dropped")
class ParallelResultDropped(Rewriting):
    """Of several results in one message only the first goes out."""

    def change_request(self, wire: Wire, body: Json) -> None:
        for message in wire.messages(body):
            blocks = wire.blocks(message)
            later = blocks_of_kind(wire, blocks, "result")[1:]
            keep_only(blocks, lambda block, later=later: not any(block is one for one in later))


@suite_mutant("result-sent-twice")
class ResultSentTwice(Rewriting):
    """A result that was appended for a failed attempt goes out again with the next one."""

    def change_request(self, wire: Wire, body: Json) -> None:
        for message in wire.messages(body):
            blocks = wire.blocks(message)
            for result in blocks_of_kind(wire, blocks, "result")[:1]:
                blocks.insert(1, dict(result))


@suite_mutant("results-in-reverse")
class ResultsInReverse(Rewriting):
    """Results go out in the order in which the tools ended, not in the order of the calls."""

    def change_request(self, wire: Wire, body: Json) -> None:
        for message in wire.messages(body):
            blocks = wire.blocks(message)
            results = blocks_of_kind(wire, blocks, "result")
            blocks[: len(results)] = reversed(results)


@suite_mutant("note-between-call-and-result")
class NoteBetweenCallAndResult(Rewriting):
    """What was said while the tool ran is put between the call and its result."""

    def change_request(self, wire: Wire, body: Json) -> None:
        messages = wire.messages(body)
        for position in range(len(messages) - 1, 0, -1):
            if blocks_of_kind(wire, wire.blocks(messages[position]), "result"):
                between = wire.user_message("Are you still there?"), wire.model_message("I am.")
                messages[position:position] = between


@suite_mutant("text-before-results")
class TextBeforeResults(Rewriting):
    """A reminder is put in front of the results, in their own message."""

    def change_request(self, wire: Wire, body: Json) -> None:
        for message in wire.messages(body):
            blocks = wire.blocks(message)
            if blocks_of_kind(wire, blocks, "result"):
                blocks.insert(0, wire.text_block("Here are the results."))


@suite_mutant("error-flag-lost")
class ErrorFlagLost(Broken):
    """A tool's failure goes out like something it returned."""

    def change_message(self, message: Message) -> Message:
        return _with_results(message, lambda result: changed(result, is_error=False))


@suite_mutant("failed-results-dropped")
class FailedResultsDropped(Rewriting):
    """Results of tools that failed are not sent at all."""

    def change_request(self, wire: Wire, body: Json) -> None:
        drop_failed_results(wire, body)


@suite_mutant("results-quoted")
class ResultsQuoted(Broken):
    """A tool's text is encoded as JSON, quotes and escapes included."""

    def change_message(self, message: Message) -> Message:
        def quoted(result: ToolResult) -> ToolResult:
            return changed(result, result=json.dumps(result.result)) if isinstance(result.result, str) else result

        return _with_results(message, quoted)


def drop_failed_results(wire: Wire, body: Json) -> None:
    """Take every result that is marked as an error out of a request."""
    messages = wire.messages(body)
    for message in messages:
        keep_only(wire.blocks(message), lambda block: not (wire.kind(block) == "result" and wire.is_error(block)))
    keep_only(messages, wire.blocks)


def _with_results(message: Message, edit: Callable[[ToolResult], ToolResult]) -> Message:
    if not message.results:
        return message
    parts: list[Part] = [edit(part) if isinstance(part, ToolResult) else part for part in message.parts]
    return changed(message, parts=tuple(parts))
