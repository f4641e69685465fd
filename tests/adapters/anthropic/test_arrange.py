"""How a conversation is arranged for the API: neighbours, calls and their results, instructions, and the end."""

from __future__ import annotations

from dataclasses import dataclass
from operator import attrgetter
from typing import Any

import pytest

from turnproof.errors import InvalidRequestError
from turnproof.messages import Message, Opaque, Text
from turnproof_adapters.anthropic.blocks import row
from turnproof_adapters.anthropic.plain_conversation import DictCodec
from turnproof_adapters.anthropic.service import ANTHROPIC

from .kit import MODEL, answered, arranged, call, result, signed, text, use

UNANSWERED = "No result: the call was not carried out."


SEARCH = Opaque(
    "anthropic-messages",
    "server_tool_use",
    {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"query": "beans"}},
)
FOUND = Opaque(
    "anthropic-messages",
    "web_search_tool_result",
    {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": []},
)


@dataclass(frozen=True)
class Case:
    id: str
    history: tuple[Message, ...]
    wire: list[tuple[str, list[dict[str, Any]]]]


HI = Message.user("hi")

ARRANGEMENTS = [
    Case(
        "a-tool-round-is-call-then-result",
        (HI, Message.model("let me look", call(path="/a")), Message.tool(result()), Message.user("thanks")),
        [
            ("user", [text("hi")]),
            ("assistant", [text("let me look"), use(path="/a")]),
            ("user", [answered(), text("thanks")]),
        ],
    ),
    Case("neighbours-of-one-role-are-merged", (HI, Message.user("there")), [("user", [text("hi"), text("there")])]),
    Case(
        "calls-of-two-model-messages-are-answered-together",
        (HI, Message.model(call("a")), Message.model(call("b")), Message.tool(result("a"), result("b"))),
        [("user", [text("hi")]), ("assistant", [use("a"), use("b")]), ("user", [answered("a"), answered("b")])],
    ),
    Case(
        "results-come-first-and-in-call-order",
        (HI, Message.model(call("a"), call("b")), Message.user("wait"), Message.tool(result("b"), result("a"))),
        [
            ("user", [text("hi")]),
            ("assistant", [use("a"), use("b")]),
            ("user", [answered("a"), answered("b"), text("wait")]),
        ],
    ),
    Case(
        "nothing-follows-a-call-in-its-message",
        (HI, Message.model(call("a"), Text("and")), Message.tool(result("a"))),
        [("user", [text("hi")]), ("assistant", [text("and"), use("a")]), ("user", [answered("a")])],
    ),
    Case(
        "a-dangling-call-gets-a-result-that-says-so",
        (HI, Message.model(call("a"), call("b")), Message.tool(result("b")), Message.user("go on")),
        [
            ("user", [text("hi")]),
            ("assistant", [use("a"), use("b")]),
            ("user", [answered("a", UNANSWERED, is_error=True), answered("b"), text("go on")]),
        ],
    ),
    Case(
        "a-call-at-the-very-end-is-answered-too",
        (HI, Message.model(call("a"))),
        [("user", [text("hi")]), ("assistant", [use("a")]), ("user", [answered("a", UNANSWERED, is_error=True)])],
    ),
    Case(
        "an-orphan-result-is-left-out",
        (HI, Message.tool(result("gone")), Message.model("yes"), Message.tool(result("gone")), Message.user("so")),
        [("user", [text("hi")]), ("assistant", [text("yes")]), ("user", [text("so")])],
    ),
    Case(
        "model-messages-with-only-an-orphan-between-them-are-merged",
        (HI, Message.model("yes"), Message.tool(result("gone")), Message.model("no"), Message.user("so")),
        [("user", [text("hi")]), ("assistant", [text("yes"), text("no")]), ("user", [text("so")])],
    ),
    Case(
        "a-second-result-for-one-call-is-left-out",
        (HI, Message.model(call("a")), Message.tool(result("a", "1"), result("a", "2"))),
        [("user", [text("hi")]), ("assistant", [use("a")]), ("user", [answered("a", "1")])],
    ),
    Case(
        "one-id-used-twice-in-a-message-is-told-apart",
        (HI, Message.model(call("a", x=1), call("a", x=2)), Message.tool(result("a", "1"), result("a", "2"))),
        [
            ("user", [text("hi")]),
            ("assistant", [use("a", x=1), use("a_2", x=2)]),
            ("user", [answered("a", "1"), answered("a_2", "2")]),
        ],
    ),
    Case(
        "one-id-in-two-turns-is-left-alone",
        (HI, Message.model(call("a")), Message.tool(result("a")), Message.model(call("a")), Message.tool(result("a"))),
        [
            ("user", [text("hi")]),
            ("assistant", [use("a")]),
            ("user", [answered("a")]),
            ("assistant", [use("a")]),
            ("user", [answered("a")]),
        ],
    ),
    Case(
        "blank-texts-and-empty-messages-are-left-out",
        (HI, Message.model("", " \n"), Message.user(""), Message.model("yes", ""), Message("user", ())),
        [("user", [text("hi")]), ("assistant", [text("yes")])],
    ),
    Case(
        "an-answer-at-the-end-loses-its-trailing-blanks-only",
        (HI, Message.model("  one\n", "  two \n")),
        [("user", [text("hi")]), ("assistant", [text("  one\n"), text("  two")])],
    ),
    Case(
        "and-so-it-does-before-thinking-that-cannot-end-a-message",
        (HI, Message.model("two \n", signed("hm"), signed("hm"))),
        [("user", [text("hi")]), ("assistant", [text("two")])],
    ),
    Case(
        "an-answer-that-something-follows-keeps-its-blanks",
        (HI, Message.model("one "), Message.user("so"), Message.model("two \n"), Message.user("on")),
        [
            ("user", [text("hi")]),
            ("assistant", [text("one ")]),
            ("user", [text("so")]),
            ("assistant", [text("two \n")]),
            ("user", [text("on")]),
        ],
    ),
    Case(
        "so-does-one-that-a-call-follows",
        (HI, Message.model("two \n", call("a"))),
        [
            ("user", [text("hi")]),
            ("assistant", [text("two \n"), use("a")]),
            ("user", [answered("a", UNANSWERED, is_error=True)]),
        ],
    ),
    Case(
        "thinking-before-a-call-is-kept-wherever-it-stands",
        (HI, Message.model("look", signed("hm"), call("a")), Message.tool(result("a"))),
        [
            ("user", [text("hi")]),
            (
                "assistant",
                [text("look"), {"type": "thinking", "thinking": "hm", "signature": "sig=="}, use("a")],
            ),
            ("user", [answered("a")]),
        ],
    ),
    Case(
        "an-answer-that-never-got-beyond-thinking-is-left-out",
        (HI, Message.model(signed("hm")), Message.user("well?")),
        [("user", [text("hi"), text("well?")])],
    ),
    Case(
        "of-many-calls-under-one-id-each-is-told-apart-from-every-other",
        (
            HI,
            Message.model(call("a_2"), call("a"), call("a", x=2), call("a", x=3), call("a_2", x=4)),
            Message.tool(result("a", "1"), result("a", "2"), result("a", "3")),
        ),
        [
            ("user", [text("hi")]),
            ("assistant", [use("a_2"), use("a"), use("a_3", x=2), use("a_4", x=3), use("a_2_2", x=4)]),
            (
                "user",
                [
                    answered("a_2", UNANSWERED, is_error=True),
                    answered("a", "1"),
                    answered("a_3", "2"),
                    answered("a_4", "3"),
                    answered("a_2_2", UNANSWERED, is_error=True),
                ],
            ),
        ],
    ),
    Case(
        "a-call-of-the-services-own-goes-back-with-its-result",
        (HI, Message.model("I look.", SEARCH), Message.model(FOUND, "None."), Message.user("so")),
        [
            ("user", [text("hi")]),
            ("assistant", [text("I look."), SEARCH.data, FOUND.data, text("None.")]),
            ("user", [text("so")]),
        ],
    ),
    Case(
        "one-that-nothing-came-of-is-left-out-once-anything-follows",
        (HI, Message.model("I look.", SEARCH), Message.user("so"), Message.model(SEARCH), Message.user("well?")),
        [
            ("user", [text("hi")]),
            ("assistant", [text("I look.")]),
            ("user", [text("so")]),
            ("user", [text("well?")]),
        ],
    ),
    Case(
        "it-stays-at-the-end-where-the-service-goes-on-with-it",
        (HI, Message.model("I look.", SEARCH)),
        [("user", [text("hi")]), ("assistant", [text("I look."), SEARCH.data])],
    ),
    Case(
        "a-conversation-may-begin-with-the-model",
        (Message.model("welcome"), HI),
        [("assistant", [text("welcome")]), ("user", [text("hi")])],
    ),
    Case(
        "an-instruction-in-mid-conversation-is-said-by-the-user-where-the-model-knows-no-other-way",
        (HI, Message.system("be brief"), Message.model("ok")),
        [("user", [text("hi"), text("be brief")]), ("assistant", [text("ok")])],
    ),
]


def wire(arrangement: Any) -> list[tuple[str, Any]]:
    return [(message["role"], message["content"]) for message in arrangement.finish()]


@pytest.mark.parametrize("case", ARRANGEMENTS, ids=attrgetter("id"))
def test_the_conversation_is_arranged_as_the_api_insists(case: Case) -> None:
    assert wire(arranged(case.history)) == case.wire


MID_SYSTEM = [
    Case(
        "after-the-user-and-before-the-model-it-stands-alone",
        (HI, Message.system("be brief"), Message.model("ok"), Message.user("so")),
        [("user", [text("hi")]), ("system", [text("be brief")]), ("assistant", [text("ok")]), ("user", [text("so")])],
    ),
    Case(
        "it-may-come-last",
        (HI, Message.system("be brief")),
        [("user", [text("hi")]), ("system", [text("be brief")])],
    ),
    Case(
        "before-more-of-the-user-it-is-the-users",
        (HI, Message.system("be brief"), Message.user("so")),
        [("user", [text("hi"), text("be brief"), text("so")])],
    ),
    Case(
        "after-the-model-it-is-the-users",
        (HI, Message.model("ok"), Message.system("be brief"), Message.model("yes"), Message.user("so")),
        [
            ("user", [text("hi")]),
            ("assistant", [text("ok")]),
            ("user", [text("be brief")]),
            ("assistant", [text("yes")]),
            ("user", [text("so")]),
        ],
    ),
    Case(
        "after-results-that-answer-nothing-it-is-the-users",
        (
            HI,
            Message.model("ok"),
            Message.tool(result("gone")),
            Message.system("be brief"),
            Message.model("yes"),
            Message.user("so"),
        ),
        [
            ("user", [text("hi")]),
            ("assistant", [text("ok")]),
            ("user", [text("be brief")]),
            ("assistant", [text("yes")]),
            ("user", [text("so")]),
        ],
    ),
]


@pytest.mark.parametrize("case", MID_SYSTEM, ids=attrgetter("id"))
def test_a_model_that_takes_instructions_in_mid_conversation_gets_them_where_it_may(case: Case) -> None:
    assert wire(arranged(case.history, "claude-opus-4-8")) == case.wire


@pytest.mark.parametrize("model", [MODEL, "claude-opus-4-8"])
@pytest.mark.parametrize("case", [*ARRANGEMENTS, *MID_SYSTEM], ids=attrgetter("id"))
def test_a_snapshot_and_what_it_is_of_go_their_own_ways(case: Case, model: str) -> None:
    """Gone on from anywhere, a conversation is arranged as it would be from its beginning."""
    history = case.history if model == MODEL else (*case.history, Message.user("so"))
    whole = arranged(history, model).finish()
    for cut in range(len(history) + 1):
        first = arranged(history[:cut], model)
        second = first.copy()
        for message in history[cut:]:
            second.add(row(message, DictCodec(), ANTHROPIC, model))
        assert second.loop_lacks_thinking is arranged(history, model).loop_lacks_thinking
        assert second.finish() == whole
        first.add(row(Message.user("another way"), DictCodec(), ANTHROPIC, model))
        assert first.finish() == arranged([*history[:cut], Message.user("another way")], model).finish()


NEWER = "claude-sonnet-4-6"


@pytest.mark.parametrize(
    "after",
    [(), (Message.tool(result("gone")),), (Message.user(" "),), (Message.model("more"),)],
    ids=["nothing", "an-orphan", "blanks", "more-words"],
)
def test_a_model_that_does_not_go_on_with_its_own_words_is_not_asked_to(after: tuple[Message, ...]) -> None:
    history = (HI, Message.model("yes"), *after)
    with pytest.raises(InvalidRequestError, match="end the conversation with a user's message or a tool's result"):
        arranged(history, NEWER).finish()
    assert arranged(history, MODEL).finish()[-1]["role"] == "assistant"


@pytest.mark.parametrize(
    "last",
    [
        Message.user("and?"),
        Message.model(call("a")),  # gets a result that says so
        Message.model("I look.", SEARCH),
    ],
    ids=["a-question", "a-call", "a-paused-turn"],
)
def test_it_is_asked_where_there_is_something_to_answer_or_to_end(last: Message) -> None:
    assert arranged((HI, Message.model("yes"), last), NEWER).finish()


LOOP = (Message.model(call("a")), Message.tool(result("a")))
THOUGHTFUL_LOOP = (Message.model(signed("hm"), call("a")), Message.tool(result("a")))


@pytest.mark.parametrize(
    ("history", "lacks"),
    [
        ((), False),
        ((HI,), False),
        ((HI, *LOOP), True),
        ((HI, LOOP[0]), True),
        (LOOP, True),
        ((HI, *LOOP, *LOOP), True),
        ((HI, *LOOP, *THOUGHTFUL_LOOP), True),
        ((HI, *LOOP, Message.model("done")), False),
        ((HI, *LOOP, Message.user("and?")), False),
        ((HI, *LOOP, Message.model("done"), HI, *THOUGHTFUL_LOOP), False),
        ((HI, *THOUGHTFUL_LOOP), False),
        ((HI, *THOUGHTFUL_LOOP, *LOOP), False),
        ((HI, Message.model("look", signed("hm"), call("a"))), True),
    ],
)
def test_a_tool_loop_that_began_without_thinking_is_known_as_one(history: tuple[Message, ...], lacks: bool) -> None:
    assert arranged(history).loop_lacks_thinking is lacks


def test_a_conversation_of_blanks_is_refused() -> None:
    with pytest.raises(InvalidRequestError, match="nothing to send"):
        arranged([Message.user(" \n"), Message.model("")]).finish()
