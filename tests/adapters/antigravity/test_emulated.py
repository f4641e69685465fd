"""The adapter against the emulated gateway, which refuses what the real one is known to refuse."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from turnproof.certify.fixtures import ScriptedEndpoint, endpoints
from turnproof.errors import InvalidRequestError
from turnproof.messages import (
    FunctionCall,
    Message,
    Part,
    ProviderData,
    ProviderResponse,
    Thought,
    ToolResult,
    dump_messages,
    load_messages,
)
from turnproof.provider import Endpoint
from turnproof_adapters.antigravity.binding import BINDING

from ..callback_recorder import CallbackRecorder
from .kit import CLAUDE, GEMINI, GPT, OLD, STREAMED

SCRIPT = """
title: Two gates at once
system: You watch a canal.
options: {thinking: {budget_tokens: 1024}}
modes: [stream, batch]
tools:
  - {name: read/state of gate, description: Read the state of one gate, takes: {gate: string}}
turns:
  - user: Compare gates 3 and 4.
    model:
      - - thinking: ["Two gates, ", "two sensors."]
        - text: ["I read ", "both."]
        - {call: read/state of gate, args: {gate: "3"}}
        - {call: read/state of gate, args: {gate: "4"}}
      - - text: ["Gate 3 is shut."]
    results: {read/state of gate: shut}
  - user: Since when?
    model: Since noon.
"""


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[Callable[[str], ScriptedEndpoint]]:
    script = tmp_path / "two_gates.yaml"
    script.write_text(SCRIPT)
    with endpoints() as served:
        yield lambda model: served(script, "antigravity", model)


def ask(served: ScriptedEndpoint, history: list[Message], *, streamed: bool = False) -> ProviderResponse:
    """The next answer, of a fresh provider."""
    assert BINDING.open_stateless is not None
    options = {"thinking": {"budget_tokens": 1024}}
    provider = BINDING.open_stateless(Endpoint(served.base_url, served.api_key, served.model, options))
    callbacks: dict[str, Any] = CallbackRecorder().callbacks if streamed else {}
    response = provider.complete(history, served.scenario.system, served.scenario.tools, **callbacks)
    assert isinstance(response, ProviderResponse)
    return response


def answers(response: ProviderResponse, *results: str) -> Message:
    return Message.tool(
        *(ToolResult(call.id, call.name, result) for call, result in zip(response.calls, results, strict=True))
    )


@STREAMED
@pytest.mark.parametrize("model", [GEMINI, OLD, CLAUDE, GPT])
def test_a_tool_turn_goes_through_with_a_save_and_a_fresh_provider_at_every_step(
    opened: Callable[[str], ScriptedEndpoint], model: str, streamed: bool
) -> None:
    served = opened(model)
    history = [Message.user("Compare gates 3 and 4.")]
    response = ask(served, history, streamed=streamed)
    assert [call.name for call in response.calls] == ["read/state of gate"] * 2
    assert len({call.id for call in response.calls}) == 2
    history = load_messages(
        dump_messages([*history, Message.model(*response.parts), answers(response, "shut", "open")])
    )
    response = ask(served, history, streamed=streamed)
    assert response.text == "Gate 3 is shut."
    served.arm(1)
    history = load_messages(dump_messages([*history, Message.model(*response.parts), Message.user("Since when?")]))
    assert ask(served, history, streamed=streamed).text == "Since noon."
    findings = [list(exchange.findings) for exchange in served.exchanges if exchange.operation == "generate"]
    assert findings == [[], [], []]


def test_claudes_thought_comes_back_as_it_was_signed(opened: Callable[[str], ScriptedEndpoint]) -> None:
    served = opened(CLAUDE)
    history = [Message.user("Compare gates 3 and 4.")]
    response = ask(served, history, streamed=True)
    assert isinstance(response.parts[0], Thought)
    assert response.parts[0].provider_data is not None
    assert all(call.id.startswith("toolu_vrtx_") for call in response.calls)
    ask(served, [*history, Message.model(*response.parts), answers(response, "shut", "open")])
    call = served.exchanges[-1].call
    assert call is not None
    parts = call.messages[1].parts
    assert [type(part) for part in parts[:1]] == [Thought]


def with_data(parts: tuple[Part, ...], kind: type[Part], data: ProviderData | None) -> Message:
    """The message with other provider data on its parts of a kind."""
    return Message(
        "model", tuple(replace(each, provider_data=data) if isinstance(each, kind) else each for each in parts)
    )


@pytest.mark.parametrize(
    "data",
    [
        None,
        ProviderData("anthropic-messages", "claude-sonnet-4-5", {"signature": "c2ln"}),
        ProviderData("gemini", GEMINI, {"signature": "c2ln"}),
        ProviderData("antigravity", "gemini-3-pro-high", {"signature": "c2ln"}),
    ],
    ids=["none", "anthropic", "gemini", "other-model"],
)
@pytest.mark.parametrize(("model", "kind"), [(GEMINI, FunctionCall), (CLAUDE, Thought)])
def test_what_this_model_did_not_sign_is_withheld_and_the_rest_accepted(
    opened: Callable[[str], ScriptedEndpoint], model: str, kind: type[Part], data: ProviderData | None
) -> None:
    served = opened(model)
    history = [Message.user("Compare gates 3 and 4.")]
    response = ask(served, history)
    changed = with_data(response.parts, kind, data)
    assert ask(served, [*history, changed, answers(response, "shut", "open")]).text == "Gate 3 is shut."


@pytest.mark.parametrize(("model", "kind"), [(GEMINI, FunctionCall), (CLAUDE, Thought)])
def test_a_forged_signature_is_refused(opened: Callable[[str], ScriptedEndpoint], model: str, kind: type[Part]) -> None:
    """What makes the test above mean something: the service looks."""
    served = opened(model)
    history = [Message.user("Compare gates 3 and 4.")]
    response = ask(served, history)
    forged = with_data(response.parts, kind, ProviderData("antigravity", model, {"signature": "Zm9yZ2Vk"}))
    with pytest.raises(InvalidRequestError, match="signature") as failure:
        ask(served, [*history, forged, answers(response, "shut", "open")])
    assert failure.value.status == 400


@pytest.mark.parametrize("model", [GEMINI, OLD, CLAUDE])
def test_a_broken_history_is_mended_on_its_way(opened: Callable[[str], ScriptedEndpoint], model: str) -> None:
    served = opened(model)
    history = [Message.user("Compare gates 3 and 4.")]
    response = ask(served, history)
    _, second = response.calls
    stray = ToolResult("gone", "read/state of gate", "?")
    history += [Message.model(*response.parts), Message.user("Hurry.")]
    assert ask(served, [*history, Message.tool(stray, ToolResult(second.id, second.name, "open"))]).text
