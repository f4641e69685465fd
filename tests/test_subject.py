"""What a session binding offers, and what a subject takes from its session and what from its adapter."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from turnproof.dialects import dialect
from turnproof.provider import Binding, Capabilities, Difference
from turnproof.run.bindings import subject_of
from turnproof.session.binding import REFERENCE
from turnproof.session.store.agent import stored_agent
from turnproof.subject import OF_KEPT_SESSIONS, OPERATIONS, Flag, SessionBinding, Subject


def nothing(*_: Any) -> Any:
    return None


LEAST = SessionBinding("least", open=nothing, send=nothing, history=nothing)
ADAPTER = Binding(
    "mine",
    "anthropic-messages",
    "m",
    Capabilities(streaming=True, tools=True),
    open_stateless=nothing,
    declared=[Difference("a", "b")],
    package="mine-sdk",
)


def test_the_reference_session_can_do_everything_but_outlive_its_process() -> None:
    assert REFERENCE.operations == frozenset(OPERATIONS) - OF_KEPT_SESSIONS


def test_the_reference_session_kept_in_files_can_do_all_that_takes() -> None:
    assert subject_of(stored_agent(ADAPTER)).operations >= OF_KEPT_SESSIONS


def test_a_session_needs_no_more_than_to_open_send_and_tell_its_history() -> None:
    assert LEAST.operations == {"message_ids"}
    assert replace(LEAST, message_ids=False).operations == frozenset()


@pytest.mark.parametrize("name", sorted(set(OPERATIONS) - {"message_ids"}))
def test_each_operation_is_offered_by_its_function(name: str) -> None:
    binding = replace(LEAST, **{name: nothing})  # type: ignore[arg-type]
    assert binding.operations == {name, "message_ids"}


def test_spans_are_an_operation_where_the_sdk_is_there_to_see_them(monkeypatch: pytest.MonkeyPatch) -> None:
    subject = Subject("session", replace(LEAST, spans=True), ADAPTER)
    assert subject.operations == {"message_ids", "spans"}
    monkeypatch.setattr("turnproof.subject.find_spec", lambda name: None)
    assert subject.operations == {"message_ids"}


def test_whether_sessions_are_stored_is_known_without_a_look_at_what_is_installed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """It is asked for each run, and a look into every folder of packages takes longer than many a run."""

    def look(name: str) -> None:
        raise AssertionError(f"looked for {name}")

    monkeypatch.setattr("turnproof.subject.find_spec", look)
    assert not Subject("session", replace(LEAST, spans=True), ADAPTER).keeps_sessions
    assert Subject("session", replace(LEAST, spans=True, session_id=nothing), ADAPTER).keeps_sessions


def test_the_flag_of_a_migration_is_off_unless_somebody_says_so() -> None:
    assert Flag() == Flag("TURNPROOF_SESSION_OWNED_HISTORY", default=False) == LEAST.flag


def test_an_adapter_is_named_by_itself_and_a_session_too() -> None:
    assert Subject("adapter", REFERENCE, ADAPTER).name == "mine"
    assert Subject("session", LEAST, ADAPTER).name == "least"


def test_a_session_speaks_what_its_adapter_speaks() -> None:
    subject = Subject("session", LEAST, ADAPTER)
    assert (subject.dialect, subject.model) == ("anthropic-messages", "m")


def test_differences_between_paths_are_declared_by_who_is_judged() -> None:
    assert [one.name for one in Subject("adapter", REFERENCE, ADAPTER).declared] == ["a"]
    assert Subject("session", LEAST, ADAPTER).declared == ()


@pytest.mark.parametrize(
    ("session", "adapter", "paths"),
    [
        (("stateless", "legacy"), {"open_stateless": nothing, "open_legacy": nothing}, ("stateless", "legacy")),
        (("legacy", "stateless"), {"open_stateless": nothing}, ("stateless",)),
        (("stateless",), {"open_stateless": nothing, "open_legacy": nothing}, ("stateless",)),
        (("legacy",), {"open_stateless": nothing}, ()),
        (("legacy",), {}, ("legacy",)),
    ],
)
def test_a_subject_runs_on_the_paths_that_its_session_and_its_adapter_share(
    session: Any, adapter: dict[str, Any], paths: tuple[str, ...]
) -> None:
    """An adapter that opens nothing leaves the session to its own provider, and so to its own paths."""
    binding = replace(ADAPTER, **{"open_stateless": None, "open_legacy": None, **adapter})
    assert Subject("session", replace(LEAST, paths=session), binding).paths == paths


def test_a_session_claims_less_than_its_adapter_where_it_says_so() -> None:
    fewer, wire = Capabilities(tools=True), dialect("anthropic-messages").traits
    everything = replace(ADAPTER.claims(), wire=wire)
    assert Subject("session", LEAST, ADAPTER).claims() == everything
    assert Subject("session", replace(LEAST, capabilities=fewer), ADAPTER).claims() == replace(fewer, wire=wire)
    assert Subject("adapter", replace(REFERENCE, capabilities=fewer), ADAPTER).claims() == everything


def test_every_package_that_takes_part_is_named_once() -> None:
    assert Subject("adapter", replace(REFERENCE, package="ours"), ADAPTER).packages == ("mine-sdk",)
    assert Subject("session", replace(LEAST, package="chat"), ADAPTER).packages == ("chat", "mine-sdk")
    assert Subject("session", replace(LEAST, package="mine-sdk"), ADAPTER).packages == ("mine-sdk",)
    assert Subject("session", LEAST, replace(ADAPTER, package=None)).packages == ()


def test_what_may_be_imported_of_a_distribution_is_named_both_ways() -> None:
    plain = Subject("adapter", replace(REFERENCE, package="ours"), replace(ADAPTER, package="openai"))
    assert plain.modules == ("openai",)
    both = Subject("session", replace(LEAST, package="chat"), replace(ADAPTER, package="google-genai"))
    assert both.modules == ("chat", "google_genai", "google.genai")
