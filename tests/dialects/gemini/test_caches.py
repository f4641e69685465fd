"""Managed caches through their lives, the cache that the service keeps by itself, and the counting under both."""

from __future__ import annotations

from base64 import b64encode
from dataclasses import replace
from datetime import datetime
from typing import Any

import msgspec
import pytest

from turnproof.dialects.base import Call, PromptUsage, World
from turnproof.dialects.contract import PrefixCache
from turnproof.dialects.gemini import DIALECT, caches
from turnproof.dialects.gemini.counting import managed_tokens
from turnproof.dialects.gemini.models import (
    DEMANDS_SIGNATURES,
    GIVES_IDS,
    IMPLICIT_CACHE,
    JSON_WITH_TOOLS,
    RETIRED,
    SIGNS,
    THINKS,
)
from turnproof.dialects.gemini.times import format_duration, format_timestamp, parse_duration, parse_timestamp
from turnproof.tokens import DOCUMENT_TOKENS, IMAGE_TOKENS, json_tokens, text_tokens

from .asks import Ask, ask, at, body, cached, counted, created, loop, on_cache, vertex
from .builders import HANDBOOK, MODEL, OLD, OPENING, PROJECT, TOOLS, call, model, response, user

SHORT = "How moist is bed 3?"


class Service:
    """The service on a clock that the test moves: what is sent is parsed, validated and answered."""

    def __init__(self, seed: str = "s") -> None:
        self.now = 1_700_000_000.0
        self.seed = seed
        self.world = World(frozenset(), DIALECT.models, lambda: self.now, any_key=True)
        self.cache = DIALECT.new_cache()

    def parse(self, sendable: Ask) -> Call:
        found = DIALECT.parse(sendable.request(), self.world)
        assert isinstance(found, Call), found
        return found

    def send(self, sendable: Ask) -> tuple[int, Any]:
        """Status and JSON of the answer to an operation that no script speaks of."""
        found = self.parse(sendable)
        for refusal in DIALECT.validate(sendable.request(), found, self.world):
            return refusal.status, refusal.message
        usage = self.account(found)[0] if found.model else PromptUsage(0)
        rendered = DIALECT.render_extra(found, usage, self.world, self.seed)
        return rendered.status, msgspec.json.decode(rendered.events[0].data)

    def make(self, request: Ask | None = None) -> dict[str, Any]:
        status, cache = self.send(request or created())
        assert status == 200, cache
        assert isinstance(cache, dict)
        return cache

    def account(self, found: Call) -> tuple[PromptUsage, Any]:
        return self.cache.account(found, DIALECT.models[found.model or ""], self.now)

    def use(self, request: Ask) -> PromptUsage:
        """Generate: how the prompt was counted."""
        found = self.parse(request)
        usage, commit = self.account(found)
        commit()
        assert usage.whole == DIALECT.count(found)
        return usage


def lifetime(shown: dict[str, Any], since: str = "updateTime") -> float:
    ends, began = parse_timestamp(shown["expireTime"]), parse_timestamp(shown[since])
    assert ends is not None
    assert began is not None
    return ends - began


# -- a managed cache


def test_a_new_cache_is_shown_as_recorded() -> None:
    service = Service()
    cache = service.make(created(ttl="300s"))
    assert list(cache) == [
        "name", "model", "createTime", "updateTime", "expireTime", "displayName", "usageMetadata",
    ]  # fmt: skip
    assert cache["model"] == f"models/{MODEL}"
    assert cache["displayName"] == ""
    assert (cache["createTime"], cache["updateTime"]) == ("2023-11-14T22:13:20.000000Z",) * 2
    assert lifetime(cache) == 300
    assert cache["usageMetadata"] == {"totalTokenCount": DIALECT.count(service.parse(created()))}
    name = cache["name"].removeprefix("cachedContents/")
    assert (len(name), name.isalnum(), name.islower()) == (40, True, True)


