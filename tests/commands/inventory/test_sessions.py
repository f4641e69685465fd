"""What sessions use of their provider."""

from __future__ import annotations

import pytest
from foreign_framework.providers import Stateless, TokenMeter
from foreign_framework.sessions import Synchronises

from turnproof.commands.inventory import take_inventory

from .kit import Take

LEGACY = """
    class Session:
        def __init__(self, backend, tools):
            self._backend = backend
            self._tools = tools

        def send(self, text):
            answer = self._backend.send_message(text)
            while answer.calls:
                answer = self._backend.send_tool_results(run(answer.calls))
            return answer

        def collect(self):
            kept = self._backend.get_history()[-4:]
            self._reset(kept)

        def _reset(self, history):
            self._backend.create_session(None, self._tools, history)

        def size(self):
            return sum(len(m.text) for m in self._backend._history)

        def name(self):
            return self._backend.model_name

        def get_history(self):
            return self._backend.get_history()
"""


def test_a_session_is_known_by_what_it_calls(take: Take) -> None:
    facts = take(LEGACY, "Session")
    assert facts.inventory.is_session
    assert facts.inventory.legacy == ()
    assert facts.does("send") == {"provider-call send_message()", "provider-call send_tool_results()"}
    assert facts.does("collect") == {"provider-call get_history()", "provider-call create_session() via _reset()"}
    assert facts.does("size") == {"provider-private _history"}
    assert "name" not in facts.names


OWNER = """
        class Session:
            def __init__(self, provider):
                self._provider = provider
                self._history = []

            def send(self, text):
                self._history.append(text)
                return self._provider.complete(self._history)
"""
"""A session that owns its history, less what else it can do."""


def test_what_is_left_of_a_session_are_legacy_calls_and_private_attributes(take: Take) -> None:
    facts = take(
        OWNER
        + """
            def count(self):
                return self._provider.count_tokens(self._history)

            def tidy(self):
                self._provider._forget()
        """,
        "Session",
    )
    assert facts.does("send") >= {"provider-call complete()", "writes _history"}
    assert facts.does("count") >= {"provider-call count_tokens()"}
    assert [(use.name, [touch.what for touch in use.touches]) for use in facts.inventory.left] == [
        ("tidy", ["_forget"])
    ]


def test_a_session_that_owns_its_history_has_nothing_left(take: Take) -> None:
    facts = take(
        OWNER
        + """
            def reset(self):
                self._history = []
        """,
        "Session",
    )
    assert facts.does("reset") == {"writes _history"}
    assert facts.inventory.is_session
    assert facts.inventory.left == ()


USES = {
    "attribute": ("self.provider._history", "provider-private _history"),
    "by-name": ('getattr(self.provider, "_history", [])', "provider-private _history"),
    "set-by-name": ('setattr(self.provider, "_history", [])', "provider-private _history"),
    "assigned": ("self.provider._cache = None", "provider-private _cache"),
    "deep": ("self.provider._history.pop()", "provider-private _history"),
    "method-by-name": ('getattr(self.provider, "get_history")()', "provider-call get_history()"),
    "alias": ("p = self.provider; p.get_history()", "provider-call get_history()"),
    "handed-on": ("helper(self.provider)", "provider-call create_session() via helper()"),
    "setting-the-plugin": ("self.provider.set_cache_plugin(1)", "provider-call set_cache_plugin()"),
}


@pytest.mark.parametrize(("statement", "does"), USES.values(), ids=USES)
def test_every_way_to_use_a_provider_is_found(statement: str, does: str, take: Take) -> None:
    facts = take(
        f"""
        def helper(provider):
            provider.create_session()

        class Session:
            def __init__(self, provider):
                self.provider = provider

            def act(self):
                {statement}
                return self.provider.complete([])
        """,
        "Session",
    )
    assert does in facts.does("act")


