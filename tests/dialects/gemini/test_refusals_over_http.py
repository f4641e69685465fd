"""The pairs of refusals once more, through the real SDK and over a real socket.

The dialect alone could be right while the server answers in another form; the SDK's own exception is what an adapter
sees. Bodies go through the SDK's request function, since its typed methods cannot say what is illegal; what they can
say is asked through them below.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from operator import attrgetter
from typing import Any

import google.auth.credentials
import msgspec
import pytest
from google import genai
from google.genai import errors, types

from turnproof.dialects.gemini import DIALECT
from turnproof.wire.emulator import EmulatorServer, ServerRun

from ..responders import open_run_in
from .asks import Ask, Pair, world
from .builders import HANDBOOK, KEY, MODEL, PARAMETERS
from .pairs import PAIRS

# The SDK always authenticates in its own way and sends a JSON object: for anything else it cannot be refused.
SENDABLE = [
    pair
    for pair in PAIRS
    if pair.illegal.raw is None
    and not pair.illegal.headers
    and not pair.legal.headers
    # Equal in what they show, and megabytes each.
    and pair.rule != "too-many-tokens"
]


class Token(google.auth.credentials.Credentials):
    """An access token that never expires."""

    def __init__(self) -> None:
        self.token = KEY
        self.expiry = None
        self._quota_project_id = None

    def refresh(self, request: object) -> None:
        raise AssertionError("nothing to refresh")


@dataclass
class Service:
    """A client at each surface, and the server that knows the world of the pairs."""

    studio: genai.Client
    vertex: genai.Client
    run: ServerRun

    def fresh(self) -> None:
        """Undo what the last request may have done to the caches."""
        self.run.world.resources.clear()
        self.run.world.resources.update(world().resources)

    def send(self, sendable: Ask) -> Any:
        """The JSON answer to a request. Raises the SDK's `APIError` where it is refused."""
        self.fresh()
        request = sendable.request(lambda body: json.dumps(body).encode())
        version, _, path = request.path[1:].partition("/")
        client: Any = (self.vertex if sendable.vertex else self.studio)._api_client
        # A request function of the SDK adds the project to any path without one.
        options = types.HttpOptions(api_version=version)
        answer = client.request(request.method.lower(), path, json.loads(request.body or b"{}"), options)
        return msgspec.json.decode(answer.body)


@pytest.fixture(scope="module")
def service() -> Iterator[Service]:
    with EmulatorServer() as server:
        run = open_run_in(world(), server, DIALECT)
        base = types.HttpOptions(base_url=run.base_url)
        studio = genai.Client(api_key=KEY, http_options=base)
        cloud = genai.Client(vertexai=True, project="garden", location="global", credentials=Token(), http_options=base)
        with studio, cloud:
            yield Service(studio, cloud, run)


@pytest.mark.parametrize("pair", SENDABLE, ids=attrgetter("id"))
def test_the_sdk_raises_the_refusal_and_not_for_its_neighbour(pair: Pair, service: Service) -> None:
    if pair.enforced:
        with pytest.raises(errors.APIError) as raised:
            service.send(pair.illegal)
        error = raised.value
        assert (error.code, error.status, error.message) == (pair.status, pair.kind, pair.message)
    else:
        assert "error" not in service.send(pair.illegal)
    assert "error" not in service.send(pair.legal)


def test_a_wrong_key_is_a_client_error_with_400(service: Service) -> None:
    options = types.HttpOptions(base_url=service.run.base_url)
    with genai.Client(api_key="wrong", http_options=options) as stranger, pytest.raises(errors.ClientError) as raised:
        stranger.models.generate_content(model=MODEL, contents="Hello")
    assert (raised.value.code, raised.value.status) == (400, "INVALID_ARGUMENT")
    assert raised.value.details["error"]["details"][0]["reason"] == "API_KEY_INVALID"


def test_a_wrong_token_is_a_client_error_with_401(service: Service) -> None:
    credentials = Token()
    credentials.token = "wrong"
    options = types.HttpOptions(base_url=service.run.base_url)
    stranger = genai.Client(
        vertexai=True, project="garden", location="global", credentials=credentials, http_options=options
    )
    with stranger, pytest.raises(errors.ClientError) as raised:
        stranger.models.generate_content(model=MODEL, contents="Hello")
    assert (raised.value.code, raised.value.status) == (401, "UNAUTHENTICATED")