def test_on_vertex_names_and_models_are_in_a_project() -> None:
    cache = Service().make(Ask(created().body, f"/v1beta1/{PROJECT}/cachedContents"))
    assert cache["name"].startswith(f"{PROJECT}/cachedContents/")
    assert cache["name"].rpartition("/")[2].isdigit()
    assert cache["model"] == f"{PROJECT}/publishers/google/models/{MODEL}"
    assert "displayName" not in cache


def test_a_cache_lives_an_hour_if_nothing_is_said() -> None:
    assert lifetime(Service().make()) == 3600


def test_a_cache_lives_until_the_time_that_is_given() -> None:
    assert Service().make(created(expireTime="2023-11-14T23:00:00Z"))["expireTime"] == "2023-11-14T23:00:00.000000Z"


def test_a_cache_that_is_used_dies_at_its_time_all_the_same() -> None:
    service = Service()
    name = service.make(created(ttl="300s"))["name"]
    service.now += 299
    assert service.use(cached(name)).cache_read > 0
    assert service.send(on_cache(name, "GET"))[0] == 200
    service.now += 1
    assert service.send(on_cache(name, "GET")) == (403, "CachedContent not found (or permission denied)")
    assert service.use(cached(name)).cache_read == 0


def test_an_update_gives_it_another_end_from_now_on() -> None:
    service = Service()
    cache = service.make(created(ttl="300s", displayName="handbook"))
    service.now += 200
    status, longer = service.send(on_cache(cache["name"], "PATCH", ttl="600s"))
    assert (status, longer["displayName"], longer["createTime"]) == (200, "handbook", cache["createTime"])
    assert (lifetime(longer), lifetime(longer, since="createTime")) == (600, 800)
    service.now += 599
    assert service.send(on_cache(cache["name"], "GET")) == (200, longer)


def test_an_update_without_an_end_leaves_it() -> None:
    service = Service()
    cache = service.make(created(ttl="300s"))
    service.now += 200
    assert service.send(on_cache(cache["name"], "PATCH"))[1]["expireTime"] == cache["expireTime"]


def test_what_is_deleted_is_gone_for_every_operation() -> None:
    service = Service()
    name = service.make()["name"]
    assert service.send(on_cache(name, "DELETE")) == (200, {})
    for method in ("GET", "PATCH", "DELETE"):
        assert service.send(on_cache(name, method))[0] == 403
    assert service.send(cached(name))[0] == 403


def test_living_caches_are_listed_each_at_its_own_door() -> None:
    service = Service()
    listing = on_cache("cachedContents", "GET")
    there = Ask(created().body, f"/v1beta1/{PROJECT}/cachedContents")
    assert service.send(listing) == (200, {})
    first, second = service.make(created(ttl="100s")), service.make()
    elsewhere = service.make(there)
    assert service.send(listing) == (200, {"cachedContents": [first, second]})
    assert service.send(replace(there, method="GET")) == (200, {"cachedContents": [elsewhere]})
    service.now += 100
    assert service.send(listing) == (200, {"cachedContents": [second]})


def test_equal_runs_get_equal_names_and_none_is_given_twice() -> None:
    one, other, third = Service(), Service(), Service("another seed")
    names = [one.make()["name"], one.make()["name"]]
    assert [other.make()["name"], other.make()["name"]] == names
    one.send(on_cache(names[1], "DELETE"))
    one.now += 4000
    assert one.make()["name"] not in names
    assert third.make()["name"] not in names
    assert names[0] != names[1]


def test_without_a_judge_in_front_a_dead_cache_is_refused_all_the_same() -> None:
    service = Service()
    rendered = DIALECT.render_extra(
        service.parse(on_cache("cachedContents/a", "GET")), PromptUsage(0), service.world, ""
    )
    assert rendered.status == 403


def test_a_body_that_names_no_model_is_refused() -> None:
    service = Service()
    status, message = service.send(Ask({"contents": [user(HANDBOOK)]}, "/v1beta/cachedContents"))
    assert (status, "not found" in message) == (404, True)


# -- caches seen from outside