def test_a_provider_class_of_the_project_is_not_read_as_a_part_of_its_session(take: Take) -> None:
    facts = take(
        """
        class Anthropic:
            def create_session(self, system=None, tools=None, history=None):
                self._history = list(history or ())

            def send_message(self, message):
                self._history.append(message)

        class Session:
            def __init__(self):
                self.model = Anthropic()

            def send(self, text):
                self.model.send_message(text)

            def size(self):
                return len(self.model._history)
        """,
        "Session",
    )
    assert facts.does("send") == {"provider-call send_message()"}
    assert facts.does("size") == {"provider-private _history"}


def test_the_parts_of_a_session_are_followed(take: Take) -> None:
    facts = take(
        """
        class Port:
            def __init__(self, provider):
                self._provider = provider

            def begin(self, history):
                self._provider.create_session(history=history)

            def complete(self, text):
                return self._provider.send_message(text)

        class Session:
            def __init__(self, provider):
                self._port = Port(provider)

            def reset(self):
                self._port.begin([])

            def send(self, text):
                return self._port.complete(text)
        """,
        "Session",
    )
    assert facts.of("begin").owner == "Port"
    assert facts.does("reset") == {"provider-call create_session() via begin()"}
    assert facts.does("send") == {"provider-call send_message() via complete()"}


def test_a_name_that_is_one_of_several_counts_for_all_of_them(take: Take) -> None:
    facts = take(
        """
        class Session:
            def __init__(self, provider):
                self.provider = provider

            def send(self, text, stream):
                name = "send_message_streaming" if stream else "send_message"
                return getattr(self.provider, name)(text)
        """,
        "Session",
    )
    assert facts.does("send") == {"provider-call send_message()", "provider-call send_message_streaming()"}


def test_a_session_that_copies_from_its_provider_is_seen_and_a_helper_without_a_history_is_left_alone() -> None:
    """The framework of `tests/foreign_framework`."""
    copies = take_inventory(Synchronises)
    assert {"synchronise", "send", "replace"} <= {use.name for use in copies.methods}
    assert not take_inventory(TokenMeter).methods
    assert not take_inventory(Stateless).methods


def test_a_session_that_syncs_from_its_provider_by_way_of_a_helper_is_seen(take: Take) -> None:
    """The copy may stay; to make it from the provider's is what has to go."""
    facts = take(
        """
        def latest(source):
            return [dict(message) for message in source.get_history()]

        class Mirror:
            def __init__(self, provider):
                self._provider = provider
                self.messages = []

            def sync(self):
                self.messages[:] = latest(self._provider)

        class Session:
            def __init__(self, provider):
                self._provider = provider
                self._mirror = Mirror(provider)

            def send(self, text):
                answer = self._provider.send_message(text)
                self._mirror.sync()
                return answer

            def history(self):
                return list(self._mirror.messages)
        """,
        "Session",
    )
    assert facts.inventory.is_session
    assert facts.does("latest") == {"provider-call get_history()"}
    assert facts.does("sync") == {"writes Mirror.messages"}
    assert facts.does("send") == {"provider-call send_message()", "provider-call get_history() via sync()"}
    assert {use.name for use in facts.inventory.left} == {"latest", "send"}


def test_helpers_of_a_session_that_are_handed_its_messages_and_keep_none_are_left_alone(take: Take) -> None:
    source = """
        class Meter:
            def __init__(self, client):
                self.client = client
                self.tokens = 0
                self.calls = []

            def measure(self, messages):
                self.calls.append(len(messages))
                self.tokens = self.client.count(messages=[m["content"] for m in messages])

        class Titles:
            def __init__(self, provider):
                self._provider = provider
                self.title = ""

            def name(self, messages):
                self.title = self._provider.complete(messages[:1]).text

        class Session:
            def __init__(self, provider, client):
                self._provider = provider
                self._history = []
                self._meter = Meter(client)
                self._titles = Titles(provider)

            def send(self, text):
                self._history.append(text)
                self._meter.measure(self._history)
                self._titles.name(self._history)
                return self._provider.complete(self._history)
    """
    facts = take(source, "Session")
    assert facts.inventory.is_session
    assert facts.inventory.left == ()
    assert facts.inventory.problems == ()
    assert facts.places == {"_history"}
    for helper in ("Meter", "Titles"):
        assert take(source, helper).inventory.left == ()
