"""The implicit cache: from 1024 tokens on, in steps of 128, per model, and never to the very end of a prompt."""

from __future__ import annotations

from typing import Any

import pytest

from turnproof.dialects.base import Call
from turnproof.dialects.contract import PrefixCache
from turnproof.dialects.openai_responses import DIALECT
from turnproof.dialects.openai_responses.counting import count

from .asks import world
from .builders import MODEL, NEWEST, OPENING, assistant, function, user
from .rendering import REPLIES, final, new_call

PROSE = "moist soil " * 100  # 1100 bytes: 275 tokens and what is put around them
PIECES = tuple(user(f"{n} {PROSE}") for n in range(8))


def read(cache: PrefixCache, call: Call, now: float = 0.0) -> int:
    """What is read from the cache for this request, which is then written to it."""
    usage, commit = cache.account(call, DIALECT.models[call.model or ""], now)
    assert usage.whole == count(call)
    assert call.model == NEWEST or usage.cache_write_5m == 0
    commit()
    return usage.cache_read


def prompt(*items: Any, **body: Any) -> Call:
    return new_call(items=items, **body)


def test_a_prompt_that_goes_on_reads_what_went_before() -> None:
    cache = DIALECT.new_cache()
    first = prompt(*PIECES)
    assert read(cache, first) == 0
    found = read(cache, prompt(*PIECES, assistant("Yes."), user("And now?")))
    assert 0 < count(first) - found < 400
    assert found % 128 == 0


def test_a_prompt_below_the_minimum_is_not_cached() -> None:
    cache = DIALECT.new_cache()
    read(cache, prompt(*PIECES[:2]))
    assert read(cache, prompt(*PIECES[:2], OPENING)) == 0


@pytest.mark.parametrize(
    "body",
    [{"instructions": "Be brief."}, {"tools": [function("another")]}, {"model": "gpt-5-mini"}],
    ids=["instructions", "tools", "model"],
)
def test_another_beginning_or_model_reads_nothing(body: dict[str, Any]) -> None:
    cache = DIALECT.new_cache()
    read(cache, prompt(*PIECES))
    assert read(cache, prompt(*PIECES, OPENING, **body)) == 0


def test_an_alias_and_the_dated_model_share_a_cache() -> None:
    cache = DIALECT.new_cache()
    read(cache, prompt(*PIECES))
    assert read(cache, prompt(*PIECES, OPENING, model=f"{MODEL}-2025-08-07")) > 0


def test_a_cache_is_forgotten_after_five_minutes() -> None:
    cache = DIALECT.new_cache()
    read(cache, prompt(*PIECES))
    assert read(cache, prompt(*PIECES, OPENING), 299.0) > 0
    assert read(cache, prompt(*PIECES, OPENING, assistant("a")), 700.0) == 0


def test_newer_models_count_by_single_tokens_and_tell_what_they_wrote() -> None:
    cache = DIALECT.new_cache()
    first, second = prompt(*PIECES, model=NEWEST), prompt(*PIECES, assistant("a"), OPENING, model=NEWEST)
    usage, commit = cache.account(first, DIALECT.models[NEWEST], 0.0)
    assert usage.cache_write_5m == usage.whole == count(first)
    commit()
    assert read(cache, second) == usage.cache_write_5m
    figures = final(DIALECT.render(first, REPLIES["text"], usage, world(), "s"))["usage"]
    assert figures["input_tokens_details"] == {"cache_write_tokens": usage.cache_write_5m, "cached_tokens": 0}
    assert figures["input_tokens"] == usage.whole


def test_newer_models_find_no_prefix_that_ended_at_no_breakpoint() -> None:
    cache = DIALECT.new_cache()
    read(cache, prompt(*PIECES, user("One"), model=NEWEST))
    assert read(cache, prompt(*PIECES, user("Another"), model=NEWEST)) == 0
    assert read(cache, prompt(*PIECES, user("One"), assistant("a"), user("Another"), model=NEWEST)) > 0


def test_a_newer_model_writes_up_to_the_latest_message_of_the_user() -> None:
    cache = DIALECT.new_cache()
    usage, _ = cache.account(prompt(*PIECES, assistant("Yes."), model=NEWEST), DIALECT.models[NEWEST], 0.0)
    assert usage.cache_write_5m == count(prompt(*PIECES))


def test_implicit_breakpoints_leave_room_for_the_latest_three_of_the_request() -> None:
    cache = DIALECT.new_cache()
    read(cache, prompt(*MARKED[:6], user("Last"), model=NEWEST))
    for n in range(6):
        found = cache.account(prompt(*MARKED[: n + 1], OPENING, model=NEWEST), DIALECT.models[NEWEST], 0.0)[
            0
        ].cache_read
        assert found == (count(explicit(*MARKED[: n + 1])) if n >= 3 else 0)


