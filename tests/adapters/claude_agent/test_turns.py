"""Whole turns of the agent: what the model is asked, what is called here, and what comes back."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from turnproof import messages as m
from turnproof.agents import Tool, ToolOutput
from turnproof.cancel import CancelToken
from turnproof.errors import TransportError, UsageError
from turnproof.wire.emulator.server_run import CANARY_KEY
from turnproof_adapters._child_process import Child
from turnproof_adapters.claude_agent.program_requests import ProgramRequests

from ..emulated_conversation import SENSOR, SYSTEM
from ..scripted_server import scripted
from .kit import WIRE, Place, begins, call, conversation, says, sensor

PIXEL = bytes.fromhex(
    "89504e470d0a1a0a0000000d4948445200000001000000010804000000b51c0c020000000b4944415478da6364f80f00010501012718e366"
    "0000000049454e44ae426082"
)


def test_a_turn_holds_its_calls_and_gives_the_text_of_all_answers(here: Place) -> None:
    shown: list[str] = []
    calls: list[m.FunctionCall] = []
    tool_arguments: list[dict[str, Any]] = []

    def run(args: dict[str, Any], token: CancelToken) -> str:
        tool_arguments.append(args)
        return f"bed {args['bed']}: 41 %"

    with scripted(says("Let me look.", call(bed="3", call_id="toolu_a")), says("41 %.")) as api:
        agent = here.agent(api.url, sensor(run))
        answer = agent.send("How moist is bed 3?", on_chunk=shown.append, on_function_call=calls.append)
    assert tool_arguments == [{"bed": "3"}]
    assert calls == [m.FunctionCall("toolu_a", "read_sensor", {"bed": "3"})]
    assert (answer.text, answer.calls, answer.finish_reason) == ("Let me look.41 %.", (), m.FinishReason.STOP)
    assert "".join(shown) == answer.text
    assert conversation(api.requests[-1]) == [
        ("user", "How moist is bed 3?"),
        ("assistant", "Let me look."),
        ("user", "bed 3: 41 %"),
    ]
    history = [
        m.Message.user("How moist is bed 3?"),
        m.Message.model("Let me look.", calls[0]),
        m.Message.tool(m.ToolResult("toolu_a", "read_sensor", "bed 3: 41 %")),
        m.Message.model("41 %."),
    ]
    assert m.same_history(agent.history, history, ids=False)


def test_turns_go_on_in_one_session_and_each_has_its_own_usage(here: Place) -> None:
    updates: list[m.TokenUsage] = []
    with scripted(says(call(bed="1"), usage=(10, 5)), says("One.", usage=(20, 7)), says("Two.", usage=(40, 9))) as api:
        agent = here.agent(api.url, sensor())
        first = agent.send("1?", on_usage_update=updates.append)
        session = agent.session_id
        second = agent.send("2?")
    assert session is not None
    assert agent.session_id == session
    assert (first.usage.prompt_tokens, first.usage.output_tokens, first.usage.total_tokens) == (30, 12, 42)
    assert (second.usage.prompt_tokens, second.usage.output_tokens) == (40, 9)
    assert updates[-1] == first.usage
    assert [update.total_tokens for update in updates] == sorted(update.total_tokens for update in updates)
    assert conversation(api.requests[-1])[-2:] == [("assistant", "One."), ("user", "2?")]
    assert here.files()[0].stem == session
    assert len(here.files()) == 1


def test_arguments_keep_their_types(here: Place) -> None:
    arguments: dict[str, Any] = {
        "bed": "01234",
        "n": 1.0,
        "big": 2**60 + 1,
        "yes": "true",
        "list": ["1e5", 5],
        "none": None,
    }
    tool_arguments: list[Any] = []
    calls: list[m.FunctionCall] = []
    schema = m.ToolSchema("note", "Note all", {"type": "object", "properties": {}})
    with scripted(says(call("mcp__session__note", **arguments)), says("Done.")) as api:
        agent = here.agent(api.url, Tool(schema, lambda args, token: tool_arguments.append(args)))
        agent.send("Note it.", on_function_call=calls.append)
    assert [repr(args) for args in tool_arguments] == [repr(arguments)]
    assert calls[0].args == arguments


def test_parallel_calls_run_beside_each_other(here: Place) -> None:
    both = threading.Barrier(2, timeout=60)

    def run(args: dict[str, Any], token: CancelToken) -> str:
        both.wait()
        return f"bed {args['bed']}"

    with scripted(says(call(bed="3"), call(bed="4")), says("Fine.")) as api:
        agent = here.agent(api.url, sensor(run))
        agent.send("Both?")
    assert [(one.result, one.is_error) for one in agent.history[2].results] == [("bed 3", False), ("bed 4", False)]
    assert [len(message.calls) for message in agent.history] == [0, 2, 0, 0]


@pytest.mark.parametrize(
    ("returned", "result"),
    [
        ("41 %", m.ToolResult("t", "read_sensor", "41 %")),
        ({"moist": [41, None]}, m.ToolResult("t", "read_sensor", '{"moist":[41,null]}')),
        (ToolOutput("no such bed", is_error=True), m.ToolResult("t", "read_sensor", "no such bed", is_error=True)),
        (
            ToolOutput("see", attachments=(m.InlineData("image/png", PIXEL),)),
            m.ToolResult("t", "read_sensor", "see", attachments=(m.InlineData("image/png", PIXEL),)),
        ),
        ("x" * 400_000, m.ToolResult("t", "read_sensor", "x" * 400_000)),
    ],
    ids=["text", "JSON", "an error", "an image", "long"],
)
def test_what_a_tool_gives_is_told_to_the_model_whole(here: Place, returned: Any, result: m.ToolResult) -> None:
    with scripted(says(call(bed="3", call_id="t")), says("Fine.")) as api:
        agent = here.agent(api.url, sensor(lambda args, token: returned))
        agent.send("Look.")
    assert agent.history[2].results == (result,)
    (block,) = api.requests[-1].json["messages"][-1]["content"]
    sent = block["content"] if isinstance(block["content"], list) else [{"type": "text", "text": block["content"]}]
    assert sent[0]["text"] == result.result
    assert block.get("is_error", False) is result.is_error
    assert [part["type"] for part in sent].count("image") == len(result.attachments)


@pytest.mark.parametrize(
    ("run", "message"),
    [
        (lambda args, token: 1 / 0, "ZeroDivisionError: division by zero"),
        (lambda args, token: {1, 2}, "what cannot be sent"),
        (lambda args, token: ToolOutput(attachments=(m.InlineData("application/pdf", b"%PDF"),)), "only images"),
    ],
    ids=["raises", "gives no JSON", "attaches what cannot be carried"],
)
def test_a_tool_that_fails_is_an_error_result_and_the_turn_goes_on(here: Place, run: Any, message: str) -> None:
    with scripted(says(call(bed="3")), says("I see.")) as api:
        agent = here.agent(api.url, sensor(run))
        assert agent.send("Look.").text == "I see."
    (result,) = agent.history[2].results
    assert result.is_error
    assert message in str(result.result)


@pytest.mark.parametrize(("patience", "handed"), [(0.05, True), (60.0, False)], ids=["long", "short"])
def test_a_tool_that_takes_long_is_answered_with_a_handle_and_goes_on(
    here: Place, patience: float, *, handed: bool
) -> None:
    freed, ended = threading.Event(), threading.Event()

    def run(args: dict[str, Any], token: CancelToken) -> str:
        freed.wait(60 if handed else 0)
        ended.set()
        return "41 %"

    with scripted(says(call(bed="3", call_id="toolu_a")), says("Later then.")) as api:
        agent = here.agent(api.url, Tool(SENSOR, run, background_after=patience))
        assert agent.send("Look.").text == "Later then."
        assert ended.is_set() is not handed
    (result,) = agent.history[2].results
    expected = '{"task_id":"task-toolu_a","status":"running"}' if handed else "41 %"
    assert (result.result, result.is_error) == (expected, False)
    freed.set()
    assert ended.wait(60)


def test_a_call_that_is_not_permitted_is_told_to_the_model_and_not_made(here: Place) -> None:
    permission_calls: list[m.FunctionCall] = []
    beds: list[str] = []

    def permits(expected: m.FunctionCall) -> bool:
        permission_calls.append(expected)
        return bool(expected.args["bed"] == "4")

    with scripted(says(call(bed="3"), call(bed="4")), says("Well.")) as api:
        agent = here.agent(api.url, sensor(lambda args, token: beds.append(args["bed"])), permits=permits)
        assert agent.send("Both?").text == "Well."
    assert sorted(str(one.args["bed"]) for one in permission_calls) == ["3", "4"]
    assert {one.name for one in permission_calls} == {"read_sensor"}
    assert beds == ["4"]
    denied, success = agent.history[2].results
    assert denied.is_error
    assert "not permitted" in str(denied.result)
    assert not success.is_error


def test_permission_that_cannot_be_asked_for_is_not_given(here: Place) -> None:
    tool_arguments: list[Any] = []

    def permits(expected: m.FunctionCall) -> bool:
        raise LookupError("nobody is there")

    with scripted(says(call(bed="3")), says("Well.")) as api:
        agent = here.agent(api.url, sensor(lambda args, token: tool_arguments.append(args)), permits=permits)
        agent.send("Look.")
    assert tool_arguments == []
    assert "nobody is there" in str(agent.history[2].results[0].result)


@pytest.mark.parametrize("name", ["Bash", "mcp__session__write_sensor", "mcp__other__read_sensor"])
def test_no_tool_runs_but_those_of_the_session(here: Place, name: str) -> None:
    permission_calls: list[m.FunctionCall] = []
    tool_arguments: list[Any] = []
    with scripted(says(call(name, command="touch made", bed="3")), says("Well.")) as api:
        tool = sensor(lambda args, token: tool_arguments.append(args))
        agent = here.agent(api.url, tool, permits=lambda expected: not permission_calls.append(expected))  # type: ignore[func-returns-value]
        assert agent.send("Go.").text == "Well."
    assert (tool_arguments, permission_calls) == ([], [])
    assert agent.history[2].results[0].is_error
    assert [tool["name"] for tool in api.requests[0].json["tools"]] == [WIRE]


def test_tools_are_declared_whole_and_called_under_their_own_names(here: Place) -> None:
    calls: list[m.FunctionCall] = []
    schema = m.ToolSchema(
        "garden.read sensor", "Read it." * 2000, {"type": "object", "properties": {"n": {"type": "integer"}}}
    )
    with scripted(says("Hm."), says("Fine.")) as api:
        agent = here.agent(api.url, Tool(schema, lambda args, token: args["n"]))
        agent.send("1?")
    (declared,) = api.requests[0].json["tools"]
    assert declared["description"] == schema.description
    assert declared["input_schema"]["properties"] == {"n": {"type": "integer"}}
    with scripted(says(call(declared["name"], n=7)), says("Seven.")) as api:
        agent = here.agent(api.url, Tool(schema, lambda args, token: args["n"]))
        agent.send("2?", on_function_call=calls.append)
    assert [(one.name, one.args) for one in calls] == [("garden.read sensor", {"n": 7})]
    assert [(one.name, one.result) for one in agent.history[2].results] == [("garden.read sensor", "7")]
    assert agent.history[1].calls == tuple(calls)


def test_two_tools_of_one_name_are_refused(here: Place) -> None:
    with pytest.raises(UsageError, match="several tools are named 'read_sensor'"):
        here.agent("http://127.0.0.1:9", sensor(), sensor())


@pytest.mark.parametrize("text", ["/cost", "/compact now", "!ls", "@pyproject.toml", "# remember"])
def test_what_the_user_says_is_no_command_to_the_program(here: Place, text: str) -> None:
    with scripted(says("Fine.")) as api:
        agent = here.agent(api.url)
        assert agent.send(text).text == "Fine."
    assert conversation(api.requests[0]) == [("user", text)]


def test_the_system_text_is_the_one_of_the_setup_also_in_a_session_that_is_resumed(here: Place) -> None:
    with scripted(says("Fine.")) as api:
        first = here.agent(api.url)
        first.send("1?")
        first.shutdown()
        here.agent(api.url, system="You water beds.", session=first.session_id).send("2?")
        here.agent(api.url, system=None, session=first.session_id).send("3?")
    own = [[block["text"] for block in exchange.json["system"]][2:] for exchange in api.requests]
    assert own == [[SYSTEM], ["You water beds."], []]


def test_thinking_is_told_apart_and_goes_back_with_its_signature(here: Place) -> None:
    shown: list[str] = []
    thought: list[str] = []
    with scripted(says(("Beds have sensors.", "c2ln"), call(bed="3")), says("41 %.")) as api:
        agent = here.agent(api.url, sensor(), thinking={"budget_tokens": 1024})
        answer = agent.send("Look.", on_chunk=shown.append, on_thinking=thought.append)
    assert (answer.text, "".join(shown), "".join(thought)) == ("41 %.", "41 %.", "Beds have sensors.")
    assert [part.text for part in agent.history[1].parts if isinstance(part, m.Thought)] == ["Beds have sensors."]
    sent = api.requests[-1].json
    assert sent["thinking"]["budget_tokens"] == 1024
    assert [block["signature"] for block in sent["messages"][1]["content"] if block["type"] == "thinking"] == ["c2ln"]


def test_an_image_reaches_the_model_and_stands_in_the_history(here: Place) -> None:
    parts = (m.Text("What is it?"), m.InlineData("image/png", PIXEL))
    with scripted(says("A pixel.")) as api:
        agent = here.agent(api.url)
        agent.send(parts)
        assert agent.history[0].parts == parts
        agent.resume_session(str(agent.session_id))
    assert [block["type"] for block in api.requests[0].json["messages"][0]["content"]][:2] == ["text", "image"]
    assert agent.history[0].parts == parts


def test_a_tool_may_take_longer_than_the_program_may_be_silent(here: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    silent_for, at_work, excused = ProgramRequests.silent_for, threading.Event(), threading.Event()

    def silent(errands: ProgramRequests, seconds: float) -> bool:
        """While the tool runs it is asked as if no time was left; the program's own may take what they do."""
        if not at_work.is_set():
            return silent_for(errands, seconds)
        found = silent_for(errands, 0)
        excused.set()
        return found

    def child() -> Child:
        assert agent._live is not None
        return agent._live._child

    def permits(expected: m.FunctionCall) -> bool:
        child().silence = 0.05
        return True

    def run(args: dict[str, Any], token: CancelToken) -> str:
        at_work.set()
        assert excused.wait(60), "nobody missed the program"
        at_work.clear()
        child().silence = 60
        return "41 %"

    monkeypatch.setattr(ProgramRequests, "silent_for", silent)
    with scripted(says(call(bed="3")), says("Dry.")) as api:
        agent = here.agent(api.url, sensor(run), permits=permits, timeout=60)
        assert agent.send("Look.").text == "Dry."


