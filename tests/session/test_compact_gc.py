"""A session whose history the service makes shorter, over HTTP: by a request of its own, and within an answer."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pytest
from adapters.contract.chains import GOOGLE, OPENAI, request_texts
from dialects.answers import reply
from dialects.responders import ScriptedAnswer

from turnproof.cancel import CancelToken
from turnproof.dialects import openai_responses
from turnproof.dialects.base import Call, PromptUsage, Rendered, Reply
from turnproof.errors import Cancelled, InvalidRequestError, NoCompactionError, ProviderError, UsageError
from turnproof.gc import CompactGC, GCConfig
from turnproof.messages import Message, Opaque, Text
from turnproof.session import RetryPolicy, Session
from turnproof.wire.emulator import EmulatorServer, Exchange, ServerRun
from turnproof_adapters.openai_responses.at_openai.stateless import OpenAIResponsesStateless
from turnproof_adapters.openai_responses.compaction import read_messages

from .fakes import PATHS, FakeStateless

TYPES = {"stateless": OpenAIResponsesStateless, "legacy": OPENAI.provider}
LONG = "word " * 400


class Sized(ScriptedAnswer):
    """Answers with the tokens that the test says a prompt has."""

    prompt = 31

    async def answer(self, run: ServerRun, exchange: Exchange, call: Call) -> Rendered:
        if call.operation == "generate" and isinstance(self.reply, Reply):
            return run.dialect.render(call, self.reply, PromptUsage(self.prompt), run.world, f"s{exchange.number}")
        return await super().answer(run, exchange, call)


class Compacted:
    """A session at a running service."""

    def __init__(self, server: EmulatorServer, path: Any, collector: CompactGC, **config: Any) -> None:
        self.responder = Sized()
        self.run = server.open_run(openai_responses.DIALECT, self.responder, any_key=True)
        self.provider: Any = TYPES[path]()
        self.provider.initialize({"api_key": "key", "base_url": self.run.base_url})
        self.provider.connect("gpt-5.5")
        self.config = GCConfig(**{"keep_turns": 1, **config})
        self.session = Session(
            self.provider, path=path, gc=collector, gc_config=self.config, retry=RetryPolicy(attempts=1)
        )

    def say(self, text: str) -> None:
        """A turn with a long answer, so that something can be saved."""
        self.responder.reply = reply(Text(f"{text}? {LONG}"))
        self.session.send(text)

    def bodies(self, operation: str = "generate") -> list[Any]:
        """The bodies of all requests of a kind, each of which the service took without a complaint."""
        assert [list(one.findings) for one in self.run.exchanges] == [[]] * len(self.run.exchanges)
        calls = [exchange.call for exchange in self.run.exchanges]
        return [call.body for call in calls if call is not None and call.operation == operation]

    def shape(self) -> list[str]:
        """The history in words: what the user said, `item` for the service's, `answer` for others."""
        return [self._word(message) for message in self.session.history.messages]

    def _word(self, message: Message) -> str:
        words = ["item" if isinstance(part, Opaque) else "answer" for part in message.parts]
        return message.text if message.role == "user" else " ".join(words)


@pytest.fixture(params=PATHS)
def compacted(server: EmulatorServer, request: pytest.FixtureRequest) -> Iterator[Callable[..., Compacted]]:
    talks: list[Compacted] = []

    def open_one(collector: CompactGC | None = None, **config: Any) -> Compacted:
        talks.append(Compacted(server, request.param, collector or CompactGC(), **config))
        return talks[-1]

    yield open_one
    for one in talks:
        one.provider.shutdown()


def kinds(body: Any) -> list[str]:
    """The types of the items in a request, those of messages by their role."""
    return [item.get("role") or item["type"] for item in body["input"]]


def test_the_service_makes_of_older_turns_what_is_sent_in_their_place(compacted: Callable[..., Compacted]) -> None:
    talk = compacted()
    for text in ("One", "Two", "Three"):
        talk.say(text)
    before = talk.session.history.messages
    result = talk.session.collect()
    assert (result.error, result.changed) == (None, True)
    assert talk.shape() == ["One", "Two", "item", "Three", "answer"]
    assert [message in before for message in talk.session.history.messages] == [True, True, False, True, True]
    assert result.removed_ids == (before[1].message_id, before[3].message_id)
    assert [message.role for message in result.added] == ["model"]
    assert result.tokens_freed > 0
    (request_body,) = talk.bodies("stored")
    assert kinds(request_body) == ["user", "assistant", "user", "assistant"]
    talk.say("Four")
    body = talk.bodies()[-1]
    assert "previous_response_id" not in body
    assert kinds(body) == ["user", "user", "compaction", "user", "assistant", "user"]
    (item,) = [item for item in body["input"] if item["type"] == "compaction"]
    assert item["encrypted_content"]


def test_what_the_service_made_is_made_shorter_again(compacted: Callable[..., Compacted]) -> None:
    talk = compacted()
    for text in ("One", "Two"):
        talk.say(text)
    assert talk.session.collect().changed
    for text in ("Three", "Four"):
        talk.say(text)
    assert talk.session.collect().changed
    assert talk.shape() == ["One", "Two", "Three", "item", "Four", "answer"]
    assert kinds(talk.bodies("stored")[-1])[:2] == ["user", "compaction"]
    assert not talk.session.collect().changed
    talk.say("Five")
    assert kinds(talk.bodies()[-1]).count("compaction") == 1


