"""What is asked besides answers, over a real socket: model lists, and Copilot's exchange of tokens.

Whether a client that refreshes its token gets on is seen only against a server whose clock moves.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import httpx2
import pytest

from turnproof.dialects import api_of
from turnproof.dialects.openai_chat import SURFACES
from turnproof.dialects.openai_chat.surfaces import Surface
from turnproof.run.backends import live_target
from turnproof.wire.controls.openai_chat import CONTROL
from turnproof.wire.emulator import EmulatorServer, ServerRun
from turnproof.wire.emulator.echo import EchoResponder

from .asks import MODELS
from .builders import KEY, OPENING


@pytest.fixture(scope="module")
def client() -> Iterator[httpx2.Client]:
    with httpx2.Client(timeout=60) as opened:
        yield opened


def opened(server: EmulatorServer, surface: Surface) -> ServerRun:
    return server.open_run(SURFACES[surface], EchoResponder(), keys=frozenset({KEY}))


BEARER = {"authorization": f"Bearer {KEY}"}


@pytest.mark.parametrize(
    ("surface", "path"),
    [
        (Surface.OPENAI, "/chat/completions"),
        (Surface.GITHUB, "/chat/completions"),
        (Surface.ZAI, "/chat/completions"),
        (Surface.OLLAMA, "/chat/completions"),
        (Surface.AZURE, "/openai/deployments/gpt-4o/chat/completions?api-version=2024-10-21"),
    ],
)
def test_the_base_url_of_a_run_has_the_form_that_the_surfaces_clients_take(
    surface: Surface, path: str, server: EmulatorServer, client: httpx2.Client
) -> None:
    run = opened(server, surface)
    body = {"model": MODELS[surface], "messages": [OPENING]}
    answer = client.post(f"{run.base_url}{path}", json=body, headers=BEARER)
    assert answer.status_code == 200
    assert answer.json()["choices"][0]["message"]["content"] == "You said: How moist is bed 3?"


@pytest.mark.parametrize(("surface", "owner"), [(Surface.OPENAI, "system"), (Surface.OLLAMA, "library")])
def test_models_are_listed_with_those_of_the_surface_alone(
    surface: Surface, owner: str, server: EmulatorServer, client: httpx2.Client
) -> None:
    run = opened(server, surface)
    listed = client.get(f"{run.base_url}/models", headers=BEARER).json()
    assert listed["object"] == "list"
    assert MODELS[surface] in {each["id"] for each in listed["data"]}
    assert {each["owned_by"] for each in listed["data"]} == {owner}
    assert not any(each["id"].startswith("glm") for each in listed["data"])
    one = client.get(f"{run.base_url}/models/{MODELS[surface]}", headers=BEARER)
    assert (one.status_code, one.json()["id"]) == (200, MODELS[surface])
    assert client.get(f"{run.base_url}/models/nope", headers=BEARER).status_code == 404


def test_the_catalogue_of_github_says_what_its_free_tier_lets_through(
    server: EmulatorServer, client: httpx2.Client
) -> None:
    host = opened(server, Surface.GITHUB).base_url.removesuffix("/inference")
    listed = client.get(f"{host}/catalog/models", headers=BEARER).json()
    (one,) = [each for each in listed if each["id"] == "openai/gpt-4o"]
    assert (one["publisher"], one["name"], one["limits"]["max_input_tokens"]) == ("openai", "gpt-4o", 8_000)


class Copilot:
    """A client of Copilot as far as it has to be one."""

    def __init__(self, run: ServerRun, client: httpx2.Client) -> None:
        self._run, self._client = run, client

    def exchange(self, key: str = KEY) -> httpx2.Response:
        headers = {"authorization": f"token {key}"}
        return self._client.get(f"{self._run.base_url}/copilot_internal/v2/token", headers=headers)

    def ask(self, token: str) -> httpx2.Response:
        headers = {"authorization": f"Bearer {token}", "editor-version": "turnproof/1.0"}
        body: Any = {"model": "gpt-4o", "messages": [OPENING]}
        return self._client.post(f"{self._run.base_url}/chat/completions", json=body, headers=headers)

    def models(self, token: str) -> Any:
        headers = {"authorization": f"Bearer {token}", "editor-version": "turnproof/1.0"}
        return self._client.get(f"{self._run.base_url}/models", headers=headers).json()


def test_a_session_token_lives_half_an_hour(server: EmulatorServer, client: httpx2.Client) -> None:
    run = opened(server, Surface.COPILOT)
    copilot = Copilot(run, client)
    granted = copilot.exchange().json()
    assert granted["expires_at"] - int(run.world.clock()) == 1800
    assert granted["refresh_in"] == 1500
    assert copilot.ask(granted["token"]).status_code == 200
    run.clock_offset += 1799
    assert copilot.ask(granted["token"]).status_code == 200
    run.clock_offset += 1
    expired = copilot.ask(granted["token"])
    assert (expired.status_code, expired.text) == (401, "unauthorized: token expired\n")
    assert run.exchanges[-1].findings[0].outdated
    assert copilot.ask("tid=made-up;exp=1").status_code == 401
    assert not run.exchanges[-1].findings[0].outdated
    again = copilot.exchange().json()
    assert again["token"] != granted["token"]
    assert copilot.ask(again["token"]).status_code == 200


def test_only_a_token_that_was_exchanged_opens_the_api(server: EmulatorServer, client: httpx2.Client) -> None:
    copilot = Copilot(opened(server, Surface.COPILOT), client)
    assert copilot.exchange("wrong").status_code == 401
    assert copilot.ask(KEY).status_code == 401


def test_copilot_says_what_each_model_takes_and_where(server: EmulatorServer, client: httpx2.Client) -> None:
    copilot = Copilot(opened(server, Surface.COPILOT), client)
    listed = copilot.models(copilot.exchange().json()["token"])["data"]
    (one,) = [each for each in listed if each["id"] == "gpt-4.1"]
    assert one["capabilities"]["limits"]["max_prompt_tokens"] == 128_000
    assert one["capabilities"]["supports"]["parallel_tool_calls"] is True
    assert one["supported_endpoints"] == ["/chat/completions"]


def test_the_key_of_a_session_token_stands_nowhere(server: EmulatorServer, client: httpx2.Client) -> None:
    run = opened(server, Surface.COPILOT)
    answer = Copilot(run, client).exchange()
    assert KEY not in answer.text
    assert [exchange.operation for exchange in run.exchanges] == ["authenticate"]


# -- the real service


@pytest.mark.parametrize("address", ["https://proxy.example/v1", "https://proxy.example/v1/", "https://proxy.example"])
def test_the_real_service_is_found_under_a_base_url_with_or_without_its_version(
    address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("OPENAI_BASE_URL", address)
    assert "'https://proxy.example'" in repr(live_target(CONTROL, SURFACES["openai"]))


def test_each_surface_has_an_address_and_a_key_of_its_own() -> None:
    services = {surface: SURFACES[surface].service for surface in Surface}
    assert len({SURFACES[surface].default_host for surface in Surface}) == len(Surface)
    assert services[Surface.OLLAMA].base_path == services[Surface.OPENAI].base_path == "/v1"
    assert services[Surface.AZURE].base_path == ""
    assert "ZAI_API_KEY" in services[Surface.ZAI].key_variables


def test_the_surface_is_no_part_of_the_name_of_the_api() -> None:
    assert api_of("openai-chat@ollama") == api_of("openai-chat") == "openai-chat"


def test_where_calls_come_whole_nothing_about_their_pieces_is_asked() -> None:
    assert "calls-in-pieces" in SURFACES["openai"].traits
    assert "calls-in-pieces" not in SURFACES["ollama"].traits | SURFACES["zai"].traits


def test_refusals_are_told_where_the_makers_models_run() -> None:
    tells = {name for name, surface in SURFACES.items() if "refusals" in surface.traits}
    assert tells == set(SURFACES) - {Surface.ZAI, Surface.OLLAMA}


def test_only_the_maker_and_azure_are_known_to_insist_on_short_ids_of_calls() -> None:
    assert {name for name, one in SURFACES.items() if "call-id-form" in one.traits} == {Surface.OPENAI, Surface.AZURE}


def test_only_ollama_takes_a_prompt_that_does_not_fit() -> None:
    takes = {name for name, surface in SURFACES.items() if "refuses-long-prompts" not in surface.traits}
    assert takes == {Surface.OLLAMA}
