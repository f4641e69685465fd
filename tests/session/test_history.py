"""`SessionHistory`: ownership, copies, and what counts as a change."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from turnproof.messages import Message
from turnproof.session import SessionHistory

A, B, C = Message.user("a"), Message.model("b"), Message.user("c")


def test_an_empty_history_is_falsy_clean_and_has_no_last_message() -> None:
    history = SessionHistory()
    assert not history
    assert len(history) == 0
    assert history.last is None
    assert not history.dirty


def test_append_keeps_the_message_object() -> None:
    history = SessionHistory()
    history.append(A)
    assert history
    assert history.last is A


def test_what_comes_out_is_a_copy() -> None:
    history = SessionHistory([A, B])
    for copy in (history.messages, history.snapshot(), history.slice(0)):
        copy.clear()
    assert history.messages == [A, B]


def test_what_goes_in_is_copied() -> None:
    history, messages = SessionHistory(), [A, B]
    history.replace(messages)
    messages.append(C)
    assert history.messages == [A, B]


def test_messages_ref_is_the_one_uncopied_view() -> None:
    history = SessionHistory([A])
    view = history.messages_ref
    history.append(B)
    assert list(view) == [A, B]


def test_slice_follows_pythons_rules() -> None:
    history = SessionHistory([A, B, C])
    assert history.slice(1) == [B, C]
    assert history.slice(0, 2) == [A, B]
    assert history.slice(-1) == [C]
    assert history.slice(5, 9) == []


def test_a_snapshot_brings_the_same_objects_back() -> None:
    history = SessionHistory([A, B])
    before = history.snapshot()
    history.append(C)
    history.replace(before)
    assert all(x is y for x, y in zip(history.messages, [A, B], strict=True))


@pytest.mark.parametrize(
    "mutate",
    [lambda h: h.append(C), lambda h: h.replace([C]), lambda h: h.pop_last()],
    ids=["append", "replace", "pop_last"],
)
def test_every_mutation_sets_dirty_and_moves_the_version_on(mutate: Callable[[SessionHistory], object]) -> None:
    history = SessionHistory([A, B])
    version = history.version
    mutate(history)
    assert history.dirty
    assert history.version > version


def test_pop_last_of_an_empty_history_gives_none_and_changes_nothing() -> None:
    history = SessionHistory()
    assert history.pop_last() is None
    assert not history.dirty


def test_clear_forgets_everything_and_resets_dirty() -> None:
    history = SessionHistory([A])
    history.append(B)
    version = history.version
    history.clear()
    assert not history
    assert not history.dirty
    assert history.version > version


def test_mark_saved_resets_dirty_and_nothing_else() -> None:
    history = SessionHistory()
    history.append(A)
    version = history.version
    history.mark_saved()
    assert not history.dirty
    assert history.version == version
    assert history.last is A


def test_only_messages_are_taken_and_a_refused_replace_changes_nothing() -> None:
    history = SessionHistory([A])
    with pytest.raises(TypeError, match="got dict at index 1"):
        history.replace([B, {"role": "user"}])  # type: ignore[list-item]
    with pytest.raises(TypeError, match="got str"):
        history.append("hi")  # type: ignore[arg-type]
    assert history.messages == [A]
    assert not history.dirty


def test_repr_says_how_many_messages_it_holds() -> None:
    assert repr(SessionHistory([A, B])) == "SessionHistory(2 messages, dirty=False)"
