"""Conversations that are broken already, given to adapters and sessions in every way there is.

The service gets a request that it takes, or the caller a typed error before anything is sent; nothing that was said is
lost without a word. The emulated service is the judge, in memory: the claim is about requests, not about sockets.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import pytest
from session.fakes import FakeLegacy, FakeStateless, reply

from turnproof.errors import InvalidRequestError, TurnproofError
from turnproof.gc import TruncateGC
from turnproof.messages import FunctionCall, Message, Text, ToolResult, same_history
from turnproof.provider import PATHS, Path
from turnproof.session import Session, Tool

from .histories import BROKEN, SOUND, TOOLS
from .service import Service

GO_ON = "go on"

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")


@pytest.fixture
def adapter(service: Service) -> str:
    return service.name


Way = Callable[[Service, Sequence[Message]], Sequence[Message]]
"""Has a conversation gone on with; what the caller, or the session, then holds of it."""


def by_complete(service: Service, history: Sequence[Message]) -> Sequence[Message]:
    messages = [*history, Message.user(GO_ON)]
    service.open("stateless").complete(messages, None, TOOLS)
    return messages


def by_create_session(service: Service, history: Sequence[Message]) -> Sequence[Message]:
    provider = service.open("legacy")
    provider.create_session(None, TOOLS, list(history))
    provider.send_message(GO_ON)
    return [*history, Message.user(GO_ON)]


def session(service: Service, path: Path) -> Session:
    provider = service.open(path)
    return Session(provider, path=path, tools=[Tool(schema, lambda args, token: "x") for schema in TOOLS])


def go_on(of: Session) -> Sequence[Message]:
    of.send(GO_ON)
    return of.history.messages[:-1]


def by_reset(path: Path) -> Way:
    def way(service: Service, history: Sequence[Message]) -> Sequence[Message]:
        new_session = session(service, path)
        new_session.reset(history)
        return go_on(new_session)

    return way


def by_swap(path: Path) -> Way:
    def way(service: Service, history: Sequence[Message]) -> Sequence[Message]:
        new_session = Session(FakeStateless())
        new_session.reset(history)
        new_session.swap(service.open(path), path=path)
        return go_on(new_session)

    return way


DIRECT: dict[str, Way] = {"complete": by_complete, "create_session": by_create_session}
THROUGH_A_SESSION: dict[str, Way] = {
    f"{name}, {path}": make(path) for name, make in {"reset": by_reset, "swap": by_swap}.items() for path in PATHS
}

ANTHROPIC_AND_OPENAI_FORMS = (
    "anthropic",
    "zai",
    "ollama",
    "openai",
    "github_models",
    "copilot_responses",
    "openai_responses",
)
GEMINI_FORM = ("google_genai", "antigravity", "antigravity, Claude")
IN_NO_MESSAGE_OF_THE_MODEL = {"image by the model", "file by the model"}
REFUSED: dict[str, set[str]] = {
    **{key: {"call by the user", *IN_NO_MESSAGE_OF_THE_MODEL} for key in ANTHROPIC_AND_OPENAI_FORMS},
    **{key: {"call by the user", "call first"} for key in GEMINI_FORM},
    "google_interactions": {"call by the user"},
}
"""What an API has no form for, whoever asks."""

LEFT_OUT_DIRECTLY = {"result before its call"}
"""As for every result that answers nothing, adapters say so (`arrange`): they look at what came before, never ahead."""


@pytest.mark.parametrize("name", BROKEN)
def test_an_adapter_sends_what_the_service_takes_or_says_what_cannot_be_sent(
    service: Service, adapter: str, name: str
) -> None:
    for history in gone_on_with(service, adapter, name, DIRECT):
        if name not in LEFT_OUT_DIRECTLY:
            assert find_missing(history, service) == []


@pytest.mark.parametrize("name", BROKEN)
def test_a_session_goes_on_from_it_on_either_path(service: Service, adapter: str, name: str) -> None:
    for history in gone_on_with(service, adapter, name, THROUGH_A_SESSION):
        assert find_missing(history, service) == []
        assert find_missing(BROKEN[name], service) == []


def gone_on_with(service: Service, adapter: str, name: str, ways: Mapping[str, Way]) -> Iterator[Sequence[Message]]:
    """What is held after each way to go on with the broken history, which the service has taken. Where the API has no
    form for it, there is nothing to go on with: then it was refused, by every way."""
    for way in ways.values():
        service.forget()
        if name in REFUSED[adapter]:
            refused(service, partial(way, service, BROKEN[name]))
            continue
        history = way(service, BROKEN[name])
        assert service.refusals == []
        yield history


def refused(service: Service, attempt: Callable[[], object]) -> None:
    """It is refused as what it is, before anything is sent."""
    with pytest.raises(InvalidRequestError) as refusal:
        attempt()
    assert service.requests == 0
    assert refusal.value.status is None
    message = str(refusal.value)
    assert "$.parts[" in message or "begins with a call" in message, "the spot is missing"


def find_missing(history: Sequence[Message], service: Service) -> list[object]:
    """What a conversation says and the last request does not: texts, calls, and the results of calls."""
    sent = service.calls[-1].messages
    # An instruction in front of everything is the system text of an API that has it among the messages.
    above = [part.text for part in service.calls[-1].system if isinstance(part, Text)]
    words = "\0".join([*above, *(part.text for message in sent for part in message.parts if isinstance(part, Text))])
    sent_arguments = [call.args for message in sent for call in message.calls]
    answered = [carried(each) for message in sent for each in message.results]
    called = {call.id for message in history for call in message.calls}
    missing: list[object] = []
    for part in (part for message in history for part in message.parts):
        match part:
            case Text(text=text) if text.strip() not in words:
                missing.append(text)
            case FunctionCall(args=args) if args not in sent_arguments:
                missing.append(part)
            case ToolResult(call_id=id, result=value) if id in called and value is not None and str(value).strip():
                if not any(says(each, part) for each in answered) and first_of(history, part):
                    missing.append(part)
            case _:
                pass
    return missing


def carried(sent: ToolResult) -> Any:
    """A result as it was given: Gemini's stands in an object."""
    value = sent.result
    return next(iter(value.values())) if isinstance(value, dict) and len(value) == 1 else value


