"""The prompt cache of the Messages API: what a request is made of, and what invalidates which part of it."""

from __future__ import annotations

from typing import Any

import pytest

from turnproof.dialects.anthropic_messages import DIALECT
from turnproof.dialects.base import Call, PromptUsage
from turnproof.dialects.contract import PrefixCache
from turnproof.tokens import text_tokens

from .. import answers
from ..requests import read_call
from .asks import Ask, ask, body, world
from .builders import OPENING, TOOL, assistant, call, image, mark, result, text, thinking, user

LONG = "The greenhouse log of the year. " * 160
MODEL = "claude-sonnet-4-5"


def parsed(request: Ask) -> Call:
    return read_call(DIALECT, request, world())


def account(cache: PrefixCache, request: Ask, now: float = 0.0) -> PromptUsage:
    found = parsed(request)
    usage = answers.account(DIALECT, cache, found, now)
    assert usage.whole == DIALECT.count(found)
    return usage


def base(**more: Any) -> Ask:
    """Tools, system and messages with a breakpoint each; each section long enough to be cached."""
    return ask(
        *more.pop("messages", [user(text(LONG, **mark()))]),
        tools=more.pop("tools", [TOOL | {"description": LONG} | mark()]),
        system=more.pop("system", [text(LONG, **mark())]),
        **more,
    )


def test_the_same_request_is_written_then_read_with_a_tail_of_three() -> None:
    cache = DIALECT.new_cache()
    first, second = account(cache, base()), account(cache, base())
    assert (first.fresh, first.cache_read) == (3, 0)
    assert second == PromptUsage(3, cache_read=first.cache_write_5m)


def test_counting_counts_the_whole_prompt_cached_or_not() -> None:
    cache = DIALECT.new_cache()
    account(cache, base())
    usage = account(cache, base())
    assert DIALECT.count(parsed(base())) == usage.cache_read + 3


@pytest.mark.parametrize("model", ["claude-haiku-4-5", "claude-opus-4-6"])
def test_the_minimum_depends_on_the_model(model: str) -> None:
    cache = DIALECT.new_cache()
    request = ask(user(text(LONG * 2, **mark())), model=model)
    assert account(cache, request).cache_write_5m == 0
    assert account(cache, ask(user(text(LONG * 2, **mark())))).cache_write_5m > 0


def test_caches_are_per_model_and_an_alias_shares_with_its_dated_id() -> None:
    cache = DIALECT.new_cache()
    account(cache, base())
    assert account(cache, base(model=f"{MODEL}-20250929")).cache_read > 0
    assert account(cache, base(model="claude-sonnet-4-6")).cache_read == 0


def sections(cache: PrefixCache, request: Ask) -> int:
    """How many of the three sections were read from the cache."""
    return round(account(cache, request).cache_read / text_tokens(LONG))


@pytest.mark.parametrize(
    ("change", "survive"),
    [
        ({}, 3),
        ({"tools": [TOOL | {"description": LONG + "!"} | mark()]}, 0),
        ({"system": [text(LONG + "!", **mark())]}, 1),
        ({"speed": "fast"}, 1),
        ({"tool_choice": {"type": "any"}}, 2),
        ({"tool_choice": {"type": "auto"}}, 3),
        ({"thinking": {"type": "enabled", "budget_tokens": 1024}, "max_tokens": 4096}, 2),
        ({"output_config": {"effort": "high"}}, 2),
        ({"messages": [user(text(LONG, **mark()), image({"type": "url", "url": "https://a.example/b.png"}))]}, 2),
        ({"messages": [user(text(LONG + "!", **mark()))]}, 2),
        ({"max_tokens": 100, "temperature": 0.3, "metadata": {"user_id": "x"}}, 3),
    ],
)
def test_each_change_invalidates_what_the_documentation_says(change: dict[str, Any], survive: int) -> None:
    cache = DIALECT.new_cache()
    account(cache, base())
    assert sections(cache, base(**change)) == survive


def test_switching_web_search_spares_the_tools() -> None:
    cache = DIALECT.new_cache()
    account(cache, base())
    search = {"type": "web_search_20250305", "name": "web_search"}
    assert sections(cache, base(tools=[TOOL | {"description": LONG} | mark(), search])) == 1


def test_the_order_of_tools_is_part_of_the_prefix() -> None:
    cache = DIALECT.new_cache()
    a, b = TOOL | {"name": "a", "description": LONG}, TOOL | {"name": "b"}
    account(cache, base(tools=[a, b | mark()]))
    assert account(cache, base(tools=[b, a | mark()])).cache_read == 0


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (user(LONG), user(text(LONG))),
        (user(text(LONG)), user({"text": LONG, "type": "text"})),
        (assistant(call()), assistant(call(caller={"type": "direct"}))),
        (user(result()), user(result(is_error=False))),
        (user(result(content="41 %")), user(result(content=[text("41 %")]))),
        (user(result(content=[text("41 %")])), user(result(content=[text("41 %", **mark())]))),
    ],
)
def test_what_means_the_same_has_the_same_prefix(one: dict[str, Any], other: dict[str, Any]) -> None:
    cache = DIALECT.new_cache()
    history = [user(LONG), one]
    account(cache, ask(*history, user(text("Go on.", **mark()))))
    assert account(cache, ask(*history[:1], other, user(text("Go on.", **mark())))).cache_read > 0


def test_the_order_of_keys_in_arguments_is_part_of_the_prefix() -> None:
    def request_with(args: dict[str, Any]) -> Ask:
        return ask(user(LONG), assistant(call(input=args)), user(result(**mark())))

    cache = DIALECT.new_cache()
    account(cache, request_with({"bed": "3", "depth": 1}))
    assert account(cache, request_with({"depth": 1, "bed": "3"})).cache_read == 0


def test_the_automatic_breakpoint_moves_with_the_conversation() -> None:
    cache = DIALECT.new_cache()
    first = account(cache, ask(user(LONG), **mark()))
    usage = account(cache, ask(user(LONG), assistant("41 %"), user("And bed 4?"), **mark()))
    assert first.cache_write_5m > 0
    assert usage.cache_read == first.cache_write_5m
    assert usage.fresh == 3


def test_the_automatic_breakpoint_passes_over_thinking() -> None:
    cache = DIALECT.new_cache()
    request = ask(user(LONG), assistant(thinking()), **mark("1h"))
    assert account(cache, request).cache_write_1h > 0
    assert account(cache, request).fresh > 3


def test_runs_of_calls_and_of_results_are_one_position_each() -> None:
    cache = DIALECT.new_cache()
    many = [f"call_{n}" for n in range(40)]
    calls, results = assistant(*[call(each) for each in many]), user(*[result(each) for each in many])
    account(cache, ask(user(text(LONG, **mark()))))
    assert account(cache, ask(user(LONG), calls, user(*results["content"], text("Go on.", **mark())))).cache_read > 0
    spread = [turn for each in many for turn in (assistant(call(each)), user(result(each)))]
    assert account(cache, ask(user(LONG), *spread, user(text("Go on.", **mark())))).cache_read == 0


def test_a_breakpoint_inside_a_result_counts() -> None:
    cache = DIALECT.new_cache()
    request = ask(OPENING, assistant(call()), user(result(content=[text(LONG, **mark()), text("41 %")])))
    assert account(cache, request).cache_write_5m > 0
    assert account(cache, request).cache_read > 0


def test_counting_is_the_same_for_equal_bodies_and_grows_with_them() -> None:
    small, same, large = (DIALECT.count(parsed(Ask(body(user(words))))) for words in ("Hello", "Hello", "Hello you"))
    assert small == same < large
