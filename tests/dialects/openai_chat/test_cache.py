"""The implicit prompt cache: what a prompt weighs, and how much of it is counted as cached."""

from __future__ import annotations

from typing import Any

import pytest

from turnproof.dialects.base import Call, PromptUsage
from turnproof.dialects.contract import PrefixCache
from turnproof.dialects.openai_chat import DIALECT, SURFACES
from turnproof.dialects.openai_chat.surfaces import Surface

from .. import answers
from ..requests import read_call
from .asks import Ask, ask, world
from .builders import OPENING, PNG, TOOL, assistant, call, image, result, system, tool, user

LONG = "The greenhouse log of the year. " * 160
NEWEST = "gpt-5.6-sol"


def parsed(request: Ask) -> Call:
    return read_call(SURFACES[request.surface], request, world())


def account(cache: PrefixCache, request: Ask, now: float = 0.0) -> PromptUsage:
    return answers.account(DIALECT, cache, parsed(request), now)


def talk(*more: Any, instructions: str = LONG, tools: Any = None, **settings: Any) -> Ask:
    return ask(system(instructions), OPENING, *more, **({"tools": tools} if tools else {}), **settings)


def test_a_prompt_is_found_again_in_steps_of_128_and_never_to_its_end() -> None:
    cache = DIALECT.new_cache()
    first, second = account(cache, talk()), account(cache, talk())
    assert (first.cache_read, first.whole) == (0, second.whole)
    assert second.cache_read == 1280 < second.whole
    assert second.cache_write_5m == 0
    assert DIALECT.count(parsed(talk())) == second.whole


def test_a_longer_conversation_reads_what_it_begins_with() -> None:
    cache = DIALECT.new_cache()
    account(cache, talk())
    assert account(cache, talk(assistant("41 %"), user("And bed 4?"))).cache_read == 1280


@pytest.mark.parametrize(
    "changed",
    [
        talk(instructions=f"Be brief. {LONG}"),
        talk(tools=[TOOL]),
        ask(user("Hello"), system(LONG), OPENING),
        talk(model="gpt-4o-mini"),
    ],
    ids=["instructions", "tools", "order", "model"],
)
def test_whatever_changes_the_beginning_misses(changed: Ask) -> None:
    cache = DIALECT.new_cache()
    account(cache, talk())
    assert account(cache, changed).cache_read == 0


def test_the_role_of_instructions_and_the_form_of_a_text_change_nothing() -> None:
    cache = DIALECT.new_cache()
    account(cache, talk())
    same = ask(system(LONG, "developer"), user([{"type": "text", "text": OPENING["content"]}]))
    assert account(cache, same).cache_read == 1280


def test_an_alias_shares_with_its_dated_id() -> None:
    cache = DIALECT.new_cache()
    account(cache, talk())
    assert account(cache, talk(model="gpt-4o-2024-08-06")).cache_read == 1280


def test_a_prompt_of_less_than_1024_tokens_is_not_cached() -> None:
    cache = DIALECT.new_cache()
    short = talk(instructions="soil" * 1000)
    account(cache, short)
    assert account(cache, short).cache_read == 0


def test_a_prefix_is_forgotten_after_five_minutes_without_use() -> None:
    cache = DIALECT.new_cache()
    account(cache, talk())
    assert account(cache, talk(), now=299.0).cache_read == 1280
    assert account(cache, talk(), now=590.0).cache_read == 1280
    assert account(cache, talk(), now=1000.0).cache_read == 0


def test_newer_models_count_by_single_tokens_and_say_what_they_wrote() -> None:
    cache = DIALECT.new_cache()
    first, second = (account(cache, talk(model=NEWEST)) for _ in range(2))
    assert (first.fresh, first.cache_write_5m) == (0, first.whole)
    assert second.cache_read == second.whole


def test_a_request_that_marks_its_breakpoints_is_cached_up_to_them() -> None:
    cache = DIALECT.new_cache()
    marked = {"type": "text", "text": LONG, "prompt_cache_breakpoint": {"mode": "explicit"}}
    request = ask(
        user([marked, {"type": "text", "text": "And now?"}]), model=NEWEST, prompt_cache_options={"mode": "explicit"}
    )
    first, second = (account(cache, request) for _ in range(2))
    assert first.cache_write_5m == second.cache_read > 1024
    assert first.fresh == second.fresh > 0


def test_zai_counts_in_steps_of_64() -> None:
    cache = SURFACES["zai"].new_cache()
    request = ask(system("soil" * 200), OPENING, surface=Surface.ZAI)
    account(cache, request)
    assert account(cache, request).cache_read == 192


def test_ollama_reports_no_cache_and_no_more_than_its_window() -> None:
    cache = SURFACES["ollama"].new_cache()
    request = ask(user("soil" * 50_000), surface=Surface.OLLAMA)
    account(cache, request)
    assert account(cache, request) == PromptUsage(40_960)


def test_every_part_of_a_prompt_weighs_something() -> None:
    rows = [
        ask(OPENING),
        ask(OPENING, tools=[TOOL]),
        ask(OPENING, tools=[TOOL, tool("water")]),
        ask(OPENING, assistant(None, call()), result(), tools=[TOOL, tool("water")]),
        ask(OPENING, assistant("Look.", call()), result(), tools=[TOOL, tool("water")]),
        ask(OPENING, assistant("Look.", call(arguments='{"bed": "3')), result(), user([image(PNG)]), tools=[TOOL]),
    ]
    counts = [DIALECT.count(parsed(request)) for request in rows]
    assert counts == sorted(counts)
    assert len(set(counts)) == len(counts)
