#!/usr/bin/env python3
"""What an agent over the Agent Client Protocol does for the adapter, as a small script.

It follows `@agentclientprotocol/claude-agent-acp` 0.49.0 as it was seen: the same updates, in the same order, and the
same requests to the model. Its sessions are files below HOME. Flags make it do what other agents do, or should not.
"""

from __future__ import annotations

import argparse
import http.client
import json
import os
import queue
import socket
import subprocess
import sys
import threading
import uuid
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

VERSION = "2.1.185"
KINDS = {401: "authentication_failed", 400: "invalid_request", 404: "model_not_found", 429: "rate_limit"}
INTERRUPTED = "[Request interrupted by user]"
REFUSED = "The user doesn't want to proceed with this tool use. The tool use was rejected."


def flags() -> argparse.Namespace:
    parser = argparse.ArgumentParser(allow_abbrev=False)
    parser.add_argument("--bare", action="store_true", help="advertise nothing, and do nothing of it")
    parser.add_argument("--no-system", action="store_true", help="read no system text")
    parser.add_argument("--resume-only", action="store_true", help="advertise session/resume, not session/load")
    parser.add_argument("--late", action="store_true", help="tell of a loaded session after the answer to the load")
    parser.add_argument("--stray", action="store_true", help="say something before anything was asked")
    parser.add_argument("--every-folder", action="store_true", help="list sessions of all folders whatever was asked")
    parser.add_argument("--page", type=int, default=50, help="sessions on a page")
    parser.add_argument("--die", type=int, help="end in the middle of this prompt, counted over all runs")
    parser.add_argument("--hang", type=int, help="never answer this prompt, nor heed a cancel of it")
    parser.add_argument("--garbage", action="store_true", help="write lines that are none of the protocol")
    parser.add_argument("--long", type=int, default=0, help="write a line of so many bytes before each answer")
    parser.add_argument("--silent", action="store_true", help="end every turn without a word, and say nothing of usage")
    parser.add_argument("--repeat", action="store_true", help="tell thinking with each chunk of the answer")
    parser.add_argument("--retell", action="store_true", help="break off the first answer, and tell it anew")
    parser.add_argument("--off-by-one", action="store_true", help="answer a prompt after a cancel with nothing")
    parser.add_argument("--refuse", help="answer every prompt with this JSON-RPC error")
    parser.add_argument("--orphan", action="store_true", help="start a process in a session of its own")
    parser.add_argument("--deaf", action="store_true", help="stay when the input ends")
    parser.add_argument("--mute", action="store_true", help="answer nothing at all")
    return parser.parse_args()


class Refused(Exception):
    def __init__(self, code: int, message: str, data: Any = None) -> None:
        super().__init__(message)
        self.error = {"code": code, "message": message, **({} if data is None else {"data": data})}


class Stopped(Exception):
    """The turn was cancelled."""


class Store:
    """Sessions as files."""

    def __init__(self) -> None:
        self.folder = Path.home() / ".standin" / "sessions"
        self.folder.mkdir(parents=True, exist_ok=True)

    def read(self, number: str) -> dict[str, Any] | None:
        file = self.folder / f"{number}.json"
        if not number.replace("-", "").isalnum() or not file.is_file():
            return None
        return _session(file)

    def write(self, session: dict[str, Any]) -> None:
        # Two turns are never of one moment, however fast they are.
        after = [datetime.fromisoformat(each["updatedAt"]) + timedelta(milliseconds=1) for each in self.all()]
        session["updatedAt"] = max(datetime.now(UTC), *after).isoformat() if after else datetime.now(UTC).isoformat()
        file = self.folder / f"{session['sessionId']}.json"
        part = file.with_suffix(".part")
        part.write_text(json.dumps(session), "utf-8")
        part.replace(file)

    def all(self) -> list[dict[str, Any]]:
        found = (_session(file) for file in sorted(self.folder.glob("*.json")))
        return [session for session in found if session is not None]

    def delete(self, number: str) -> bool:
        known = self.read(number) is not None
        if known:
            (self.folder / f"{number}.json").unlink()
        return known

    def count(self) -> int:
        """Prompts so far, this one included, in all runs."""
        file = self.folder.parent / "prompts"
        with file.open("a") as counted:
            counted.write("prompt\n")
        return len(file.read_bytes().splitlines())


