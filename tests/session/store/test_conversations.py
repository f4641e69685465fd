"""One history for providers that remember and those that do not, in KSI's record form."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from turnproof.cancel import CancelToken
from turnproof.errors import Cancelled, OverloadedError, ResumeError, UsageError
from turnproof.gc import GCConfig, TruncateGC
from turnproof.messages import Message, Text, TokenUsage
from turnproof.session.store import (
    ConversationManager,
    ConversationReply,
    ConversationRequest,
    SessionBusyError,
    StoreFullError,
    complete_with,
)

from .kit import FOLDER, Echo, ticking
from .simfiles import SimFiles
from .test_fifo import started

CLI, API = "claude-cli/sonnet", "openai/gpt-4o"
LOG = FOLDER / "talk.jsonl"


class Provider:
    """Answers by rule, remembers what it was asked, and fails where it is told to.

    As a command line program would, it makes up a session id with the first request and knows only those.
    """

    def __init__(self) -> None:
        self.requests: list[ConversationRequest] = []
        self.fails: BaseException | None = None
        self.known: set[str] = set()
        self._ids = count(1)

    def __call__(self, request: ConversationRequest) -> ConversationReply:
        self.requests.append(request)
        if self.fails is not None:
            error, self.fails = self.fails, None
            raise error
        session_id = request.session_id
        if session_id is None:
            session_id = f"cli-{next(self._ids)}"
            self.known.add(session_id)
        elif session_id not in self.known:
            raise ResumeError(f"no conversation {session_id}; started cli-99", session_id=session_id)
        usage = TokenUsage(10 * len(request.messages), 2, 10 * len(request.messages) + 2)
        return ConversationReply(f"re: {request.messages[-1].text}", session_id, usage)

    @property
    def sent(self) -> list[list[tuple[str, str]]]:
        """What was sent with each request: role and text."""
        return [[(message.role, message.text) for message in request.messages] for request in self.requests]


def conversations(
    provider: Callable[[ConversationRequest], ConversationReply], files: SimFiles | None = None, **options: Any
) -> ConversationManager:
    ids = count(1)
    return ConversationManager(
        FOLDER,
        provider,
        files=files or SimFiles(),
        clock=ticking(1_752_573_600.0),
        ids=lambda: f"req_{next(ids)}",
        program="ksi",
        **options,
    )


def lines(files: SimFiles) -> list[dict[str, Any]]:
    return [json.loads(line) for line in files.read(LOG).splitlines()]


# Who gets what


def test_a_stateless_provider_gets_the_whole_history_with_the_new_message_exactly_once() -> None:
    provider = Provider()
    manager = conversations(provider)
    for text in ("one", "two", "three"):
        manager.request("talk", API, text)
    assert provider.sent == [
        [("user", "one")],
        [("user", "one"), ("model", "re: one"), ("user", "two")],
        [("user", "one"), ("model", "re: one"), ("user", "two"), ("model", "re: two"), ("user", "three")],
    ]
    assert [request.session_id for request in provider.requests] == [None] * 3, "whatever ids it hands out"


def test_a_stateful_provider_gets_the_new_message_and_its_own_session_id() -> None:
    provider = Provider()
    manager = conversations(provider)
    for text in ("one", "two", "three"):
        manager.request("talk", CLI, text)
    assert provider.sent == [[("user", "one")], [("user", "two")], [("user", "three")]]
    assert [request.session_id for request in provider.requests] == [None, "cli-1", "cli-1"]


def test_a_conversation_goes_on_with_the_other_kind_and_back() -> None:
    provider = Provider()
    manager = conversations(provider)
    for model in (CLI, API, CLI, "claude-cli/opus"):
        manager.request("talk", model, f"to {model}")
    assert [len(messages) for messages in provider.sent] == [1, 3, 1, 1]
    assert [request.session_id for request in provider.requests] == [None, None, "cli-1", "cli-1"]


def test_conversations_do_not_know_each_other() -> None:
    provider = Provider()
    manager = conversations(provider)
    manager.request("one", API, "here")
    manager.request("other", API, "there")
    assert provider.sent[1] == [("user", "there")]


def test_a_provider_of_ours_answers_through_an_adapter_of_one_line() -> None:
    echo = Echo()
    manager = conversations(complete_with(echo, system="be brief"))
    assert manager.request("talk", API, "hello").result == "You said: hello"
    manager.request("talk", API, "again")
    assert [message.text for message in echo.requests[1]] == ["hello", "You said: hello", "again"]


# What is logged


def test_both_sides_are_logged_in_order_also_the_first_and_also_of_a_provider_that_remembers() -> None:
    files = SimFiles()
    manager = conversations(Provider(), files)
    manager.request("talk", CLI, "Hello")
    manager.request("talk", API, "And you?", request_id="mine")
    first, answer, second, other = lines(files)
    assert first == {
        "seq": 1,
        "crc": first["crc"],
        "type": "user",
        "timestamp": "2025-07-15T10:00:01Z",
        "content": "Hello",
        "request_id": "req_1",
    }
    assert (answer["type"], answer["result"], answer["request_id"]) == ("claude", "re: Hello", "req_1")
    assert (answer["model"], answer["session_id"]) == (CLI, "cli-1")
    assert answer["timestamp"] > first["timestamp"]
    assert (second["content"], second["request_id"], other["request_id"]) == ("And you?", "mine", "mine")
    assert "session_id" not in other, "a stateless provider has none"


def test_a_later_process_goes_on_from_the_log() -> None:
    files, provider = SimFiles(), Provider()
    with conversations(provider, files) as manager:
        manager.request("talk", CLI, "one")
        manager.request("talk", API, "two")
        before = manager.messages("talk")
    with conversations(provider, files) as manager:
        again = manager.messages("talk")
        assert [(m.role, m.parts, m.message_id) for m in again] == [(m.role, m.parts, m.message_id) for m in before]
        manager.request("talk", API, "three")
        manager.request("talk", CLI, "four")
    assert len(provider.sent[2]) == 5
    assert provider.requests[3].session_id == "cli-1"


@pytest.mark.parametrize("model", [CLI, API])
@pytest.mark.parametrize("error", [OverloadedError("busy"), KeyboardInterrupt(), ValueError("bug")])
def test_a_request_that_fails_leaves_nothing(model: str, error: BaseException) -> None:
    files, provider = SimFiles(), Provider()
    manager = conversations(provider, files)
    manager.request("talk", model, "one")
    before = files.read(LOG)
    provider.fails = error
    with pytest.raises(type(error)):
        manager.request("talk", model, "fails")
    assert files.read(LOG) == before
    manager.request("talk", API, "two")
    assert provider.sent[-1] == [("user", "one"), ("model", "re: one"), ("user", "two")]


def test_a_first_request_that_fails_begins_no_conversation() -> None:
    files, provider = SimFiles(), Provider()
    provider.fails = OverloadedError("busy")
    manager = conversations(provider, files)
    with pytest.raises(OverloadedError):
        manager.request("talk", API, "hello")
    assert manager.messages("talk") == []
    assert not [name for name in files.names(FOLDER) if name.endswith(".jsonl")]


def test_feedback_of_the_system_is_logged_and_shown_to_no_model() -> None:
    files, provider = SimFiles(), Provider()
    with conversations(provider, files) as manager:
        manager.request("talk", API, "one")
        manager.feedback("talk", "event emitted: 3 agents", request_id="f")
        manager.request("talk", API, "two")
    with conversations(provider, files) as manager:
        manager.request("talk", API, "three")
    assert "feedback" in [line["type"] for line in lines(files)]
    for messages in provider.sent:
        assert [role for role, _ in messages] == (["user", "model"] * 3)[: len(messages)]
        assert not any("agents" in text for _, text in messages)


def test_an_exchange_that_cannot_be_logged_is_not_in_the_conversation() -> None:
    files, provider = SimFiles(), Provider()
    manager = conversations(provider, files)
    manager.request("talk", API, "one")
    files.full_at = files.operations
    with pytest.raises(StoreFullError):
        manager.request("talk", API, "two")
    files.full_at = None
    manager.request("talk", API, "three")
    assert provider.sent[-1] == [("user", "one"), ("model", "re: one"), ("user", "three")]


# The session of a provider


def test_a_session_that_the_provider_has_lost_is_forgotten_for_good() -> None:
    files, provider = SimFiles(), Provider()
    with conversations(provider, files) as manager:
        manager.request("talk", CLI, "one")
        provider.known.clear()
        with pytest.raises(ResumeError, match="cli-99") as failure:
            manager.request("talk", CLI, "two")
        assert failure.value.session_id == "cli-1"
    with conversations(provider, files) as manager:
        manager.request("talk", CLI, "three")
        manager.request("talk", CLI, "four")
    assert [request.session_id for request in provider.requests] == [None, "cli-1", None, "cli-2"]
    assert [m.text for m in manager.messages("talk")[::2]] == ["one", "three", "four"]


def test_other_failures_do_not_cost_the_session() -> None:
    provider = Provider()
    manager = conversations(provider)
    manager.request("talk", CLI, "one")
    provider.fails = OverloadedError("busy")
    with pytest.raises(OverloadedError):
        manager.request("talk", CLI, "two")
    manager.request("talk", CLI, "two")
    assert provider.requests[-1].session_id == "cli-1"


def test_a_burst_of_first_requests_makes_one_session_in_order() -> None:
    provider, go, call_began = Provider(), threading.Event(), threading.Event()

    def slow(request: ConversationRequest) -> ConversationReply:
        call_began.set()
        go.wait(60)
        return provider(request)

    manager = conversations(slow)
    threads = [started(lambda: manager.request("talk", CLI, "0"))]
    call_began.wait(60)
    entry = manager._open["talk"]
    for number in (1, 2):
        threads.append(started(lambda number=number: manager.request("talk", CLI, str(number))))  # type: ignore[misc]
        while entry.line.waiting != number:
            pass
    go.set()
    for thread in threads:
        thread.join(60)
    assert [request.messages[-1].text for request in provider.requests] == ["0", "1", "2"]
    assert [request.session_id for request in provider.requests] == [None, "cli-1", "cli-1"]


def test_a_request_may_be_given_up_while_it_waits() -> None:
    provider = Provider()
    manager = conversations(provider)
    token = CancelToken()
    token.cancel()
    with pytest.raises(Cancelled):
        manager.request("talk", API, "never mind", cancel_token=token)
    assert provider.requests == []


# A long conversation


def test_a_loaded_conversation_is_collected_when_it_is_due_and_stays_so() -> None:
    files, provider = SimFiles(), Provider()
    options: dict[str, Any] = {
        "collector": TruncateGC(),
        "config": GCConfig(context_limit=100, threshold=0.5, target=0.3, keep_turns=1),
    }
    with conversations(provider, files) as manager:
        for text in ("one", "two", "three"):
            manager.request("talk", API, text)
    with conversations(provider, files, **options) as manager:
        manager.request("talk", API, "four")
        manager.request("talk", API, "five")
    assert provider.sent[3] == [("user", "three"), ("model", "re: three"), ("user", "four")]
    with conversations(provider, files, **options) as manager:
        assert manager.messages("talk")[0].text == "three"
        assert manager.problems("talk") == ()
    assert [line["content"] for line in lines(files) if line["type"] == "user"] == [
        "one",
        "two",
        "three",
        "four",
        "five",
    ]


def test_a_conversation_is_collected_by_hand() -> None:
    provider = Provider()
    manager = conversations(provider, collector=TruncateGC(), config=GCConfig(keep_turns=1))
    for text in ("one", "two", "three"):
        manager.request("talk", API, text)
    assert manager.collect("talk").changed
    assert [m.text for m in manager.messages("talk")] == ["three", "re: three"]
    with pytest.raises(UsageError, match="pass collector="):
        conversations(provider).collect("talk")


# What is not as it was written

KSI = """\
{"type": "user", "timestamp": "2025-07-15T10:00:00Z", "content": "Hello", "request_id": "req_123"}
{"type": "claude", "timestamp": "2025-07-15T10:00:02Z", "result": "Hello! How can I help?", "session_id": "old"}
{"type": "user", "timestamp": "2025-07-15T10:01:00Z", "content": "What's the weather?"}
{"type": "claude", "timestamp": "2025-07-15T10:01:03Z", "result": "I don't know."}
"""


def files_with_log(text: str | bytes) -> SimFiles:
    files = SimFiles()
    files.create(LOG).write(text.encode() if isinstance(text, str) else text)
    return files


def test_a_log_that_ksi_wrote_is_read_and_gone_on_with() -> None:
    files, provider = files_with_log(KSI), Provider()
    with conversations(provider, files) as manager:
        assert manager.problems("talk") == ()
        manager.request("talk", API, "Thanks")
    assert [text for _, text in provider.sent[0]] == [
        "Hello",
        "Hello! How can I help?",
        "What's the weather?",
        "I don't know.",
        "Thanks",
    ]
    with conversations(provider, files) as manager:
        assert len(manager.messages("talk")) == 6


@pytest.mark.parametrize(
    ("line", "instead", "left", "reason"),
    [
        (0, "garbage", ["What's the weather?", "I don't know."], "this is no record"),
        (0, "{not json}", ["What's the weather?", "I don't know."], "cannot be read"),
        (1, '{"type":"claude"}', ["What's the weather?", "I don't know."], "lacks what its type demands"),
        (1, '{"type":"user","content":"Hello?"}', ["What's the weather?", "I don't know."], "had no answer"),
        (2, '{"type":"tool","content":"x"}', ["Hello", "Hello! How can I help?"], "has no message before it"),
        (2, '{"type":"history","messages":[{"role":"x"}]}', ["Hello", "Hello! How can I help?"], "cannot be read"),
        (3, "", ["Hello", "Hello! How can I help?"], "had no answer"),
        (3, '{"type": "claude", "resu', ["Hello", "Hello! How can I help?"], "no whole record"),
    ],
)
def test_a_damaged_line_is_skipped_with_its_exchange_and_told(
    line: int, instead: str, left: list[str], reason: str
) -> None:
    rows = KSI.splitlines()
    rows[line] = instead
    files = files_with_log("\n".join(rows) + ("\n" if line < 3 else ""))
    with conversations(Provider(), files) as manager:
        assert [m.text for m in manager.messages("talk")] == left
        assert any(reason in str(problem) for problem in manager.problems("talk"))
        manager.request("talk", API, "and now?")
        roles = [m.role for m in manager.messages("talk")]
    assert roles == ["user", "model"] * (len(roles) // 2)


@pytest.mark.parametrize("size", range(0, len(KSI), 7))
def test_cut_anywhere_the_whole_exchanges_are_there_and_the_next_one_does_not_fuse(size: int) -> None:
    ends = [len(KSI.rstrip()) if n == 4 else KSI.index('{"type": "user"', 1) - 1 for n in (2, 4)]
    files = files_with_log(KSI[:size])
    with conversations(Provider(), files) as manager:
        before = [m.text for m in manager.messages("talk")]
        assert len(before) == 2 * sum(size >= end for end in ends)
        manager.request("talk", API, "next")
    with conversations(Provider(), files) as manager:
        assert [m.text for m in manager.messages("talk")] == [*before, "next", "re: next"]


def test_a_conversation_is_open_in_one_process_at_a_time() -> None:
    files = SimFiles()
    first, second = conversations(Provider(), files), conversations(Provider(), files)
    first.request("talk", API, "mine")
    with pytest.raises(SessionBusyError, match=r"session 'talk' is open in ksi \(process"):
        second.request("talk", API, "mine too")
    first.close()
    second.request("talk", API, "now")
    assert len(second.messages("talk")) == 4


def test_a_name_that_could_lead_elsewhere_is_refused() -> None:
    with pytest.raises(UsageError, match="cannot name a session"):
        conversations(Provider()).request("../talk", API, "hello")


def test_hostile_text_is_logged_and_sent_as_it_was(tmp_path: Path) -> None:
    texts = ["line\nbreak", "\ud83d", "\x00\x1b[0m", '{"type":"claude"}']
    provider = Provider()
    with ConversationManager(tmp_path, provider) as manager:
        for text in texts:
            manager.request("talk", API, text)
    with ConversationManager(tmp_path, provider) as manager:
        assert [m.text for m in manager.messages("talk")][::2] == texts
        assert manager.problems("talk") == ()
        assert all(isinstance(m, Message) and isinstance(m.parts[0], Text) for m in manager.messages("talk"))
