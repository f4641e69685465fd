"""Adapters that do next to nothing, on both paths: whoever asks nobody, or gives no answer, must not hold anything."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from turnproof.errors import InvalidRequestError
from turnproof.messages import FinishReason, ProviderResponse, Text, TokenUsage
from turnproof.provider import Binding, Endpoint, Path
from turnproof_adapters.anthropic.binding import BINDING as ANTHROPIC
from turnproof_suites.mutants._broken import Broken, CallInputs, Proceed


def _last_question(inputs: CallInputs) -> str:
    return next((message.text for message in reversed(inputs.messages) if message.role == "user"), "")


def _answer(text: str, inputs: CallInputs) -> ProviderResponse:
    if inputs.on_chunk is not None:
        inputs.on_chunk(text)
    return ProviderResponse((Text(text),), TokenUsage(), FinishReason.STOP)


class Raises(Broken):
    """It raises at every call, before it sends anything."""

    def call(self, inputs: CallInputs, proceed: Proceed) -> ProviderResponse:
        raise RuntimeError("not today")


class AnswersByItself(Broken):
    """It answers, and asks nobody."""

    def call(self, inputs: CallInputs, proceed: Proceed) -> ProviderResponse:
        return _answer("All is well.", inputs)


class Echoes(Broken):
    """It answers with what the user said, and asks nobody."""

    def call(self, inputs: CallInputs, proceed: Proceed) -> ProviderResponse:
        return _answer(_last_question(inputs), inputs)


class RefusesAll(Broken):
    """It refuses every conversation as none that could be sent."""

    def call(self, inputs: CallInputs, proceed: Proceed) -> ProviderResponse:
        raise InvalidRequestError("this conversation cannot be sent")


class RaisesAfterTheAnswer(Broken):
    """It asks, and raises whatever comes."""

    def call(self, inputs: CallInputs, proceed: Proceed) -> ProviderResponse:
        try:
            proceed(inputs)
        except Exception as error:
            raise InvalidRequestError("lost on the way") from error
        raise InvalidRequestError("lost on the way")


class NeverStreams(Broken):
    """It claims to stream, and no callback is ever called."""

    def call(self, inputs: CallInputs, proceed: Proceed) -> ProviderResponse:
        silent = replace(
            inputs,
            on_chunk=None if inputs.on_chunk is None else _ignored,
            on_usage=None if inputs.on_usage is None else _ignored,
            on_call=None if inputs.on_call is None else _ignored,
            on_thinking=None if inputs.on_thinking is None else _ignored,
        )
        return proceed(silent)


def _ignored(_: object) -> None:
    pass


def _bind(name: str, kind: type[Broken]) -> Binding:
    def opener(open_path: Callable[[Endpoint], Any] | None, path: Path) -> Callable[[Endpoint], Any]:
        assert open_path is not None
        return lambda endpoint: kind(open_path(endpoint), path)

    return replace(
        ANTHROPIC,
        name=name,
        open_stateless=opener(ANTHROPIC.open_stateless, "stateless"),
        open_legacy=opener(ANTHROPIC.open_legacy, "legacy"),
        declared=(),
    )


RAISES = _bind("raises", Raises)
ANSWERS_BY_ITSELF = _bind("answers_by_itself", AnswersByItself)
ECHOES = _bind("echoes", Echoes)
REFUSES_ALL = _bind("refuses_all", RefusesAll)
RAISES_AFTER_THE_ANSWER = _bind("raises_after_the_answer", RaisesAfterTheAnswer)
NEVER_STREAMS = _bind("never_streams", NeverStreams)
