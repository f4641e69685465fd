"""What is read of a conversation that the service keeps: what it holds, and what a request adds to it."""

from __future__ import annotations

import pytest

from turnproof.judge.verdict import Status
from turnproof.judge.view import View
from turnproof.messages import FunctionCall, Text, ToolResult
from turnproof.run.transcript import WireResponse
from turnproof_suites.chains import Link, broken_names, links, name_of

from .cases import status
from .chain_runs import Body, body, request, view_of


def test_a_link_has_what_the_service_holds_and_what_the_request_has() -> None:
    first, second, *_ = links(view_of("plain_text"))
    assert (first.head, len(first.carried), len(first.own)) == (None, 0, 1)
    assert second.goes_on
    assert [message.text for message in second.carried] == ["I sowed basil in bed 3.", "Noted."]
    assert len(second.own) == 1


@pytest.mark.parametrize(
    ("name", "turn", "since"),
    [
        ("cancelled", 2, {"cancelled"}),
        ("failed", 2, {"answered", "failed", "turn-failed"}),
        ("cut_short", 2, {"clipped"}),
        ("cut_short", 4, {"refused"}),
        ("collected", 4, {"answered", "collected"}),
        ("reset", 2, {"answered", "reset"}),
        ("reverted", 2, {"answered", "reverted"}),
    ],
)
def test_a_link_knows_what_came_before_it(name: str, turn: int, since: set[str]) -> None:
    link = next(one for one in links(view_of(name)) if one.call.began.turn == turn)
    assert link.since == since


def test_the_evidence_says_what_the_service_keeps_after_each_request() -> None:
    counts = [len(one.kept) for one in view_of("plain_text").transcript.of(WireResponse) if not one.probe]
    assert counts == [1, 2, 3, 4]
    assert not any(one.kept for one in view_of("plain_text", "stateless").transcript.of(WireResponse))


def conversation_of(link: Link) -> list[tuple[str, str, object]]:
    """The whole conversation of a request, with what the service holds in front of it, without ids."""
    found: list[tuple[str, str, object]] = []
    for message in link.request.wire.messages:
        for part in message.parts:
            match part:
                case Text(text=text):
                    found.append((message.role, "text", text))
                case FunctionCall(name=name, args=args):
                    found.append((message.role, name, dict(args)))
                case ToolResult(result=result):
                    found.append((message.role, "result", result))
    return found


ABNORMAL = (
    "cancelled", "cancelled_tool", "child", "collected", "configured", "cut_short", "failed", "forgotten", "reset",
    "resumed", "retried", "reverted",
)  # fmt: skip


@pytest.mark.parametrize("name", ABNORMAL)
def test_after_an_abnormal_turn_the_service_holds_what_the_other_path_sends(name: str) -> None:
    """The last request of either path: one goes on from the service's copy, the other has the session's."""
    chained, whole = links(view_of(name))[-1], links(view_of(name, "stateless"))[-1]
    assert chained.head is not None
    assert chained.head in view_of(name).transcript.of(WireResponse)[-1].kept
    assert len(chained.own) < len(whole.own)
    assert conversation_of(chained) == conversation_of(whole)


def in_conversation(name: str) -> View:
    return view_of(name, conversation=True)


def test_a_link_knows_what_a_conversation_held_when_the_request_came() -> None:
    first, second, *_ = links(in_conversation("plain_text"))
    assert (first.head, len(first.carried), len(first.own)) == (None, 0, 1)
    assert second.goes_on
    assert [message.text for message in second.carried] == ["I sowed basil in bed 3.", "Noted."]
    assert len(second.own) == 1


@pytest.mark.parametrize("name", [name for name in ABNORMAL if name != "forgotten"])
def test_after_an_abnormal_turn_a_conversation_holds_what_the_other_path_sends(name: str) -> None:
    """The last request of either path; `forgotten` is not asked, as a conversation is kept until it is deleted."""
    collected, whole = links(in_conversation(name))[-1], links(view_of(name, "stateless"))[-1]
    assert conversation_of(collected) == conversation_of(whole)


@pytest.mark.parametrize(
    "requirement", ["nothing-is-sent-twice", "nothing-is-missing-from-the-chain", "head-is-the-last-answer"]
)
def test_a_conversation_object_is_as_right_as_a_chain(requirement: str) -> None:
    assert status(f"stored/{requirement}", in_conversation("plain_text")) is Status.HELD


def test_what_a_conversation_holds_is_not_sent_again() -> None:
    def told_first_turn_again(view: View, own: Body) -> None:
        own["input"] = [*body(view, 1)["input"], *own["input"]]

    spoilt_run = request(2, told_first_turn_again)(in_conversation("plain_text"))  # 0 creates the conversation
    assert status("stored/nothing-is-sent-twice", spoilt_run) is Status.VIOLATED


def test_what_a_conversation_was_not_given_is_missing() -> None:
    def other_words(view: View, body: Body) -> None:
        body["input"] = "Something else."

    spoilt_run = request(2, other_words)(in_conversation("plain_text"))
    assert status("stored/nothing-is-missing-from-the-chain", spoilt_run) is Status.VIOLATED


def test_what_the_service_has_forgotten_is_no_longer_kept() -> None:
    answers = view_of("forgotten").transcript.of(WireResponse)
    assert [(one.status, len(one.kept)) for one in answers] == [(200, 1), (200, 2), (400, 0), (200, 1), (200, 2)]


def test_an_answer_that_a_repeated_request_got_whole_is_no_failed_one() -> None:
    """The emulator gave the second attempt the id of the first, which had broken off."""
    view = view_of("retried")
    names = [name_of(exchange) for call in view.calls for exchange in call.generated]
    assert names[1] == names[2]
    found = links(view)
    assert list(broken_names(view, found[2])) == [names[1]]
    assert broken_names(view, found[3]) == {}
