"""The adapter against the emulated API, which refuses what the real one refuses: what a session does with it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from turnproof.certify.fixtures import ScriptedEndpoint, endpoints
from turnproof.errors import AuthenticationError, InvalidRequestError
from turnproof.messages import (
    FunctionCall,
    Message,
    Part,
    ProviderData,
    ProviderResponse,
    Text,
    ToolResult,
    dump_messages,
    load_messages,
)
from turnproof.provider import Endpoint
from turnproof_adapters.google_genai.binding import BINDING
from turnproof_adapters.google_genai.stateless import GoogleStateless

from ..callback_recorder import CallbackRecorder
from .kit import MODEL

STREAMED = pytest.mark.parametrize("streamed", [False, True], ids=["batch", "stream"])

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


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[Callable[[str], ScriptedEndpoint]]:
    script = tmp_path / "two_beds.yaml"
    script.write_text(SCRIPT)
    with endpoints() as served:
        yield lambda model: served(script, "gemini", model)


def provider(served: ScriptedEndpoint, **options: Any) -> GoogleStateless:
    assert BINDING.open_stateless is not None
    found = BINDING.open_stateless(Endpoint(served.base_url, served.api_key, served.model, options))
    assert isinstance(found, GoogleStateless)
    return found


def first_step(served: ScriptedEndpoint, streamed: bool, **options: Any) -> tuple[list[Message], ProviderResponse]:
    """The conversation up to the calls of the first turn."""
    history = [Message.user("Compare beds 3 and 4.")]
    callbacks = CallbackRecorder().callbacks if streamed else {}
    asked = provider(served, **options)
    response = asked.complete(history, served.scenario.system, served.scenario.tools, **callbacks)
    return [*history, Message.model(*response.parts)], response


def go_on(served: ScriptedEndpoint, history: list[Message], streamed: bool = False) -> ProviderResponse:
    callbacks = CallbackRecorder().callbacks if streamed else {}
    return provider(served).complete(history, served.scenario.system, served.scenario.tools, **callbacks)


def answers(response: ProviderResponse, *results: str) -> Message:
    return Message.tool(
        *(ToolResult(call.id, call.name, result) for call, result in zip(response.calls, results, strict=True))
    )


@STREAMED
@pytest.mark.parametrize("model", [MODEL, "gemini-2.5-flash", "gemini-2.0-flash"], ids=["3", "2.5", "2.0"])
def test_a_tool_turn_goes_through_with_a_save_and_a_fresh_provider_at_every_step(
    opened: Callable[[str], ScriptedEndpoint], model: str, streamed: bool
) -> None:
    served = opened(model)
    history, response = first_step(served, streamed, thinking={"budget_tokens": 1024})
    assert [call.name for call in response.calls] == ["read/sensor of bed"] * 2
    assert len({call.id for call in response.calls}) == 2
    history = load_messages(dump_messages([*history, answers(response, "41 %", "12 %")]))
    response = go_on(served, history, streamed)
    assert response.text == "Bed 3 is moister."
    served.arm(1)
    history = load_messages(dump_messages([*history, Message.model(*response.parts), Message.user("By how much?")]))
    assert go_on(served, history, streamed).text == "By 29 points."
    assert [list(exchange.findings) for exchange in served.exchanges] == [[], [], []]


def with_data(history: list[Message], data: ProviderData | None) -> list[Message]:
    """The conversation with other provider data on its calls."""

    def changed(part: Part) -> Part:
        return replace(part, provider_data=data) if isinstance(part, FunctionCall) else part

    return [Message(message.role, tuple(map(changed, message.parts))) for message in history]


@pytest.mark.parametrize(
    "data",
    [
        None,
        ProviderData("anthropic-messages", "claude-sonnet-4-5", {"signature": "c2ln"}),
        ProviderData("gemini", "gemini-2.5-flash", {"signature": "c2ln"}),
    ],
    ids=["none", "other-api", "other-model"],
)
def test_calls_that_this_model_did_not_sign_are_accepted(
    opened: Callable[[str], ScriptedEndpoint], data: ProviderData | None
) -> None:
    served = opened(MODEL)
    history, response = first_step(served, streamed=False)
    history = [*with_data(history, data), answers(response, "41 %", "12 %")]
    assert go_on(served, history).text == "Bed 3 is moister."


def test_a_signature_of_this_model_is_sent_as_it_is_and_a_forged_one_refused(
    opened: Callable[[str], ScriptedEndpoint],
) -> None:
    """What makes the tests above mean something: the service looks."""
    served = opened(MODEL)
    history, response = first_step(served, streamed=False)
    forged = with_data(history, ProviderData("gemini", MODEL, {"signature": "Zm9yZ2Vk"}))
    with pytest.raises(InvalidRequestError, match="signature") as failure:
        go_on(served, [*forged, answers(response, "41 %", "12 %")])
    assert failure.value.status == 400
    assert failure.value.kind == "INVALID_ARGUMENT"


def test_a_broken_history_is_mended_on_its_way(opened: Callable[[str], ScriptedEndpoint]) -> None:
    served = opened(MODEL)
    history, response = first_step(served, streamed=False)
    _, second = response.calls
    stray = ToolResult("gone", "read/sensor of bed", "1 %")
    one_answer = Message.tool(stray, ToolResult(second.id, second.name, "12 %"))
    assert go_on(served, [*history, Message.user("Hurry."), one_answer]).text
    assert [list(exchange.findings) for exchange in served.exchanges] == [[], []]


@STREAMED
def test_a_wrong_key_is_refused_with_400_and_told_as_what_it_is(
    opened: Callable[[str], ScriptedEndpoint], streamed: bool
) -> None:
    served = opened(MODEL)
    assert BINDING.open_stateless is not None
    wrong = BINDING.open_stateless(Endpoint(served.base_url, "wrong", served.model))
    assert not wrong.verify_auth()
    with pytest.raises(AuthenticationError) as failure:
        wrong.complete([Message.user("hi")], **(CallbackRecorder().callbacks if streamed else {}))
    assert failure.value.status == 400


def test_the_service_counts_the_prompt_that_it_then_bills(opened: Callable[[str], ScriptedEndpoint]) -> None:
    served = opened(MODEL)
    asked = provider(served)
    prompt = ([Message.user("Compare beds 3 and 4.")], Text("You keep a greenhouse log."), served.scenario.tools)
    assert asked.count_tokens(*prompt) == asked.complete(*prompt).usage.prompt_tokens > 20
    assert served.model in asked.list_models()
