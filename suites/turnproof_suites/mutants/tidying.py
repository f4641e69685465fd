"""Adapters that tidy up what goes through them: spelled, merged, cut or left out, each for a good reason."""

from __future__ import annotations

import html
import re
import unicodedata
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import msgspec
from msgspec.structs import replace as changed

from turnproof.cancel import CancelToken
from turnproof.messages import (
    FinishReason,
    FunctionCall,
    InlineData,
    Message,
    Part,
    ProviderResponse,
    Text,
    ToolResult,
    thaw,
)
from turnproof.provider import Path

from ._broken import Broken, CallInputs, Proceed
from ._mutant import suite_mutant


def _with_texts(message: Message, edit: Callable[[str], str]) -> Message:
    """What the user says, with other texts."""
    if message.role != "user":
        return message
    parts: list[Part] = [
        changed(part, text=edit(part.text)) if isinstance(part, Text) else part for part in message.parts
    ]
    return message if tuple(parts) == message.parts else changed(message, parts=tuple(parts))


def _with_results(message: Message, edit: Callable[[str], str]) -> Message:
    """Results that are texts, with other ones."""
    parts: list[Part] = [
        changed(part, result=edit(part.result))
        if isinstance(part, ToolResult) and isinstance(part.result, str)
        else part
        for part in message.parts
    ]
    return message if tuple(parts) == message.parts else changed(message, parts=tuple(parts))


def _with_calls(response: ProviderResponse, edit: Callable[[FunctionCall], FunctionCall]) -> ProviderResponse:
    """A response with other calls."""
    return changed(response, parts=tuple(edit(one) if isinstance(one, FunctionCall) else one for one in response.parts))


@suite_mutant("white-space-collapsed")
class WhiteSpaceCollapsed(Broken):
    """What the user says goes out in one line, with single blanks."""

    def change_message(self, message: Message) -> Message:
        return _with_texts(message, lambda text: " ".join(text.split()))


@suite_mutant("tabs-expanded")
class TabsExpanded(Broken):
    """Tabs of the user go out as blanks."""

    def change_message(self, message: Message) -> Message:
        return _with_texts(message, lambda text: text.replace("\t", "    "))


@suite_mutant("system-lines-joined")
class SystemLinesJoined(Broken):
    """The system text goes out in one line, with single blanks."""

    def change_inputs(self, inputs: CallInputs) -> CallInputs:
        system = inputs.system
        return replace(inputs, system=" ".join(system.split())) if isinstance(system, str) else inputs


@suite_mutant("user-letters-composed")
class UserLettersComposed(Broken):
    """Letters of two code points go out as one."""

    def change_message(self, message: Message) -> Message:
        return _with_texts(message, lambda text: unicodedata.normalize("NFC", text))


@suite_mutant("equal-questions-sent-once")
class EqualQuestionsSentOnce(Broken):
    """What the user says again is taken for a copy of what was said."""

    def change_inputs(self, inputs: CallInputs) -> CallInputs:
        texts: set[str] = set()
        remaining = []
        for message in inputs.messages:
            if message.role == "user" and message.text in texts:
                continue
            texts.add(message.text if message.role == "user" else "")
            remaining.append(message)
        return inputs if len(remaining) == len(inputs.messages) else replace(inputs, messages=remaining)


@suite_mutant("answers-remembered-by-their-question")
class AnswersRememberedByTheirQuestion(Broken):
    """The same question is answered from memory, whatever was said in between."""

    def __init__(self, inner: Any, path: Path) -> None:
        super().__init__(inner, path)
        self.answers: dict[str, ProviderResponse] = {}

    def call(self, inputs: CallInputs, proceed: Proceed) -> ProviderResponse:
        last = inputs.messages[-1] if inputs.messages else None
        question = last.text if last is not None and last.role == "user" else ""
        if question in self.answers:
            return self.answers[question]
        response = proceed(inputs)
        if question and response.finish_reason is FinishReason.STOP:
            self.answers[question] = response
        return response


class _Rewording(Broken):
    """An adapter whose answers have other texts."""

    def reword(self, text: str) -> str:
        raise NotImplementedError

    def change_response(self, inputs: CallInputs, response: ProviderResponse) -> ProviderResponse:
        parts = (
            changed(part, text=self.reword(part.text)) if isinstance(part, Text) else part for part in response.parts
        )
        return changed(response, parts=tuple(parts))


_FENCES = re.compile(r"^```\w*\n|\n```$")


@suite_mutant("fences-stripped")
class FencesStripped(_Rewording):
    """An answer that is one block of code comes without the fences around it."""

    def reword(self, text: str) -> str:
        return _FENCES.sub("", text)


@suite_mutant("entities-unescaped")
class EntitiesUnescaped(_Rewording):
    """What looks like an entity of HTML in an answer is replaced by its character."""

    def reword(self, text: str) -> str:
        return html.unescape(text)


@suite_mutant("text-read-as-a-call")
class TextReadAsACall(Broken):
    """A text that is JSON and has a name and arguments becomes a call, as small models write theirs."""

    def change_response(self, inputs: CallInputs, response: ProviderResponse) -> ProviderResponse:
        return changed(response, parts=tuple(self._read(part) for part in response.parts))

    def _read(self, part: Part) -> Part:
        try:
            call = msgspec.json.decode(part.text) if isinstance(part, Text) else None
        except msgspec.DecodeError:
            return part
        if not isinstance(call, dict) or call.keys() != {"name", "arguments"}:
            return part
        return FunctionCall("call_from_text", call["name"], call["arguments"])


