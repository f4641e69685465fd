"""Recorded traffic of the Gemini API judges the dialect: what it decides, what it reads, what it sends again.

Our own tests can only say that the dialect does what we believe; these say that what we believe is so. AI Studio and
Vertex are here, SSE and JSON arrays, managed caches, and a conversation that came from another provider.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import httpx2
import pytest
from google import genai
from google.genai import errors, types
from google.oauth2.credentials import Credentials

from turnproof import messages as m
from turnproof.dialects.base import Call, WireAnswer, World
from turnproof.dialects.gemini import DIALECT
from turnproof.dialects.gemini.parts import standard_base64

from .apis import GEMINI
from .contract import (
    Json,
    assert_counts,
    assert_judged_as_the_service_did,
    assert_split_without_loss,
    incomplete_cuts,
    read_answer,
)
from .judge import Judged
from .material import Exchange, Recording
from .serving import Replayer, replaying, serve_each

API = GEMINI


# -- what is decided


def test_every_recorded_request_is_judged_as_the_service_judged_it(judged: list[Judged]) -> None:
    assert_judged_as_the_service_did(judged)


def test_the_classes_are_all_measured(judged: list[Judged], recorded: list[Recording]) -> None:
    assert len(recorded) >= 92
    assert len(judged) >= 157
    assert_counts(judged, accepted=151, refused=1, environmental=5, unheard=0)


# -- what is read


def accumulated(exchange: Exchange) -> Json | None:
    """What the chunks of an answer add up to, added up here without any of our code. None for another operation."""
    response = exchange.source["response"]
    chunks = exchange.chunks if exchange.streamed else [response["json"]]
    if exchange.status != 200 or not any("candidates" in each or "promptFeedback" in each for each in chunks):
        return None
    parts: list[Json] = []
    for chunk in chunks:
        for part in chunk.get("candidates", [{}])[0].get("content", {}).get("parts", []):
            last = parts[-1] if parts else {}
            if part.get("text") == "" and part.keys() <= {"text", "thought"}:
                continue
            if exchange.streamed and _goes_on(last, part):
                parts[-1] = last | {"text": last["text"] + part["text"]}
            else:
                parts.append(part)
    ending = chunks[-1].get("candidates", [{}])[0]
    feedback = chunks[-1].get("promptFeedback", {})
    finish = ending.get("finishReason", feedback.get("blockReason"))
    return {"parts": parts, "finish": str(finish), "usage": chunks[-1]["usageMetadata"]}


def _goes_on(last: Json, part: Json) -> bool:
    kinds = ({"text"}, {"text", "thought"})
    return last.keys() in kinds and last.keys() == part.keys()


def as_wire(part: m.Part) -> Json:
    """A part of an answer as a wire part again."""
    data = dict(m.thaw(part.provider_data.data)) if part.provider_data else {}
    signature = {"thoughtSignature": data.pop("signature")} if "signature" in data else {}
    match part:
        case m.Text(text=text):
            return {"text": text, **data, **signature}
        case m.Thought(text=text):
            return {"text": text, "thought": True, **data, **signature}
        case m.FunctionCall():
            identity = {"id": part.id} if part.id else {}
            return {"functionCall": {"name": part.name, "args": m.thaw(part.args), **identity, **data}, **signature}
        case m.ExecutableCode():
            return {"executableCode": {"language": part.language, "code": part.code, **data}, **signature}
        case m.CodeExecutionResult():
            return {"codeExecutionResult": {"outcome": part.outcome, "output": part.output, **data}, **signature}
        case m.Opaque():
            return {**m.thaw(part.data), **signature}
        case _:
            raise AssertionError(f"an answer holds no {type(part).__name__}")


def test_every_recorded_answer_parses_to_neutral_form_without_loss(exchanges: list[Exchange]) -> None:
    read = 0
    for exchange in exchanges:
        answer = read_answer(DIALECT, exchange)
        whole_answer = accumulated(exchange)
        assert answer.complete, exchange.where
        assert (answer.error_kind is not None) is (exchange.status != 200), exchange.where
        if whole_answer is None:
            continue
        assert [as_wire(part) for part in answer.parts] == whole_answer["parts"], exchange.where
        assert answer.raw_finish == whole_answer["finish"], exchange.where
        assert answer.finish is not m.FinishReason.UNKNOWN, exchange.where
        assert answer.broken_calls == 0, exchange.where
        assert_usage(answer, whole_answer["usage"], exchange.where)
        read += 1
    assert read >= 136


def assert_usage(answer: WireAnswer, usage: Mapping[str, Any], where: str) -> None:
    figures = ("promptTokenCount", "toolUsePromptTokenCount", "candidatesTokenCount", "thoughtsTokenCount")
    prompt, tools, candidates, thoughts = (usage.get(name, 0) for name in figures)
    assert answer.usage is not None, where
    assert answer.usage.prompt_tokens == prompt + tools, where
    assert answer.usage.output_tokens == candidates + thoughts, where
    assert answer.usage.total_tokens == usage.get("totalTokenCount", 0), where
    assert answer.usage.cache_read_tokens == usage.get("cachedContentTokenCount", 0), where
    assert answer.usage.thinking_tokens == thoughts, where


def test_what_a_managed_cache_serves_is_predicted_and_no_hit_is_made_up(recorded: list[Recording]) -> None:
    """The service also finds prefixes below its documented minimum; that it does cannot be known."""
    served, made_up = [], []
    for recording in recorded:
        world = World(keys=frozenset(), models=DIALECT.models, clock=lambda: 0.0)
        cache = DIALECT.new_cache()
        for exchange in recording.exchanges:
            call = DIALECT.parse(exchange.request, world)
            if not isinstance(call, Call) or exchange.status != 200:
                continue
            DIALECT.observe(call, exchange.status, exchange.headers, exchange.body, world)
            facts = world.models.get(call.model or "")
            if call.operation != "generate" or facts is None:
                continue
            predicted, commit = cache.account(call, facts, world.clock())
            commit()
            usage = read_answer(DIALECT, exchange).usage
            if usage is not None and call.resource is not None:
                served.append((exchange.where, predicted.cache_read > 0, usage.cache_read_tokens > 0))
            elif usage is not None and predicted.cache_read and not usage.cache_read_tokens:
                made_up.append(exchange.where)
    assert [hit for _, *hit in served] == [[True, True]] * len(served), served
    assert len(served) >= 4
    assert made_up == []


def test_counts_and_caches_say_how_many_tokens_they_hold(exchanges: list[Exchange]) -> None:
    counted = 0
    for exchange in exchanges:
        message = exchange.source["response"].get("json")
        if exchange.status != 200 or not isinstance(message, dict) or accumulated(exchange) is not None or not message:
            continue
        answer = read_answer(DIALECT, exchange)
        expected = message["totalTokens"] if "totalTokens" in message else message["usageMetadata"]["totalTokenCount"]
        assert answer.usage is not None, exchange.where
        assert (answer.usage.prompt_tokens, answer.usage.total_tokens) == (expected, expected), exchange.where
        counted += 1
    assert counted >= 11


def test_a_recorded_quota_error_says_how_long_to_wait(exchanges: list[Exchange]) -> None:
    refused = [each for each in exchanges if each.status == 429]
    waits = [DIALECT.read_response(each.status, each.headers, each.body).retry_after for each in refused]
    assert len(waits) >= 2
    assert all(wait is not None and 0 < wait <= 60 for wait in waits)


def test_the_answer_to_a_prompt_that_was_blocked_is_a_filtered_one(exchanges: list[Exchange]) -> None:
    blocked = [each for each in exchanges if b'"promptFeedback"' in each.body]
    assert blocked
    for each in blocked:
        answer = DIALECT.read_response(each.status, each.headers, each.body)
        assert (answer.finish, answer.parts, answer.complete) == (m.FinishReason.SAFETY, (), True)


def test_every_cut_of_a_recorded_stream_is_read_as_incomplete(exchanges: list[Exchange]) -> None:
    assert_split_without_loss(DIALECT, exchanges)
    assert incomplete_cuts(DIALECT, exchanges) >= 90
    whole = [each for each in exchanges if not each.streamed]
    assert {event.kind for each in whole for event in DIALECT.split_stream(each.headers, each.body)} == {"body"}


# -- what is sent again


Clients = tuple[genai.Client, genai.Client]


@pytest.fixture(scope="module")
def served() -> Iterator[tuple[Clients, Replayer]]:
    """Clients of the Gemini API and of Vertex: the SDK knows other fields for each."""
    with replaying(DIALECT) as (base_url, replayer):
        options = types.HttpOptions(base_url=base_url)
        token = Credentials("recorded")  # type: ignore[no-untyped-call]
        with (
            genai.Client(api_key="recorded", http_options=options) as ai_studio,
            genai.Client(vertexai=True, project="p", location="l", credentials=token, http_options=options) as vertex,
        ):
            yield (ai_studio, vertex), replayer


def client_for(exchange: Exchange, clients: Clients) -> genai.Client:
    return clients[1] if "/projects/" in exchange.request.path else clients[0]


REQUEST: Any = {"model": "gemini-3-flash-preview", "contents": "Hello"}
DROPPED = frozenset({"serviceTier", "finishMessage"})
"""Fields that google-genai 3.4 does not show of the Gemini API's answers."""