def _session(file: Path) -> dict[str, Any] | None:
    """A session, unless its file is damaged: then there is none."""
    try:
        found: dict[str, Any] = json.loads(file.read_bytes())
        messages = found["messages"]
        return found if isinstance(messages, list) and found["updatedAt"] and found["cwd"] else None
    except (OSError, ValueError, KeyError, TypeError):
        return None


class Served:
    """A server of tools."""

    def __init__(self, told: dict[str, Any]) -> None:
        own = {each["name"]: each["value"] for each in told["env"]}
        self.name = told["name"]
        self._process = subprocess.Popen(
            [told["command"], *told["args"]],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, **own},
        )
        self._next = 0
        self._lock = threading.Lock()
        self._waiting: dict[int, queue.SimpleQueue[dict[str, Any] | None]] = {}
        threading.Thread(target=self._read, daemon=True).start()
        self.ask("initialize", protocolVersion="2025-06-18", capabilities={}, clientInfo={"name": "s", "version": "1"})
        self._write({"method": "notifications/initialized"})
        self.tools = self.ask("tools/list")["tools"]

    def ask(self, method: str, **params: Any) -> dict[str, Any]:
        return self.wait(self.begin(method, **params)) or {}

    def begin(self, method: str, **params: Any) -> int:
        with self._lock:
            self._next += 1
            number = self._next
        self._waiting[number] = queue.SimpleQueue()
        self._write({"id": number, "method": method, "params": params})
        return number

    def wait(self, number: int) -> dict[str, Any] | None:
        """The answer; None where the call was dropped."""
        answer = self._waiting[number].get()
        self._waiting.pop(number)
        if answer is None:
            return None
        found: dict[str, Any] = answer.get("result") or {"isError": True, "content": []}
        return found

    def drop(self, number: int) -> None:
        waiting = self._waiting.get(number)
        if waiting is not None:
            self._write({"method": "notifications/cancelled", "params": {"requestId": number}})
            waiting.put(None)

    def close(self) -> None:
        self._process.stdin.close()  # type: ignore[union-attr]
        self._process.wait()

    def _write(self, message: dict[str, Any]) -> None:
        self._process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")  # type: ignore[union-attr]
        self._process.stdin.flush()  # type: ignore[union-attr]

    def _read(self) -> None:
        for line in self._process.stdout or ():
            message = json.loads(line)
            if message.get("id") in self._waiting:
                self._waiting[message["id"]].put(message)


class Session:
    """One session that is open, and the turn in it."""

    def __init__(self, kept: dict[str, Any], system: str, servers: list[Served]) -> None:
        self.kept = kept
        self.system = system
        self.servers = servers
        self.cancelled = threading.Event()
        self.busy = False
        self.lost_count = False
        self._stops: list[Any] = []

    def on_cancel(self, stop: Any) -> None:
        self._stops = [stop]
        if self.cancelled.is_set():
            stop()

    def cancel(self) -> None:
        if self.busy:
            self.cancelled.set()
            for stop in self._stops:
                stop()

    def check(self) -> None:
        if self.cancelled.is_set():
            raise Stopped

    def tool(self, name: str) -> tuple[Served, str] | None:
        for server in self.servers:
            for tool in server.tools:
                if name == f"mcp__{server.name}__{tool['name']}":
                    return server, tool["name"]
        return None


