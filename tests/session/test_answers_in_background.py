"""A session whose answers the service works on in the background, over HTTP, with both adapters and on both paths."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from adapters.contract.chains import GOOGLE, LOOK, OPENAI, ChainKind, request_texts
from dialects.answers import reply
from dialects.responders import ScriptedService
from msgspec.structs import replace

from turnproof.background_answers import BackgroundPolicy, BackgroundProvider, RunningAnswer
from turnproof.cancel import CancelToken
from turnproof.chains import ChainPolicy
from turnproof.dialects.base import Refusal
from turnproof.errors import AnswerLostError, TransportError, UsageError
from turnproof.messages import FinishReason, FunctionCall, Message, Text
from turnproof.provider import Path
from turnproof.scenarios.model import Fault
from turnproof.session import RetryPolicy, Session, SessionObserver, Tool
from turnproof.session.persistence import InterruptedTurn, at
from turnproof.wire.emulator import EmulatorServer
from turnproof_adapters.google_interactions.stateless import InteractionsStateless
from turnproof_adapters.openai_responses.at_openai.stateless import OpenAIResponsesStateless

from .fakes import FakeStateless

STATELESS: dict[str, Any] = {"openai_responses": OpenAIResponsesStateless, "google_interactions": InteractionsStateless}
NAMES = {"openai_responses": OPENAI, "google_interactions": GOOGLE}
SUBJECTS = pytest.mark.parametrize(
    ("name", "path"), [(name, path) for name in NAMES for path in ("stateless", "legacy")]
)
AT_ONCE = BackgroundPolicy(poll_seconds=0.001)
MODES = pytest.mark.parametrize("streamed", [False, True], ids=["batch", "streamed"])


class Answers(SessionObserver):
    """What an observer hears of answers in the background."""

    def __init__(self) -> None:
        self.began: list[tuple[RunningAnswer, list[str]]] = []
        self.ended: list[RunningAnswer] = []
        self.on_began: Callable[[], object] = lambda: None

    def on_answer_began(self, answer: RunningAnswer, messages: Any) -> None:
        self.began.append((answer, [message.role for message in messages]))
        self.on_began()

    def on_answer_ended(self, answer: RunningAnswer) -> None:
        self.ended.append(answer)


class Retries(SessionObserver):
    """The calls that are made again."""

    def __init__(self, attempts: list[object]) -> None:
        self._attempts = attempts

    def on_retry(self, retry: object) -> None:
        self._attempts.append(retry)


@dataclass
class Place:
    """An emulated service, and sessions with it."""

    service: ScriptedService
    kind: ChainKind
    name: str
    path: Path
    opened: list[Any]

    def open(self, policy: BackgroundPolicy | None = AT_ONCE, **options: Any) -> tuple[Session, Answers]:
        provider = STATELESS[self.name]() if self.path == "stateless" else self.kind.provider()
        self.opened.append(provider)
        provider.initialize({"api_key": "key", "base_url": self.service.run.base_url})
        provider.connect(self.kind.models[0])
        answers = Answers()
        settings = {"retry": RetryPolicy(base=0.0), "tools": [Tool(LOOK, self.look)], "observers": [answers], **options}
        return Session(provider, path=self.path, system="Be brief.", background=policy, **settings), answers

    def look(self, args: Any, token: CancelToken) -> str:
        self.say("It is dry.")
        return "seen"

    def say(self, *parts: Any, finish: FinishReason = FinishReason.STOP) -> None:
        """What the model answers from now on."""
        content = [Text(part) if isinstance(part, str) else part for part in parts]
        self.service.responder.reply = reply(*content, finish=finish)

    @property
    def operations(self) -> list[str]:
        """What was requested, in order: answers, and what was asked about them."""
        found = []
        for exchange in self.service.run.exchanges:
            path = exchange.request.path
            last = path.rstrip("/").rsplit("/", 1)[-1]
            if exchange.request.method == "GET":
                found.append("retrieve")
            else:
                found.append("cancel" if last.endswith("cancel") else "create")
        return found

    @property
    def bodies(self) -> list[Any]:
        """The bodies of the requests for answers."""
        requests = [exchange.request for exchange in self.service.run.exchanges]
        rows = zip(requests, self.operations, strict=True)
        return [json.loads(request.body) for request, operation in rows if operation == "create"]

    @property
    def refusals(self) -> list[Refusal]:
        return [refusal for exchange in self.service.run.exchanges for refusal in exchange.findings]


@pytest.fixture
def place(server: EmulatorServer, name: str, path: Path) -> Iterator[Place]:
    kind = NAMES[name]
    found = Place(ScriptedService(server, kind.dialect), kind, name, path, [])
    found.say("Yes.")
    yield found
    for provider in found.opened:
        provider.shutdown()


def die() -> None:
    """The process ends here, and receives nothing of the answer that the service has just named."""
    raise KeyboardInterrupt


def interrupted(answers: Answers, session: Session, *messages: Message) -> InterruptedTurn:
    """What a process leaves that dies once the service has named the answer."""
    answer, _ = answers.began[-1]
    return InterruptedTurn(began_at=at(0), content=messages[0].parts, answer=answer, messages=messages)


@SUBJECTS
@MODES
def test_an_answer_in_the_background_is_the_answer(place: Place, streamed: bool) -> None:
    session, answers = place.open()
    pieces: list[str] = []
    result = session.send("One", on_chunk=pieces.append if streamed else None)
    assert result.text == "Yes."
    assert not streamed or "".join(pieces) == "Yes."
    (body,) = place.bodies
    assert body["background"] is body["store"] is True
    ((answer, roles),) = answers.began
    assert answer == RunningAnswer(answer.id, place.kind.models[0], streamed)
    assert roles == ["user"]
    assert answers.ended == [answer]
    assert place.refusals == []


@SUBJECTS
def test_a_turn_with_a_tool_call_has_an_answer_in_the_background_in_each_round(place: Place) -> None:
    session, answers = place.open()
    place.say(FunctionCall("", "look", {}), finish=FinishReason.TOOL_USE)
    assert session.send("How is it?").text == "It is dry."
    assert [roles for _, roles in answers.began] == [["user"], ["user", "model", "tool"]]
    assert [body["background"] for body in place.bodies] == [True, True]
    assert place.refusals == []


@SUBJECTS
@MODES
def test_another_process_takes_the_answer_up_and_asks_for_no_other_one(place: Place, streamed: bool) -> None:
    session, answers = place.open()
    session.send("One")
    before = session.save()
    place.say("The bed is dry.")
    answers.on_began = die
    with pytest.raises(KeyboardInterrupt):
        session.send("Two", on_chunk=(lambda piece: None) if streamed else None)
    left = interrupted(answers, session, Message.user("Two"))
    place.service.run.exchanges.clear()

    later, later_answers = place.open()
    later.restore(before)
    pieces: list[str] = []
    result = later.take_up(left, on_chunk=pieces.append if streamed else None)
    assert result.text == "The bed is dry."
    assert not streamed or "".join(pieces) == "The bed is dry."
    assert [message.text for message in later.history.messages] == ["One", "Yes.", "Two", "The bed is dry."]
    assert set(place.operations) == {"retrieve"}
    assert later_answers.began == []
    assert later_answers.ended == [left.answer]
    # The conversation goes on from the answer that was taken up.
    place.say("Yes.")
    later.send("Three")
    (body,) = place.bodies
    assert request_texts(body)[-1] == "Three"
    if place.path == "legacy":
        assert left.answer is not None
        assert body[place.kind.head] == left.answer.id
        assert request_texts(body) == ["Three"]
    assert place.refusals == []


@SUBJECTS
def test_a_turn_that_is_taken_up_goes_on_with_its_tools(place: Place) -> None:
    session, answers = place.open()
    place.say(FunctionCall("", "look", {}), finish=FinishReason.TOOL_USE)
    answers.on_began = die
    with pytest.raises(KeyboardInterrupt):
        session.send("How is it?")
    later, _ = place.open()
    assert later.take_up(interrupted(answers, session, Message.user("How is it?"))).text == "It is dry."
    assert [message.role for message in later.history.messages] == ["user", "model", "tool", "model"]
    assert place.operations.count("create") == 2
    assert place.refusals == []


@SUBJECTS
@pytest.mark.parametrize("lost", ["resend", "fail"])
def test_an_answer_that_the_service_has_forgotten_is_asked_for_again_or_fails_typed(place: Place, lost: Any) -> None:
    session, answers = place.open()
    session.send("One")
    left = interrupted(answers, session, Message.user("One"))
    place.service.run.world.resources.clear()
    later, later_answers = place.open(BackgroundPolicy(poll_seconds=0.001, lost=lost))
    if lost == "fail":
        with pytest.raises(AnswerLostError) as raised:
            later.take_up(left)
        assert left.answer is not None
        assert raised.value.answer == left.answer.id
        assert raised.value.__cause__ is raised.value.__context__ is None
        assert later.history.messages == []
        assert place.operations.count("create") == 1
    else:
        assert later.take_up(left).text == "Yes."
        assert place.operations.count("create") == 2
        assert len(later_answers.began) == 1
    assert later_answers.ended[0] == left.answer


@SUBJECTS
def test_an_answer_of_another_model_is_not_taken_up(place: Place) -> None:
    session, answers = place.open()
    session.send("One")
    left = interrupted(answers, session, Message.user("One"))
    assert left.answer is not None
    left = replace(left, answer=replace(left.answer, model="another"))
    place.service.run.exchanges.clear()
    later, _ = place.open(BackgroundPolicy(lost="fail"))
    with pytest.raises(AnswerLostError, match="'another'"):
        later.take_up(left)
    assert place.operations == []


@SUBJECTS
@MODES
def test_a_cancelled_answer_is_cancelled_at_the_service(place: Place, streamed: bool) -> None:
    session, answers = place.open(BackgroundPolicy(poll_seconds=60))
    token = CancelToken()
    answers.on_began = token.cancel
    result = session.send("One", cancel_token=token, on_chunk=(lambda piece: None) if streamed else None)
    assert result.outcome == "cancelled"
    assert place.operations == ["create", "cancel"]
    assert answers.ended == [answers.began[0][0]]
    assert place.service.run.exchanges[-1].status == 200


LONG = "A long answer about the bed."
BREAKS = pytest.mark.parametrize(
    "fault", [Fault("reset"), Fault("truncate"), Fault("no-end"), Fault("garbage")], ids=lambda fault: fault.kind
)


@SUBJECTS
@BREAKS
@pytest.mark.parametrize("index", range(1, 12))
def test_a_broken_stream_is_resumed_behind_its_last_event(place: Place, fault: Fault, index: int) -> None:
    session, answers = place.open()
    place.say(LONG)
    # The first stream breaks, and the one that resumes it.
    place.service.run.background_faults = [replace(fault, index=index), Fault("reset", index=1)]
    pieces: list[str] = []
    attempts: list[object] = []
    session.observe(Retries(attempts))
    result = session.send("One", on_chunk=pieces.append)
    assert result.text == "".join(pieces) == LONG
    assert place.operations[0] == "create"
    assert place.operations.count("create") == len(answers.began) == len(answers.ended) == 1
    assert attempts == [], "the call is the same one"
    assert place.refusals == []
    queries = [exchange.request.query for exchange in place.service.run.exchanges[1:]]
    assert all({"starting_after", "last_event_id"} & set(query) for query in queries)


@SUBJECTS
def test_what_is_resumed_is_all_that_the_session_goes_on_with(place: Place) -> None:
    session, _ = place.open()
    place.say(FunctionCall("", "look", {}), finish=FinishReason.TOOL_USE)
    place.service.run.background_faults = [Fault("reset", index=3), Fault("reset", index=0), Fault("reset", index=2)]
    assert session.send("How is it?", on_chunk=lambda piece: None).text == "It is dry."
    assert [message.role for message in session.history.messages] == ["user", "model", "tool", "model"]
    place.say("Yes.")
    session.send("And now?", on_chunk=lambda piece: None)
    assert place.operations.count("create") == 3
    assert place.refusals == []


@SUBJECTS
@pytest.mark.parametrize(
    "fault",
    [Fault("reset", index=-1), Fault("status", status=503), Fault("status", status=404)],
    ids=["reset", "503", "404"],
)
def test_the_next_attempt_takes_up_an_answer_whose_stream_cannot_be_resumed(place: Place, fault: Fault) -> None:
    session, answers = place.open()
    place.say(LONG)
    place.service.run.background_faults = [Fault("reset", index=5), fault]
    pieces: list[str] = []
    attempts: list[object] = []
    session.observe(Retries(attempts))
    assert session.send("One", on_chunk=pieces.append).text == "".join(pieces) == LONG
    assert place.operations.count("create") == len(answers.began) == len(attempts) == 1
    assert place.refusals == []


@SUBJECTS
@pytest.mark.parametrize("status", [500, 529])
def test_an_error_within_a_stream_is_no_end_of_the_answer(place: Place, status: int) -> None:
    session, answers = place.open()
    place.say(LONG)
    place.service.run.background_faults = [Fault("error-event", index=4, status=status)]
    pieces: list[str] = []
    assert session.send("One", on_chunk=pieces.append).text == "".join(pieces) == LONG
    assert place.operations.count("create") == len(answers.began) == len(answers.ended) == 1


@SUBJECTS
@MODES
def test_an_answer_that_has_failed_is_requested_again(place: Place, streamed: bool) -> None:
    session, answers = place.open()

    def fail() -> None:
        answer, _ = answers.began[-1]
        found = place.service.run.world.resources[answer.id]
        if len(answers.began) == 1:
            found.current, found.final = {**found.current, "status": "failed"}, None

    answers.on_began = fail
    place.service.run.background_faults = [Fault("error-event", index=2, status=500)]
    result = session.send("One", on_chunk=(lambda piece: None) if streamed else None)
    assert result.text == "Yes."
    assert place.operations.count("create") == len(answers.began) == len(answers.ended) == 2


@SUBJECTS
def test_a_stream_is_not_resumed_where_the_call_is_cancelled(place: Place) -> None:
    session, _ = place.open()
    place.say(LONG)
    place.service.run.background_faults = [Fault("stall", index=5)]
    token = CancelToken()
    result = session.send("One", on_chunk=lambda piece: token.cancel(), cancel_token=token)
    assert result.outcome == "cancelled"
    assert place.operations == ["create", "cancel"]


@SUBJECTS
@pytest.mark.parametrize("shift", [2, -3, 100])
def test_a_service_that_resumes_elsewhere_leaves_nothing_out_and_shows_nothing_twice(
    place: Place, shift: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A service that begins too early repeats events. One that begins too late leaves some out, which numbers show and
    ids do not. One that does not have the event sends nothing, or everything."""
    if shift == 2 and place.name == "google_interactions":
        return
    session, answers = place.open()
    place.say(LONG)
    follow = type(place.opened[0])._follow

    def elsewhere(self: Any, name: str, last: Any = None) -> Any:
        if isinstance(last, int):
            last += shift
        elif last is not None:
            last = f"evt_{int(last.removeprefix('evt_')) + shift}"
        return follow(self, name, last)

    monkeypatch.setattr(type(place.opened[0]), "_follow", elsewhere)
    place.service.run.background_faults = [Fault("reset", index=6)]
    pieces: list[str] = []
    assert session.send("One", on_chunk=pieces.append).text == "".join(pieces) == LONG
    assert place.operations.count("create") == len(answers.began) == 1


