"""Scripted answers over a real socket, as the official clients read them.

That our reader understands our writer says little: these clients are written by others. They are needed for nothing
else here, so the tests are skipped where they are not installed.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import httpx2
import pytest

from turnproof.dialects.base import Call, Rendered, Reply, ReplyPart
from turnproof.dialects.openai_chat import SURFACES
from turnproof.dialects.openai_chat.surfaces import Surface
from turnproof.messages import FinishReason, FunctionCall, Text
from turnproof.scenarios.model import Fault, Turn
from turnproof.wire.emulator import EmulatorServer, Exchange, ServerRun

from .builders import KEY, MODEL, OPENING, TOOL, tool

BOTH = (FunctionCall("call_a", "read_sensor", {"bed": "3"}), FunctionCall("call_b", "water", {"litres": 2}))
REPLY = Reply((ReplyPart(Text("Let me look at né 北🌍.")),), FinishReason.STOP)
CALLED = Reply(tuple(map(ReplyPart, BOTH)), FinishReason.TOOL_USE)
USUAL: Any = {"model": MODEL, "messages": [OPENING], "tools": [TOOL, tool("water")]}
SEEDS = ("0", "1", "2", "3")


class Scripted:
    """Answers every request with the reply that is armed."""

    reply = REPLY
    seed = "0"

    async def answer(self, run: ServerRun, exchange: Exchange, call: Call) -> Rendered:
        usage, commit = run.cache.account(call, run.world.models[call.model or ""], 0.0)
        commit()
        return run.dialect.render(call, self.reply, usage, run.world, self.seed)


def opened(server: EmulatorServer, surface: Surface) -> tuple[ServerRun, Scripted]:
    script = Scripted()
    return server.open_run(SURFACES[surface], script, keys=frozenset({KEY})), script


# -- the client of OpenAI


@pytest.fixture(scope="module")
def sdk(server: EmulatorServer) -> Iterator[tuple[Any, ServerRun, Scripted]]:
    openai = pytest.importorskip("openai")
    run, script = opened(server, Surface.OPENAI)
    with openai.OpenAI(base_url=run.base_url, api_key=KEY, max_retries=0, http_client=httpx2.Client()) as client:
        yield client, run, script


@pytest.mark.parametrize("seed", SEEDS)
def test_parallel_calls_arrive_whole_in_either_form(seed: str, sdk: tuple[Any, ServerRun, Scripted]) -> None:
    client, _, script = sdk
    script.reply, script.seed = CALLED, seed
    whole = client.chat.completions.create(**USUAL)
    with client.chat.completions.stream(**USUAL) as stream:
        streamed = stream.get_final_completion()
    for answer in (whole, streamed):
        (choice,) = answer.choices
        calls = [(call.id, call.function.name, call.function.arguments) for call in choice.message.tool_calls]
        assert calls == [("call_a", "read_sensor", '{"bed": "3"}'), ("call_b", "water", '{"litres": 2}')]
        assert choice.finish_reason == "tool_calls"


def test_a_text_and_its_figures_arrive(sdk: tuple[Any, ServerRun, Scripted]) -> None:
    client, _, script = sdk
    script.reply = REPLY
    with client.chat.completions.stream(**USUAL, stream_options={"include_usage": True}) as stream:
        answer = stream.get_final_completion()
    assert answer.choices[0].message.content == "Let me look at né 北🌍."
    assert answer.usage.total_tokens == answer.usage.prompt_tokens + answer.usage.completion_tokens > 0


def test_an_error_in_mid_stream_is_raised(sdk: tuple[Any, ServerRun, Scripted]) -> None:
    import openai  # type: ignore[import-not-found, unused-ignore]

    client, run, script = sdk
    script.reply = REPLY
    run.arm(0, Turn(user=(), rounds=(), faults=(Fault("error-event", index=2, status=500),)))
    chunks = iter(client.chat.completions.create(**USUAL, stream=True))
    beginning = "".join(next(chunks).choices[0].delta.content for _ in range(3))
    with pytest.raises(openai.APIError) as raised:
        list(chunks)
    run.arm(1, Turn(user=(), rounds=()))
    assert isinstance(raised.value.body, dict)
    assert raised.value.body["type"] == "server_error"
    assert beginning
    assert beginning in "Let me look at né 北🌍."


# -- the client of GitHub Models


@pytest.fixture(scope="module")
def azure(server: EmulatorServer) -> Iterator[tuple[Any, Scripted]]:
    inference = pytest.importorskip("azure.ai.inference")
    credentials = pytest.importorskip("azure.core.credentials")
    run, script = opened(server, Surface.GITHUB)
    policy: Any = {"retry_total": 0}
    with inference.ChatCompletionsClient(run.base_url, credentials.AzureKeyCredential(KEY), **policy) as client:
        yield client, script


ON_GITHUB: Any = {**USUAL, "model": "openai/gpt-4o"}


@pytest.mark.parametrize("seed", SEEDS)
def test_the_client_of_github_models_hears_the_same(seed: str, azure: tuple[Any, Scripted]) -> None:
    client, script = azure
    script.reply, script.seed = CALLED, seed
    whole = client.complete(ON_GITHUB)
    calls = [(each.id, each.function.name, each.function.arguments) for each in whole.choices[0].message.tool_calls]
    assert calls == [("call_a", "read_sensor", '{"bed": "3"}'), ("call_b", "water", '{"litres": 2}')]
    arguments: dict[str, str] = {}
    names: dict[int, str] = {}
    for chunk in client.complete({**ON_GITHUB, "stream": True}):
        for choice in chunk.choices:
            for piece in choice.delta.tool_calls or ():
                index = piece["index"]
                names.setdefault(index, piece.id)
                arguments[names[index]] = arguments.get(names[index], "") + piece.function.arguments
    assert arguments == {"call_a": '{"bed": "3"}', "call_b": '{"litres": 2}'}


def test_the_client_of_github_models_raises_what_it_refuses(azure: tuple[Any, Scripted]) -> None:
    from azure.core.exceptions import (  # type: ignore[import-not-found, unused-ignore]
        HttpResponseError,
    )

    client, _ = azure
    with pytest.raises(HttpResponseError) as raised:
        client.complete({**ON_GITHUB, "model": "openai/gpt-9"})
    assert (raised.value.status_code, getattr(raised.value.error, "code", None)) == (404, "unknown_model")
    with pytest.raises(HttpResponseError) as raised:
        client.complete({**ON_GITHUB, "messages": [{"role": "user", "content": "soil" * 8_000}]})
    assert (raised.value.status_code, getattr(raised.value.error, "code", None)) == (413, "tokens_limit_reached")
