"""What is typed and what is sent: the enrich hook, and the note about a cancelled turn."""

from __future__ import annotations

import itertools
import weakref
from collections.abc import Sequence
from typing import Any

import pytest

from turnproof.cache import ImplicitCachePlugin, PrefixLoss
from turnproof.cancel import CancelToken
from turnproof.errors import InvalidRequestError, PayloadError, UsageError
from turnproof.messages import FinishReason, InlineData, Message, Part, ProviderResponse, Text, TokenUsage, same_history
from turnproof.session import Enriched, Session, Typed
from turnproof.session.prompt import Prompts

from .fakes import PATHS, Play, Watching, call, numbered, open_session, reply, shape, tool

both = pytest.mark.parametrize("path", PATHS)

PICTURE = InlineData("image/png", b"\x89PNG")
NOTE = "(The answer before was stopped by the user.)"


def upper(parts: tuple[Part, ...]) -> Enriched:
    """What is typed in capitals, with a reference behind it."""
    return Enriched([*(Text(part.text.upper()) if isinstance(part, Text) else part for part in parts), "see @a.py"])


def in_step(session: Session, provider: Any) -> bool:
    return session.path == "stateless" or same_history(provider.get_history(), session.history.messages, ids=False)


# The enrich hook


@both
def test_what_was_sent_is_in_the_history_and_what_was_typed_beside_it(path: str) -> None:
    session, provider = open_session(path, reply("ok"), reply("ok"), enrich=upper)
    session.send("hi")
    session.send([Text("what is"), PICTURE])
    messages = session.history.messages
    assert messages[0].parts == (Text("HI"), Text("see @a.py"))
    assert messages[2].parts == (Text("WHAT IS"), PICTURE, Text("see @a.py"))
    assert same_history(provider.requests[-1].messages, messages[:-1], ids=False)
    assert session.typed(messages[0]) == (Text("hi"),)
    assert session.typed(messages[2]) == (Text("what is"), PICTURE)
    assert session.typed(messages[1]) == messages[1].parts, "the model's own"
    assert in_step(session, provider)


@both
def test_what_is_said_in_a_running_turn_is_enriched_too(path: str) -> None:
    session, _ = open_session(path, reply("ok"), enrich=upper)
    message = session.interject("wait")
    session.send_waiting()
    assert shape(session)[0] == ("user", (Text("WAIT"), Text("see @a.py")))
    assert session.typed(message) == (Text("wait"),)


def test_without_a_hook_nothing_is_recorded() -> None:
    session, _ = open_session("stateless", reply("ok"))
    session.send("hi")
    assert session.typed(session.history.messages[0]) == (Text("hi"),)
    assert Prompts(None, None, numbered()).records(session.history.messages) == ()


@pytest.mark.parametrize(
    ("returned", "reason"),
    [
        (None, "returned NoneType instead of Enriched"),
        ((Text("hi"),), "returned tuple instead of Enriched"),
        (Enriched(()), "no parts"),
    ],
    ids=["nothing", "bare-parts", "empty"],
)
def test_a_hook_that_returns_something_else_is_named(returned: Any, reason: str) -> None:
    session, provider = open_session("stateless", enrich=lambda parts: returned)
    with pytest.raises(UsageError, match=reason):
        session.send("hi")
    assert (provider.requests, shape(session)) == ([], [])


def test_what_a_hook_raises_reaches_whoever_says_it_and_nothing_is_said() -> None:
    def broken(parts: tuple[Part, ...]) -> Enriched:
        raise KeyError("no such file")

    session, provider = open_session("stateless", enrich=broken)
    for say in (session.send, session.interject):
        with pytest.raises(KeyError, match="no such file"):
            say("hi")
    assert (provider.requests, shape(session), session.waiting) == ([], [], ())


