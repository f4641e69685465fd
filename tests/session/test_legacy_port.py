"""The legacy path: which method carries what, and when the provider is given a new session."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest

from turnproof.cancel import CancelToken
from turnproof.errors import OverloadedError, ProviderError, UsageError
from turnproof.gc import GCConfig, TruncateGC
from turnproof.messages import CacheMark, InlineData, Message, Part, ProviderResponse, Text, same_history
from turnproof.session import RetryPolicy, Session

from .fakes import FakeLegacy, Naps, call, open_session, reply, tool

PICTURE = InlineData("image/png", b"\x89PNG")


def methods(provider: FakeLegacy) -> list[str]:
    return [request.method for request in provider.requests]


def test_text_files_and_results_go_by_their_own_methods() -> None:
    session, provider = open_session(
        "legacy", reply(call()), reply("a"), reply("b"), reply(call()), reply("c"), tools=[tool()]
    )
    session.send("Hi")
    session.send([Text("what is"), PICTURE])
    session.send("Hi", on_chunk=lambda text: None)
    assert methods(provider) == [
        "send_message",
        "send_tool_results",
        "send_message_with_parts",
        "send_message_streaming",
        "send_tool_results_streaming",
    ]


def test_a_text_with_a_cache_mark_goes_as_a_part_so_that_the_mark_survives() -> None:
    session, provider = open_session("legacy", reply("ok"))
    session.send([Text("Hi", cache=CacheMark())])
    assert methods(provider) == ["send_message_with_parts"]
    assert provider.get_history()[0].parts[0].cache == CacheMark()


def test_files_without_a_streaming_method_come_in_one_piece() -> None:
    session, provider = open_session("legacy", reply("a pic|ture"))
    pieces: list[str] = []
    assert session.send([PICTURE], on_chunk=pieces.append).text == "a picture"
    assert methods(provider) == ["send_message_with_parts"]
    assert pieces == ["a picture"]


class WithPartsStreaming(FakeLegacy):
    def send_message_with_parts_streaming(
        self, parts: Sequence[Part], on_chunk: Any, **kwargs: Any
    ) -> ProviderResponse:
        return self._send("send_message_with_parts_streaming", Message.user(*parts), on_chunk=on_chunk, **kwargs)


def test_files_stream_where_the_provider_has_a_method_for_it() -> None:
    provider = WithPartsStreaming(reply("a pic|ture"))
    pieces: list[str] = []
    Session(provider, path="legacy").send([PICTURE], on_chunk=pieces.append)
    assert methods(provider) == ["send_message_with_parts_streaming"]
    assert pieces == ["a pic", "ture"]


def test_the_token_reaches_the_batch_methods_that_take_one() -> None:
    session, provider = open_session("legacy", reply("a"), reply("b"))
    session.send("Hi")
    session.send([PICTURE])
    assert provider.requests[0].kwargs["cancel_token"] is not None
    assert "cancel_token" not in provider.requests[1].kwargs


class WithoutSignature:
    """Like some C functions, it cannot be asked what it takes."""

    __signature__ = "(...)"

    def __init__(self, call: Callable[..., Any]) -> None:
        self._call = call

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._call(*args, **kwargs)


def test_a_method_that_cannot_be_asked_gets_no_token() -> None:
    session, provider = open_session("legacy", reply("a"))
    provider.send_message = WithoutSignature(provider.send_message)
    assert session.send("Hi").text == "a"
    assert provider.requests[0].kwargs["cancel_token"] is None


def test_one_session_is_created_and_serves_as_long_as_nothing_diverges() -> None:
    session, provider = open_session("legacy", reply("a"), reply(call()), reply("b"), reply("c"), tools=[tool()])
    for text in ("one", "two", "three"):
        session.send(text)
    assert provider.created == [[]]


def failing(session: Session) -> None:
    with pytest.raises(ProviderError):
        session.send("no", on_chunk=lambda text: None)


REASONS: list[tuple[str, Callable[[Session], object]]] = [
    ("system", lambda session: session.set_system("other")),
    ("tools", lambda session: session.set_tools([tool("other")])),
    ("collect", lambda session: session.collect(1)),
    ("reset", lambda session: session.reset([Message.user("x"), Message.model("y")])),
    ("clear", lambda session: session.clear()),
    ("restore", lambda session: session.restore(session.save())),
    ("outside-change", lambda session: session.history.append(Message.user("injected"))),
]


@pytest.mark.parametrize("change", [change for _, change in REASONS], ids=[name for name, _ in REASONS])
def test_whatever_the_provider_did_not_see_gets_it_a_new_session_with_the_sessions_history(
    change: Callable[[Session], object],
) -> None:
    session, provider = open_session("legacy", reply("a"), reply("b"), reply("c"), tools=[tool()])
    session.send("one")
    session.send("two")
    change(session)
    before = session.history.messages
    session.send("three")
    assert len(provider.created) == 2
    assert same_history(provider.created[1], before)
    assert [message.text for message in provider.requests[-1].messages] == [*(m.text for m in before), "three"]
    assert same_history(provider.get_history(), session.history.messages, ids=False)


def test_between_turns_changes_reach_the_provider_at_once() -> None:
    session, provider = open_session("legacy", reply("a"), reply("b"))
    session.send("one")
    session.send("two")
    session.collect(1)
    assert same_history(provider.get_history(), session.history.messages)
    session.clear()
    assert provider.get_history() == []


def test_unchanged_settings_do_not_make_a_new_session() -> None:
    session, provider = open_session("legacy", reply("a"), system="same", tools=[tool()])
    session.send("one")
    session.set_system("same")
    session.set_tools(session.tools)
    assert len(provider.created) == 1


def test_a_failed_first_call_is_the_providers_to_take_back_not_the_sessions() -> None:
    # Were the session to make a new one here, an adapter that forgets its rollback would never be found out.
    session, provider = open_session("legacy", reply("a"), ProviderError("no"), reply("b"))
    session.send("one")
    failing(session)
    session.send("two")
    assert provider.created == [[]]


def test_a_failure_after_a_tool_round_gets_the_provider_the_history_before_the_turn() -> None:
    session, provider = open_session("legacy", reply("a"), reply(call()), ProviderError("no"), tools=[tool()])
    session.send("one")
    failing(session)
    assert len(provider.created) == 2
    assert same_history(provider.get_history(), session.history.messages, ids=False)


def test_a_provider_that_cannot_be_set_back_does_not_hide_the_turns_error() -> None:
    session, provider = open_session("legacy", reply(call()), ProviderError("the reason"), reply("ok"), tools=[tool()])
    create, provider.create_session = provider.create_session, broken
    with pytest.raises(ProviderError, match="the reason"):
        session.send("Hi")
    provider.create_session = create
    assert session.send("Hi").text == "ok", "the next call sets it back"
    assert same_history(provider.get_history(), session.history.messages, ids=False)


def test_after_a_session_that_could_not_be_created_nothing_is_taken_for_granted() -> None:
    session, provider = open_session("legacy", reply("ok"), system="s")
    create, provider.create_session = provider.create_session, broken
    with pytest.raises(OSError, match="no session now"):
        session.set_system("other")
    provider.create_session = create
    session.set_system("s")  # what the provider had before it failed half-way
    assert len(provider.created) == 2


REFUSED: list[tuple[str, Callable[[Session], object]]] = [
    *(named for named in REASONS if named[0] != "outside-change" and named[0] != "collect"),
    ("inject", lambda session: session.inject("ls", "a.py")),
    ("revert", lambda session: session.revert_to_turn(0)),
    ("swap", lambda session: session.swap(Unwilling(), path="legacy")),
    ("swap-to-no-provider", lambda session: session.swap(object(), path="stateless")),  # type: ignore[arg-type]
]


class Unwilling(FakeLegacy):
    def create_session(self, *args: Any, **kwargs: Any) -> None:
        raise OSError("no session now")


@pytest.mark.parametrize("change", [change for _, change in REFUSED], ids=[name for name, _ in REFUSED])
def test_a_change_that_cannot_reach_the_provider_has_changed_nothing(change: Callable[[Session], object]) -> None:
    session, provider = open_session("legacy", reply("a"), reply("b"), reply("c"), system="s", tools=[tool()])
    session.send("one")
    session.send("two")
    session.save()
    messages, usage = session.history.messages, session.usage
    create, provider.create_session = provider.create_session, broken
    with pytest.raises((OSError, UsageError)):
        change(session)
    provider.create_session = create
    assert all(a is b for a, b in zip(messages, session.history.messages, strict=True))
    assert not session.history.dirty
    assert (session.system, [one.schema.name for one in session.tools]) == ("s", ["look"])
    assert (session.usage, session.provider, session.path) == (usage, provider, "legacy")
    assert session.send("three").text == "c"
    assert same_history(provider.get_history(), session.history.messages, ids=False)


def test_a_cancel_while_the_new_session_is_made_sends_nothing() -> None:
    session, provider = open_session("legacy", reply("ok"))
    create, token = provider.create_session, CancelToken()

    def create_session(*args: Any, **kwargs: Any) -> None:
        create(*args, **kwargs)
        token.cancel()

    session.history.append(Message.user("from elsewhere"))
    provider.create_session = create_session
    provider.send_message = lambda *args, **kwargs: pytest.fail("sent")
    assert session.send("Hi", cancel_token=token).outcome == "cancelled"
    assert [message.text for message in provider.get_history()] == ["from elsewhere"]


def broken(*args: object, **kwargs: object) -> None:
    raise OSError("no session now")


def test_a_retry_goes_through_the_same_session() -> None:
    provider = FakeLegacy(OverloadedError("busy"), reply("a"))
    session = Session(provider, path="legacy", sleep=Naps(), retry=RetryPolicy(jitter=0))
    session.send("Hi")
    assert provider.created == [[]]
    assert methods(provider) == ["send_message"] * 2


def test_the_threshold_collection_reaches_the_provider_with_the_next_call() -> None:
    session, provider = open_session(
        "legacy",
        reply("a", prompt=10),
        reply("b", prompt=90),
        reply("c"),
        gc=TruncateGC(),
        gc_config=GCConfig(context_limit=100, keep_turns=1),
    )
    for text in ("one", "two", "three"):
        session.send(text)
    assert [message.text for message in provider.requests[-1].messages] == ["two", "b", "three"]
