"""What agents share: JSON that nobody changes behind another's back, set and read from any thread."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from turnproof.cancel import CancelToken
from turnproof.errors import PayloadError, UsageError
from turnproof.session.agents import SharedState, SharedValue, shared_state_tools

from ..fakes import reply
from .kit import Minds, calls, in_thread, over, results, spawn, team_of


def test_a_value_is_read_as_it_was_set_last_with_its_version() -> None:
    state = SharedState()
    assert state.set("beds", {"dry": [3]}) == 1
    assert state.set("beds", None) == 2
    assert state.get("beds") == SharedValue(None, 2)
    assert state.set("pots", 7) == 1
    assert state.versions() == {"beds": 2, "pots": 1}


def test_a_value_is_not_changed_through_what_was_set_or_read() -> None:
    state, value = SharedState(), {"dry": [3]}
    state.set("beds", value)
    value["dry"].append(4)
    read: Any = state.get("beds").value
    assert read == {"dry": [3]}
    with pytest.raises(TypeError):
        read["dry"].append(5)


def test_a_key_that_was_never_set_is_an_error_with_a_hint() -> None:
    state = SharedState()
    state.set("moisture", 1)
    with pytest.raises(UsageError, match="nothing is shared under 'moistre'; did you mean 'moisture'"):
        state.get("moistre")


def test_a_value_is_set_only_over_the_version_that_was_named() -> None:
    state = SharedState()
    assert state.set("pots", 1, version=0) == 1
    with pytest.raises(UsageError, match="'pots' is at version 1 by now, not 0: read it again"):
        state.set("pots", 2, version=0)
    assert state.get("pots") == SharedValue(1, 1)
    assert state.set("pots", 2, version=1) == 2


def test_counting_in_many_threads_loses_nothing() -> None:
    state, start = SharedState(), threading.Barrier(8)
    state.set("count", 0)

    def count() -> None:
        start.wait()
        done = 0
        while done < 25:
            found = state.get("count")
            assert isinstance(found.value, int)
            try:
                state.set("count", found.value + 1, version=found.version)
            except UsageError:
                continue
            done += 1

    for thread in [in_thread(count) for _ in range(8)]:
        over(thread)
    assert state.get("count") == SharedValue(200, 201)


def test_what_is_too_large_is_refused_and_what_replaces_a_value_counts_instead_of_it() -> None:
    state = SharedState(max_bytes=20)
    state.set("a", "x" * 10)
    with pytest.raises(UsageError, match="'b' takes 13 bytes, so that 26 would be shared; the limit is 20"):
        state.set("b", "y" * 10)
    state.set("a", "z" * 15)
    assert state.versions() == {"a": 2}


def test_what_is_not_json_is_refused_with_its_path() -> None:
    with pytest.raises(PayloadError, match=r"\$\.when"):
        SharedState().set("a", {"when": object()})


def test_a_model_reads_sets_and_lists() -> None:
    get, put, listed = (tool.run for tool in shared_state_tools(SharedState()))
    token = CancelToken()
    assert put({"key": "a", "value": [1]}, token) == {"version": 1}
    assert put({"key": "a", "value": 2, "version": 1}, token) == {"version": 2}
    assert get({"key": "a"}, token) == {"value": 2, "version": 2}
    assert listed({}, token) == {"a": 2}
    with pytest.raises(UsageError, match="set_shared_state do not fit"):
        put({"key": "", "value": 1}, token)


def test_what_one_agent_sets_another_reads() -> None:
    minds = Minds(
        lead=[calls(spawn("a")), calls(("get_shared_state", {"key": "dry"})), reply("Bed 3.")],
        a=[calls(("set_shared_state", {"key": "dry", "value": [3]})), reply("It is there.")],
    )
    state = SharedState()
    with team_of(minds, shared=state) as team:
        team.send("lead")
        assert results(team) == [{"value": [3], "version": 1}]
    assert state.versions() == {"dry": 1}


def test_agents_that_share_nothing_are_offered_no_tools_for_it() -> None:
    with team_of(Minds(lead=[reply("Hi.")])) as team:
        assert not [tool for tool in team.lead.session.tools if "shared" in tool.schema.name]
