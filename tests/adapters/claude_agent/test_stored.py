"""A session's file, line by line: what of it is the conversation. The lines are as 2.1.330 writes them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from turnproof.messages import FunctionCall, Message, Text, ToolResult, same_history
from turnproof_adapters.claude_agent import stored_session
from turnproof_adapters.claude_agent.history import messages
from turnproof_adapters.claude_cli.lifecycle import CLAUDE_CLI
from turnproof_adapters.claude_cli.lines import ProgramMessage
from turnproof_adapters.claude_cli.tools import restorer

RESTORE = restorer((), ())


def line(kind: str, uuid: str, parent: str | None, content: Any, answer: str = "", **more: Any) -> dict[str, Any]:
    message = {"role": kind, "content": content}
    if kind == "assistant":
        message |= {"id": answer, "model": "claude-haiku-4-5"}
    return {"type": kind, "uuid": uuid, "parentUuid": parent, "message": message, "isSidechain": False, **more}


def text(words: str) -> list[dict[str, Any]]:
    return [{"type": "text", "text": words}]


def use(call: str) -> list[dict[str, Any]]:
    return [{"type": "tool_use", "id": call, "name": "mcp__session__look", "input": {"bed": call}}]


def result(call: str, content: str = "ok") -> list[dict[str, Any]]:
    return [{"type": "tool_result", "tool_use_id": call, "content": content}]


def read(tmp_path: Path, *lines: dict[str, Any]) -> list[Message]:
    path = tmp_path / "session.jsonl"
    path.write_text("".join(json.dumps(each) + "\n" for each in lines))
    return messages(stored_session.read(path).messages, CLAUDE_CLI, RESTORE)


def look(call: str) -> FunctionCall:
    return FunctionCall(call, "look", {"bed": call})


BOTH = [
    Message.user("1?"),
    Message.model("Look:", look("a"), look("b")),
    Message.tool(ToolResult("a", "look", "ok"), ToolResult("b", "look", "ok")),
    Message.model("Done."),
]


@pytest.mark.parametrize("last", ["a", "b"])
def test_both_branches_of_parallel_calls_are_kept_whichever_the_session_went_on_from(tmp_path: Path, last: str) -> None:
    ended = [
        line("user", "ra", "ua", result("a")),
        line("user", "rb", "ub", result("b")),
    ]
    if last == "a":
        ended.reverse()
    found = read(
        tmp_path,
        line("user", "q", None, "1?"),
        line("assistant", "t", "q", text("Look:"), "m1"),
        line("assistant", "ua", "t", use("a"), "m1"),
        line("assistant", "ub", "ua", use("b"), "m1"),
        *ended,
        line("assistant", "d", f"r{last}", text("Done."), "m2"),
    )
    assert same_history(found, BOTH, ids=False)


def test_a_result_may_come_before_the_next_call_of_its_answer(tmp_path: Path) -> None:
    found = read(
        tmp_path,
        line("user", "q", None, "1?"),
        line("assistant", "t", "q", text("Look:"), "m1"),
        line("assistant", "ua", "t", use("a"), "m1"),
        line("user", "ra", "ua", result("a")),
        line("assistant", "ub", "ua", use("b"), "m1"),
        line("user", "rb", "ub", result("b")),
        line("assistant", "d", "rb", text("Done."), "m2"),
    )
    assert same_history(found, BOTH, ids=False)


def test_only_the_branch_that_the_session_is_on_counts(tmp_path: Path) -> None:
    found = read(
        tmp_path,
        line("user", "q1", None, "1?"),
        line("assistant", "a1", "q1", text("One."), "m1"),
        line("user", "q2", "a1", "left"),
        line("assistant", "a2", "q2", text("behind"), "m2"),
        line("user", "q3", "a1", "3?"),
        line("assistant", "a3", "q3", text("Three."), "m3"),
    )
    assert [message.text for message in found] == ["1?", "One.", "3?", "Three."]


def test_what_the_program_says_in_its_own_name_is_left_out(tmp_path: Path) -> None:
    synthetic = line("assistant", "s", "i", "No response requested.", "m9")
    synthetic["message"]["model"] = "<synthetic>"
    found = read(
        tmp_path,
        line("user", "q", None, "1?"),
        line("user", "meta", "q", text("[Image: source: /t/1.png]"), isMeta=True),
        {"type": "attachment", "uuid": "at", "parentUuid": "meta", "attachment": {"type": "date"}},
        line("assistant", "a", "at", text("Part"), "m1"),
        line("user", "i", "a", text("[Request interrupted by user]")),
        synthetic,
        line("user", "q2", "s", "2?"),
        line("assistant", "e", "q2", text("API Error"), "m2", isApiErrorMessage=True),
        line("user", "side", "e", "of a subagent", isSidechain=True),
    )
    assert [(message.role, message.text) for message in found] == [("user", "1?"), ("model", "Part"), ("user", "2?")]


def test_a_call_that_was_never_answered_is_none(tmp_path: Path) -> None:
    found = read(
        tmp_path,
        line("user", "q", None, "1?"),
        line("assistant", "t", "q", text("Look:"), "m1"),
        line("assistant", "ua", "t", use("a"), "m1"),
    )
    assert same_history(found, [Message.user("1?"), Message.model("Look:")], ids=False)


def test_lines_that_name_each_other_do_not_go_round_for_ever(tmp_path: Path) -> None:
    found = read(tmp_path, line("user", "a", "b", "1?"), line("assistant", "b", "a", text("One."), "m1"))
    assert [message.text for message in found] == ["1?", "One."]


def test_two_answers_under_one_id_in_two_turns_are_two(tmp_path: Path) -> None:
    program_messages = [
        ProgramMessage("user", "1?"),
        ProgramMessage("assistant", text("One."), "m"),
        ProgramMessage("user", "2?"),
        ProgramMessage("assistant", text("Two."), "m"),
    ]
    assert [message.text for message in messages(program_messages, CLAUDE_CLI, RESTORE)] == ["1?", "One.", "2?", "Two."]


def test_blocks_that_are_damaged_are_left_out() -> None:
    program_messages = [
        ProgramMessage(
            "user", [{"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "?"}}, {}]
        ),
        ProgramMessage("user", [{"type": "text"}, *text("1?"), *result("nobody")]),
        ProgramMessage("assistant", [{"type": "tool_use", "id": 3}, *text("One.")], "m", "claude-haiku-4-5"),
    ]
    found = messages(program_messages, CLAUDE_CLI, RESTORE)
    assert [part for message in found for part in message.parts if isinstance(part, Text)] == [Text("1?"), Text("One.")]


def test_a_cut_takes_a_line_and_all_behind_it_and_tells_whether_anything_is_left(tmp_path: Path) -> None:
    path = tmp_path / "session.jsonl"
    lines = [line("user", "q1", None, "1?"), line("assistant", "a1", "q1", text("One."), "m1")]
    lines += [line("user", "q2", "a1", "2?"), line("assistant", "a2", "q2", text("Two."), "m2")]
    path.write_text("".join(json.dumps(each) + "\n" for each in lines))
    assert stored_session.cut(path, "nobody")
    assert len(stored_session.read(path).lines) == 4
    assert stored_session.cut(path, "q2")
    assert [each.uuid for each in stored_session.read(path).lines] == ["q1", "a1"]
    assert not stored_session.cut(path, "q1")
    assert path.read_bytes() == b""