def test_counting_leaves_nothing_behind() -> None:
    cache = DIALECT.new_cache()
    counted = Call("count_tokens", MODEL, messages=prompt(*PIECES).messages)
    assert read(cache, counted) == 0
    assert read(cache, prompt(*PIECES, OPENING)) == 0


def test_an_image_is_part_of_the_prefix() -> None:
    def seen(picture: str) -> dict[str, Any]:
        return user("See:", {"type": "input_image", "image_url": f"data:image/png;base64,{picture}"})

    cache = DIALECT.new_cache()
    read(cache, prompt(*PIECES, seen("cG5n"), *PIECES))
    same = read(cache, prompt(*PIECES, seen("cG5n"), *PIECES, OPENING))
    other = read(cache, prompt(*PIECES, seen("Z2lm"), *PIECES, OPENING))
    assert same > other > 0


def test_ids_of_items_do_not_change_the_prefix() -> None:
    cache = DIALECT.new_cache()
    read(cache, prompt(*PIECES, assistant("Yes.", id="msg_1"), OPENING))
    assert read(cache, prompt(*PIECES, assistant("Yes.", id="msg_2"), OPENING, OPENING)) > 0


# -- breakpoints of the request


def marked(text: str) -> dict[str, Any]:
    """A message of the user that ends in a breakpoint."""
    return user({"type": "input_text", "text": text, "prompt_cache_breakpoint": {"mode": "explicit"}})


def explicit(*items: Any, **options: Any) -> Call:
    """A prompt whose request alone says where its prefixes end."""
    return prompt(*items, model=NEWEST, prompt_cache_options={"mode": "explicit", **options})


MARKED = tuple(marked(f"{n} {PROSE}") for n in range(90))


def test_a_request_that_marks_its_prefixes_reads_and_writes_just_those() -> None:
    cache = DIALECT.new_cache()
    usage, commit = cache.account(explicit(*PIECES[:4], MARKED[4], *PIECES[5:]), DIALECT.models[NEWEST], 0.0)
    assert usage.cache_write_5m == count(explicit(*PIECES[:4], MARKED[4]))
    commit()
    assert read(cache, explicit(*PIECES[:4], MARKED[4], OPENING)) == usage.cache_write_5m
    assert read(cache, explicit(*PIECES[:4], OPENING)) == 0, "no shorter prefix was written"
    assert read(cache, explicit(*PIECES, OPENING)) == 0, "a request without a breakpoint uses no cache"


def test_the_end_of_a_prompt_may_be_marked() -> None:
    cache = DIALECT.new_cache()
    whole = explicit(*PIECES, MARKED[8])
    usage, commit = cache.account(whole, DIALECT.models[NEWEST], 0.0)
    commit()
    assert usage.cache_write_5m == usage.whole
    assert read(cache, explicit(*PIECES, MARKED[8], OPENING)) == usage.whole


def test_only_the_latest_four_breakpoints_are_written() -> None:
    cache = DIALECT.new_cache()
    read(cache, explicit(*MARKED[:9]))
    for n in range(9):
        found = cache.account(explicit(*MARKED[: n + 1], OPENING), DIALECT.models[NEWEST], 0.0)[0].cache_read
        assert found == (count(explicit(*MARKED[: n + 1])) if n >= 5 else 0)


def test_only_the_latest_eighty_breakpoints_are_looked_for() -> None:
    cache = DIALECT.new_cache()
    read(cache, explicit(*MARKED[:8]))
    prefix = count(explicit(*MARKED[:8]))
    assert cache.account(explicit(*MARKED[:87]), DIALECT.models[NEWEST], 0.0)[0].cache_read == prefix
    assert cache.account(explicit(*MARKED[:88]), DIALECT.models[NEWEST], 0.0)[0].cache_read == 0


@pytest.mark.parametrize(
    ("options", "life"), [(None, 1800), ({"mode": "implicit"}, 1800), ({"ttl": "30m"}, 1800), ({"ttl": "12h"}, 43_200)]
)
def test_a_newer_model_keeps_a_prefix_for_half_an_hour_or_as_long_as_asked(options: Any, life: int) -> None:
    settings = {} if options is None else {"prompt_cache_options": options}
    first, second = prompt(*PIECES, model=NEWEST, **settings), prompt(*PIECES, OPENING, model=NEWEST, **settings)
    for after, is_found in ((life - 1, True), (life, False)):
        cache = DIALECT.new_cache()
        read(cache, first)
        assert (read(cache, second, float(after)) > 0) is is_found


def test_a_breakpoint_is_read_as_a_mark_and_is_no_content() -> None:
    plain, with_mark = explicit(user("One"), OPENING), explicit(marked("One"), OPENING)
    assert [part.cache is not None for message in with_mark.messages for part in message.parts] == [True, False]
    assert count(plain) == count(with_mark)
    assert DIALECT.match_form(plain) == DIALECT.match_form(with_mark)
