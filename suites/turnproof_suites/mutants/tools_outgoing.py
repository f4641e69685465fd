"""Adapters that garble tools, calls or results on their way out."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace

from msgspec.structs import replace as changed

from turnproof.messages import Message, Part, ToolResult

from ._broken import Broken, CallInputs
from ._mutant import mutant
from ._rewriting import Rewriting, only
from ._wire import Json, Wire


@mutant(
    "tools-dropped-with-history",
    "inputs",
    caught_by="tools/definitions-are-sent-each-turn",
    scenarios="tools/appear_change_vanish",
    sources=("defects:LS6", "defects:LS4"),
)
class ToolsDroppedWithHistory(Broken):
    """Tools are declared only while there is no history yet."""

    def given(self, given: CallInputs) -> CallInputs:
        talked = any(message.role == "model" for message in given.messages)
        return replace(given, tools=None) if talked else given


@mutant(
    "tool-descriptions-dropped",
    "inputs",
    caught_by="tools/definitions-are-sent-each-turn",
    scenarios="tools/one",
    sources="defects:LS6",
)
class ToolDescriptionsDropped(Broken):
    """Tools go out by name and parameters alone."""

    def given(self, given: CallInputs) -> CallInputs:
        if given.tools is None:
            return given
        return replace(given, tools=[changed(tool, description="") for tool in given.tools])


@mutant(
    "parallel-result-dropped",
    "wire",
    caught_by="tools/results-answer-every-call",
    scenarios="tools/parallel",
    sources=("defects:TP9", "defects:TP3"),
)
class ParallelResultDropped(Rewriting):
    """Of several results in one message only the first goes out."""

    def sent(self, wire: Wire, body: Json) -> None:
        for message in wire.messages(body):
            blocks = wire.blocks(message)
            results = [block for block in blocks if wire.kind(block) == "result"]
            only(blocks, lambda block, later=results[1:]: not any(block is one for one in later))


@mutant(
    "result-sent-twice",
    "wire",
    caught_by="tools/results-answer-every-call",
    scenarios="tools/one",
    sources="defects:TP4",
)
class ResultSentTwice(Rewriting):
    """A result that was appended for a failed attempt goes out again with the next one."""

    def sent(self, wire: Wire, body: Json) -> None:
        for message in wire.messages(body):
            blocks = wire.blocks(message)
            first = next((block for block in blocks if wire.kind(block) == "result"), None)
            if first is not None:
                blocks.insert(1, dict(first))


@mutant(
    "results-in-reverse",
    "wire",
    caught_by="tools/results-keep-the-order-of-calls",
    scenarios="tools/parallel",
    sources="behaviours:E2",
)
class ResultsInReverse(Rewriting):
    """Results go out in the order in which the tools ended, not in the order of the calls."""

    def sent(self, wire: Wire, body: Json) -> None:
        for message in wire.messages(body):
            blocks = wire.blocks(message)
            results = [block for block in blocks if wire.kind(block) == "result"]
            blocks[: len(results)] = reversed(results)


@mutant(
    "note-between-call-and-result",
    "wire",
    caught_by="tools/results-follow-their-calls",
    scenarios="tools/one",
    sources="defects:TP19",
)
class NoteBetweenCallAndResult(Rewriting):
    """What was said while the tool ran is put between the call and its result."""

    def sent(self, wire: Wire, body: Json) -> None:
        messages = wire.messages(body)
        for position in range(len(messages) - 1, 0, -1):
            if any(wire.kind(block) == "result" for block in wire.blocks(messages[position])):
                said = wire.user_message("Are you still there?"), wire.model_message("I am.")
                messages[position:position] = said


@mutant(
    "text-before-results",
    "wire",
    caught_by="core/no-request-is-refused",
    scenarios="tools/one",
    sources="defects:TP5",
    capability=("wire:results-first",),
)
class TextBeforeResults(Rewriting):
    """A reminder is put in front of the results, in their own message."""

    def sent(self, wire: Wire, body: Json) -> None:
        for message in wire.messages(body):
            blocks = wire.blocks(message)
            if any(wire.kind(block) == "result" for block in blocks):
                blocks.insert(0, wire.text_block("Here are the results."))


@mutant(
    "error-flag-lost",
    "inputs",
    caught_by="tools/failure-is-marked-on-the-wire",
    scenarios="tools/failing_and_unknown",
    sources="defects:LS2",
    capability=("wire:error-flags",),
)
class ErrorFlagLost(Broken):
    """A tool's failure goes out like something it returned."""

    def message(self, message: Message) -> Message:
        return _with_results(message, lambda result: changed(result, is_error=False))


@mutant(
    "failed-results-dropped",
    "wire",
    caught_by="tools/unknown-and-failing-tools-are-answered",
    scenarios="tools/failing_and_unknown",
    sources=("behaviours:E7", "defects:TP2"),
)
class FailedResultsDropped(Rewriting):
    """Results of tools that failed are not sent at all."""

    def sent(self, wire: Wire, body: Json) -> None:
        drop_failed_results(wire, body)


@mutant(
    "results-quoted",
    "inputs",
    caught_by="tools/string-results-go-out-unquoted",
    scenarios="tools/one",
    sources="behaviours:E5",
)
class ResultsQuoted(Broken):
    """A tool's text is encoded as JSON, quotes and escapes included."""

    def message(self, message: Message) -> Message:
        def quoted(result: ToolResult) -> ToolResult:
            return changed(result, result=json.dumps(result.result)) if isinstance(result.result, str) else result

        return _with_results(message, quoted)


def drop_failed_results(wire: Wire, body: Json) -> None:
    """Take every result that is marked as an error out of a request."""
    messages = wire.messages(body)
    for message in messages:
        only(wire.blocks(message), lambda block: not (wire.kind(block) == "result" and wire.is_error(block)))
    only(messages, wire.blocks)


def _with_results(message: Message, edit: Callable[[ToolResult], ToolResult]) -> Message:
    if not message.results:
        return message
    parts: list[Part] = [edit(part) if isinstance(part, ToolResult) else part for part in message.parts]
    return changed(message, parts=tuple(parts))
