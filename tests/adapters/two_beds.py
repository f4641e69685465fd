"""A conversation with two calls at once, which emulated services play with the adapters."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TypeAlias

from turnproof.certify.fixtures import ScriptedEndpoint, endpoints
from turnproof.messages import Message, ProviderResponse, ToolResult, dump_messages, load_messages
from turnproof.provider import Binding, Endpoint

from .callback_recorder import CallbackRecorder

SCRIPT = """
title: Two beds at once
system: You keep a greenhouse log.
options: {thinking: {budget_tokens: 1024}}
modes: [stream, batch]
tools:
  - {name: read/sensor of bed, description: Read the moisture of one bed, takes: {bed: string}}
turns:
  - user: Compare beds 3 and 4.
    model:
      - - thinking: ["Two beds, ", "two sensors."]
        - text: ["I read ", "both."]
        - {call: read/sensor of bed, args: {bed: "3"}}
        - {call: read/sensor of bed, args: {bed: "4"}}
      - - text: ["Bed 3 is moister."]
    results: {read/sensor of bed: 41 %}
  - user: By how much?
    model: By 29 points.
"""
QUESTION = Message.user("Compare beds 3 and 4.")

Opened: TypeAlias = Callable[[str], ScriptedEndpoint]
"""A new service for a model."""


@contextmanager
def services(folder: Path) -> Iterator[Callable[[str, str], ScriptedEndpoint]]:
    """Opens services that play the conversation, each for a dialect and a model."""
    script = folder / "two_beds.yaml"
    script.write_text(SCRIPT)
    with endpoints() as served:
        yield lambda dialect, model: served(script, dialect, model)


def next_answer(
    binding: Binding, endpoint: Endpoint, served: ScriptedEndpoint, history: Sequence[Message], streamed: bool = False
) -> ProviderResponse:
    """The answer to a history, of a fresh provider of the stateless path."""
    assert binding.open_stateless is not None
    callbacks = CallbackRecorder().callbacks if streamed else {}
    provider = binding.open_stateless(endpoint)
    response = provider.complete(history, served.scenario.system, served.scenario.tools, **callbacks)
    assert isinstance(response, ProviderResponse)
    return response


def results(response: ProviderResponse, *values: str) -> Message:
    """A result for each call of an answer."""
    pairs = zip(response.calls, values, strict=True)
    return Message.tool(*(ToolResult(call.id, call.name, value) for call, value in pairs))


def play(served: ScriptedEndpoint, ask: Callable[[Sequence[Message]], ProviderResponse]) -> ProviderResponse:
    """Plays the conversation with a save at every step, and returns the first answer. The service refuses nothing."""
    first = ask([QUESTION])
    assert first.text == "I read both."
    assert [call.name for call in first.calls] == ["read/sensor of bed"] * 2
    assert [call.args["bed"] for call in first.calls] == ["3", "4"]
    assert len({call.id for call in first.calls}) == 2
    assert first.usage.prompt_tokens > 0
    history = saved([QUESTION, Message.model(*first.parts), results(first, "41 %", "12 %")])
    second = ask(history)
    assert second.text == "Bed 3 is moister."
    served.arm(1)
    assert ask(saved([*history, Message.model(*second.parts), Message.user("By how much?")])).text == "By 29 points."
    findings = [list(exchange.findings) for exchange in served.exchanges if exchange.operation == "generate"]
    assert findings == [[], [], []]
    return first


def saved(history: Sequence[Message]) -> list[Message]:
    """The history, written and read again."""
    return load_messages(dump_messages(history))
