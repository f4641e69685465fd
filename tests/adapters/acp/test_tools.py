"""The tools as a server that an agent starts: asked over the relay, as an agent asks."""

from __future__ import annotations

import asyncio
import base64
import json
import stat
import threading
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from turnproof.agents import Tool, ToolOutput
from turnproof.cancel import CancelToken
from turnproof.messages import FileRef, FunctionCall, InlineData, ToolSchema
from turnproof_adapters.acp.tools import ToolServer, _result

Ask = Callable[..., Awaitable[dict[str, Any]]]


def tool(run: Callable[[dict[str, Any], CancelToken], Any], name: str = "look", patience: float | None = None) -> Tool:
    schema = ToolSchema(name, "Look", {"type": "object", "properties": {"at": {"type": "string"}}})
    return Tool(schema, run, background_after=patience)


class Client:
    """What an agent does with its tool server."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process
        self._number = 0

    def write(self, **message: Any) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")

    async def read(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        found: dict[str, Any] = json.loads(await asyncio.wait_for(self._process.stdout.readline(), 60))
        return found

    async def ask(self, method: str, **params: Any) -> dict[str, Any]:
        self._number += 1
        self.write(id=self._number, method=method, params=params)
        return await self.read()

    async def call(self, name: str = "look", **args: Any) -> dict[str, Any]:
        answer = await self.ask("tools/call", name=name, arguments=args)
        result: dict[str, Any] = answer["result"]
        return result


@asynccontextmanager
async def serving(server: ToolServer) -> AsyncIterator[Client]:
    (config,) = await server.open()
    process = await asyncio.create_subprocess_exec(
        config["command"],
        *config["args"],
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        limit=1 << 26,
    )
    try:
        yield Client(process)
    finally:
        await server.close()
        assert await asyncio.wait_for(process.wait(), 60) == 0


def start_turn(server: ToolServer) -> CancelToken:
    token = CancelToken()
    server.turn(token)
    return token


def test_an_agent_is_told_of_the_tools_and_calls_them() -> None:
    tool_arguments: list[dict[str, Any]] = []

    def run(args: dict[str, Any], token: CancelToken) -> Any:
        tool_arguments.append(args)
        args["at"] = "changed"  # its own to change
        return {"found": ["a", 1]}

    async def main() -> None:
        server = ToolServer([tool(run), tool(run, "mcp.srv.ls")])
        start_turn(server)
        async with serving(server) as client:
            greeting = await client.ask("initialize", protocolVersion="2025-06-18")
            assert greeting["result"]["protocolVersion"] == "2025-06-18"
            client.write(method="notifications/initialized")
            listed = (await client.ask("tools/list"))["result"]["tools"]
            assert listed[0]["name"] == "look"
            assert await client.ask("ping") == {"jsonrpc": "2.0", "id": 3, "result": {}}
            result = await client.call(at="bed 3")
            assert json.loads(result["content"][0]["text"]) == {"found": ["a", 1]}
            assert result["isError"] is False
            # A name that is not legal goes by another one, and comes back to the same tool.
            assert (await client.call(listed[1]["name"]))["isError"] is False
            assert [call.name for call in server.calls] == ["look", "mcp.srv.ls"]

    asyncio.run(main())
    assert [args["at"] for args in tool_arguments] == ["changed", "changed"]


def test_a_string_goes_out_as_it_is_and_what_is_beside_it_too() -> None:
    image, file = InlineData("image/png", b"\x89PNG"), FileRef("text/plain", "https://example.org/a/log.txt")
    document = InlineData("application/pdf", b"%PDF")

    async def main() -> None:
        server = ToolServer([tool(lambda args, token: ToolOutput("41 %", True, (image, file, document)))])
        start_turn(server)
        async with serving(server) as client:
            result = await client.call()
            text, shown, linked, resource = result["content"]
            assert text == {"type": "text", "text": "41 %"}
            assert result["isError"] is True
            assert base64.b64decode(shown["data"]) == image.data
            assert (linked["uri"], linked["name"]) == (file.uri, "log.txt")
            assert base64.b64decode(resource["resource"]["blob"]) == document.data

    asyncio.run(main())


def test_a_result_of_any_length_is_one_line() -> None:
    long = "x" * (3 << 20)

    async def main() -> None:
        server = ToolServer([tool(lambda args, token: args["at"])])
        start_turn(server)
        async with serving(server) as client:
            assert (await client.call(at=long))["content"][0]["text"] == long

    asyncio.run(main())


@pytest.mark.parametrize("raised", [ValueError("no"), SystemExit(3), KeyboardInterrupt()], ids=repr)
def test_what_a_tool_raises_is_told_to_the_model(raised: BaseException) -> None:
    def run(args: dict[str, Any], token: CancelToken) -> Any:
        raise raised

    async def main() -> None:
        server = ToolServer([tool(run), tool(lambda args, token: object(), "odd")])
        start_turn(server)
        async with serving(server) as client:
            result = await client.call()
            assert result["isError"] is True
            assert type(raised).__name__ in result["content"][0]["text"]
            assert (await client.call("odd"))["isError"] is True
            assert (await client.ask("tools/call", name="nobody", arguments={}))["error"]["code"] == -32602
            assert (await client.ask("resources/list"))["error"]["code"] == -32601

    asyncio.run(main())


def test_no_tool_runs_without_a_turn_or_after_its_cancel() -> None:
    tool_arguments: list[dict[str, Any]] = []

    def run(args: dict[str, Any], token: CancelToken) -> Any:
        tool_arguments.append(args)

    async def main() -> None:
        server = ToolServer([tool(run)])
        async with serving(server) as client:
            assert (await client.call())["isError"] is True
            start_turn(server).cancel()
            assert (await client.call())["isError"] is True
            server.turn(None)
            assert (await client.call())["isError"] is True

    asyncio.run(main())
    assert tool_arguments == []


def test_calls_of_one_answer_run_side_by_side() -> None:
    both = threading.Barrier(2)

    def run(args: dict[str, Any], token: CancelToken) -> Any:
        both.wait(60)
        return "met"

    async def main() -> None:
        server = ToolServer([tool(run)])
        start_turn(server)
        async with serving(server) as client:
            for number in ("a", "b"):
                client.write(id=number, method="tools/call", params={"name": "look", "arguments": {}})
            answers = [await client.read(), await client.read()]
            assert {answer["id"] for answer in answers} == {"a", "b"}
            assert all(answer["result"]["content"][0]["text"] == "met" for answer in answers)

    asyncio.run(main())


@pytest.mark.parametrize("how", ["turn", "agent", "hangs up"])
def test_a_cancel_reaches_the_tool_whoever_cancels(how: str) -> None:
    began, stopped = threading.Event(), threading.Event()

    def run(args: dict[str, Any], token: CancelToken) -> Any:
        began.set()
        if token.wait(60):
            stopped.set()
        return "stopped"

    async def main() -> None:
        server = ToolServer([tool(run)])
        token = start_turn(server)
        async with serving(server) as client:
            client.write(id=7, method="tools/call", params={"name": "look", "arguments": {}})
            await asyncio.to_thread(began.wait, 60)
            assert server.running == 1
            if how == "turn":
                token.cancel()
            elif how == "agent":
                client.write(method="notifications/cancelled", params={"requestId": 7})
            if how != "hangs up":
                assert await asyncio.to_thread(stopped.wait, 60)

    asyncio.run(main())
    assert stopped.wait(60)


def test_a_call_that_takes_longer_than_its_tool_may_is_answered_with_a_handle() -> None:
    freed = threading.Event()

    async def main() -> None:
        server = ToolServer([tool(lambda args, token: freed.wait(60), patience=0.01)])
        start_turn(server)
        async with serving(server) as client:
            handles = [json.loads((await client.call())["content"][0]["text"]) for _ in range(2)]
            assert [handle["status"] for handle in handles] == ["running", "running"]
            assert handles[0]["task_id"] != handles[1]["task_id"]
            assert server.running == 0
            freed.set()

    asyncio.run(main())


def test_permission_is_asked_for_here_where_the_program_does_not_ask() -> None:
    permission_calls: list[FunctionCall] = []
    tool_arguments: list[dict[str, Any]] = []

    def permits(call: FunctionCall) -> bool:
        permission_calls.append(call)
        return bool(call.args["at"] == "bed 3")

    async def main() -> None:
        server = ToolServer([tool(lambda args, token: tool_arguments.append(args))], permits)
        start_turn(server)
        async with serving(server) as client:
            assert (await client.call(at="bed 3"))["isError"] is False
            assert (await client.call(at="bed 4"))["isError"] is True

    asyncio.run(main())
    assert [call.name for call in permission_calls] == ["look", "look"]
    assert tool_arguments == [{"at": "bed 3"}]


def test_the_socket_is_for_its_owner_alone_and_gone_afterwards() -> None:
    async def main() -> None:
        server = ToolServer([tool(lambda args, token: None)])
        (config,) = await server.open()
        folder = Path(config["args"][-1]).parent
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
        assert (await server.open())[0] == config
        await server.close()
        await server.close()
        assert not folder.exists()

    asyncio.run(main())


def test_without_tools_there_is_no_server() -> None:
    assert asyncio.run(ToolServer([]).open()) == []


@pytest.mark.parametrize("returned", ["3", "true", "[1, 2]", 4.5, None])
def test_what_reads_as_json_and_is_no_object_is_wrapped_for_who_parses_it(returned: Any) -> None:
    """Gemini CLI takes such a text for structured content, which has to be an object, and fails the call."""
    wrapped = _result(ToolOutput(returned), wraps=True)
    text = returned if isinstance(returned, str) else json.dumps(returned)
    assert wrapped["structuredContent"] == {"result": text}
    assert wrapped["content"] == [{"type": "text", "text": text}]
    assert "structuredContent" not in _result(ToolOutput(returned), wraps=False)


@pytest.mark.parametrize("returned", ["12 %", {"litres": 3}, '{"litres": 3}', ""])
def test_other_texts_and_objects_go_out_as_they_are(returned: Any) -> None:
    assert "structuredContent" not in _result(ToolOutput(returned), wraps=True)