def test_where_there_is_nothing_to_compact_nobody_is_asked(compacted: Callable[..., Compacted]) -> None:
    talk = compacted()
    assert not talk.session.collect().changed
    talk.say("One")
    assert not talk.session.collect().changed
    assert talk.shape() == ["One", "answer"]
    assert talk.bodies("stored") == []


def test_it_happens_by_itself_when_the_context_is_full(compacted: Callable[..., Compacted]) -> None:
    talk = compacted(context_limit=2000, target=0.4)
    talk.responder.prompt = 1800
    for text in ("One", "Two"):
        talk.say(text)
    assert len(talk.bodies("stored")) == 1
    assert talk.shape() == ["One", "item", "Two", "answer"]


def test_a_saved_session_has_the_item_and_sends_it(compacted: Callable[..., Compacted]) -> None:
    talk = compacted()
    for text in ("One", "Two"):
        talk.say(text)
    talk.session.collect()
    saved = talk.session.save()
    talk.session.clear()
    talk.session.restore(saved)
    assert talk.shape() == ["One", "item", "Two", "answer"]
    talk.say("Three")
    assert kinds(talk.bodies()[-1]) == ["user", "compaction", "user", "assistant", "user"]


def test_an_answer_in_which_the_service_did_it_stands_for_all_before_it(compacted: Callable[..., Compacted]) -> None:
    talk = compacted(CompactGC(within_answers=500))
    talk.say("One")
    assert talk.shape() == ["One", "answer"]
    talk.responder.prompt = 501
    talk.say("Two")
    assert talk.bodies()[-1]["context_management"] == [{"type": "compaction", "compact_threshold": 500}]
    assert talk.shape() == ["Two", "item answer"]
    assert talk.bodies("stored") == []
    talk.responder.prompt = 100
    talk.say("Three")
    assert kinds(talk.bodies()[-1]) == ["user", "compaction", "assistant", "user"]
    assert talk.shape() == ["Two", "item answer", "Three", "answer"]


@pytest.mark.parametrize("case", ["not now", "no item"])
def test_what_goes_wrong_at_the_service_leaves_the_history_whole(
    compacted: Callable[..., Compacted], monkeypatch: pytest.MonkeyPatch, case: str
) -> None:
    talk = compacted()
    for words in ("One", "Two"):
        talk.say(words)
    before = talk.session.history.messages
    monkeypatch.setattr(type(talk.provider), "compact", fails if case == "not now" else returns_no_item)
    result = talk.session.collect()
    assert result.error is not None
    assert ("ProviderError: not now" if case == "not now" else "returned no compaction") in result.error
    assert talk.session.history.messages == before


def fails(provider: object, messages: Sequence[Message], **options: Any) -> list[Message]:
    raise ProviderError("not now")


def returns_no_item(provider: object, messages: Sequence[Message], **options: Any) -> list[Message]:
    return list(messages)


def test_a_refusal_of_the_service_is_typed_and_a_cancel_is_one(compacted: Callable[..., Compacted]) -> None:
    talk = compacted()
    talk.say("One")
    with pytest.raises(InvalidRequestError):
        talk.provider.compact([Message("user", ())])
    token = CancelToken()
    token.cancel()
    with pytest.raises(Cancelled):
        talk.provider.compact(talk.session.history.messages, cancel_token=token)


def test_a_message_that_the_service_wrote_itself_is_sent_as_it_came() -> None:
    sent = [Message.user("One"), Message.model("Yes."), Message.user("Two")]
    image = {"type": "input_image", "image_url": "data:image/png;base64,"}
    messages = read_messages(
        [
            {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "In short"}, image]},
            {"type": "message", "role": "user", "content": "Two"},
            {"type": "compaction", "encrypted_content": "x"},
        ],
        sent,
    )
    assert messages[1] is sent[2]
    assert messages[0].parts == (Text("In short"), Opaque("openai-responses", "input_image", image))
    assert messages[2].role == "model"


# Where there is no such service


@pytest.mark.parametrize("provider", [FakeStateless, GOOGLE.provider])
def test_a_provider_whose_service_has_none_is_refused_with_a_typed_error(provider: Any) -> None:
    path: Any = "stateless" if provider is FakeStateless else "legacy"
    with pytest.raises(NoCompactionError, match=r"has no compact\(\)"):
        Session(provider(), path=path, gc=CompactGC())


def test_a_swap_to_one_is_refused_and_changes_nothing(compacted: Callable[..., Compacted]) -> None:
    talk = compacted()
    talk.say("One")
    with pytest.raises(NoCompactionError):
        talk.session.swap(FakeStateless(), path="stateless")
    assert talk.session.provider is talk.provider
    talk.say("Two")
    assert talk.session.collect().changed


def test_a_collector_without_a_session_has_nobody_to_ask() -> None:
    result = CompactGC().collect([Message.user("One"), Message.model("Yes.")])
    assert result.error == "no provider was given: a session gives its own, others call for_provider()"


def test_a_threshold_is_a_number_of_tokens() -> None:
    with pytest.raises(UsageError, match="within_answers is a number of tokens, got 0"):
        CompactGC(within_answers=0)


def test_the_last_request_has_what_the_session_holds(compacted: Callable[..., Compacted]) -> None:
    talk = compacted()
    for text in ("One", "Two", "Three"):
        talk.say(text)
    talk.session.collect()
    talk.say("Four")
    assert [words for words in request_texts(talk.bodies()[-1]) if "?" not in words] == ["One", "Two", "Three", "Four"]