class Agent:
    def __init__(self, given: argparse.Namespace) -> None:
        self.given = given
        self.store = Store()
        self.sessions: dict[str, Session] = {}
        self.lock = threading.Lock()
        self.asked: dict[Any, queue.SimpleQueue[dict[str, Any]]] = {}
        self.questions = 0

    # -- lines

    def write(self, **message: Any) -> None:
        line = json.dumps({"jsonrpc": "2.0", **message})
        with self.lock:
            if self.given.garbage:
                sys.stdout.write('Debugger listening\n{"half": \n17\n[]\n\n')
            sys.stdout.write(line + "\n")
            sys.stdout.flush()

    def update(self, session: Session, kind: str, /, **update: Any) -> None:
        params = {"sessionId": session.kept["sessionId"], "update": {"sessionUpdate": kind, **update}}
        self.write(method="session/update", params=params)

    def ask(self, method: str, params: dict[str, Any]) -> Any:
        self.questions += 1
        number = f"q{self.questions}"
        self.asked[number] = queue.SimpleQueue()
        self.write(id=number, method=method, params=params)
        return self.asked[number].get()

    def run(self) -> None:
        if self.given.orphan:
            child = subprocess.Popen(["sleep", "600"], start_new_session=True, stdout=subprocess.DEVNULL)
            (self.store.folder.parent / "orphan").write_text(str(child.pid))
        for line in sys.stdin:
            message = json.loads(line)
            if self.given.mute:
                continue
            if "method" not in message:
                self.asked[message["id"]].put(message.get("result") or {"outcome": {"outcome": "cancelled"}})
            elif "id" not in message:
                session = self.sessions.get(message["params"]["sessionId"])
                if session is not None:
                    session.cancel()
            elif message["method"] == "session/prompt":
                threading.Thread(target=self.answer, args=(message,), daemon=True).start()
            else:
                self.answer(message)
        if self.given.deaf:
            threading.Event().wait()
        for session in self.sessions.values():
            session.cancel()
            for server in session.servers:
                server.close()

    def answer(self, message: dict[str, Any]) -> None:
        name = "on_" + message["method"].removeprefix("session/").replace("/", "_")
        try:
            if self.given.bare and name not in ("on_initialize", "on_new", "on_prompt"):
                raise Refused(-32601, "Method not found")
            method = getattr(self, name, None)
            if method is None:
                raise Refused(-32601, "Method not found")
            result, *after = method(**_plain(message.get("params") or {}))
            self.write(id=message["id"], result=result)
            for each in after:
                each()
        except Refused as error:
            self.write(id=message["id"], error=error.error)
        except Exception as error:
            self.write(id=message["id"], error={"code": -32603, "message": f"{type(error).__name__}: {error}"})

    # -- sessions

    def on_initialize(self, **_: Any) -> Iterator[Any]:
        own: dict[str, Any] = {"promptCapabilities": {"image": not self.given.bare}}
        if not self.given.bare:
            own["loadSession"] = not self.given.resume_only
            own["sessionCapabilities"] = {"list": {}, "resume": {}, "close": {}, "delete": {}, "fork": {}}
        info = {"name": "standin", "version": VERSION}
        yield {"protocolVersion": 1, "agentCapabilities": own, "agentInfo": info, "authMethods": []}

    def on_new(self, cwd: str, mcpServers: list[Any], _meta: Any = None) -> Iterator[Any]:  # noqa: N803
        kept = {"sessionId": str(uuid.uuid4()), "cwd": cwd, "title": "", "messages": []}
        session = self.opened(kept, mcpServers, _meta)
        yield self.found(session)
        if self.given.stray:
            yield lambda: self.update(session, "agent_message_chunk", content=_text("Welcome!"))

    def found(self, session: Session) -> dict[str, Any]:
        return {"sessionId": session.kept["sessionId"]}

    def opened(self, kept: dict[str, Any], servers: list[Any], meta: Any) -> Session:
        system = "" if self.given.no_system else (meta or {}).get("systemPrompt") or ""
        before = self.sessions.get(kept["sessionId"])
        for server in before.servers if before is not None else ():
            server.close()
        session = Session(kept, system, [Served(told) for told in servers])
        self.sessions[kept["sessionId"]] = session
        return session

    def known(self, number: str, cwd: str) -> dict[str, Any]:
        kept = self.store.read(number)
        if kept is None or kept["cwd"] != cwd:
            raise Refused(-32002, f"Resource not found: {number}", {"uri": number})
        return kept

    def on_resume(self, sessionId: str, cwd: str, mcpServers: list[Any], _meta: Any = None) -> Iterator[Any]:  # noqa: N803
        self.opened(self.known(sessionId, cwd), mcpServers, _meta)
        yield {}

    def on_load(self, sessionId: str, cwd: str, mcpServers: list[Any], _meta: Any = None) -> Iterator[Any]:  # noqa: N803
        if self.given.resume_only:
            raise Refused(-32601, "Method not found")
        session = self.opened(self.known(sessionId, cwd), mcpServers, _meta)
        if self.given.late:
            yield {}
            yield lambda: self.replay(session)
        else:
            self.replay(session)
            yield {}

    def on_fork(self, sessionId: str, cwd: str, mcpServers: list[Any], _meta: Any = None) -> Iterator[Any]:  # noqa: N803
        kept = {**self.known(sessionId, cwd), "sessionId": str(uuid.uuid4())}
        self.store.write(kept)
        yield self.found(self.opened(kept, mcpServers, _meta))

    def on_close(self, sessionId: str) -> Iterator[Any]:  # noqa: N803
        session = self.sessions.pop(sessionId, None)
        if session is None:
            raise Refused(-32002, "Resource not found")
        for server in session.servers:
            server.close()
        yield {}

    def on_delete(self, sessionId: str) -> Iterator[Any]:  # noqa: N803
        if not self.store.delete(sessionId):
            raise Refused(-32002, f"Resource not found: {sessionId}")
        yield {}

    def on_list(self, cwd: str | None = None, cursor: str | None = None) -> Iterator[Any]:
        # By their ids, which say nothing of time.
        every = [one for one in self.store.all() if cwd is None or self.given.every_folder or one["cwd"] == cwd]
        begin = int(cursor or 0)
        end = begin + self.given.page
        rows = [
            {**{name: one[name] for name in ("sessionId", "cwd", "title")}, "updatedAt": one["updatedAt"]}
            for one in every[begin:end]
        ]
        yield {"sessions": rows, **({"nextCursor": str(end)} if end < len(every) else {})}

    def replay(self, session: Session) -> None:
        for number, message in enumerate(session.kept["messages"]):
            for block in message["content"]:
                match block:
                    case {"type": "text", "text": text} if text != INTERRUPTED:
                        kind = "user_message_chunk" if message["role"] == "user" else "agent_message_chunk"
                        self.update(session, kind, content=_text(text), messageId=f"old-{number}")
                    case {"type": "thinking", "thinking": text}:
                        self.update(session, "agent_thought_chunk", content=_text(text), messageId=f"old-{number}")
                    case {"type": "tool_use"}:
                        self.show_call(session, block, block["input"])
                    case {"type": "tool_result"}:
                        self.show_result(session, block)

    # -- turns

    def on_prompt(self, sessionId: str, prompt: list[dict[str, Any]]) -> Iterator[Any]:  # noqa: N803
        session = self.sessions.get(sessionId)
        if session is None:
            raise Refused(-32603, "Internal error", {"details": "Session not found"})
        session.busy = True
        session.cancelled.clear()
        number = self.store.count()
        if self.given.hang == number:
            threading.Event().wait()
        if self.given.refuse:
            error = json.loads(self.given.refuse)
            raise Refused(error["code"], error["message"], error.get("data"))
        if session.lost_count or self.given.silent:
            session.lost_count = False
            session.busy = False
            yield {"stopReason": "end_turn"}
            return
        if self.given.long:
            commands = [{"name": "x", "description": "y" * self.given.long}]
            self.update(session, "available_commands_update", availableCommands=commands)
        session.kept["title"] = session.kept["title"] or next((one["text"] for one in prompt if "text" in one), "")
        session.kept["messages"].append({"role": "user", "content": [_block(one) for one in prompt]})
        self.store.write(session.kept)
        turn = Turn(self, session, dies=self.given.die == number)
        try:
            stop = turn.run()
        except Stopped:
            stop = "cancelled"
            turn.interrupted()
            session.lost_count = self.given.off_by_one
        finally:
            self.store.write(session.kept)
            session.busy = False
        yield {"stopReason": stop, "usage": turn.usage}

    def show_call(self, session: Session, block: dict[str, Any], given: Any, kind: str = "tool_call") -> None:
        name = block["name"]
        state = {"status": "pending"} if kind == "tool_call" else {}
        meta = {"claudeCode": {"toolName": name}}
        shown = {"toolCallId": block["id"], "rawInput": given, "title": name, "kind": "other", "content": []}
        self.update(session, kind, _meta=meta, **shown, **state)

    def show_result(self, session: Session, block: dict[str, Any]) -> None:
        content = [{"type": "content", "content": each} for each in block["content"]]
        status = "failed" if block.get("is_error") else "completed"
        self.update(session, "tool_call_update", toolCallId=block["tool_use_id"], status=status, content=content)


