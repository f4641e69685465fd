"""Phases 4 and 5, criterion by criterion: open for what has migrated, closed for what has one thing left."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec import structs
from suites.build import spoilt

from turnproof.commands.gates.checks import decide
from turnproof.commands.gates.class_source import Source
from turnproof.judge.verdict import Status
from turnproof.run.transcript import ProviderHolds

from .watching import Bench, bench, criterion, without_flag
from .words import codes, message

__all__ = ["bench"]

TALK = ("tools/one",)
RESET = ("history/reset",)
SAVE = ("persistence/save_load",)
COLLECT = ("gc/tool_pairs",)
CANCEL = ("cancel/in_text",)
OVERFLOW = ("gc/context_limit",)


# -- the legacy methods ------------------------------------------------------------------------------------------------


def test_a_provider_without_legacy_methods_is_open(bench: Bench) -> None:
    found = bench.decided("4/legacy-methods-are-gone", "ONE_PATH", *TALK)
    assert found.status is Status.HELD
    assert found.compared == ("commands.gates.migrated.OnePath",)


def test_methods_that_were_forgotten_are_named_with_file_and_line(bench: Bench) -> None:
    found = bench.decided("4/legacy-methods-are-gone", "WITH_LEFTOVERS", *TALK)
    assert found.left == (
        "commands.gates.migrated.WithLeftovers.create_session()",
        "commands.gates.migrated.WithLeftovers.get_history()",
    )
    source = Path(found.spots[0].file).read_text("utf-8").splitlines()
    assert [source[spot.line - 1].split("(")[0].split()[-1] for spot in found.spots] == [
        "create_session",
        "get_history",
    ]


def test_what_stands_behind_the_bindings_own_object_is_found(bench: Bench) -> None:
    found = bench.decided("4/legacy-methods-are-gone", "BRIDGED", *TALK)
    assert "commands.gates.migrated.Old.send_message()" in found.left
    assert not any("Around" in name for name in found.left)


def test_the_protocol_and_the_providers_that_are_named_are_looked_at_as_well(bench: Bench) -> None:
    protocol = Source("turnproof.provider:LegacyProvider")
    found = bench.decided("4/legacy-methods-are-gone", "ONE_PATH", *TALK, protocol=protocol)
    assert "turnproof.provider.LegacyProvider.create_session()" in found.left
    assert any(spot.file.endswith("provider/__init__.py") for spot in found.spots)
    named = bench.decided("4/legacy-methods-are-gone", "ONE_PATH", *TALK, named=[Source("commands.gates.migrated:Old")])
    assert "commands.gates.migrated.Old.send_message()" in named.left


def test_a_binding_that_still_opens_a_legacy_path_is_closed(bench: Bench) -> None:
    found = bench.decided("4/legacy-methods-are-gone", "ANTHROPIC", "basics/plain", watch="everything")
    assert "the binding of anthropic still opens a legacy path" in found.left
    assert "turnproof_adapters.anthropic.legacy.AnthropicLegacy.get_history()" in found.left


def test_a_session_that_shows_no_provider_is_undecided(bench: Bench) -> None:
    found = bench.decided("4/legacy-methods-are-gone", "HIDES_ITS_OWN", *TALK)
    assert found.status is Status.INCONCLUSIVE
    assert "hand its own provider to the setup's watch" in message(found, 4)


def test_a_session_that_shows_its_own_provider_is_not(bench: Bench) -> None:
    assert bench.decided("4/legacy-methods-are-gone", "SHOWS_ITS_OWN", *TALK).status is Status.HELD


# -- a history in a provider -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["ONE_PATH", "KEEPS_WEAKLY", "SHOWS_ITS_OWN"])
def test_a_provider_that_holds_nothing_is_open_and_a_weak_memo_is_nothing(bench: Bench, name: str) -> None:
    found = bench.decided("4/providers-hold-no-history", name, *TALK, watch="everything")
    assert found.status is Status.HELD
    assert "looks at providers after a conversation" in found.compared[0]


@pytest.mark.parametrize(
    ("name", "place"),
    [
        ("KEEPS_MESSAGES", "commands.gates.migrated.KeepsMessages.log[0] holds what was said"),
        ("KEEPS_WORDS", "commands.gates.migrated.KeepsWords.note()"),
        ("KEEPS_IN_MODULE", "commands.gates.migrated._EVERYTHING[0] holds what was said"),
    ],
)
def test_a_provider_that_keeps_what_was_said_is_closed_with_the_place(bench: Bench, name: str, place: str) -> None:
    found = bench.decided("4/providers-hold-no-history", name, *TALK, watch="everything")
    assert found.status is Status.VIOLATED
    assert any(place in left for left in found.left), found.left


def test_a_history_that_cannot_be_looked_for_is_undecided(bench: Bench) -> None:
    assert bench.decided("4/providers-hold-no-history", "HIDES_ITS_OWN", *TALK).status is Status.INCONCLUSIVE


def test_a_provider_that_cannot_be_looked_through_is_undecided(bench: Bench) -> None:
    holds = ProviderHolds(cls="m:Huge", after="conversation", looked_at=100_001, whole=False)
    views = [spoilt(view, ProviderHolds, lambda event: holds) for view in bench.runs("ONE_PATH", *TALK)]
    found = decide(bench.measured("ONE_PATH", {"default": views}), without_flag("4/providers-hold-no-history"))
    assert codes(found) == ["gate/history-held/too-many-objects"]
    assert "fewer objects than 100001 in m.Huge" in message(found, 4)
    log_event = structs.replace(holds, messages=(".log[0]",))
    views = [spoilt(view, ProviderHolds, lambda event: log_event) for view in views]
    found = decide(bench.measured("ONE_PATH", {"default": views}), without_flag("4/providers-hold-no-history"))
    assert found.left == ("m.Huge.log[0] holds what was said",)


def test_the_source_of_a_provider_tells_where_it_keeps_messages(bench: Bench) -> None:
    assert bench.decided("4/no-history-in-the-source", "WITH_LEFTOVERS", *TALK).status is Status.HELD
    found = bench.decided("4/no-history-in-the-source", "KEEPS_MESSAGES", *TALK)
    assert "KeepsMessages.complete() writes log" in found.left
    spot = next(spot for spot in found.spots if "complete() writes log" in spot.what)
    assert "self.log.extend" in Path(spot.file).read_text("utf-8").splitlines()[spot.line - 1]


def test_calls_that_depend_on_nothing_are_open(bench: Bench) -> None:
    found = bench.decided("4/calls-depend-on-nothing-before", "ONE_PATH", *TALK)
    assert found.status is Status.HELD


# -- a reset -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "id", ["4/reset-asks-no-provider", "4/reset-empties-the-session", "4/reset-empties-the-accounts"]
)
def test_a_reset_that_replaces_the_list_is_open(bench: Bench, id: str) -> None:
    assert bench.decided(id, "MIGRATED", *RESET).status is Status.HELD


def test_a_reset_that_asks_its_provider_is_closed(bench: Bench) -> None:
    found = bench.decided("4/reset-asks-no-provider", "RESET_ASKS", *RESET)
    assert found.left == ("provider.count_tokens() is called during reset",)
    sent = bench.decided("4/reset-empties-the-session", "RESET_ASKS", *RESET)
    assert message(sent, 4).startswith("history/reset-asks-nobody: ")


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("RESET_KEEPS_USAGE", "expected no tokens after a reset; got"),
        ("RESET_KEEPS_TURNS", "entries after a reset, of"),
    ],
)
def test_an_account_that_survives_a_reset_is_closed(bench: Bench, name: str, says: str) -> None:
    found = bench.decided("4/reset-empties-the-accounts", name, *RESET)
    assert found.status is Status.VIOLATED
    assert says in message(found, 4)


def test_an_account_of_turns_that_is_emptied_is_counted(bench: Bench) -> None:
    found = bench.decided("4/reset-empties-the-accounts", "COUNTS_TURNS", *RESET)
    assert any("turn accountings that were emptied" in what for what in found.compared)


def test_a_session_that_shows_no_account_and_a_run_without_a_reset_are_undecided(bench: Bench) -> None:
    shown = bench.decided("4/reset-empties-the-accounts", "SHOWS_NO_ACCOUNT", *RESET)
    assert "shows no account" in message(shown, 4)
    for id in ("4/reset-empties-the-accounts", "4/reset-asks-no-provider"):
        assert bench.decided(id, "MIGRATED", "basics/plain").status is Status.INCONCLUSIVE


# -- what stays --------------------------------------------------------------------------------------------------------


def test_everything_that_a_provider_does_beside_answering_was_called(bench: Bench) -> None:
    found = bench.decided("4/what-stays-works", "ONE_PATH", "basics/plain", watch="everything")
    assert found.compared == (
        "initialize", "connect", "verify_auth", "count_tokens", "context limit", "usage", "serialisers", "thinking",
        "error classification", "shutdown",
    )  # fmt: skip


def test_a_method_that_broke_with_the_history_is_told_with_what_it_raised(bench: Bench) -> None:
    found = bench.decided("4/what-stays-works", "BROKEN", "basics/plain", watch="everything")
    assert found.left == ("count_tokens: it raised AttributeError: 'Broken' object has no attribute '_gone'",)


def test_a_method_that_is_called_otherwise_is_called_as_the_binding_says(bench: Bench) -> None:
    found = bench.decided("4/what-stays-works", "COUNTS_OTHERWISE", "basics/plain", watch="everything")
    assert found.status is Status.HELD


def test_shutting_down_twice_is_harmless(bench: Bench) -> None:
    found = bench.decided("4/what-stays-works", "CLOSES_ONCE", "basics/plain", watch="everything")
    assert found.left == ("shutdown: called twice, it raised RuntimeError: already closed",)


def test_what_an_adapter_claims_and_what_the_protocol_has_cannot_be_missing(bench: Bench) -> None:
    found = bench.decided("4/what-stays-works", "WITHOUT_LIMIT", "basics/plain", watch="everything")
    assert found.left == ("context limit: it has no get_context_limit()",)
    protocol = Source("commands.gates.test_one_path:Protocol")
    found = bench.decided("4/what-stays-works", "ONE_PATH", "basics/plain", watch="everything", protocol=protocol)
    assert found.left == ("agent context: it has no set_agent_context()",)


class Protocol:
    """Says what every provider of a framework has."""

    def set_agent_context(self, agent: str) -> None: ...


def test_without_a_provider_that_could_be_asked_it_is_undecided(bench: Bench) -> None:
    assert bench.decided("4/what-stays-works", "ONE_PATH", "basics/plain").status is Status.INCONCLUSIVE


# -- the flag ----------------------------------------------------------------------------------------------------------


def flag_gone(bench: Bench, name: str) -> tuple[Status, str]:
    """The criterion, from runs with the flag not set and with it off."""
    runs = {
        "default": bench.runs(name, *TALK),
        "off": bench.runs(name, *TALK, setting="off"),
    }
    verdict = decide(bench.measured(name, runs), criterion("4/flag-is-gone"))  # type: ignore[arg-type]
    return verdict.status, message(verdict, 4)


def test_a_flag_that_changes_nothing_is_gone(bench: Bench) -> None:
    assert flag_gone(bench, "MIGRATED") == (Status.HELD, "")


def test_a_flag_that_still_leads_to_the_old_path_is_not(bench: Bench) -> None:
    status, message = flag_gone(bench, "ANTHROPIC")
    assert status is Status.VIOLATED
    assert "with TURNPROOF_SESSION_OWNED_HISTORY=0: tools/one/stateless/stream: The session calls" in message


def test_a_flag_that_only_changes_what_is_sent_is_not_gone_either(bench: Bench) -> None:
    status, message = flag_gone(bench, "READS_FLAG")
    assert status is Status.VIOLATED
    assert (
        "with TURNPROOF_SESSION_OWNED_HISTORY=0: tools/one/stateless/stream: The flag still changes something:"
        in message
    )


# -- what a session uses of its provider -------------------------------------------------------------------------------

SITUATIONS = [
    ("5/budget-asks-no-provider", TALK, "BUDGET_ASKS", "provider.count_tokens() is called during context"),
    ("5/save-asks-no-provider", SAVE, "SAVE_ASKS", "provider.count_tokens() is called during save"),
    ("5/save-asks-no-provider", SAVE, "SAVE_LOOKS_INSIDE", "provider._client, a private field, is used during save"),
    ("5/cancel-asks-no-provider", CANCEL, "CANCEL_NOTES", "provider.note is set during turn"),
    ("5/overflow-asks-no-provider", OVERFLOW, "OVERFLOW_ASKS", "provider.count_tokens() is called during turn"),
    ("5/collection-replaces-the-list", COLLECT, "COLLECTION_ASKS", "provider.count_tokens() is called during gc"),
    ("5/restore-replaces-the-list", SAVE, "RESTORE_ASKS", "provider.count_tokens() is called during restore"),
]


@pytest.mark.parametrize(("id", "expected", "name", "says"), SITUATIONS)
def test_what_a_session_uses_of_its_provider_is_seen_where_it_happens(
    bench: Bench, id: str, expected: tuple[str, ...], name: str, says: str
) -> None:
    assert bench.decided(id, "MIGRATED", *expected).status is Status.HELD
    assert bench.decided(id, name, *expected).left == (says,)


@pytest.mark.parametrize(
    ("name", "other"),
    [
        ("SAVE_ASKS", "5/restore-replaces-the-list"),
        ("RESTORE_ASKS", "5/save-asks-no-provider"),
        ("CANCEL_NOTES", "5/budget-asks-no-provider"),
        ("OVERFLOW_ASKS", "5/budget-asks-no-provider"),
    ],
)
def test_and_nowhere_else(bench: Bench, name: str, other: str) -> None:
    assert bench.decided(other, name, *SAVE, *CANCEL, *OVERFLOW).status is Status.HELD


@pytest.mark.parametrize(("id", "expected", "_name", "_says"), SITUATIONS)
def test_without_the_situation_or_a_provider_to_be_seen_it_is_undecided(
    bench: Bench, id: str, expected: tuple[str, ...], _name: str, _says: str
) -> None:
    if id != "5/budget-asks-no-provider":
        assert "There was nothing to see. expected a run with" in message(
            bench.decided(id, "MIGRATED", "basics/plain"), 5
        )
    hidden = bench.decided(id, "HIDES_ITS_OWN", *TALK)
    assert hidden.status is Status.INCONCLUSIVE


def test_a_session_that_shows_the_provider_that_it_opened_itself_is_seen(bench: Bench) -> None:
    found = bench.decided("5/budget-asks-no-provider", "SHOWS_ITS_OWN", *TALK)
    assert found.status is Status.HELD


def test_a_second_list_shows_in_the_next_request(bench: Bench) -> None:
    id = "5/next-request-is-what-is-held"
    assert bench.decided(id, "MIGRATED", *COLLECT, *SAVE).status is Status.HELD
    found = bench.decided(id, "TWO_LISTS", *COLLECT, *SAVE)
    assert found.status is Status.VIOLATED


# -- the cache plugin --------------------------------------------------------------------------------------------------

CACHE = ("cache/growth",)


def test_a_plugin_that_only_the_session_holds_is_open(bench: Bench) -> None:
    found = bench.decided("5/session-alone-holds-the-cache-plugin", "ONE_PATH", *CACHE)
    assert found.compared == ("commands.gates.migrated.OnePath", "looks at providers ×1")


def test_a_provider_that_can_be_given_a_plugin_is_closed_with_the_line(bench: Bench) -> None:
    found = bench.decided("5/session-alone-holds-the-cache-plugin", "STILL_TAKES_PLUGIN", *CACHE)
    assert found.left == ("turnproof_adapters.anthropic.stateless.AnthropicStateless.set_cache_plugin()",)
    (spot,) = found.spots
    assert "def set_cache_plugin" in Path(spot.file).read_text("utf-8").splitlines()[spot.line - 1]


def test_a_provider_that_was_handed_the_plugin_on_the_quiet_is_closed_with_the_place(bench: Bench) -> None:
    found = bench.decided("5/session-alone-holds-the-cache-plugin", "HOLDS_PLUGIN", *CACHE)
    assert found.left == ("commands.gates.migrated.OnePath.helper is the session's cache plugin",)


def test_a_provider_that_cannot_be_seen_may_hold_anything(bench: Bench) -> None:
    found = bench.decided("5/session-alone-holds-the-cache-plugin", "HIDES_ITS_OWN", *TALK)
    assert found.status is Status.INCONCLUSIVE


# -- the session's source ----------------------------------------------------------------------------------------------


class OldSession:
    """Calls what its provider has no more."""

    def __init__(self, provider: object) -> None:
        self.provider = provider

    def save(self) -> object:
        return self.provider.get_history()  # type: ignore[attr-defined]

    def size(self) -> int:
        return len(self.provider._history)  # type: ignore[attr-defined]


class NewSession:
    """Has its own list."""

    def __init__(self, provider: object) -> None:
        self.provider, self.messages = provider, list[object]()

    def say(self, text: str) -> object:
        self.messages.append(text)
        return self.provider.complete(self.messages)  # type: ignore[attr-defined]


def test_the_sessions_source_may_call_complete_and_nothing_of_the_old(bench: Bench) -> None:
    id = "5/no-provider-in-the-sessions-source"
    source = Source("commands.gates.test_one_path:NewSession")
    assert bench.decided(id, "MIGRATED", "basics/plain", session_class=source).status is Status.HELD
    old = bench.decided(id, "MIGRATED", "basics/plain", session_class=Source("commands.gates.test_one_path:OldSession"))
    assert old.left == ("OldSession.save() calls get_history()", "OldSession.size() uses _history")
    assert bench.decided(id, "MIGRATED", "basics/plain").status is Status.NOT_CLAIMED
