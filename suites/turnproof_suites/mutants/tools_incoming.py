"""Adapters that return other calls than the model made, or calls that it never finished."""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Callable
from dataclasses import replace as replace_inputs

import msgspec
from msgspec.structs import replace

from turnproof.errors import TransportError
from turnproof.messages import JSON, FinishReason, FunctionCall, ProviderResponse, Text, ToolSchema

from ._broken import Broken, CallInputs, Proceed, record_callbacks
from ._mutant import suite_mutant
from ._rewriting import Rewriting
from ._wire import Json, Wire


@suite_mutant("call-ids-replaced")
class CallIdsReplaced(Rewriting):
    """The provider's call ids are replaced by made-up ones."""

    def change_document(self, wire: Wire, document: Json) -> None:
        for place, key in wire.calls(document):
            place[key] = f"call_{place[key][::-1]}"


@suite_mutant("call-id-is-the-name")
class CallIdIsTheName(Broken):
    """The id of a call is made from the function's name, so that two calls of one function share it."""

    def change_inputs(self, inputs: CallInputs) -> CallInputs:
        return _announcing(inputs, lambda call: replace(call, id=f"call_{call.name}"))

    def change_response(self, inputs: CallInputs, response: ProviderResponse) -> ProviderResponse:
        return with_calls(response, lambda call: replace(call, id=f"call_{call.name}"))


@suite_mutant("numeric-looking-text-converted")
class NumericLookingTextConverted(Broken):
    """Text arguments that look like a number, a truth value or JSON are turned into one."""

    def change_inputs(self, inputs: CallInputs) -> CallInputs:
        return _announcing(inputs, _guessed)

    def change_response(self, inputs: CallInputs, response: ProviderResponse) -> ProviderResponse:
        return with_calls(response, _guessed)


def _guessed(call: FunctionCall) -> FunctionCall:
    return replace(call, args=_guess(call.args))


