"""The stateless path remembers how it encoded messages: a turn costs what is new in it, and nothing is kept alive."""

from __future__ import annotations

import gc
import itertools
import json
import random
import threading
import weakref
from collections.abc import Sequence
from functools import reduce
from operator import getitem
from typing import Any

import pytest

from turnproof.messages import Message, ToolSchema, dump_messages
from turnproof_adapters._encoded_messages import Encoder

from ..anthropic import histories as anthropic_histories
from ..callback_recorder import CallbackRecorder
from ..google_genai import histories as gemini_histories
from ..histories import ordinary
from ..openai import histories as openai_histories
from .adapter_kit import HI, AdapterKit, RequestRecorder
from .subjects import KITS
from .wire_parts import text

pytestmark = [
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.parametrize("kit", KITS, ids=lambda kit: kit.name),
]
TOOLS = [ToolSchema("plain"), ToolSchema("mcp.read"), ToolSchema("mcp:read")]


RANDOM_CONVERSATIONS = {
    "anthropic": anthropic_histories.arbitrary,
    "google_genai": gemini_histories.arbitrary,
    "openai": openai_histories.arbitrary,
}
FIRST = Message.user("hi")


class Client:
    """A provider of the stateless path whose requests are recorded."""

    def __init__(self, kit: AdapterKit) -> None:
        self.recorder = RequestRecorder(kit.answer(text("hi")), kit.stream(text("hi")))
        self.provider: Any = kit.open("stateless", "http://example.invalid", transport=self.recorder.transport)

    def body(self, messages: Sequence[Message]) -> bytes:
        self.provider.complete(messages, "rules", TOOLS)
        return bytes(self.recorder.requests[-1].content)


def test_a_turn_encodes_its_new_messages_and_no_others(kit: AdapterKit) -> None:
    """The counter is exact where a clock is not: this is what keeps the cost of a turn from growing."""
    client, history = Client(kit), [*ordinary(1000, "call_"), HI]
    client.body(history)
    for _ in range(5):
        before = client.provider.messages_encoded
        history += [Message.model("ok"), Message.user("and?")]
        client.body(history)
        assert client.provider.messages_encoded - before == 2


@pytest.mark.parametrize("seed", range(40))
def test_requests_in_any_order_are_those_of_fresh_objects(kit: AdapterKit, seed: int) -> None:
    """Whatever conversations hold that this API has a form for, in whatever order."""
    rng = random.Random(seed)
    random_conversation = RANDOM_CONVERSATIONS.get(kit.name)
    conversations = [ordinary(30, "call_")]
    if random_conversation is not None:
        conversations += [random_conversation(seed), random_conversation(seed + 1000)]
    requests = [[FIRST, *history[:end], HI] for history in conversations for end in range(1, len(history) + 1)]
    rng.shuffle(requests)
    client = Client(kit)
    for request in requests[:12]:
        assert client.body(request) == Client(kit).body(request)


def test_the_head_of_a_growing_conversation_keeps_its_bytes(kit: AdapterKit) -> None:
    """What the service's prompt cache needs: a later request begins like the one before."""
    client, history = Client(kit), ordinary(10, "call_")
    conversations: list[Any] = []
    for words in ("one", "two", "three"):
        history += [Message.user(words), Message.model(words)]
        conversations.append(reduce(getitem, kit.messages_place, json.loads(client.body(history[:-1]))))
    for earlier, later in itertools.pairwise(conversations):
        assert len(earlier) < len(later)
        assert json.dumps(later[: len(earlier)]) == json.dumps(earlier)


def test_dropping_what_is_kept_beside_messages_changes_no_byte(kit: AdapterKit) -> None:
    client, history = Client(kit), ordinary(21, "call_")
    before = client.body(history)
    client.provider.forget_encodings()
    assert client.body(history) == before
    assert client.provider.messages_encoded == 42


def test_messages_that_a_session_drops_are_freed_and_their_encodings_with_them(kit: AdapterKit) -> None:
    client, history = Client(kit), [*ordinary(41, "call_"), HI]
    encoder = client.provider._encoder
    client.body(history)
    dropped, rest = [weakref.ref(message) for message in history[:20]], history[20:]
    del history
    client.body(rest)
    gc.collect()
    assert [each() for each in dropped if each() is not None] == []
    assert len(encoder._rows) == len(rest)
    remembered = [weakref.ref(message) for message in rest]
    del rest
    gc.collect()
    assert [each() for each in remembered if each() is not None and each() is not HI] == []
    assert len(encoder._rows) == 1, "the question, which this module holds"


def test_only_so_many_conversations_are_remembered_beyond_their_messages(kit: AdapterKit) -> None:
    client = Client(kit)
    conversations = [[Message.user(f"conversation {n}")] for n in range(Encoder.BEGINNINGS + 5)]
    bodies = [client.body(each) for each in conversations]
    assert len(set(bodies)) == len(conversations)
    assert [client.body(each) for each in conversations] == bodies
    assert client.provider.messages_encoded == len(conversations)


def test_arguments_are_left_as_they_were(kit: AdapterKit) -> None:
    random_conversation = RANDOM_CONVERSATIONS.get(kit.name)
    histories = [ordinary(13, "call_"), *([[FIRST, *random_conversation(3), HI]] if random_conversation else [])]
    for history in histories:
        tools, before, identities = list(TOOLS), dump_messages(history), list(map(id, history))
        Client(kit).provider.complete(history, "rules", tools)
        assert dump_messages(history) == before
        assert list(map(id, history)) == identities
        assert tools == TOOLS


@pytest.mark.parametrize("streamed", [False, True], ids=["batch", "stream"])
def test_threads_do_not_mix_their_conversations(kit: AdapterKit, streamed: bool) -> None:
    """Many threads on one object, each with its own history: every request holds its own words and no other's."""
    client = Client(kit)
    client.recorder.is_streamed = lambda request: streamed  # type: ignore[method-assign]
    histories = [
        [Message.user(f"nonce-{n}-{m}") if m % 2 == 0 else Message.model("ok") for m in range(9)] for n in range(8)
    ]
    ends = (1, 3, 5, 7, 9)

    def talk(history: list[Message]) -> None:
        for end in ends:
            callbacks = CallbackRecorder().callbacks if streamed else {}
            client.provider.complete(history[:end], "rules", TOOLS, **callbacks)

    for history in histories:
        talk(history)
    expected = sorted(bytes(request.content) for request in client.recorder.requests)
    client.recorder.requests.clear()
    client.provider.forget_encodings()
    ready = threading.Barrier(len(histories))

    def talk_with_the_others(history: list[Message]) -> None:
        ready.wait()
        talk(history)

    threads = [threading.Thread(target=talk_with_the_others, args=(history,)) for history in histories]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(bytes(request.content) for request in client.recorder.requests) == expected
    assert len(set(expected)) == len(histories) * len(ends)


def test_a_call_within_a_call_sends_its_own_body(kit: AdapterKit) -> None:
    """A callback may ask another question: what is carried for the outer call does not leak into it, nor back."""
    client = Client(kit)
    client.recorder.is_streamed = lambda request: b"outer" in request.content  # type: ignore[method-assign]
    client.provider.complete([Message.user("outer")], on_chunk=lambda _: client.body([Message.user("inner")]))
    client.body([Message.user("after")])
    sent = [bytes(request.content) for request in client.recorder.requests]
    words = [b"outer", b"inner", b"after"]
    assert [[word in content for word in words] for content in sent] == [
        [word == own for word in words] for own in words
    ]