def shown(value: Any, dropped: frozenset[str]) -> Any:
    """JSON as the SDK shows it: without what it drops, signatures in one alphabet."""
    match value:
        case dict():
            members = {name: each for name, each in value.items() if name not in dropped}
            return {
                name: standard_base64(each) if name == "thoughtSignature" else shown(each, dropped)
                for name, each in members.items()
            }
        case list():
            return [shown(each, dropped) for each in value]
        case _:
            return value


def dumped(answer: Any) -> Any:
    own = {"sdk_http_response", "automatic_function_calling_history"}
    return shown(answer.model_dump(mode="json", by_alias=True, exclude_none=True, exclude=own), frozenset())


def expected(recorded: Any, exchange: Exchange) -> Any:
    return shown(recorded, frozenset() if "/projects/" in exchange.request.path else DROPPED)


def _asked_for_numbers(exchange: Exchange) -> bool:
    """`$alt=json;enum-encoding=int`: another client's way, in which google-genai never asks."""
    return "enum-encoding" in exchange.request.query.get("$alt", "")


def test_recorded_batch_answers_come_back_equal_through_the_sdk(
    exchanges: list[Exchange], served: tuple[Clients, Replayer]
) -> None:
    clients, replayer = served
    generated = [each for each in exchanges if each.source["operation"] == "generateContent" and each.status == 200]
    chosen = [each for each in generated if not _asked_for_numbers(each)]
    for exchange in serve_each(replayer, chosen, at_least=107):
        response = client_for(exchange, clients).models.generate_content(**REQUEST)
        assert dumped(response) == expected(exchange.source["response"]["json"], exchange), exchange.where