def _guess(value: JSON) -> JSON:
    if isinstance(value, dict):
        return {key: _guess(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_guess(item) for item in value]
    if not isinstance(value, str):
        return value
    try:
        return json.loads(value.lstrip("0") or "0")
    except ValueError:
        return value


@suite_mutant("empty-arguments-fail")
class EmptyArgumentsFail(Broken):
    """A call without arguments is a call whose arguments cannot be parsed."""

    def change_response(self, inputs: CallInputs, response: ProviderResponse) -> ProviderResponse:
        if any(not call.args for call in response.calls):
            raise TransportError("malformed arguments: Expecting value: line 1 column 1 (char 0)")
        return response


class _WithTools(Broken):
    """Remembers the tools that were declared last."""

    tools: tuple[ToolSchema, ...] = ()

    def change_inputs(self, inputs: CallInputs) -> CallInputs:
        self.tools = tuple(inputs.tools or ()) or self.tools
        return inputs


@suite_mutant("clipped-call-returned")
class ClippedCallReturned(_WithTools):
    """A call that the output limit cut in two is returned with empty arguments."""

    def change_response(self, inputs: CallInputs, response: ProviderResponse) -> ProviderResponse:
        if response.finish_reason is not FinishReason.MAX_TOKENS:
            return response
        return replace(response, parts=(*response.parts, FunctionCall(id="call_clipped", name=self.tools[0].name)))


@suite_mutant("broken-arguments-run-as-empty")
class BrokenArgumentsRunAsEmpty(_WithTools):
    """Arguments that are not JSON are replaced by an empty object, and the call is returned."""

    def call(self, inputs: CallInputs, proceed: Proceed) -> ProviderResponse:
        inputs, record = record_callbacks(inputs)
        try:
            return proceed(inputs)
        except TransportError:
            call = FunctionCall(id="call_broken", name=self.tools[0].name)
            if inputs.on_call is not None:
                inputs.on_call(call)
            text_parts = (Text("".join(record.text)),) if record.text else ()
            return ProviderResponse((*text_parts, call), record.usage, FinishReason.TOOL_USE)


@suite_mutant("calls-dropped")
class CallsDropped(Broken):
    """The answer says that tools are wanted, and has no call."""

    def change_response(self, inputs: CallInputs, response: ProviderResponse) -> ProviderResponse:
        return replace(response, parts=tuple(part for part in response.parts if not isinstance(part, FunctionCall)))


@suite_mutant("parallel-calls-merged")
class ParallelCallsMerged(Broken):
    """The pieces of all calls are collected in one place, so that one call comes out of several."""

    def change_response(self, inputs: CallInputs, response: ProviderResponse) -> ProviderResponse:
        if len(response.calls) < 2:
            return response
        merged = replace(
            response.calls[0], args={key: value for call in response.calls for key, value in call.args.items()}
        )
        others = tuple(part for part in response.parts if not isinstance(part, FunctionCall))
        return replace(response, parts=(*others, merged))


@suite_mutant("only-first-fragment-read")
class OnlyFirstFragmentRead(Broken):
    """The first fragment of a streamed call, which has its name, is taken for the whole of it."""

    def change_inputs(self, inputs: CallInputs) -> CallInputs:
        return inputs if inputs.on_chunk is None else _announcing(inputs, _without_arguments)

    def change_response(self, inputs: CallInputs, response: ProviderResponse) -> ProviderResponse:
        return response if inputs.on_chunk is None else with_calls(response, _without_arguments)


def _without_arguments(call: FunctionCall) -> FunctionCall:
    return replace(call, args={})


@suite_mutant("fragments-join-the-last-call")
class FragmentsJoinTheLastCall(Broken):
    """Fragments of streamed calls are appended to the call that began last, whichever they belong to."""

    def change_response(self, inputs: CallInputs, response: ProviderResponse) -> ProviderResponse:
        if inputs.on_chunk is None or len(response.calls) < 2:
            return response
        last, all_args = (
            response.calls[-1],
            {name: value for call in response.calls for name, value in call.args.items()},
        )
        return with_calls(response, lambda call: replace(call, args=all_args if call is last else {}))


class _ValuesEdited(Broken):
    """Edits every value in the arguments of calls, announced and returned."""

    def edited(self, value: JSON) -> JSON:
        """A number or a text instead."""
        return value

    def change_inputs(self, inputs: CallInputs) -> CallInputs:
        return _announcing(inputs, self._edit)

    def change_response(self, inputs: CallInputs, response: ProviderResponse) -> ProviderResponse:
        return with_calls(response, self._edit)

    def _edit(self, call: FunctionCall) -> FunctionCall:
        return replace(call, args=self._deep(msgspec.to_builtins(call.args)))

    def _deep(self, value: JSON) -> JSON:
        if isinstance(value, dict):
            return {key: self._deep(item) for key, item in value.items()}
        return [self._deep(item) for item in value] if isinstance(value, list) else self.edited(value)


@suite_mutant("large-integers-rounded")
class LargeIntegersRounded(_ValuesEdited):
    """Integers go through a float, which has no more than 53 bits for them."""

    def edited(self, value: JSON) -> JSON:
        return int(float(value)) if isinstance(value, int) and not isinstance(value, bool) else value


@suite_mutant("letters-composed")
class LettersComposed(_ValuesEdited):
    """A letter and its accent become one character."""

    def edited(self, value: JSON) -> JSON:
        return unicodedata.normalize("NFC", value) if isinstance(value, str) else value


def with_calls(response: ProviderResponse, edit: Callable[[FunctionCall], FunctionCall]) -> ProviderResponse:
    """The response with each call edited."""
    return replace(
        response, parts=tuple(edit(part) if isinstance(part, FunctionCall) else part for part in response.parts)
    )


def _announcing(inputs: CallInputs, edit: Callable[[FunctionCall], FunctionCall]) -> CallInputs:
    if (on_call := inputs.on_call) is None:
        return inputs
    return replace_inputs(inputs, on_call=lambda call: on_call(edit(call)))