STORED = "cachedContents/0mpy4h58mvb03bk9"
RECORDED: dict[str, Any] = {
    "name": STORED,
    "model": f"models/{MODEL}",
    "createTime": "2026-08-10T23:31:18.276711Z",
    "updateTime": "2026-08-10T23:31:18.276711Z",
    "expireTime": "2026-08-10T23:36:18.276711221Z",
    "displayName": "",
    "usageMetadata": {"totalTokenCount": 9609},
}


def observed(service: Service, request: Ask, answer: object, status: int = 200) -> None:
    DIALECT.observe(service.parse(request), status, {}, msgspec.json.encode(answer), service.world)


def test_a_recorded_creation_makes_the_cache_here_with_its_life_on_our_clock() -> None:
    service = Service()
    observed(service, created(ttl="300s", tools=TOOLS), RECORDED)
    found = service.parse(cached(STORED))
    assert (found.managed_messages, len(found.tools)) == (1, 1)
    service.now += 299
    assert caches.find_cache(service.world, STORED) is not None
    service.now += 2
    assert caches.find_cache(service.world, STORED) is None


def test_a_recorded_update_and_deletion_are_done_here_too() -> None:
    service = Service()
    observed(service, created(), RECORDED)
    service.now += 200
    later = RECORDED | {"updateTime": "2026-08-10T23:34:38Z", "expireTime": "2026-08-10T23:44:38Z"}
    observed(service, on_cache(STORED, "PATCH", ttl="600s"), later)
    service.now += 500
    assert service.send(on_cache(STORED, "GET"))[0] == 200
    observed(service, on_cache(STORED, "DELETE"), {})
    assert service.send(on_cache(STORED, "GET"))[0] == 403


def test_what_was_refused_or_says_nothing_changes_nothing() -> None:
    service = Service()
    observed(service, created(), {"error": {"code": 400}}, status=400)
    observed(service, created(), [])
    observed(service, created(), {"name": None})
    observed(service, on_cache("cachedContents/a", "DELETE"), {})
    observed(service, on_cache("cachedContents/a", "PATCH", ttl="1s"), RECORDED)
    observed(service, on_cache("cachedContents", "GET"), {"cachedContents": [RECORDED]})
    assert service.world.resources == {}


def test_a_creation_without_times_lives_the_usual_hour() -> None:
    service = Service()
    observed(service, created(), {"name": "cachedContents/a"})
    service.now += 3599
    assert caches.find_cache(service.world, "cachedContents/a") is not None
    service.now += 1
    assert caches.find_cache(service.world, "cachedContents/a") is None


# -- how a prompt is counted


def test_what_a_cache_holds_is_read_and_counts_within_the_prompt() -> None:
    service = Service()
    cache = service.make(created(systemInstruction=user("Be brief."), tools=TOOLS))
    usage = service.use(cached(cache["name"]))
    assert usage.cache_read == cache["usageMetadata"]["totalTokenCount"]
    assert usage.fresh == DIALECT.count(service.parse(ask()))
    written_out = ask(user(HANDBOOK), OPENING, systemInstruction=user("Be brief."), tools=TOOLS)
    assert usage.whole == DIALECT.count(service.parse(written_out))


def test_contents_repeated_beside_the_cache_are_counted_twice() -> None:
    service = Service()
    name = service.make()["name"]
    once, twice = service.use(cached(name)), service.use(cached(name, contents=[user(HANDBOOK), OPENING]))
    assert twice.fresh - once.fresh == once.cache_read == twice.cache_read


def test_a_count_equals_what_generating_counts_in_every_form() -> None:
    service = Service()
    request_body = body(OPENING, systemInstruction=user("Be brief."), tools=TOOLS)
    whole = service.use(Ask(request_body)).whole
    for form in (counted(generateContentRequest=request_body), vertex(counted(**request_body))):
        assert service.send(form)[1]["totalTokens"] == whole
    bare = service.send(counted(**body()))[1]
    assert bare == {
        "totalTokens": text_tokens(SHORT) + 1,
        "promptTokensDetails": [{"modality": "TEXT", "tokenCount": text_tokens(SHORT) + 1}],
    }