def says(sent: Any, result: ToolResult) -> bool:
    """Whether this is the result; a failure may be told in words, where the API has no mark for it."""
    return bool(sent == result.result) or (result.is_error and isinstance(sent, str) and str(result.result) in sent)


def first_of(history: Sequence[Message], expected: ToolResult) -> bool:
    """Whether no earlier result answers the same call: a second one has nothing to answer."""
    calls = [call.id for message in history for call in message.calls].count(expected.call_id)
    before = [each for message in history for each in message.results if each.call_id == expected.call_id]
    return any(each is expected for each in before[:calls])


# -- conversations that nobody asks anything in ---------------------------------------------------------------


NOT_ASKED = {name for name, history in BROKEN.items() if history[-1].role == "model" and not history[-1].calls}
ANSWERED_IN_THE_USERS_NAME = {"empty tool message behind a call"}
"""Its call stays open to the end."""

UNANSWERABLE = {
    **{key: {"only an empty message"} for key in (*ANTHROPIC_AND_OPENAI_FORMS, "google_interactions")},
    **{
        key: NOT_ASKED - ANSWERED_IN_THE_USERS_NAME | {"orphan result at the end", "only an empty message"}
        for key in (*GEMINI_FORM, "anthropic")
    },
}
"""Nothing is said in them, or, for a model that does not go on with its own words, nothing after those."""


REFUSED_BY_THE_SERVICE = {"zai": {"only the model", "empty user message"}}
"""Z.ai answers nothing in which no user speaks; what else it would refuse is not known well enough to keep it back."""


@pytest.mark.parametrize("name", BROKEN)
def test_a_conversation_without_a_question_is_sent_only_where_the_service_answers_it(
    service: Service, adapter: str, name: str
) -> None:
    attempt = partial(service.open("stateless").complete, BROKEN[name], None, TOOLS)
    if name in UNANSWERABLE[adapter] | REFUSED[adapter]:
        with pytest.raises(InvalidRequestError) as refusal:
            attempt()
        assert service.requests == 0
        assert refusal.value.status is None
    elif name in REFUSED_BY_THE_SERVICE.get(adapter, ()):
        with pytest.raises(InvalidRequestError) as refusal:
            attempt()
        assert refusal.value.status == 400
    else:
        attempt()
        assert service.refusals == []


def test_an_empty_conversation_is_refused_before_anything_is_sent(service: Service) -> None:
    service.forget()
    with pytest.raises(InvalidRequestError, match=r"nothing is said|nothing to send"):
        service.open("stateless").complete([], None, TOOLS)
    assert service.requests == 0


def repr_of_type(thing: object) -> str:
    return type(thing).__name__


# -- what else a session does with them -----------------------------------------------------------------------


def open_session(path: Path) -> Session:
    provider: Any = FakeStateless(reply("ok")) if path == "stateless" else FakeLegacy(reply("ok"))
    return Session(provider, path=path, gc=TruncateGC())


@pytest.fixture(params=PATHS)
def path(request: pytest.FixtureRequest) -> Path:
    found: Path = request.param
    return found


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_history_is_saved_and_loaded_as_it_is(name: str) -> None:
    for path in PATHS:
        first, second = open_session(path), open_session(path)
        first.reset(BROKEN[name])
        second.restore(first.save())
        assert same_history(second.history.messages, BROKEN[name])


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_history_is_collected_and_the_next_turn_is_answered(name: str) -> None:
    for path in PATHS:
        one = open_session(path)
        one.reset([*BROKEN[name], *SOUND])
        one.collect(keep_turns=1)
        assert same_history(one.history.messages[-len(SOUND) :], SOUND)
        assert one.send(GO_ON).text == "ok"


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_history_is_reverted_turn_by_turn(name: str) -> None:
    for path in PATHS:
        one = open_session(path)
        one.reset(BROKEN[name])
        for turn in reversed(range(len(one.turn_boundaries))):
            one.revert_to_turn(turn)
            assert len(one.turn_boundaries) == turn + 1
        assert one.send(GO_ON).text == "ok"


@pytest.mark.parametrize("thing", [{"role": "user"}, "hi", None, 5, [Message.user("hi")]], ids=repr_of_type)
def test_what_is_no_message_is_refused_with_its_place_and_changes_nothing(path: Path, thing: object) -> None:
    one = open_session(path)
    one.reset(SOUND)
    with pytest.raises((TypeError, TurnproofError), match="index 1"):
        one.reset([Message.user("hi"), thing])  # type: ignore[list-item]
    assert same_history(one.history.messages, SOUND)
