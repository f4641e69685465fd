"""A session over a service that stores answers: what each operation leaves of the chain, under each policy.

Over HTTP, with both adapters that have a chain. The page has the table, and each of its cells is run.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from adapters.contract.chains import GOOGLE, LOOK, OPENAI, ChainKind, request_texts
from dialects.answers import reply
from dialects.responders import ScriptedService

from turnproof.cancel import CancelToken
from turnproof.chains import ChainedProvider, ChainPolicy, ChainState
from turnproof.errors import ChainLostError, InvalidRequestError, UsageError
from turnproof.messages import FinishReason, FunctionCall, Message, Text
from turnproof.session import RetryPolicy, Session, Tool
from turnproof.session.agents import ProviderSource, Runtime
from turnproof.wire.emulator import EmulatorServer

from .fakes import FakeLegacy

PAGE = Path(__file__).resolve().parents[2] / "docs" / "stored-conversations.md"
KINDS = pytest.mark.parametrize("kind", [OPENAI, GOOGLE], ids=["openai_responses", "google_interactions"])


class Stored:
    """A session whose conversation a running service keeps, after the turns "One" and "Two"."""

    def __init__(self, server: EmulatorServer, kind: ChainKind, policy: ChainPolicy) -> None:
        self.kind = kind
        self.policy = policy
        self.service = ScriptedService(server, kind.dialect)
        self.opened: list[Any] = []
        self.session = self.open()
        self.say("One")
        self.say("Two")
        self.head = self.state.head

    def provider(self) -> Any:
        """One more provider at the service."""
        self.opened.append(new_provider := self.kind.provider())
        new_provider.initialize({"api_key": "key", "base_url": self.service.run.base_url})
        new_provider.connect(self.kind.models[0])
        return new_provider

    def open(self, **options: Any) -> Session:
        """One more session at the service."""
        settings = {"retry": RetryPolicy(attempts=1), "tools": [Tool(LOOK, self.look)], **options}
        return Session(self.provider(), path="legacy", system="Be brief.", chain=self.policy, **settings)

    @property
    def state(self) -> ChainState:
        """The chain of the session."""
        state = self.session.chain_state
        assert state
        return state

    def answers(self, *answer: Text | FunctionCall, finish: FinishReason = FinishReason.STOP) -> None:
        self.service.responder.reply = reply(*answer or (Text("Yes."),), finish=finish)

    def look(self, args: Mapping[str, Any], token: CancelToken) -> str:
        """What the tool returns, with which the model answers."""
        self.answers()
        return "seen"

    def say(self, text: str) -> None:
        """A turn that is answered."""
        self.answers()
        self.session.send(text)

    @property
    def bodies(self) -> list[Any]:
        """The bodies of all requests for answers."""
        calls = [exchange.call for exchange in self.service.run.exchanges]
        return [call.body for call in calls if call is not None and call.operation == "generate"]

    @property
    def kept_ids(self) -> set[str]:
        """The ids of what the service keeps."""
        return set(self.kind.dialect.stored_ids(self.service.run.world))

    def next_request(self) -> str:
        """Have a turn, and say in a word of the page what its request was."""
        head, before = self.state.head, self.session.history.messages
        self.say("Next")
        body = self.bodies[-1]
        assert body["store"] is self.policy.store
        texts = [text for message in before for part in message.parts if (text := getattr(part, "text", ""))]
        sent = request_texts(body)
        assert sent[-1] == "Next"
        if self.kind.head not in body:
            assert sent == [*texts, "Next"]
            return "all"
        assert body[self.kind.head] == head
        return "new" if sent == ["Next"] else self._since(texts, sent)

    def _since(self, texts: list[str], sent: list[str]) -> str:
        assert sent == [*texts[4:], "Next"], "what stands behind the turns One and Two, which were answered"
        return "since"


def call_a_tool(stored: Stored) -> None:
    stored.answers(FunctionCall("", "look", {}), finish=FinishReason.TOOL_USE)
    assert stored.session.send("Look.").rounds == 2


def revert(stored: Stored) -> None:
    stored.session.revert_to_turn(0)


def reset(stored: Stored) -> None:
    stored.session.reset([Message.user("Before"), Message.model("Then.")])


def collect(stored: Stored) -> None:
    assert stored.session.collect(keep_turns=1).changed


def cancel(stored: Stored) -> None:
    token = CancelToken()
    stored.answers(Text("A long answer."))
    result = stored.session.send("Cancel", on_chunk=lambda piece: token.cancel(), cancel_token=token)
    assert result.outcome == "cancelled"


def cut_short(stored: Stored) -> None:
    stored.answers(Text("I wri"), finish=FinishReason.MAX_TOKENS)
    stored.session.send("Write.")


def fail(stored: Stored) -> None:
    stored.service.responder.reply = stored.kind.refusal
    with pytest.raises(InvalidRequestError):
        stored.session.send("Fail")


def repeat(stored: Stored) -> None:
    """A call that is refused for a moment, and made again from the same answer."""

    def wait(seconds: float, token: CancelToken) -> bool:
        stored.answers()
        return False

    stored.session = stored.open(retry=RetryPolicy(attempts=2), sleep=wait)
    stored.say("One")
    stored.say("Two")
    stored.service.responder.reply = replace(stored.kind.refusal, status=503)
    assert stored.session.send("Again").attempts == 2
    first, second = stored.bodies[-2:]
    assert first == second


def load(stored: Stored) -> None:
    left, stored.session = stored.session, stored.open()
    stored.session.restore(left.save())


def fork(stored: Stored) -> None:
    """Another session goes on from the same saved text, with a turn of its own."""
    own, stored.session = stored.session, stored.open()
    stored.session.restore(own.save())
    assert stored.next_request() == "all"
    stored.session = own


def swap(stored: Stored) -> None:
    stored.session.swap(stored.provider())


def swap_and_back(stored: Stored) -> None:
    first = stored.session.provider
    swap(stored)
    stored.say("There")
    stored.session.swap(first)


def ask_a_subagent(stored: Stored) -> None:
    own, stored.session = stored.session, stored.open()
    assert stored.next_request() == "all"
    stored.session = own


def forget(stored: Stored) -> None:
    """The service has nothing of the conversation any more."""
    stored.service.run.world.resources.clear()


OPERATIONS: Mapping[str, Callable[[Stored], object]] = {
    "next turn": lambda stored: None,
    "turn with a tool call": call_a_tool,
    "clear": lambda stored: stored.session.clear(),
    "reset to a history": reset,
    "revert to a turn": revert,
    "collection": collect,
    "answer cancelled": cancel,
    "answer cut short": cut_short,
    "call failed": fail,
    "call repeated": repeat,
    "other system text": lambda stored: stored.session.set_system("Be long."),
    "other tools": lambda stored: stored.session.set_tools([]),
    "save and load": load,
    "fork": fork,
    "swap to another provider": swap,
    "swap and back": swap_and_back,
    "turn of a subagent": ask_a_subagent,
    "new chain begun": lambda stored: stored.session.begin_new_chain(),
    "forgotten by the service": forget,
}


def rows() -> list[list[str]]:
    """The rows of the table on the page."""
    table = PAGE.read_text("utf-8").split("<!-- operations and policies -->")[1].strip().split("\n\n")[0]
    return [[cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in table.splitlines()[2:]]


def test_the_page_has_every_operation_once() -> None:
    assert [row[0] for row in rows()] == list(OPERATIONS)


@pytest.fixture
def opened(server: EmulatorServer) -> Iterator[Callable[..., Stored]]:
    sessions: list[Stored] = []

    def open_one(kind: ChainKind, policy: ChainPolicy) -> Stored:
        sessions.append(Stored(server, kind, policy))
        return sessions[-1]

    yield open_one
    for stored in sessions:
        for provider in stored.opened:
            provider.shutdown()


@KINDS
@pytest.mark.parametrize(("operation", "expected"), [(row[0], row[1]) for row in rows()])
def test_where_nothing_is_stored_every_request_has_everything(
    opened: Callable[..., Stored], kind: ChainKind, operation: str, expected: str
) -> None:
    stored = opened(kind, ChainPolicy(store=False))
    OPERATIONS[operation](stored)
    assert stored.next_request() == expected
    assert stored.kept_ids == set()


@KINDS
@pytest.mark.parametrize(("operation", "expected"), [(row[0], row[2]) for row in rows()])
def test_where_answers_are_stored_the_chain_goes_on_as_the_page_says(
    opened: Callable[..., Stored], kind: ChainKind, operation: str, expected: str
) -> None:
    stored = opened(kind, ChainPolicy())
    OPERATIONS[operation](stored)
    assert stored.next_request() == expected
    assert stored.state.head in stored.kept_ids


@KINDS
@pytest.mark.parametrize(("operation", "expected"), [(row[0], row[3]) for row in rows()])
def test_a_chain_with_a_budget_begins_anew_as_the_page_says(
    opened: Callable[..., Stored], kind: ChainKind, operation: str, expected: str
) -> None:
    stored = opened(kind, ChainPolicy(max_answers=3))
    OPERATIONS[operation](stored)
    assert f"{stored.next_request()}, {stored.next_request()}" == expected


@KINDS
@pytest.mark.parametrize(("operation", "expected"), [(row[0], row[4]) for row in rows()])
def test_what_is_left_behind_is_deleted_as_the_page_says(
    opened: Callable[..., Stored], kind: ChainKind, operation: str, expected: str
) -> None:
    stored = opened(kind, ChainPolicy(delete=True))
    before = stored.kept_ids
    assert len(before) == 2
    OPERATIONS[operation](stored)
    if operation == "forgotten by the service":
        before = set()
    stored.next_request()
    assert before - stored.kept_ids == (before if expected == "the chain" else set())
    assert stored.state.head in stored.kept_ids


# The rest of the policy


@KINDS
def test_a_chain_that_has_cost_enough_begins_anew(opened: Callable[..., Stored], kind: ChainKind) -> None:
    stored = opened(kind, ChainPolicy(max_tokens=100))
    assert stored.state == ChainState(stored.head, answers=2, prompt_tokens=72)
    assert [stored.next_request() for _ in range(5)] == ["new", "all", "new", "new", "all"]


@KINDS
def test_a_conversation_that_alone_costs_more_is_sent_whole_each_time(
    opened: Callable[..., Stored], kind: ChainKind
) -> None:
    stored = opened(kind, ChainPolicy(max_tokens=36))
    assert [stored.next_request() for _ in range(3)] == ["all", "all", "all"]


@KINDS
def test_a_forgotten_chain_fails_typed_and_changes_nothing(opened: Callable[..., Stored], kind: ChainKind) -> None:
    stored = opened(kind, ChainPolicy(forgotten="fail"))
    forget(stored)
    before = stored.session.history.messages
    for _ in range(2):
        with pytest.raises(ChainLostError, match="begin a new chain") as raised:
            stored.say("Next")
        assert raised.value.answer == stored.head
        assert raised.value.__cause__ is raised.value.__context__ is None
        assert stored.session.history.messages == before
        assert stored.state.head == stored.head
    stored.session.begin_new_chain()
    assert stored.next_request() == "all"
    assert stored.next_request() == "new"


@KINDS
def test_a_cancelled_answer_is_deleted_with_the_chain(opened: Callable[..., Stored], kind: ChainKind) -> None:
    stored = opened(kind, ChainPolicy(delete=True))
    cancel(stored)
    stored.session.clear()
    assert stored.kept_ids == set()


@KINDS
def test_what_could_not_be_deleted_fails_no_call_and_is_deleted_next_time(
    opened: Callable[..., Stored], kind: ChainKind, monkeypatch: pytest.MonkeyPatch
) -> None:
    stored = opened(kind, ChainPolicy(delete=True))
    before = stored.kept_ids
    with monkeypatch.context() as patch:
        patch.setattr(type(stored.opened[0]), "_delete_stored", _refuse)
        stored.session.clear()
    assert stored.kept_ids == before
    assert stored.next_request() == "all"
    assert not stored.kept_ids & before


def _refuse(provider: object, name: str) -> None:
    raise InvalidRequestError("not now", status=400)


@KINDS
def test_a_subagent_that_is_released_takes_its_chain_with_it(opened: Callable[..., Stored], kind: ChainKind) -> None:
    stored = opened(kind, ChainPolicy(delete=True))
    before = stored.kept_ids
    source = ProviderSource((kind.models[0],), open_legacy=lambda model: stored.provider())
    with Runtime({"service": source}, options=lambda agent: {"chain": stored.policy}) as runtime:
        child = runtime.create_session("child")
        stored.answers()
        child.send("Look it up.")
        assert len(stored.kept_ids - before) == 1
        runtime.release(child)
        assert stored.kept_ids == before


@KINDS
def test_two_sessions_over_one_provider_each_go_on_with_their_own_conversation(
    opened: Callable[..., Stored], kind: ChainKind
) -> None:
    stored = opened(kind, ChainPolicy())
    other = Session(stored.opened[0], path="legacy", system="Be long.", chain=stored.policy)
    conversations = {stored.session: ["One", "Yes.", "Two", "Yes."], other: list[str]()}
    for session, text in (
        (other, "Three"), (stored.session, "Four"), (stored.session, "Five"), (other, "Six"), (other, "Seven"),
    ):  # fmt: skip
        stored.answers()
        session.send(text)
        call = stored.service.run.exchanges[-1].call
        assert call is not None
        assert [message.text for message in call.messages] == [*conversations[session], text]
        assert [part.text for part in call.system if isinstance(part, Text)] == [
            "Be long." if session is other else "Be brief."
        ]
        conversations[session] += [text, "Yes."]
    for session, texts in conversations.items():
        assert [message.text for message in session.history.messages] == texts
    assert [kind.head in body for body in stored.bodies[2:]] == [False, False, True, False, True]


@KINDS
def test_a_head_of_another_key_is_forgotten_and_nothing_of_the_conversation_lost(
    opened: Callable[..., Stored], kind: ChainKind
) -> None:
    stored = opened(kind, ChainPolicy())
    provider = stored.opened[0]
    provider.initialize({"api_key": "another key", "base_url": stored.service.run.base_url})
    provider.connect(kind.models[0])
    requests = len(stored.bodies)
    assert stored.next_request() == "all"
    assert len(stored.bodies) == requests + 1, "no request names the answer of the other key"
    assert stored.next_request() == "new"


def test_a_provider_that_cannot_be_told_to_store_nothing_is_refused() -> None:
    with pytest.raises(UsageError, match="set_chain_policy"):
        Session(FakeLegacy(), path="legacy", chain=ChainPolicy(store=False))
    session = Session(FakeLegacy(), path="legacy", chain=ChainPolicy(max_answers=2))
    assert session.chain_state is None
    session.begin_new_chain()


def test_the_adapters_are_what_the_contract_says() -> None:
    assert all(isinstance(kind.provider(), ChainedProvider) for kind in (OPENAI, GOOGLE))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"store": "no"}, "store is True or False, got 'no'"),
        ({"delete": 1}, "delete is True or False, got 1"),
        ({"max_answers": 0}, "max_answers is a positive integer, or None for no limit, got 0"),
        ({"max_tokens": True}, "max_tokens is a positive integer, or None for no limit, got True"),
        ({"forgotten": "ignore"}, "forgotten is 'resend' or 'fail', got 'ignore'"),
    ],
)
def test_a_policy_that_cannot_be_followed_is_refused(settings: Any, message: str) -> None:
    with pytest.raises(UsageError, match=re.escape(message)):
        ChainPolicy(**settings)