def test_an_answer_in_several_parts_counts_as_the_one_text_that_they_make() -> None:
    pieces = ["leaf "] * 299 + ["done"]
    parts = {"role": "model", "parts": [{"text": piece} for piece in pieces]}
    whole = {"role": "model", "parts": [{"text": "".join(pieces)}]}
    counts = [
        Service().send(counted(contents=[OPENING, content, OPENING]))[1]["totalTokens"] for content in (parts, whole)
    ]
    assert counts[0] == counts[1]


def test_a_signature_ends_the_text_that_parts_make() -> None:
    signed = {
        "role": "model",
        "parts": [{"text": "leaf "}, {"text": "x", "thoughtSignature": "AAAA"}, {"text": "leaf "}],
    }
    plain = {"role": "model", "parts": [{"text": "leaf "}]}
    both, one = (
        Service().send(counted(contents=[OPENING, content, OPENING]))[1]["totalTokens"] for content in (signed, plain)
    )
    assert both > 2 * (one - 2 * (text_tokens("How moist is bed 3?") + 1))


def test_vertex_counts_characters_beside_tokens() -> None:
    answer = Service().send(vertex(counted(**body(systemInstruction=user("Be brief.")))))[1]
    assert answer["totalBillableCharacters"] == len("Howmoistisbed3?" + "Bebrief.")


def test_a_count_with_a_cache_says_how_much_of_it_is_cached() -> None:
    service = Service()
    cache = service.make()
    counting = counted(generateContentRequest=body() | {"cachedContent": cache["name"]})
    answer = service.send(counting)[1]
    assert answer["cachedContentTokenCount"] == cache["usageMetadata"]["totalTokenCount"]
    assert answer["totalTokens"] == answer["cachedContentTokenCount"] + text_tokens(SHORT) + 1


TWO_PAGES = b64encode(b"<< /Type /Pages >> << /Type /Page >> << /Type/Page /Parent 1 0 R >>").decode()


@pytest.mark.parametrize(
    ("parts", "tokens"),
    [
        ([{"text": "moist soil"}], text_tokens("moist soil")),
        ([{"text": "Hm.", "thought": True}], text_tokens("Hm.")),
        ([{"inlineData": {"mimeType": "image/png", "data": "AAAA"}}], IMAGE_TOKENS),
        ([{"inlineData": {"mimeType": "application/pdf", "data": "AAAA"}}], 258),
        # Two pages and the node that holds them: `/Type /Page`, `/Type/Page` and `/Type /Pages`.
        ([{"inlineData": {"mimeType": "application/pdf", "data": TWO_PAGES}}], 2 * 258),
        ([{"inlineData": {"mimeType": "text/plain", "data": "QUJDREVGR0g="}}], 2),
        ([{"fileData": {"mimeType": "image/png", "fileUri": "a"}}], IMAGE_TOKENS),
        ([{"fileData": {"fileUri": "a"}}], DOCUMENT_TOKENS),
        (
            [{"functionResponse": {"name": "look", "response": {"output": 1}}}],
            text_tokens("look") + json_tokens({"output": 1}) + 8,
        ),
        (
            [
                {
                    "functionResponse": {
                        "name": "look",
                        "response": {},
                        "parts": [{"inlineData": {"mimeType": "image/png", "data": "AAAA"}}],
                    }
                }
            ],
            text_tokens("look") + json_tokens({}) + 8 + IMAGE_TOKENS,
        ),
    ],
)
def test_each_kind_of_part_has_its_weight(parts: list[dict[str, Any]], tokens: int) -> None:
    service = Service()
    assert service.use(ask(user(*parts))).whole == tokens + 1


def test_a_signature_costs_what_it_is_long_and_an_id_nothing() -> None:
    service = Service()

    def whole(part: dict[str, Any]) -> int:
        return service.use(loop(model(part), user(response()))).whole

    plain = whole(call(None))
    assert whole(call(None, id="a-very-long-id-of-a-call")) == plain
    assert whole(call("A" * 64)) - plain == 12