def test_recorded_streams_come_back_equal_through_the_sdk(
    exchanges: list[Exchange], served: tuple[Clients, Replayer]
) -> None:
    clients, replayer = served
    chosen = [each for each in exchanges if "sse" in each.source["response"]]
    for exchange in serve_each(replayer, chosen, at_least=20):
        chunks = [dumped(chunk) for chunk in client_for(exchange, clients).models.generate_content_stream(**REQUEST)]
        assert chunks == expected(exchange.chunks, exchange), exchange.where


def test_recorded_json_arrays_come_back_equal_through_a_plain_client(
    exchanges: list[Exchange],
) -> None:
    """The SDK always asks for events; whoever does not gets one array."""
    path = "/v1beta/models/gemini-3-flash-preview:streamGenerateContent"
    compared = 0
    with (
        replaying(DIALECT) as (base_url, replayer),
        httpx2.Client(base_url=base_url, headers={"x-goog-api-key": "recorded"}, timeout=60) as client,
    ):
        for exchange in exchanges:
            if not exchange.streamed or "sse" in exchange.source["response"]:
                continue
            replayer.armed = exchange
            response = client.post(path, json={"contents": [{"parts": [{"text": "Hello"}]}]})
            assert response.json() == exchange.chunks, exchange.where
            compared += 1
    assert compared >= 7


def test_recorded_errors_come_back_equal_through_the_sdk(
    exchanges: list[Exchange], served: tuple[Clients, Replayer]
) -> None:
    clients, replayer = served
    expected = [each for each in exchanges if each.status != 200]
    for exchange in serve_each(replayer, expected, at_least=6):
        for ask in ("generate_content", "count_tokens"):
            with pytest.raises(errors.ClientError) as raised:
                getattr(client_for(exchange, clients).models, ask)(**REQUEST)
            answer = read_answer(DIALECT, exchange)
            assert raised.value.details == exchange.source["response"]["json"], exchange.where
            assert (raised.value.code, raised.value.status) == (answer.status, answer.error_kind), exchange.where
            assert raised.value.message == answer.error_message, exchange.where


def test_recorded_counts_and_caches_come_back_equal_through_the_sdk(
    exchanges: list[Exchange], served: tuple[Clients, Replayer]
) -> None:
    clients, replayer = served
    expected = [each for each in exchanges if each.status == 200 and accumulated(each) is None]
    for exchange in serve_each(replayer, expected, at_least=15):
        client, recorded = client_for(exchange, clients), exchange.source["response"]["json"]
        match exchange.request.method, exchange.source["operation"]:
            case "POST", "countTokens":
                # The SDK keeps the total and drops the rest.
                assert client.models.count_tokens(**REQUEST).total_tokens == recorded["totalTokens"], exchange.where
            case "POST", _:
                cache = client.caches.create(model=REQUEST["model"], config={"contents": ["Hello"]})
                assert_same_cache(cache, recorded, exchange.where)
            case "PATCH", _:
                changed = client.caches.update(name="cachedContents/c", config={"ttl": "600s"})
                assert_same_cache(changed, recorded, exchange.where)
            case "DELETE", _:
                client.caches.delete(name="cachedContents/c")
                assert recorded == {}, exchange.where


def assert_same_cache(cache: types.CachedContent, recorded: Json, where: str) -> None:
    assert (cache.name, cache.model, cache.display_name or "") == (
        recorded["name"], recorded["model"], recorded.get("displayName", ""),
    ), where  # fmt: skip
    assert cache.usage_metadata is not None, where
    assert cache.usage_metadata.total_token_count == recorded["usageMetadata"]["totalTokenCount"], where
    assert cache.create_time is not None, where
    assert cache.expire_time is not None, where
    assert cache.expire_time > cache.create_time, where