@SUBJECTS
def test_a_turn_that_fails_on_its_way_leaves_the_answer_running(place: Place) -> None:
    session, answers = place.open(retry=RetryPolicy(attempts=1))
    place.service.run.background_faults = [Fault("reset", index=1), Fault("reset", index=-1)]
    with pytest.raises(TransportError):
        session.send("One", on_chunk=lambda piece: None)
    assert answers.ended == []
    assert "cancel" not in place.operations
    assert session.history.messages == []
    assert session.take_up(interrupted(answers, session, Message.user("One"))).text == "Yes."
    assert place.operations.count("create") == 1


@SUBJECTS
def test_what_waits_is_answered_behind_the_answer_that_is_taken_up(place: Place) -> None:
    session, answers = place.open()
    session.send("One")
    left = interrupted(answers, session, Message.user("One"))
    later, _ = place.open()
    later.interject("Two")
    later.take_up(left)
    assert [message.text for message in later.history.messages] == ["One", "Yes.", "Two", "Yes."]


@SUBJECTS
def test_a_provider_that_calls_nobody_back_in_the_background_is_refused(place: Place) -> None:
    with pytest.raises(UsageError, match="in_background"):
        Session(FakeStateless(), background=AT_ONCE)
    session, answers = place.open()
    session.send("One")
    without, _ = place.open(None)
    with pytest.raises(UsageError, match="background=BackgroundPolicy"):
        without.take_up(interrupted(answers, session, Message.user("One")))
    with pytest.raises(UsageError, match="can be sent again"):
        session.take_up(InterruptedTurn(began_at=at(0), content=(Text("One"),)))
    assert isinstance(place.opened[0], BackgroundProvider)


@SUBJECTS
def test_a_policy_that_stores_nothing_and_one_of_the_background_exclude_each_other(place: Place) -> None:
    if place.path == "stateless":
        return
    session, _ = place.open(chain=ChainPolicy(store=False))
    with pytest.raises(UsageError, match="has to be stored"):
        session.send("One")
    assert place.operations == []


@pytest.mark.parametrize("field", [{"poll_seconds": 0}, {"poll_seconds": True}, {"lost": "ignore"}])
def test_a_policy_that_makes_no_sense_is_refused(field: dict[str, Any]) -> None:
    with pytest.raises(UsageError):
        BackgroundPolicy(**field)