def test_an_opaque_part_weighs_something() -> None:
    assert Service().use(ask(user({"toolResponse": {"id": "a", "response": {}}}))).whole > 5


def test_only_a_generating_call_that_names_a_living_cache_has_managed_tokens() -> None:
    service = Service()
    name = service.make()["name"]
    assert managed_tokens(service.parse(cached(name))) > 0
    for request in (ask(), cached("cachedContents/none"), on_cache(name, "GET"), created()):
        assert managed_tokens(service.parse(request)) == 0


# -- what the service keeps by itself


LONG = user("The greenhouse log of the year. " * 160)


def test_a_prefix_that_was_seen_is_read_and_nothing_is_written() -> None:
    service = Service()
    first = service.use(ask(LONG, OPENING))
    second = service.use(ask(LONG, user("And bed 4?")))
    assert first == PromptUsage(first.whole)
    assert second.cache_read == DIALECT.count(service.parse(ask(LONG)))
    assert second.fresh == text_tokens("And bed 4?") + 1


def test_no_prompt_is_read_to_its_very_end() -> None:
    service = Service()
    service.use(ask(LONG, OPENING))
    assert service.use(ask(LONG, OPENING)).fresh == text_tokens(SHORT) + 1
    service.use(ask(LONG))
    assert service.use(ask(LONG)).cache_read == 0


@pytest.mark.parametrize(
    "changed",
    [
        ask(user("A" + LONG["parts"][0]["text"]), OPENING),
        ask(LONG, OPENING, systemInstruction=user("Be brief.")),
        ask(LONG, OPENING, tools=TOOLS),
        at("gemini-3.5-flash", ask(LONG, OPENING)),
    ],
    ids=["text", "system", "tools", "model"],
)
def test_whatever_changes_the_prefix_voids_it(changed: Ask) -> None:
    service = Service()
    service.use(ask(LONG, OPENING))
    assert service.use(changed).cache_read == 0


def test_a_prefix_below_the_minimum_of_the_model_is_not_kept() -> None:
    service = Service()
    for request in (ask(user(HANDBOOK[:4000]), OPENING), at("gemini-3-pro-preview", ask(LONG, OPENING))):
        service.use(request)
        assert service.use(request).cache_read == 0


def test_a_prefix_is_forgotten_after_a_while() -> None:
    service = Service()
    service.use(ask(LONG, OPENING))
    service.now += 301
    assert service.use(ask(LONG, OPENING)).cache_read == 0


def test_models_before_2_5_keep_nothing() -> None:
    service = Service()
    request = at("gemini-2.0-flash", ask(*[LONG] * 4, OPENING))
    service.use(request)
    assert service.use(request).cache_read == 0


def test_an_alias_shares_with_the_model_it_stands_for() -> None:
    service = Service()
    service.use(at("gemini-flash-latest", ask(LONG, OPENING)))
    assert service.use(at("gemini-3.6-flash", ask(LONG, OPENING))).cache_read > 0


def test_counting_neither_reads_nor_keeps() -> None:
    service = Service()
    counting = counted(contents=[LONG, OPENING])
    service.use(counting)
    assert service.use(ask(LONG, OPENING)).cache_read == 0
    assert service.use(counting).cache_read == 0


def test_each_run_has_a_cache_of_its_own() -> None:
    def usage(cache: PrefixCache) -> PromptUsage:
        return cache.account(Service().parse(ask(LONG, OPENING)), DIALECT.models[MODEL], 0.0)[0]

    used = DIALECT.new_cache()
    used.account(Service().parse(ask(LONG, OPENING)), DIALECT.models[MODEL], 0.0)[1]()
    assert usage(used).cache_read > 0
    assert usage(DIALECT.new_cache()).cache_read == 0


# -- models