@both
def test_a_hook_may_change_system_text_and_tools_for_the_turn_that_it_prepares(path: str) -> None:
    def hook(parts: tuple[Part, ...]) -> Enriched:
        session.set_system(f"you know {len(session.history)} messages")
        session.set_tools([tool("late")])
        return Enriched(parts)

    session, provider = open_session(path, reply("a"), reply("b"), system="s", enrich=hook)
    session.send("one")
    session.send("two")
    assert [request.system for request in provider.requests] == ["you know 0 messages", "you know 2 messages"]
    assert [[schema.name for schema in request.tools] for request in provider.requests] == [["late"]] * 2
    assert in_step(session, provider)


def cached(text: str, *, read: int, written: int) -> ProviderResponse:
    usage = TokenUsage(
        read + written + 10, 5, read + written + 15, cache_read_tokens=read, cache_creation_tokens=written
    )
    return ProviderResponse((Text(text),), usage, FinishReason.STOP)


@both
def test_a_hook_that_changes_the_prefix_in_every_turn_is_told_of_as_a_loss_of_the_cache(path: str) -> None:
    def volatile(parts: tuple[Part, ...]) -> Enriched:
        session.set_system(f"It is {next(hours)} o'clock.")
        return Enriched(parts)

    def stable(parts: tuple[Part, ...]) -> Enriched:
        return Enriched(("It is late.", *parts))

    for hook, answers, reasons in (
        (volatile, [cached("a", read=0, written=100), cached("b", read=0, written=120)], ["enrichment"]),
        (stable, [cached("a", read=0, written=100), cached("b", read=100, written=20)], []),
    ):
        hours, losses = itertools.count(1), list[PrefixLoss]()
        session, _ = open_session(
            path,
            *answers,
            system="s",
            enrich=hook,
            cache_plugin=ImplicitCachePlugin(),
            observers=[Watching(on_prefix_lost=losses.append)],
        )
        session.send("one")
        session.send("two")
        assert [loss.reason for loss in losses] == reasons


def test_records_are_by_message_id_and_carry_what_the_hook_noted() -> None:
    prompts = Prompts(lambda parts: Enriched(("sent",), about={"files": ["a.py"]}), None, numbered())
    first, second = prompts.message("one"), prompts.message("two")
    assert prompts.records([Message.model("between"), second, first]) == (
        Typed("m2", (Text("two"),), {"files": ["a.py"]}),
        Typed("m1", (Text("one"),), {"files": ["a.py"]}),
    )


def test_a_note_of_the_hook_that_is_not_json_is_refused_with_its_path() -> None:
    prompts = Prompts(lambda parts: Enriched(parts, about={"at": object()}), None, numbered())
    with pytest.raises(PayloadError, match=r"\$\.about\.at"):
        prompts.message("one")


def test_records_find_the_messages_that_they_were_saved_with() -> None:
    prompts = Prompts(lambda parts: Enriched(("sent",)), None, numbered())
    saved = prompts.message("typed")
    records = prompts.records([saved])
    loaded = Message(saved.role, saved.parts, saved.message_id)
    other = Prompts(None, None, numbered())
    other.remember(records, [Message.user("before"), loaded])
    assert other.typed(loaded) == (Text("typed"),)
    assert other.records([loaded]) == records


@both
def test_what_was_typed_is_saved_with_the_session(path: str) -> None:
    session, _ = open_session(path, reply("ok"), enrich=upper)
    session.send("hi")
    restored, _ = open_session(path)
    restored.restore(session.save())
    messages = restored.history.messages
    assert messages[0].parts == (Text("HI"), Text("see @a.py"))
    assert restored.typed(messages[0]) == (Text("hi"),)


def test_a_record_keeps_no_message_alive() -> None:
    prompts = Prompts(upper, None, numbered())
    message = prompts.message("hi")
    reference = weakref.ref(message)
    del message
    assert reference() is None


# The note about a cancelled turn


def cancelled(play: Play) -> Any:
    play.stream("Hel")
    play.token.cancel()
    return reply("Hel", finish="cancelled")


def texts(session: Session) -> Sequence[Any]:
    return [(role, [part.text for part in parts if isinstance(part, Text)]) for role, parts in shape(session)]