@suite_mutant("equal-calls-made-one")
class EqualCallsMadeOne(Broken):
    """Of calls with the same tool and arguments in an answer only the first stays."""

    def change_response(self, inputs: CallInputs, response: ProviderResponse) -> ProviderResponse:
        seen: list[object] = []
        remaining: list[Part] = []
        for part in response.parts:
            if isinstance(part, FunctionCall):
                if (part.name, part.args) in seen:
                    continue
                seen.append((part.name, part.args))
            remaining.append(part)
        return changed(response, parts=tuple(remaining))


@suite_mutant("at-most-three-calls")
class AtMostThreeCalls(Broken):
    """An answer has three calls at most."""

    def change_response(self, inputs: CallInputs, response: ProviderResponse) -> ProviderResponse:
        dropped = [part for part in response.parts if isinstance(part, FunctionCall)][3:]
        return changed(response, parts=tuple(part for part in response.parts if part not in dropped))


@suite_mutant("empty-arguments-left-out")
class EmptyArgumentsLeftOut(Broken):
    """Arguments that are empty or null are not passed on."""

    def change_response(self, inputs: CallInputs, response: ProviderResponse) -> ProviderResponse:
        return _with_calls(response, self._without_empty)

    def _without_empty(self, call: FunctionCall) -> FunctionCall:
        return changed(call, args={name: value for name, value in call.args.items() if value not in ("", (), [], None)})


@suite_mutant("whole-floats-made-integers")
class WholeFloatsMadeIntegers(Broken):
    """Of numbers like 2.0 the fraction is left out."""

    def change_response(self, inputs: CallInputs, response: ProviderResponse) -> ProviderResponse:
        return _with_calls(response, self._with_integers)

    def _with_integers(self, call: FunctionCall) -> FunctionCall:
        args = thaw(call.args)
        whole = {name: int(value) for name, value in args.items() if isinstance(value, float) and value.is_integer()}
        return changed(call, args=args | whole)


@suite_mutant("call-names-in-small-letters")
class CallNamesInSmallLetters(Broken):
    """Tools are called by their names in small letters."""

    def change_response(self, inputs: CallInputs, response: ProviderResponse) -> ProviderResponse:
        return _with_calls(response, lambda call: changed(call, name=call.name.lower()))


@suite_mutant("long-descriptions-cut")
class LongDescriptionsCut(Broken):
    """Descriptions of tools go out with their first 200 characters."""

    def change_inputs(self, inputs: CallInputs) -> CallInputs:
        tools = inputs.tools
        return (
            inputs
            if tools is None
            else replace(inputs, tools=[changed(tool, description=tool.description[:200]) for tool in tools])
        )


@suite_mutant("at-most-sixteen-tools")
class AtMostSixteenTools(Broken):
    """Of the tools the first sixteen are declared."""

    def change_inputs(self, inputs: CallInputs) -> CallInputs:
        return inputs if inputs.tools is None else replace(inputs, tools=inputs.tools[:16])


@suite_mutant("equal-pictures-sent-once")
class EqualPicturesSentOnce(Broken):
    """A picture that was sent before goes out as a note that it is the same."""

    def change_inputs(self, inputs: CallInputs) -> CallInputs:
        seen: set[bytes] = set()
        messages = []
        for message in inputs.messages:
            pictures = [part.data for part in message.parts if isinstance(part, InlineData)]
            if seen.intersection(pictures):
                remaining = [part for part in message.parts if not (isinstance(part, InlineData) and part.data in seen)]
                messages.append(changed(message, parts=(*remaining, Text("(the same picture)"))))
            else:
                messages.append(message)
            seen.update(pictures)
        return replace(inputs, messages=messages)


@suite_mutant("lines-of-results-stripped")
class LinesOfResultsStripped(Broken):
    """Results go out without the white space at the ends of their lines."""

    def change_message(self, message: Message) -> Message:
        return _with_results(message, lambda text: "\n".join(line.rstrip() for line in text.split("\n")))


@suite_mutant("empty-results-filled")
class EmptyResultsFilled(Broken):
    """A result that is an empty text goes out as words that no tool said."""

    def change_message(self, message: Message) -> Message:
        return _with_results(message, lambda text: text or "(no output)")


@suite_mutant("long-results-cut")
class LongResultsCut(Broken):
    """Of a result the first 4,000 characters go out."""

    def change_message(self, message: Message) -> Message:
        return _with_results(message, lambda text: text[:4000])


@suite_mutant("first-cancel-alone-heard")
class FirstCancelAloneHeard(Broken):
    """A token that was set is remembered as dealt with, and so is every later one."""

    was_cancelled = False

    def call(self, inputs: CallInputs, proceed: Proceed) -> ProviderResponse:
        response = proceed(replace(inputs, token=CancelToken()) if self.was_cancelled else inputs)
        self.was_cancelled = self.was_cancelled or response.finish_reason is FinishReason.CANCELLED
        return response