def test_models_are_listed_and_shown_with_their_limits() -> None:
    service = Service()
    listed = service.send(Ask({}, "/v1beta/models", "GET"))[1]["models"]
    assert {"models/gemini-2.5-pro", f"models/{MODEL}", f"models/{OLD}"} <= {each["name"] for each in listed}
    assert "models/gemini-1.5-flash" not in {each["name"] for each in listed}
    status, shown = service.send(Ask({}, f"/v1beta/models/{OLD}", "GET"))
    assert (status, shown["displayName"], shown["thinking"]) == (200, "Gemini 2.5 Flash", True)
    assert (shown["inputTokenLimit"], shown["outputTokenLimit"]) == (1_048_576, 65_536)
    assert {"generateContent", "countTokens"} <= set(shown["supportedGenerationMethods"])
    assert "thinking" not in service.send(Ask({}, "/v1beta/models/gemini-2.0-flash", "GET"))[1]


def test_vertex_lists_models_of_the_publisher() -> None:
    (key, listed), *_ = Service().send(Ask({}, "/v1beta1/publishers/google/models", "GET"))[1].items()
    assert key == "publisherModels"
    assert f"publishers/google/models/{MODEL}" in {each["name"] for each in listed}


def test_an_unknown_model_is_refused_also_without_a_judge_in_front() -> None:
    service = Service()
    parsed_call = service.parse(Ask({}, "/v1beta/models/nope", "GET"))
    assert DIALECT.render_extra(parsed_call, PromptUsage(0), service.world, "").status == 404


@pytest.mark.parametrize(
    ("name", "ids", "signs", "demands"),
    [
        ("gemini-2.0-flash", False, False, False),
        ("gemini-2.5-flash", False, True, False),
        ("gemini-2.5-pro", False, True, False),
        ("gemini-3-flash-preview", True, True, True),
        ("gemini-3-pro-preview", False, True, True),
        ("gemini-3.1-pro-preview", True, True, True),
        ("gemini-3.6-flash", True, True, True),
    ],
)
def test_ids_and_signatures_of_each_model_are_those_of_the_recordings(
    name: str, ids: bool, signs: bool, demands: bool
) -> None:
    features = DIALECT.models[name].features
    assert (GIVES_IDS in features, SIGNS in features, DEMANDS_SIGNATURES in features) == (ids, signs, demands)


def test_no_feature_is_listed_that_nothing_asks_for() -> None:
    known = {GIVES_IDS, SIGNS, DEMANDS_SIGNATURES, THINKS, IMPLICIT_CACHE, JSON_WITH_TOOLS, RETIRED}
    assert {feature for facts in DIALECT.models.values() for feature in facts.features} == known


# -- times


@pytest.mark.parametrize(("text", "seconds"), [("300s", 300.0), ("1.5s", 1.5), ("-1s", -1.0), ("0.000000001s", 1e-9)])
def test_durations_are_read(text: str, seconds: float) -> None:
    assert parse_duration(text) == seconds


@pytest.mark.parametrize("text", ["300", "5m", "s", "1.s", "", None, 300])
def test_what_is_no_duration_is_none(text: object) -> None:
    assert parse_duration(text) is None


def test_times_are_read_in_every_form_that_was_recorded() -> None:
    assert parse_timestamp("2023-11-14T22:13:20Z") == 1_700_000_000
    assert parse_timestamp("2023-11-14T22:13:20.5Z") == 1_700_000_000.5
    assert parse_timestamp("2023-11-14T22:13:20.123456789Z") == pytest.approx(1_700_000_000.123456)
    assert parse_timestamp("2023-11-14T23:13:20+01:00") == 1_700_000_000
    assert format_timestamp(1_700_000_000.5) == "2023-11-14T22:13:20.500000Z"


@pytest.mark.parametrize("text", ["2023-11-14", "2023-11-14T22:13:20", "soon", None, 1])
def test_what_is_no_time_is_none(text: object) -> None:
    assert parse_timestamp(text) is None


def test_a_duration_is_written_as_short_as_can_be() -> None:
    assert [format_duration(each) for each in (48, 0.5, 48.939935699, 100.0)] == [
        "48s",
        "0.5s",
        "48.939935699s",
        "100s",
    ]
    assert datetime.fromisoformat(format_timestamp(0)).year == 1970
