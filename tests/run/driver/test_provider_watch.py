"""What is seen of a provider: what a session uses of it, and what it holds."""

from __future__ import annotations

import types
from collections import deque
from functools import partial
from typing import Any
from weakref import WeakKeyDictionary

import pytest

from turnproof.messages import Message
from turnproof.provider import RETAINED, Binding, Capabilities, Endpoint
from turnproof.run.driver.provider_surface import legacy_methods, owns_history, refusal
from turnproof.run.driver.provider_watch import ProviderWatch, StandIn, holding, real_provider
from turnproof.run.driver.recorder import Recorder
from turnproof.run.driver.references import reached
from turnproof.run.driver.retention import ask

ENDPOINT = Endpoint("http://127.0.0.1:1", "key", "the-model")
BINDING = Binding(name="mine", dialect="anthropic-messages", model="the-model", capabilities=Capabilities())


class Provider:
    """Has a bit of everything."""

    name = "mine"

    def __init__(self) -> None:
        self._client = object()

    def complete(self, messages: list[Message], system: Any = None, tools: Any = None, **options: Any) -> str:
        return f"{len(messages)} messages"

    def _secret(self) -> str:
        return "s"


# -- the stand-in ------------------------------------------------------------------------------------------------------


@pytest.fixture
def watched() -> tuple[Any, list[tuple[str, str]]]:
    """A stand-in for a provider, and what it was told of."""
    uses: list[tuple[str, str]] = []
    return StandIn(Provider(), lambda name, how: uses.append((name, how))), uses


def test_a_stand_in_passes_everything_on_and_tells_what_was_used(watched: Any) -> None:
    provider, uses = watched
    assert provider.complete([Message.user("a")]) == "1 messages"
    assert provider.name == "mine"
    provider.note = "x"
    assert real_provider(provider).note == "x"
    assert uses == [("complete", "called"), ("name", "read"), ("note", "written")]


def test_a_method_that_is_only_looked_up_was_not_called_unless_it_is_private(watched: Any) -> None:
    provider, uses = watched
    method = provider.complete
    assert uses == []
    assert method([]) == "0 messages"
    assert provider._secret() == "s"
    assert uses == [("complete", "called"), ("_secret", "read"), ("_secret", "called")]


def test_it_looks_like_what_it_stands_for(watched: Any) -> None:
    provider, uses = watched
    assert isinstance(provider, Provider)
    assert "complete" in dir(provider)
    assert not hasattr(provider, "get_history")
    with pytest.raises(AttributeError):
        getattr(provider, "no_such")  # noqa: B009
    assert uses == []


def test_what_is_watched_already_is_not_watched_twice() -> None:
    watcher = ProviderWatch(Recorder.__new__(Recorder))
    provider = StandIn(Provider(), lambda name, how: None)
    assert watcher.hand_over(provider) is provider


# -- what can be reached -----------------------------------------------------------------------------------------------


def places(root: object, value: object) -> list[str]:
    return [one.place for one in reached(root) if one.value is value]


class Slotted:
    __slots__ = ("value",)

    def __init__(self, value: object) -> None:
        self.value = value

    def look(self) -> object:
        return self.value


def closure(value: object) -> Any:
    return lambda: value


@pytest.mark.parametrize(
    ("wrapped", "place"),
    [
        (lambda value: value, ".x"),
        (lambda value: [1, value], ".x[1]"),
        (lambda value: {"key": (value,)}, ".x['key'][0]"),
        (lambda value: {value: 1}, ".x[key]"),
        (lambda value: deque([value]), ".x[0]"),
        (lambda value: Slotted(value), ".x.value"),
        (lambda value: types.SimpleNamespace(a=value), ".x.a"),
        (closure, ".x()"),
        (lambda value: partial(print, value), ".x"),
        (lambda value: Slotted(value).look, ".x"),
        (lambda value: (item for item in [value]), ".x"),
        (lambda value: [value].append, ".x"),
    ],
)
def test_whatever_holds_an_object_strongly_is_found_with_its_place(wrapped: Any, place: str) -> None:
    root, message = types.SimpleNamespace(), Message.user("hello")
    root.x = wrapped(message)
    found = places(root, message)
    assert found
    assert found[0].startswith(place)


def test_what_is_held_weakly_or_by_others_is_not() -> None:
    message = Message.user("hello")
    memo: WeakKeyDictionary[Message, int] = WeakKeyDictionary({message: 1})
    root = types.SimpleNamespace(memo=memo, module=types, cls=Provider, logger=__import__("logging").getLogger())
    assert places(root, message) == []


def test_a_look_ends() -> None:
    endless: list[Any] = []
    endless.append(endless)
    assert len(list(reached(endless))) == 0
    assert len(list(reached([[n] for n in range(1000)], most=100))) == 100


def test_words_are_found_where_they_stand() -> None:
    provider = types.SimpleNamespace(last=b'{"text":"How dry is bed 3?"}', note="nothing")
    found = holding(provider, "call", (), texts=["How dry is bed 3?"])
    assert found.messages == (".last",)
    assert found.whole


# -- what a provider looks like ----------------------------------------------------------------------------------------


class Chat:
    """As SDKs have them: two of the names, and no provider."""

    def send_message(self) -> None: ...

    def get_history(self) -> None: ...


class Old(Chat):
    def create_session(self) -> None: ...


