"""The plugin inside other people's pytest runs: asleep until asked, and honest when asked."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest_plugins = ["pytester"]
HERE = Path(__file__).parent

pytestmark = [pytest.mark.long, pytest.mark.usefixtures("adapters_on_path")]


@pytest.fixture
def adapters_on_path(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(HERE))


GREETING = """
title: A greeting
turns:
  - user: Hello
    model: Good morning.
"""
FEW = ("--turnproof-only", "core/finish-reason-says-why")


def test_it_adds_nothing_to_a_run_that_does_not_ask(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        """
        import sys

        def test_nothing_heavy_was_imported():
            wanted = "aiohttp", "msgspec", "turnproof.run.driver", "turnproof.wire", "turnproof.commands", "anthropic"
            heavy = [name for name in wanted if name in sys.modules]
            assert heavy == []
        """
    )
    result = pytester.runpytest_subprocess()
    result.assert_outcomes(passed=1)


def test_an_adapter_adds_an_item_per_requirement_and_path(pytester: pytest.Pytester) -> None:
    pytester.makepyfile("def test_of_my_own(): pass")
    result = pytester.runpytest_subprocess("-v", "--turnproof-adapter", "broken:SOUND", *FEW)
    result.stdout.fnmatch_lines(["*core/finish-reason-says-why*stateless*PASSED*"])
    result.assert_outcomes(passed=2)


def test_a_violation_fails_its_item_and_says_why(pytester: pytest.Pytester) -> None:
    result = pytester.runpytest_subprocess("--turnproof-adapter", "broken:STOPS", *FEW)
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        ["*core/finish-reason-says-why* violated: *", "*why it matters: *", "*again: turnproof certify broken:STOPS*"]
    )


def test_an_unknown_adapter_is_a_usage_error_with_a_suggestion(pytester: pytest.Pytester) -> None:
    result = pytester.runpytest_subprocess("--turnproof-adapter", "anthropics")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*did you mean 'anthropic'*"])


def test_the_endpoint_fixture_is_a_scripted_provider(pytester: pytest.Pytester) -> None:
    pytester.makefile(".yaml", script=GREETING)
    pytester.makepyfile(
        """
        import anthropic

        def test_my_client(turnproof_endpoint):
            endpoint = turnproof_endpoint("script.yaml")
            client = anthropic.Anthropic(base_url=endpoint.base_url, api_key=endpoint.api_key)
            answer = client.messages.create(
                model=endpoint.model, max_tokens=10, messages=[{"role": "user", "content": "Hello"}]
            )
            assert answer.content[0].text == "Good morning."
            assert len(endpoint.requests) == 1
        """
    )
    pytester.runpytest_subprocess().assert_outcomes(passed=1)


def test_the_cassette_fixture_replays_to_any_client(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        """
        import anthropic
        from importlib.resources import files

        CASSETTE = files("turnproof_cassettes") / "anthropic/basics/plain.yaml"

        def test_my_client(turnproof_cassette):
            from turnproof.wire.cassettes import load
            import json

            replay = turnproof_cassette(CASSETTE)
            recorded = next(item for item in load(CASSETTE).interactions if not item.stream)
            client = anthropic.Anthropic(base_url=replay.base_url, api_key="any", max_retries=0)
            body = json.loads(recorded.request.body)
            answer = client.messages.create(**body)
            assert answer.id == json.loads(recorded.response.body)["id"]
            assert replay.mismatches == ()
        """
    )
    pytester.runpytest_subprocess().assert_outcomes(passed=1)


@pytest.mark.parametrize("library", ["httpx", "httpx2"])
def test_the_transport_fixture_is_the_endpoint_without_a_socket(pytester: pytest.Pytester, library: str) -> None:
    pytester.makefile(".yaml", script=GREETING)
    pytester.makepyfile(
        f"""
        import {library} as http

        def test_my_client(turnproof_transport):
            endpoint = turnproof_transport("script.yaml", "openai-chat")
            answer = http.post(
                f"{{endpoint.base_url}}/chat/completions",
                headers={{"authorization": f"Bearer {{endpoint.api_key}}"}},
                json={{"model": endpoint.model, "messages": [{{"role": "user", "content": "Hello"}}]}},
            )
            assert answer.json()["choices"][0]["message"]["content"] == "Good morning."
            assert len(endpoint.requests) == 1
        """
    )
    pytester.runpytest_subprocess().assert_outcomes(passed=1)
