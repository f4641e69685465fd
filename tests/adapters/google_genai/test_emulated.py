"""The adapter against the emulated API, which refuses what the real one refuses: what a session does with it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from turnproof.certify.fixtures import ScriptedEndpoint
from turnproof.errors import AuthenticationError, InvalidRequestError
from turnproof.messages import FunctionCall, Message, Part, ProviderData, ProviderResponse, Text, ToolResult
from turnproof.provider import Endpoint
from turnproof_adapters.google_genai.binding import BINDING

from ..callback_recorder import CallbackRecorder
from ..two_beds import QUESTION, Opened, next_answer, play, results, services
from .kit import MODEL

STREAMED = pytest.mark.parametrize("streamed", [False, True], ids=["batch", "stream"])


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[Opened]:
    with services(tmp_path) as opening:
        yield lambda model: opening("gemini", model)


def ask(
    served: ScriptedEndpoint, history: Sequence[Message], streamed: bool = False, **options: Any
) -> ProviderResponse:
    """The next answer, of a fresh provider."""
    endpoint = Endpoint(served.base_url, served.api_key, served.model, options)
    return next_answer(BINDING, endpoint, served, history, streamed)


def first_step(served: ScriptedEndpoint) -> tuple[list[Message], ProviderResponse]:
    """The conversation up to the calls of the first turn."""
    response = ask(served, [QUESTION])
    return [QUESTION, Message.model(*response.parts)], response


@STREAMED
@pytest.mark.parametrize("model", [MODEL, "gemini-2.5-flash", "gemini-2.0-flash"], ids=["3", "2.5", "2.0"])
def test_a_tool_turn_goes_through_with_a_save_and_a_fresh_provider_at_every_step(
    opened: Opened, model: str, streamed: bool
) -> None:
    served = opened(model)
    steps = iter([{"thinking": {"budget_tokens": 1024}}, {}, {}])
    play(served, lambda history: ask(served, history, streamed, **next(steps)))


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
def test_calls_that_this_model_did_not_sign_are_accepted(opened: Opened, data: ProviderData | None) -> None:
    served = opened(MODEL)
    history, response = first_step(served)
    history = [*with_data(history, data), results(response, "41 %", "12 %")]
    assert ask(served, history).text == "Bed 3 is moister."


def test_a_signature_of_this_model_is_sent_as_it_is_and_a_forged_one_refused(
    opened: Opened,
) -> None:
    """What makes the tests above mean something: the service looks."""
    served = opened(MODEL)
    history, response = first_step(served)
    forged = with_data(history, ProviderData("gemini", MODEL, {"signature": "Zm9yZ2Vk"}))
    with pytest.raises(InvalidRequestError, match="signature") as failure:
        ask(served, [*forged, results(response, "41 %", "12 %")])
    assert failure.value.status == 400
    assert failure.value.kind == "INVALID_ARGUMENT"


def test_a_broken_history_is_mended_on_its_way(opened: Opened) -> None:
    served = opened(MODEL)
    history, response = first_step(served)
    _, second = response.calls
    stray = ToolResult("gone", "read/sensor of bed", "1 %")
    one_answer = Message.tool(stray, ToolResult(second.id, second.name, "12 %"))
    assert ask(served, [*history, Message.user("Hurry."), one_answer]).text
    assert [list(exchange.findings) for exchange in served.exchanges] == [[], []]


@STREAMED
def test_a_wrong_key_is_refused_with_400_and_told_as_what_it_is(opened: Opened, streamed: bool) -> None:
    served = opened(MODEL)
    assert BINDING.open_stateless is not None
    wrong = BINDING.open_stateless(Endpoint(served.base_url, "wrong", served.model))
    assert not wrong.verify_auth()
    with pytest.raises(AuthenticationError) as failure:
        wrong.complete([Message.user("hi")], **(CallbackRecorder().callbacks if streamed else {}))
    assert failure.value.status == 400


def test_the_service_counts_the_prompt_that_it_then_bills(opened: Opened) -> None:
    served = opened(MODEL)
    assert BINDING.open_stateless is not None
    provider = BINDING.open_stateless(Endpoint(served.base_url, served.api_key, served.model))
    prompt = ([QUESTION], Text("You keep a greenhouse log."), served.scenario.tools)
    assert provider.count_tokens(*prompt) == provider.complete(*prompt).usage.prompt_tokens > 20
    assert served.model in provider.list_models()