def test_an_object_that_nobody_named_owns_a_history_by_three_of_the_names() -> None:
    assert not owns_history(Chat())
    assert owns_history(Old())
    assert legacy_methods(Old()) == ("create_session", "get_history", "send_message")


@pytest.mark.parametrize(
    ("complete", "signature", "fits"),
    [
        (Provider().complete, "full", True),
        (lambda messages, system, tools: None, "full", False),
        (lambda *a, **k: None, "full", True),
        (lambda a, b, c, d, e, f, g, h: None, "short", True),
        (lambda a, b, c: None, "short", False),
        (print, "full", False),
    ],
)
def test_complete_can_be_called_in_the_form_that_the_binding_says(complete: Any, signature: Any, fits: bool) -> None:
    binding = Binding("mine", "anthropic-messages", "m", Capabilities(), signature=signature)
    assert (refusal(complete, binding) == "") is fits


# -- what stays --------------------------------------------------------------------------------------------------------


class Foreign:
    """A provider with ways of its own."""

    def __init__(self) -> None:
        self.agent_types: list[str] = []

    def initialize(self, config: Any, region: str) -> None: ...

    def connect(self, model: str) -> None:
        self.model_name = model.upper()

    async def verify_auth(self) -> bool:
        return True

    def count_tokens(self, content: str) -> int:
        return len(content)

    def set_agent_context(self, agent_type: str, agent_id: str = "main") -> None:
        self.agent_types.append(agent_type)

    def classify_error(self, error: BaseException) -> None: ...

    def get_retry_after(self, error: BaseException) -> str:
        return "soon"

    def shutdown(self) -> None:
        raise RuntimeError("the history is gone")


def ask_foreign(binding: Binding = BINDING) -> dict[str, tuple[str, str]]:
    return {one.what: (one.outcome, one.said) for one in ask(Foreign(), binding, ENDPOINT)}


def test_everything_that_stays_is_asked_in_its_order() -> None:
    assert tuple(ask_foreign()) == RETAINED


@pytest.mark.parametrize(
    ("what", "outcome", "says"),
    [
        ("initialize", "unknown", "say how in the binding's `retained`"),
        ("connect", "fails", "model_name is 'THE-MODEL' afterwards"),
        ("verify_auth", "works", ""),
        ("count_tokens", "works", ""),
        ("agent context", "works", ""),
        ("serialisers", "none", "it has no serialize_history(), deserialize_history()"),
        ("error classification", "fails", "get_retry_after() returned 'soon'"),
        ("shutdown", "fails", "it raised RuntimeError: the history is gone"),
    ],
)
def test_what_came_of_it_is_told(what: str, outcome: str, says: str) -> None:
    found = ask_foreign()[what]
    assert found[0] == outcome
    assert says in found[1]


def test_a_binding_may_say_how_something_is_called_and_that_it_does_not_work() -> None:
    from dataclasses import replace

    binding = replace(BINDING, retained={"shutdown": lambda provider: None, "usage": lambda provider: False})
    found = ask_foreign(binding)
    assert found["shutdown"] == ("works", "")
    assert found["usage"][0] == "fails"


# -- a provider behind what a binding opens ----------------------------------------------------------------------------


class Own:
    """A framework's provider, which takes messages of its own."""

    def complete(self, chat: list[dict[str, str]]) -> str:
        return chat[-1]["text"]

    def count_tokens(self, chat: list[dict[str, str]]) -> int:
        return sum(len(one["text"]) for one in chat)

    def get_context_limit(self) -> int:
        return 1000

    def classify_error(self, error: BaseException) -> str:
        return "transient"

    def shutdown(self) -> None:
        raise RuntimeError("it cannot be closed")


class InFront:
    """Translates for it, and does nothing else."""

    def __init__(self) -> None:
        self.session_id = "s1"
        self._provider = Own()

    def complete(self, messages: list[Message], system: Any = None, tools: Any = None, **options: Any) -> str:
        return self._provider.complete([{"text": one.text} for one in messages])


@pytest.mark.parametrize(
    ("what", "outcome", "says"),
    [
        ("context limit", "works", ""),
        ("count_tokens", "unknown", "count_tokens() is called in a way of its own"),
        ("error classification", "works", "it has no get_retry_after()"),
        ("shutdown", "fails", "it raised RuntimeError: it cannot be closed"),
        ("thinking", "none", "it has no set_thinking_config()"),
    ],
)
def test_what_the_object_in_front_lacks_is_asked_of_the_provider_behind_it(what: str, outcome: str, says: str) -> None:
    found = next(one for one in ask(InFront(), BINDING, ENDPOINT) if one.what == what)
    assert (found.outcome, says in found.said) == (outcome, True)


def test_a_way_to_call_it_in_the_binding_is_given_what_the_binding_opened() -> None:
    from dataclasses import replace

    binding = replace(BINDING, retained={"count_tokens": lambda front: front._provider.count_tokens([{"text": "a"}])})
    found = {one.what: one.outcome for one in ask(InFront(), binding, ENDPOINT)}
    assert found["count_tokens"] == "works"


def test_a_client_of_an_sdk_is_no_provider_behind_it() -> None:
    class Client:
        def shutdown(self) -> None:
            raise RuntimeError("not asked")

    front = InFront()
    front._provider = Client()  # type: ignore[assignment]
    assert {one.outcome for one in ask(front, BINDING, ENDPOINT)} == {"none"}
