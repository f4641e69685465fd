"""Our cassettes are plain cassettes: pytest-recording plays them to the real SDK, with the network blocked.

Nothing of turnproof takes part but the registered matcher (see conftest.py): record mode is none, the client talks to
the provider's real address, and vcrpy answers inside the SDK's own HTTP library.
"""

from __future__ import annotations

import inspect
import json
import socket
from collections.abc import Callable, Iterator
from datetime import date
from pathlib import Path
from typing import Any

import anthropic
import httpx2
import pytest

import turnproof_cassettes
from turnproof.dialects import dialect
from turnproof.dialects.base import Call, HttpRequest, PromptUsage, Reply, ReplyPart, World
from turnproof.messages import FinishReason, FunctionCall, Text
from turnproof.wire.cassettes import Cassette, Interaction, Recorder, load, save

MODEL = "claude-sonnet-4-5"
ANTHROPIC = dialect("anthropic-messages")
CASSETTES = Path(turnproof_cassettes.__file__).parent
COMMITTED = sorted(CASSETTES.glob("anthropic/**/*.yaml"))
TOOLS = [{"name": "look", "description": "Look somewhere.", "input_schema": {"type": "object"}}]

pytestmark = [
    pytest.mark.vcr,
    pytest.mark.block_network,
    # The SDK warns of a model's end of life; cassettes outlive models.
    pytest.mark.filterwarnings("ignore:The model:DeprecationWarning"),
]


def client(**more: Any) -> anthropic.Anthropic:
    return anthropic.Anthropic(api_key="sk-nobody-checks-this", max_retries=0, **more)


def converse(sdk: anthropic.Anthropic, **settings: Any) -> list[str]:
    """A conversation as any user of the SDK writes it: streamed, with a tool, then in one piece. Returns its texts."""
    settings = {"model": MODEL, "max_tokens": 100, "system": "Be brief.", **settings}
    messages: list[Any] = [{"role": "user", "content": "What is behind the door? Grüße 👋"}]
    with sdk.messages.stream(messages=messages, tools=TOOLS, **settings) as stream:  # type: ignore[arg-type]
        first = stream.get_final_message()
    call = next(block for block in first.content if block.type == "tool_use")
    messages.append({"role": "assistant", "content": [block.model_dump(exclude_none=True) for block in first.content]})
    messages.append({"role": "user", "content": [{"type": "tool_result", "tool_use_id": call.id, "content": "a cat"}]})
    last = sdk.messages.create(messages=messages, tools=TOOLS, **settings)  # type: ignore[arg-type]
    return [block.text for message in (first, last) for block in message.content if block.type == "text"]


LOOK = FunctionCall(id="toolu_1", name="look")
REPLIES = [
    Reply(
        (ReplyPart(Text("Let me look… 👀")), ReplyPart(FunctionCall(id="toolu_1", name="look"))), FinishReason.TOOL_USE
    ),
    Reply((ReplyPart(Text("A cat.")),), FinishReason.STOP),
]


def record(path: Path) -> list[str]:
    """Record the conversation from the dialect itself, inside the SDK's transport; returns what the user saw."""
    world = World.with_any_key(ANTHROPIC.models)
    recorder = Recorder(
        adapter="sdk",
        scenario="door",
        dialect=ANTHROPIC,
        model=MODEL,
        recorded="emulated",
        day=date(2026, 11, 21),
    )
    replies = iter(REPLIES)

    def answer(sent: httpx2.Request) -> httpx2.Response:
        headers = {name.lower(): value for name, value in sent.headers.items()}
        http = HttpRequest(sent.method, sent.url.path, dict(sent.url.params), headers, sent.read())
        call = ANTHROPIC.parse(http, world)
        assert isinstance(call, Call), call
        rendered = ANTHROPIC.render(call, next(replies), PromptUsage(10), world, "seed")
        chunks = [event.data for event in rendered.events]
        round_ = len(call.messages) // 2
        recorder.add(http, call, status=rendered.status, headers=rendered.headers, chunks=chunks, turn=0, round_=round_)
        return httpx2.Response(rendered.status, headers=dict(rendered.headers), content=b"".join(chunks))

    seen = converse(client(http_client=httpx2.Client(transport=httpx2.MockTransport(answer))))
    save(recorder.cassette(), path)
    return seen


@pytest.fixture(scope="module")
def vcr_cassette_dir(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(tmp_path_factory.mktemp("cassettes"))


@pytest.fixture(scope="module")
def texts_at_recording(vcr_cassette_dir: str) -> list[str]:
    """What the user saw when the cassette was recorded."""
    return record(Path(vcr_cassette_dir, "door.yaml"))


@pytest.fixture
def default_cassette_name(request: pytest.FixtureRequest) -> str:
    """The cassette of the test's own parameter, or the one recorded above."""
    callspec = getattr(request.node, "callspec", None)
    if callspec is not None and "committed" in callspec.params:
        return str(callspec.params["committed"])
    request.getfixturevalue("texts_at_recording")
    return "door"


def test_the_sdk_sees_in_replay_what_it_saw_when_recorded(texts_at_recording: list[str], vcr: Any) -> None:
    assert converse(client()) == texts_at_recording == ["Let me look… 👀", "A cat."]
    assert vcr.all_played


def test_settings_are_not_matched(texts_at_recording: list[str]) -> None:
    assert converse(client(), max_tokens=77, stop_sequences=["!"], metadata={"user_id": "x"}) == texts_at_recording


def test_another_conversation_finds_no_answer_and_hears_why(vcr: Any) -> None:
    with pytest.raises(anthropic.APIConnectionError) as failure:
        converse(client(), system="Be long.")
    reasons = "".join(str(error) for error in _causes(failure.value))
    assert "recorded 'Be brief.', sent 'Be long.'" in reasons
    assert vcr.play_count == 0


def test_the_network_is_blocked() -> None:
    with pytest.raises(RuntimeError, match="Network is disabled"):
        socket.create_connection(("192.0.2.1", 443), timeout=1)


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__


def _again(sdk: anthropic.Anthropic, interaction: Interaction) -> httpx2.Response:
    """Send a recorded request through the SDK's own methods, as a user would write the call."""
    path = interaction.request.uri.partition("?")[0].removeprefix(str(sdk.base_url).rstrip("/"))
    headers = {k: v for k, v in interaction.request.headers.items() if k in ("anthropic-beta", "anthropic-version")}
    try:
        if interaction.request.method == "GET":
            return sdk.get(path, cast_to=httpx2.Response, options={"headers": headers})
        body = json.loads(interaction.request.body)
        raw = sdk.messages.with_raw_response
        method: Callable[..., Any] = raw.count_tokens if path.endswith("/count_tokens") else raw.create
        known = {k: v for k, v in body.items() if k in inspect.signature(method).parameters}
        rest = {k: v for k, v in body.items() if k not in known}
        response: httpx2.Response = method(**known, extra_body=rest, extra_headers=headers, timeout=60).http_response
        return response
    except anthropic.APIStatusError as refused:
        return refused.response


@pytest.mark.parametrize("committed", COMMITTED, ids=[str(path.relative_to(CASSETTES)) for path in COMMITTED])
def test_every_recorded_exchange_plays_to_the_sdk_byte_for_byte(committed: Path, vcr: Any) -> None:
    cassette: Cassette = load(committed)
    sdk = client()
    for interaction in cassette.interactions:
        response = _again(sdk, interaction)
        assert response.status_code == interaction.response.status
        assert response.read() == interaction.response.body
    assert vcr.all_played
