"""The adapter against the emulated gateway, which refuses what the real one is known to refuse."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from msgspec.structs import replace

from turnproof.certify.fixtures import ScriptedEndpoint
from turnproof.errors import InvalidRequestError
from turnproof.messages import FunctionCall, Message, Part, ProviderData, ProviderResponse, Thought, ToolResult
from turnproof.provider import Endpoint
from turnproof_adapters.antigravity.binding import BINDING

from ..two_beds import QUESTION, Opened, next_answer, play, results, services
from .kit import CLAUDE, GEMINI, GPT, OLD, STREAMED


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[Opened]:
    with services(tmp_path) as opening:
        yield lambda model: opening("antigravity", model)


def ask(served: ScriptedEndpoint, history: Sequence[Message], *, streamed: bool = False) -> ProviderResponse:
    """The next answer, of a fresh provider."""
    endpoint = Endpoint(served.base_url, served.api_key, served.model, {"thinking": {"budget_tokens": 1024}})
    return next_answer(BINDING, endpoint, served, history, streamed)


@STREAMED
@pytest.mark.parametrize("model", [GEMINI, OLD, CLAUDE, GPT])
def test_a_tool_turn_goes_through_with_a_save_and_a_fresh_provider_at_every_step(
    opened: Opened, model: str, streamed: bool
) -> None:
    served = opened(model)
    play(served, lambda history: ask(served, history, streamed=streamed))


def test_claudes_thought_comes_back_as_it_was_signed(opened: Opened) -> None:
    served = opened(CLAUDE)
    history = [QUESTION]
    response = ask(served, history, streamed=True)
    assert isinstance(response.parts[0], Thought)
    assert response.parts[0].provider_data is not None
    assert all(call.id.startswith("toolu_vrtx_") for call in response.calls)
    ask(served, [*history, Message.model(*response.parts), results(response, "41 %", "12 %")])
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
    opened: Opened, model: str, kind: type[Part], data: ProviderData | None
) -> None:
    served = opened(model)
    history = [QUESTION]
    response = ask(served, history)
    changed = with_data(response.parts, kind, data)
    assert ask(served, [*history, changed, results(response, "41 %", "12 %")]).text == "Bed 3 is moister."


@pytest.mark.parametrize(("model", "kind"), [(GEMINI, FunctionCall), (CLAUDE, Thought)])
def test_a_forged_signature_is_refused(opened: Opened, model: str, kind: type[Part]) -> None:
    """What makes the test above mean something: the service looks."""
    served = opened(model)
    history = [QUESTION]
    response = ask(served, history)
    forged = with_data(response.parts, kind, ProviderData("antigravity", model, {"signature": "Zm9yZ2Vk"}))
    with pytest.raises(InvalidRequestError, match="signature") as failure:
        ask(served, [*history, forged, results(response, "41 %", "12 %")])
    assert failure.value.status == 400


@pytest.mark.parametrize("model", [GEMINI, OLD, CLAUDE])
def test_a_broken_history_is_mended_on_its_way(opened: Opened, model: str) -> None:
    served = opened(model)
    history = [QUESTION]
    response = ask(served, history)
    _, second = response.calls
    stray = ToolResult("gone", "read/sensor of bed", "?")
    history += [Message.model(*response.parts), Message.user("Hurry.")]
    assert ask(served, [*history, Message.tool(stray, ToolResult(second.id, second.name, "12 %"))]).text
