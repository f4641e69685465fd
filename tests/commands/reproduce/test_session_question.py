"""What a file compares for a finding of a session that opens its own client."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec import UNSET

from turnproof.commands.reproduce.run_findings import UnreproducibleError
from turnproof.commands.reproduce.session_question import held_texts_since, session_question
from turnproof.judge.finding import Finding, Place, Side
from turnproof.messages import FunctionCall, Message, Text
from turnproof.run import transcript as t

KEY = t.RunKey("basics/hello", "stateless")
TOOL = {"name": "a.b", "description": "Water"}


def answer(turn: int, **fields: Any) -> t.WireResponse:
    usual: dict[str, Any] = {"status": 200, "headers": {}, "body": "", "written": 3, "ended": "completed"}
    return t.WireResponse(turn=turn, exchange=turn, **(usual | fields))


def request(turn: int, **body: Any) -> t.WireRequest:
    return t.WireRequest(
        turn=turn, exchange=turn, method="POST", path="/", headers={}, body=body, digest="", operation="generate"
    )


def history(turn: int, *messages: Message) -> t.HistorySnapshot:
    return t.HistorySnapshot(turn=turn, owner="session", messages=messages)


def run(*events: t.Event) -> t.Transcript:
    return t.Transcript("s", "openai-chat", "m", "emulate", KEY, 0, (*events, t.RunEnded(how="completed")))


def finding(code: str, side: Side, turn: int = 0, pointer: str = "", **fields: Any) -> Finding:
    exchange = fields.pop("exchange", -1)
    place = Place.of_run(side, KEY, turn=turn, exchange=exchange, pointer=pointer)
    return Finding(code=code, place=place, **fields)


def test_a_name_that_is_wrong_by_itself_needs_no_earlier_turn() -> None:
    transcript = run(request(0, tools=[]), request(1, tools=[TOOL]))
    found = session_question(
        finding("tools/names-are-legal/illegal", Side.REQUEST, 1, "/tools/0/name", exchange=1, observed="a.b"),
        transcript,
    )
    assert (found.sight, found.observed, found.steps) == ("request", "a.b", ("tools", 0, "name"))
    assert (found.first_turn, found.whole) == (1, True)


def test_a_system_text_that_is_missing_is_seen_in_a_whole_request_with_all_that_the_session_has() -> None:
    transcript = run(request(0, messages=[]))
    found = session_question(
        finding("core/system-text-is-sent-each-turn/missing", Side.REQUEST, exchange=0, expected="Be kind."), transcript
    )
    assert (found.steps, found.observed, found.whole) == ((), {"messages": []}, True)


@pytest.mark.parametrize("values", [{"expected": 2, "observed": 3}, {}])
def test_requests_that_should_not_be_there_are_not_said_to_be_wrong_by_their_bodies(values: dict[str, Any]) -> None:
    with pytest.raises(UnreproducibleError, match="show in no single turn"):
        session_question(
            finding("core/side-requests-stay-few/too-many", Side.REQUEST, exchange=0, **values), run(request(0, a=1))
        )


def test_what_is_wrong_in_a_conversation_is_compared_with_all_of_it() -> None:
    messages = [{"role": "user", "content": "Hello"}]
    found = session_question(
        finding("core/wire-is-what-the-session-holds/lost", Side.REQUEST, 1, "/messages/0", exchange=1),
        run(request(0, messages=[]), request(1, messages=messages)),
    )
    assert (found.steps, found.observed, found.first_turn, found.whole) == (("messages",), messages, 0, True)


def test_a_text_that_is_left_behind_is_seen_in_the_texts_that_are_held() -> None:
    transcript = run(history(0, Message.user("Hello")))
    left = {"role": "user", "parts": [{"part": "text", "text": "Hello"}]}
    found = session_question(
        finding("history/failed-turn-leaves-nothing/left-behind", Side.HISTORY, 0, "/session/0", observed=left),
        transcript,
    )
    assert (found.sight, found.observed) == ("held", ["Hello"])


def test_a_call_without_its_result_is_in_no_text_that_is_held() -> None:
    call = FunctionCall("c", "read", {})
    transcript = run(history(0, Message.user("Hello"), Message.model(Text("One moment."), call)))
    with pytest.raises(UnreproducibleError, match="show in no single turn"):
        session_question(
            finding("history/calls-and-results-stay-paired/no-result", Side.HISTORY, 0, "/session/1/parts/1"),
            transcript,
        )


def test_which_error_is_right_is_said_by_the_binding() -> None:
    failed = t.Failed(turn=0, scope="turn", error="E", message="no", typed=True)
    with pytest.raises(UnreproducibleError, match="failed rightly"):
        session_question(
            finding("errors/class-fits-the-status/wrong-class", Side.ERROR, observed="E"),
            run(answer(0, status=429), failed),
        )


def test_an_answer_to_a_whole_stream_is_not_said_to_be_wrong() -> None:
    ended = t.TurnEnded(turn=0, outcome="answer", text="Dry.")
    code = "errors/a-stream-without-its-end-is-no-answer/returned"
    with pytest.raises(UnreproducibleError, match="show in no single turn"):
        session_question(finding(code, Side.PROCESS, 0, "/0/outcome"), run(answer(0), ended))
    found = session_question(finding(code, Side.PROCESS, 0, "/0/outcome"), run(answer(0, fault="no-end"), ended))
    assert (found.sight, found.observed) == ("reply", "Dry.")


def test_a_client_that_left_at_once_is_not_said_to_have_waited() -> None:
    place = finding("cancellation/silence-is-no-obstacle/waited", Side.STREAM, exchange=0, expected=UNSET)
    assert session_question(place, run(answer(0, held=True, released="limit"))).sight == "silence"
    with pytest.raises(UnreproducibleError, match="show in no single turn"):
        session_question(place, run(answer(0, held=True, released="call-returned")))


def test_what_was_held_before_the_first_turn_of_the_file_is_not_asked_for() -> None:
    hello, dry, again = Message.user("Hello"), Message.model("Dry."), Message.user("Again")
    transcript = run(history(0, hello, dry), history(1, hello, dry, again))
    assert held_texts_since(transcript, 1, 1) == ["Again"]
    assert held_texts_since(transcript, 0, 1) == ["Hello", "Dry.", "Again"]
    with pytest.raises(UnreproducibleError, match="does not begin with"):
        held_texts_since(run(history(0, hello, dry), history(1, again)), 1, 1)
