"""A provider of each published form goes through the reference session like one of ours."""

from __future__ import annotations

from operator import attrgetter
from types import SimpleNamespace
from typing import Any

import pytest

from turnproof import foreign
from turnproof.cancel import CancelToken
from turnproof.messages import ProviderResponse
from turnproof.session import Session

from .providers import ANSWERS, ASKS, CALL, FORMS, HI, LOOK, USAGE, Form, FullCoroutine, normalised


@pytest.mark.parametrize("form", FORMS, ids=attrgetter("id"))
def test_every_form_serves_a_turn_with_tools_and_tells_every_callback(form: Form) -> None:
    provider = normalised(form)
    events: list[Any] = []
    result = Session(provider, tools=[LOOK]).send(
        "Hi",
        on_chunk=events.append,
        on_thinking=lambda text: events.append(("thought", text)),
        on_function_call=events.append,
        on_usage_update=events.append,
    )
    provider.close()
    assert result.text == "Let me look.Seen."
    assert result.rounds == 2
    first = [("thought", "hm"), "Let me look.", CALL, USAGE]
    if form.signature == "short":
        # Without on_function_call the calls are only known from the response.
        first = [("thought", "hm"), "Let me look.", USAGE, CALL]
    assert events == [*first, "Seen.", USAGE]


@pytest.mark.parametrize("form", FORMS, ids=attrgetter("id"))
def test_batch_calls_need_no_callbacks(form: Form) -> None:
    provider = normalised(form)
    assert provider.complete(HI) == ASKS
    provider.close()


def test_the_short_form_gets_its_options_by_position() -> None:
    seen: list[tuple[Any, ...]] = []

    def complete(*args: Any) -> ProviderResponse:
        seen.append(args)
        return ANSWERS

    token = CancelToken()
    on_chunk: Any = object()
    on_usage: Any = object()
    on_thinking: Any = object()
    foreign.normalise(SimpleNamespace(complete=complete), signature="short").complete(
        HI,
        "sys",
        [LOOK.schema],
        response_schema={"a": 1},
        cancel_token=token,
        on_chunk=on_chunk,
        on_usage_update=on_usage,
        on_thinking=on_thinking,
    )
    assert seen == [(HI, "sys", [LOOK.schema], {"a": 1}, token, on_chunk, on_usage, on_thinking)]


class WithLifecycle(FullCoroutine):
    name = "theirs"

    def __init__(self) -> None:
        self.shut = 0

    async def count_tokens(self, messages: Any) -> int:
        return len(messages)

    async def shutdown(self) -> None:
        self.shut += 1


def test_everything_else_is_the_providers_own_and_awaited() -> None:
    theirs = WithLifecycle()
    provider = foreign.ForeignStateless(theirs, "full", "raised")
    assert provider.wrapped is theirs
    assert provider.name == "theirs"
    assert provider.count_tokens(HI) == 1
    provider.shutdown()
    assert theirs.shut == 1
    with pytest.raises(AttributeError, match="set_thinking_config"):
        provider.set_thinking_config(None)


def test_shutdown_is_not_asked_of_a_provider_that_has_none() -> None:
    provider = foreign.ForeignStateless(FullCoroutine(), "full", "raised")
    provider.complete(HI)
    provider.shutdown()


def test_an_adapter_without_defaults_gets_every_argument_of_the_contract() -> None:
    class Strict:
        async def complete(
            self,
            messages: Any,
            system_instruction: Any,
            tools: Any,
            *,
            response_schema: Any,
            cancel_token: Any,
            on_chunk: Any,
            on_usage_update: Any,
            on_function_call: Any,
            on_thinking: Any,
        ) -> ProviderResponse:
            return ANSWERS

    provider: Any = foreign.normalise(Strict())
    assert provider.complete(HI) == ANSWERS
    provider.close()
