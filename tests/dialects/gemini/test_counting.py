"""How a prompt of the Gemini API is counted, and what of it the service keeps by itself."""

from __future__ import annotations

from base64 import b64encode
from typing import Any

import pytest

from turnproof.dialects.base import PromptUsage
from turnproof.dialects.contract import PrefixCache
from turnproof.dialects.gemini import DIALECT
from turnproof.dialects.gemini.counting import managed_tokens
from turnproof.tokens import DOCUMENT_TOKENS, IMAGE_TOKENS, json_tokens, text_tokens

from .asks import Ask, ask, at, body, cached, counted, created, loop, on_cache, vertex
from .builders import HANDBOOK, MODEL, OPENING, TOOLS, call, model, response, user
from .cache_service import SHORT, Service


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