def test_what_the_program_adds_where_an_answer_was_cut_is_no_part_of_the_history(here: Place) -> None:
    with scripted(says("First half,", stop="max_tokens"), says(" second half.")) as api:
        agent = here.agent(api.url)
        answer = agent.send("Tell.")
        live = list(agent.history)
        agent.resume_session(str(agent.session_id))
    assert answer.text == "First half, second half."
    assert answer.usage.output_tokens == 10
    assert [(message.role, message.text) for message in live] == [
        ("user", "Tell."),
        ("model", "First half,"),
        ("model", " second half."),
    ]
    assert m.same_history(agent.history, live, ids=False)


def test_an_answer_that_is_cut_again_and_again_ends_as_one_that_was_cut(here: Place) -> None:
    with scripted(says("cut,", stop="max_tokens")) as api:
        agent = here.agent(api.url)
        answer = agent.send("Tell.")
        assert len(api.requests) == 4
    assert (answer.text, answer.finish_reason) == ("cut," * 4, m.FinishReason.MAX_TOKENS)
    assert "".join(message.text for message in agent.history) == "Tell." + "cut," * 4


def test_a_piece_that_fails_behind_one_that_was_cut_is_a_failure(here: Place) -> None:
    with scripted(says("cut,", stop="max_tokens"), begins("and", hangs=False)) as api:
        agent = here.agent(api.url)
        with pytest.raises(TransportError):
            agent.send("Tell.")
    assert (agent.session_id, list(agent.history)) == (None, [])