class Turn:
    """From a prompt to the end of its answer: the model is asked until it calls no tool."""

    def __init__(self, agent: Agent, session: Session, *, dies: bool) -> None:
        self.agent = agent
        self.session = session
        self.dies = dies
        self.usage = {"inputTokens": 0, "outputTokens": 0, "cachedReadTokens": 0, "cachedWriteTokens": 0}
        self.blocks: list[dict[str, Any]] = []
        """Blocks of the message that is being said."""
        self.results: list[dict[str, Any]] = []
        """Results of the calls that it made."""
        self.answers = 0

    def run(self) -> str:
        while True:
            stop = self.say()
            calls = [block for block in self.blocks if block["type"] == "tool_use"]
            self.keep()
            if not calls:
                return {"max_tokens": "max_tokens", "refusal": "refusal"}.get(stop, "end_turn")
            self.results = []
            for call in calls:
                self.call(call)
            self.session.kept["messages"].append({"role": "user", "content": self.results})

    def keep(self) -> None:
        if self.blocks:
            self.session.kept["messages"].append({"role": "assistant", "content": list(self.blocks)})

    def interrupted(self) -> None:
        """Leave the session so that it can be gone on with: what was said stays, and every call has a result."""
        messages = self.session.kept["messages"]
        if messages[-1]["role"] == "user":
            said = [block for block in self.blocks if block["type"] != "tool_use" and block.get(block["type"])]
            if said:
                messages.append({"role": "assistant", "content": said})
            messages.append({"role": "user", "content": [_text(INTERRUPTED)]})
            return
        answered = {each["tool_use_id"] for each in self.results}
        for call in self.blocks:
            if call["type"] == "tool_use" and call["id"] not in answered:
                self.result(call, [_text(REFUSED)], is_error=True)
        messages.append({"role": "user", "content": [*self.results, _text(INTERRUPTED)]})

    # -- tools

    def call(self, call: dict[str, Any]) -> None:
        self.session.check()
        self.agent.show_call(self.session, call, call["input"], "tool_call_update")
        found = self.session.tool(call["name"])
        if found is None:
            text = f"<tool_use_error>Error: No such tool available: {call['name']}</tool_use_error>"
            self.result(call, [_text(text)], is_error=True)
            return
        if not self.permitted(call):
            self.result(call, [_text("User refused permission to run tool")], is_error=True)
            return
        server, name = found
        number = server.begin("tools/call", name=name, arguments=call["input"])
        self.session.on_cancel(lambda: server.drop(number))
        given = server.wait(number)
        self.session.on_cancel(_nothing)
        self.session.check()
        assert given is not None
        self.result(call, given["content"], is_error=given.get("isError", False))

    def permitted(self, call: dict[str, Any]) -> bool:
        options = [
            {"kind": "allow_always", "name": "Always", "optionId": "allow_always"},
            {"kind": "allow_once", "name": "Allow", "optionId": "allow"},
            {"kind": "reject_once", "name": "Reject", "optionId": "reject"},
        ]
        shown = {"toolCallId": call["id"], "rawInput": call["input"], "title": call["name"], "kind": "other"}
        asked = {"sessionId": self.session.kept["sessionId"], "toolCall": shown, "options": options}
        answer = self.agent.ask("session/request_permission", asked)
        self.session.check()
        if answer["outcome"]["outcome"] == "cancelled":
            raise Stopped
        return bool(answer["outcome"]["optionId"] == "allow")

    def result(self, call: dict[str, Any], content: list[Any], *, is_error: bool) -> None:
        kept = {"type": "tool_result", "tool_use_id": call["id"], "content": [_block(each) for each in content]}
        if is_error:
            kept["is_error"] = True
        self.results.append(kept)
        self.agent.show_result(self.session, {**kept, "content": content})

    # -- the model

    def say(self) -> str:
        """Ask the model once, and show what it says. Raises Refused where it cannot be asked."""
        self.session.check()
        self.blocks = []
        url = urlsplit(os.environ["ANTHROPIC_BASE_URL"])
        connection = http.client.HTTPConnection(url.hostname or "", url.port)
        try:
            connection.connect()
            line: socket.socket = connection.sock
            self.session.on_cancel(lambda: line.shutdown(socket.SHUT_RDWR))
            headers = {
                "content-type": "application/json",
                "anthropic-version": "2023-06-01",
                "x-api-key": os.environ["ANTHROPIC_API_KEY"],
                "user-agent": f"claude-cli/{VERSION} (external, sdk-ts)",
            }
            connection.request("POST", f"{url.path}/v1/messages?beta=true", json.dumps(self.body()), headers)
            answer = connection.getresponse()
            if answer.status != 200:
                self.refused(answer.status, answer.read())
            return self.streamed(answer)
        except (OSError, http.client.HTTPException, ValueError) as error:
            self.session.check()
            self.sorry(f"API Error: Connection to the API was lost ({type(error).__name__}).", "server_error")
            raise AssertionError from None
        finally:
            self.session.on_cancel(_nothing)
            connection.close()

    def body(self) -> dict[str, Any]:
        kept = {"cache_control": {"type": "ephemeral"}}
        messages: list[dict[str, Any]] = []
        for message in self.session.kept["messages"]:
            if messages and messages[-1]["role"] == message["role"]:
                messages[-1]["content"] += message["content"]
            else:
                messages.append({"role": message["role"], "content": list(message["content"])})
        messages[-1]["content"][-1] = {**messages[-1]["content"][-1], **kept}
        own = [{"type": "text", "text": self.session.system, **kept}] if self.session.system.strip() else []
        budget = int(os.environ.get("MAX_THINKING_TOKENS", "0"))
        billing = f"x-anthropic-billing-header: cc_version={VERSION}.bfd; cc_entrypoint=sdk-ts;"
        return {
            "model": os.environ["ANTHROPIC_MODEL"],
            "messages": messages,
            "system": [
                _text(billing),
                {**_text("You are a Claude agent, built on Anthropic's Claude Agent SDK."), **kept},
                *own,
            ],
            "tools": [
                {
                    "name": f"mcp__{server.name}__{tool['name']}",
                    "description": tool.get("description") or "",
                    "input_schema": tool["inputSchema"],
                }
                for server in self.session.servers
                for tool in server.tools
            ],
            "metadata": {"user_id": json.dumps({"device_id": "0", "account_uuid": "", "session_id": "0"})},
            "max_tokens": 32000,
            "thinking": {"type": "enabled", "budget_tokens": budget} if budget else {"type": "disabled"},
            "temperature": 1,
            "stream": True,
        }

    def streamed(self, answer: http.client.HTTPResponse) -> str:
        stop, number, pieces = "", "", ""
        for raw in answer:
            if not raw.startswith(b"data:"):
                continue
            match json.loads(raw[5:]):
                case {"type": "message_start", "message": message}:
                    number = message["id"]
                    self.count(message["usage"])
                case {"type": "content_block_start", "content_block": block}:
                    self.blocks.append(dict(block))
                    pieces = ""
                    if block["type"] == "tool_use":
                        self.agent.show_call(self.session, block, {})
                case {"type": "content_block_delta", "delta": delta}:
                    self.grow(number, delta)
                    pieces += delta.get("partial_json") or ""
                case {"type": "content_block_stop"}:
                    if self.blocks[-1]["type"] == "tool_use":
                        self.blocks[-1]["input"] = json.loads(pieces or "{}")
                case {"type": "message_delta", "delta": delta, "usage": usage}:
                    stop = delta.get("stop_reason") or stop
                    self.usage["outputTokens"] += usage.get("output_tokens") or 0
                case {"type": "message_stop"}:
                    self.usage["totalTokens"] = sum(n for name, n in self.usage.items() if name != "totalTokens")
                    return stop
                case {"type": "error", "error": error}:
                    status = {"overloaded_error": 529, "rate_limit_error": 429}.get(error["type"], 500)
                    self.sorry(f"API Error: {status} {error['message']}", KINDS.get(status, "server_error"))
            self.session.check()
        raise ValueError("the stream has no end")

    def count(self, usage: dict[str, Any]) -> None:
        self.usage["inputTokens"] += usage.get("input_tokens") or 0
        self.usage["cachedReadTokens"] += usage.get("cache_read_input_tokens") or 0
        self.usage["cachedWriteTokens"] += usage.get("cache_creation_input_tokens") or 0

    def grow(self, number: str, delta: dict[str, Any]) -> None:
        block = self.blocks[-1]
        match delta:
            case {"type": "text_delta", "text": text}:
                block["text"] += text
                if self.agent.given.retell and not self.answers:
                    self.tell("agent_message_chunk", text, f"{number}-broken")
                    self.answers = 1
                if self.agent.given.repeat:
                    self.tell("agent_thought_chunk", text, number)
                self.tell("agent_message_chunk", text, number)
                if self.dies:
                    os._exit(3)
            case {"type": "thinking_delta", "thinking": text}:
                block["thinking"] += text
                if text:
                    self.tell("agent_thought_chunk", text, number)
            case {"type": "signature_delta", "signature": signature}:
                block["signature"] = signature

    def tell(self, kind: str, text: str, number: str) -> None:
        self.agent.update(self.session, kind, content=_text(text), messageId=number)

    # -- failures

    def refused(self, status: int, body: bytes) -> None:
        try:
            error = json.loads(body)["error"]
        except (ValueError, KeyError):
            error = {"type": None, "message": ""}
        text = f"API Error: {status} {error['message']}"
        if error["message"].startswith("prompt is too long"):
            text = "Prompt is too long"
        self.sorry(text, KINDS.get(status, "overloaded" if status == 529 else "server_error"))

    def sorry(self, text: str, kind: str) -> None:
        """What stands in an answer's place, and then the error."""
        self.tell("agent_message_chunk", text, str(uuid.uuid4()))
        raise Refused(-32603, f"Internal error: {text}", {"errorKind": kind})


def _nothing() -> None:
    pass


def _plain(params: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in params.items() if value is not None}


def _text(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}


def _block(content: dict[str, Any]) -> dict[str, Any]:
    """A block of the protocol as one of the API."""
    if content["type"] == "image":
        source = {"type": "base64", "media_type": content["mimeType"], "data": content["data"]}
        return {"type": "image", "source": source}
    return _text(content["text"]) if content["type"] == "text" else content


if __name__ == "__main__":
    Agent(flags()).run()