def test_a_refused_stream_raises_before_its_first_chunk(service: Service) -> None:
    stream = service.studio.models.generate_content_stream(model="nope", contents="Hello")
    with pytest.raises(errors.ClientError, match="nope is not found for API version v1"):
        next(iter(stream))


@pytest.mark.parametrize("surface", ["studio", "vertex"])
def test_what_the_typed_methods_send_is_understood(surface: str, service: Service) -> None:
    service.fresh()
    client: genai.Client = getattr(service, surface)
    declaration = types.FunctionDeclaration(name="read_sensor", parameters=types.Schema.model_validate(PARAMETERS))
    tool = types.Tool(function_declarations=[declaration])
    config = types.GenerateContentConfig(
        system_instruction="Be brief.",
        tools=[tool],
        temperature=0.5,
        automatic_function_calling=types.AutomaticFunctionCallingConfig(disable=True),
    )
    called = types.Part(
        function_call=types.FunctionCall(name="read_sensor", args={"bed": "3"}),
        thought_signature=b"\xfb\xff\xbfsigned",
    )
    contents = [
        types.Content(role="user", parts=[types.Part(text="How moist is bed 3?")]),
        types.Content(role="model", parts=[called]),
        types.Content(
            role="user",
            parts=[types.Part.from_function_response(name="read_sensor", response={"output": "41 %"})],
        ),
    ]
    answer = client.models.generate_content(model=MODEL, contents=contents, config=config)
    assert answer.text == "Yes."
    (exchange,) = service.run.exchanges[-1:]
    assert exchange.findings == []
    assert exchange.call is not None
    assert [message.role for message in exchange.call.messages] == ["user", "model", "tool"]
    assert exchange.call.tools[0].parameters == {
        "type": "object",
        "properties": {"bed": {"type": "string"}},
        "required": ["bed"],
    }


@pytest.mark.parametrize("surface", ["studio", "vertex"])
def test_a_managed_cache_lives_and_dies_in_the_hands_of_the_sdk(surface: str, service: Service) -> None:
    service.run.world.resources.clear()
    client: genai.Client = getattr(service, surface)
    new_cache = client.caches.create(
        model=MODEL, config=types.CreateCachedContentConfig(contents=HANDBOOK, ttl="300s", display_name="handbook")
    )
    assert new_cache.name is not None
    assert new_cache.usage_metadata is not None
    tokens = new_cache.usage_metadata.total_token_count
    longer = client.caches.update(name=new_cache.name, config=types.UpdateCachedContentConfig(ttl="600s"))
    assert longer.expire_time is not None
    assert new_cache.expire_time is not None
    assert (longer.expire_time - new_cache.expire_time).total_seconds() == 300
    assert client.caches.get(name=new_cache.name).display_name == "handbook"
    assert [cache.name for cache in client.caches.list()] == [new_cache.name]

    using = types.GenerateContentConfig(cached_content=new_cache.name)
    answer = client.models.generate_content(model=MODEL, contents="Summarise.", config=using)
    assert answer.usage_metadata is not None
    assert answer.usage_metadata.cached_content_token_count == tokens

    client.caches.delete(name=new_cache.name)
    assert list(client.caches.list()) == []
    with pytest.raises(errors.ClientError, match="CachedContent not found") as raised:
        client.models.generate_content(model=MODEL, contents="Summarise.", config=using)
    assert raised.value.code == 403


def test_the_sdk_reads_counts_and_models_at_both_doors(service: Service) -> None:
    studio, cloud = service.studio, service.vertex
    here = studio.models.count_tokens(model=MODEL, contents="How moist is bed 3?")
    there = cloud.models.count_tokens(
        model=MODEL, contents="How moist is bed 3?", config=types.CountTokensConfig(system_instruction="Be brief.")
    )
    assert here.total_tokens is not None
    assert there.total_tokens is not None
    assert 0 < here.total_tokens < there.total_tokens
    known = studio.models.get(model=MODEL)
    assert (known.name, known.input_token_limit, known.output_token_limit) == (f"models/{MODEL}", 1_048_576, 65_536)
    assert f"models/{MODEL}" in {each.name for each in studio.models.list()}
    assert cloud.models.get(model=MODEL).name == f"publishers/google/models/{MODEL}"
    assert f"publishers/google/models/{MODEL}" in {each.name for each in cloud.models.list()}