def test_a_refusal_ends_the_turn_and_asks_no_more(here: Place) -> None:
    with scripted(says("I would", stop="refusal"), says("Fine.")) as api:
        agent = here.agent(api.url)
        answer = agent.send("Do it.")
        assert (answer.text, answer.finish_reason) == ("I would", m.FinishReason.REFUSAL)
        assert len(api.requests) == 1
        assert agent.send("Then not.").text == "Fine."


def test_one_turn_at_a_time(here: Place) -> None:
    refused: list[str] = []

    def run(args: dict[str, Any], token: CancelToken) -> str:
        for other in (lambda: agent.send("2?"), agent.new_session, agent.fork_session):
            with pytest.raises(UsageError, match=r"a turn is running|no session yet") as raised:
                other()
            refused.append(str(raised.value))
        return "41 %"

    with scripted(says(call(bed="3")), says("Dry.")) as api:
        agent = here.agent(api.url, sensor(run))
        assert agent.send("1?").text == "Dry."
    assert len(refused) == 3
    assert len(agent.history) == 4


def test_a_response_schema_is_refused(here: Place) -> None:
    with pytest.raises(NotImplementedError, match="response schema"):
        here.agent().send("1?", response_schema={"type": "object"})


def test_nothing_is_written_where_it_works_and_the_key_nowhere(here: Place) -> None:
    with scripted(says(call(bed="3")), says("Dry.")) as api:
        agent = here.agent(api.url, sensor())
        agent.send("Look.")
        agent.shutdown()
    assert list(here.cwd.iterdir()) == []
    assert here.files() != []
    write_and_hold = [
        path for path in here.home.rglob("*") if path.is_file() and CANARY_KEY.encode() in path.read_bytes()
    ]
    assert write_and_hold == []


def test_after_a_shutdown_no_turn_is_taken(here: Place) -> None:
    agent = here.agent()
    agent.shutdown()
    agent.shutdown()
    with pytest.raises(UsageError, match="shut down"):
        agent.send("1?")
