"""A prompt that does not fit loses its oldest messages without a word: which ones, and how it shows in the figures."""

from __future__ import annotations

from typing import Any

import pytest

from turnproof.dialects.base import Call
from turnproof.dialects.ollama import DIALECT, rules
from turnproof.dialects.ollama.window import DEFAULT_WINDOW, first_kept, visible_tokens, window_of

from ..anthropic_messages.asks import Ask
from ..anthropic_messages.builders import user
from ..requests import Json
from .refusals import FUNCTION, MODEL, QUESTION, anthropic, chat, generate, native_call, world

FACTS = DIALECT.models[MODEL]


def parsed(sendable: Ask) -> Call:
    found = DIALECT.parse(sendable.request(), world())
    assert isinstance(found, Call), found
    return found


def says(tokens: int, role: str = "user") -> Json:
    """A message that weighs so many tokens, the two of its frame included."""
    return {"role": role, "content": "m" * 4 * (tokens - 2)}


def kept_indexes(window: int, *messages: Json, **more: Any) -> list[int]:
    """The indexes of the messages that are kept."""
    call = parsed(chat(*messages, **more))
    start = first_kept(call, window)
    return [n for n, message in enumerate(call.messages) if n >= start or message.role == "system"]


TALK = (says(100), says(100, "assistant"), says(100), says(100, "assistant"), says(100))


@pytest.mark.parametrize(
    ("window", "left"),
    [(504, [0, 1, 2, 3, 4]), (503, [1, 2, 3, 4]), (404, [1, 2, 3, 4]), (204, [3, 4]), (104, [4]), (10, [4])],
)
def test_the_oldest_messages_go_first_and_the_last_one_never(window: int, left: list[int]) -> None:
    assert kept_indexes(window, *TALK) == left


def test_instructions_stay_wherever_they_stand() -> None:
    messages = (says(50, "system"), says(100), says(50, "system"), says(100, "assistant"), says(100))
    assert kept_indexes(304, *messages) == [1, 2, 3]
    assert kept_indexes(210, *messages) == [1, 3]


def test_results_are_not_kept_without_the_message_that_called_for_them() -> None:
    loop = (says(100), native_call({"bed": "3"}), {"role": "tool", "content": "m" * 400})
    assert kept_indexes(200, *loop) == [1, 2]
    assert kept_indexes(20, *loop) == [1, 2]
    orphan = (says(100), says(100, "assistant"), {"role": "tool", "content": "m" * 40})
    assert kept_indexes(20, *orphan) == [2]


def test_tools_take_room_too() -> None:
    assert kept_indexes(504, *TALK) == [0, 1, 2, 3, 4]
    assert kept_indexes(504, *TALK, tools=[FUNCTION]) == [1, 2, 3, 4]


@pytest.mark.parametrize(
    ("sendable", "window"),
    [
        (chat(options={"num_ctx": 8192}), 8192), (generate(options={"num_ctx": 8192}), 8192),
        (chat(options={"num_ctx": 1_000_000}), FACTS.context_tokens), (chat(), DEFAULT_WINDOW),
        (chat(options={"num_ctx": 0}), DEFAULT_WINDOW), (chat(options={}), DEFAULT_WINDOW),
        (anthropic(), DEFAULT_WINDOW), (anthropic(options={"num_ctx": 8192}), DEFAULT_WINDOW),
    ],
)  # fmt: skip
def test_the_window_is_what_the_request_says_as_far_as_the_model_goes(sendable: Ask, window: int) -> None:
    assert window_of(parsed(sendable), FACTS) == window


def test_what_is_counted_is_what_is_left() -> None:
    call = parsed(chat(*TALK))
    assert DIALECT.count(call) == 504
    assert [visible_tokens(call, window) for window in (504, 503, 204, 104, 10)] == [504, 404, 204, 104, 10]


def test_the_figures_fall_and_nothing_is_refused() -> None:
    cache = DIALECT.new_cache()
    usages = []
    for options in ({}, {"num_ctx": 300}):
        sendable = chat(*TALK, options=options)
        usage, commit = cache.account(parsed(sendable), FACTS, 0.0)
        commit()
        usages.append(usage.whole)
        found = DIALECT.validate(sendable.request(), parsed(sendable), world())
        assert [each.rule for each in found] == ([rules.PROMPT_TRUNCATED] if options else [])
        assert not any(each.enforced for each in found)
    assert usages == [504, 204]


def test_the_log_says_how_many_messages_went() -> None:
    sendable = chat(says(10, "system"), *TALK, options={"num_ctx": 300})
    (found,) = DIALECT.validate(sendable.request(), parsed(sendable), world())
    assert found.message.endswith("the 3 oldest messages were dropped")
    assert found.path == "$.messages"


def test_a_prompt_is_cut_on_the_door_of_anthropic_too() -> None:
    """Neither an error nor a stop reason tells a session that it must collect: only the figures do."""
    sendable = anthropic(user("m" * 4 * DEFAULT_WINDOW), {"role": "assistant", "content": "Yes."}, user("And bed 4?"))
    found = DIALECT.validate(sendable.request(), parsed(sendable), world())
    assert [each.rule for each in found] == [rules.PROMPT_TRUNCATED]
    usage, _ = DIALECT.new_cache().account(parsed(sendable), FACTS, 0.0)
    assert usage.whole < 20


def test_a_second_request_is_counted_as_the_first_was() -> None:
    cache, call = DIALECT.new_cache(), parsed(chat(QUESTION))
    first, second = (cache.account(call, FACTS, now)[0] for now in (0.0, 1.0))
    assert first == second
    assert (first.cache_read, first.cache_write_5m, first.fresh) == (0, 0, DIALECT.count(call))