@both
def test_no_word_of_ours_is_in_the_history_unless_it_is_asked_for(path: str) -> None:
    session, provider = open_session(path, cancelled, reply("ok"))
    session.send("Hi", on_chunk=lambda _: None)
    session.send("Go on")
    assert texts(session) == [("user", ["Hi"]), ("model", ["Hel"]), ("user", ["Go on"]), ("model", ["ok"])]
    assert in_step(session, provider)


@both
def test_the_note_is_a_part_of_the_next_message_once_and_never_the_models(path: str) -> None:
    session, provider = open_session(path, cancelled, reply("a"), reply("b"), cancel_note=NOTE)
    session.send("Hi", on_chunk=lambda _: None)
    assert texts(session) == [("user", ["Hi"]), ("model", ["Hel"])], "not before something is said"
    session.send("Go on")
    session.send("And then?")
    assert texts(session)[2:] == [
        ("user", [NOTE, "Go on"]),
        ("model", ["a"]),
        ("user", ["And then?"]),
        ("model", ["b"]),
    ]
    assert same_history(provider.requests[1].messages, session.history.messages[:3], ids=False)
    assert session.typed(session.history.messages[2]) == (Text("Go on"),)
    assert in_step(session, provider)


@both
def test_the_note_is_still_due_after_a_turn_that_failed_or_reached_nobody(path: str) -> None:
    session, _ = open_session(path, cancelled, InvalidRequestError("no"), reply("ok"), cancel_note=NOTE)
    session.send("Hi", on_chunk=lambda _: None)
    with pytest.raises(InvalidRequestError):
        session.send("Go on")
    token = CancelToken()
    token.cancel()
    session.send("Go on", cancel_token=token)
    session.send("Go on")
    assert texts(session)[2] == ("user", [NOTE, "Go on"])


@both
def test_a_turn_that_was_cancelled_before_the_model_got_it_is_not_worth_a_note(path: str) -> None:
    session, _ = open_session(path, reply("ok"), cancel_note=NOTE)
    token = CancelToken()
    token.cancel()
    session.send("Hi", cancel_token=token)
    session.send("Hi")
    assert texts(session)[0] == ("user", ["Hi"])


@both
@pytest.mark.parametrize("change", ["clear", "reset", "revert", "collect"])
def test_a_cancelled_turn_that_is_gone_from_the_history_is_not_noted(path: str, change: str) -> None:
    session, _ = open_session(path, reply("a"), cancelled, reply("b"), cancel_note=NOTE)
    session.send("one")
    session.send("two", on_chunk=lambda _: None)
    match change:
        case "clear":
            session.clear()
        case "reset":
            session.reset([Message.user("x"), Message.model("y")])
        case "revert":
            session.revert_to_turn(0)
        case _:
            session.collect(1)  # which keeps the cancelled turn
    session.send("three")
    notes = [NOTE] if change == "collect" else []
    assert texts(session)[-2] == ("user", [*notes, "three"])


@both
def test_an_interrupted_answer_is_no_cancelled_turn(path: str) -> None:
    def step(play: Play) -> Any:
        session.interject("wait")
        return reply("Hel", finish="cancelled")

    session, _ = open_session(path, step, reply("ok"), reply("ok"), cancel_note=NOTE)
    session.send("Hi")
    session.send("Go on")
    assert NOTE not in [text for _, parts in texts(session) for text in parts]


@both
def test_a_cancel_in_a_tool_is_noted_behind_the_results(path: str) -> None:
    def run(args: dict[str, Any], token: CancelToken) -> str:
        token.cancel()
        return "late"

    session, provider = open_session(path, reply(call()), reply("ok"), tools=[tool(run=run)], cancel_note=NOTE)
    assert session.send("Hi").outcome == "cancelled"
    session.send("Go on")
    roles = [message.role for message in provider.requests[-1].messages]
    assert roles == ["user", "model", "tool", "user"]
    assert provider.requests[-1].messages[-1].parts[0] == Text(NOTE)
