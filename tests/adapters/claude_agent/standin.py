#!/usr/bin/env python3
"""What Claude's command line program does as an agent, as a small script: its own loop, and sessions in files.

It follows 2.1.330 as it was seen; the tests beside it are run with the real program too (`nox -s agents`).
"""

from __future__ import annotations

import contextlib
import importlib.util
import json
import os
import queue
import socket
import sys
import threading
import uuid
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

_sibling = Path(__file__).resolve().parents[1] / "claude_cli" / "standin.py"
_spec = importlib.util.spec_from_file_location("one_answer", _sibling)
assert _spec is not None
assert _spec.loader is not None
one_answer: Any = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(one_answer)

ABORTED = "[Request interrupted by user]"
ABORTED_TOOL = "[Request interrupted by user for tool use]"
REJECTED = "The user doesn't want to proceed with this tool use. The tool use was rejected."
RESUME = "Output token limit hit. Resume directly — no apology, no recap of what you were doing."


class Store:
    """The lines of one session, in its file."""

    def __init__(self, config: Path, resumed: str | None) -> None:
        self.lines: list[dict[str, Any]] = []
        self.last: str | None = None
        self.unanswered = False
        self.session = resumed or str(uuid.uuid4())
        self.path = config / "projects" / str(Path.cwd()).replace("/", "-") / f"{self.session}.jsonl"
        if resumed is not None:
            self.path = next(config.glob(f"projects/*/{resumed}.jsonl"), self.path)
            self.load()

    def load(self) -> None:
        with contextlib.suppress(OSError):
            for data in self.path.read_bytes().splitlines():
                with contextlib.suppress(ValueError):
                    line = json.loads(data)
                    if "uuid" in line and "message" in line:
                        self.lines.append(line)
        message_lines = [line for line in self.lines if line.get("message")]
        self.last = message_lines[-1]["uuid"] if message_lines else None
        self.unanswered = bool(message_lines) and message_lines[-1]["type"] == "user"

    def put(self, message: dict[str, Any], parent: str | None = None, **more: Any) -> str:
        line = {
            "parentUuid": parent or self.last,
            "isSidechain": False,
            "type": message["role"],
            "message": message,
            "uuid": str(uuid.uuid4()),
            "timestamp": datetime.now(UTC).isoformat().replace("+00:00", "Z"),
            "cwd": str(Path.cwd()),
            "sessionId": self.session,
            "version": one_answer.VERSION,
            **more,
        }
        self.lines.append(line)
        self.write(line)
        self.last = str(line["uuid"])
        return self.last

    def note(self, **line: Any) -> None:
        """A line that is no message."""
        self.write({**line, "sessionId": self.session})

    def write(self, line: dict[str, Any]) -> None:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")

    def messages(self) -> list[dict[str, Any]]:
        """The conversation as it goes out: from the last line to its oldest ancestor, with all results."""
        places = {line["uuid"]: place for place, line in enumerate(self.lines)}
        here, ancestors = places.get(self.last or "", -1), set()
        while here >= 0:
            ancestors.add(self.lines[here]["uuid"])
            parent = self.lines[here]["parentUuid"]
            here = -1 if parent is None else places.get(parent, here - 1)
        answers = {line["message"].get("id") for line in self.lines if line["uuid"] in ancestors} - {None}
        found: list[dict[str, Any]] = []
        uuids = set()
        for line in self.lines:
            message = line["message"]
            of_answer = line["type"] == "assistant" and message.get("id") in answers
            of_call = line["type"] == "user" and line["parentUuid"] in uuids and "toolUseResult" in line
            if line["uuid"] not in ancestors and not of_answer and not of_call:
                continue
            uuids.add(line["uuid"])
            if line.get("isApiErrorMessage"):
                continue
            content = message["content"]
            blocks = [{"type": "text", "text": content}] if isinstance(content, str) else list(content)
            if found and found[-1]["role"] == message["role"]:
                found[-1]["content"] += blocks
            else:
                found.append({"role": message["role"], "content": blocks})
        return self.repaired(found)

    def repaired(self, found: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """Calls of one answer first, then all of its results; a call without one gets one."""
        for n, message in enumerate(found):
            if message["role"] != "assistant":
                continue
            calls = [block["id"] for block in message["content"] if block["type"] == "tool_use"]
            if not calls:
                continue
            following = found[n + 1]["content"] if n + 1 < len(found) else []
            answered = {block.get("tool_use_id") for block in following}
            for call in calls:
                if call not in answered and n + 1 < len(found):
                    following.insert(
                        0, {"type": "tool_result", "tool_use_id": call, "content": "lost", "is_error": True}
                    )
        return found


class Agent(one_answer.Program):  # type: ignore[misc]
    def __init__(self, options: Any) -> None:
        super().__init__(options)
        self.store = Store(Path(os.environ["CLAUDE_CONFIG_DIR"]), options.resume)
        self.session = self.store.session
        if options.resume and not self.store.lines:
            self.unknown(options.resume)
        self.incoming: queue.SimpleQueue[dict[str, Any] | None] = queue.SimpleQueue()
        self.saying = threading.Lock()
        self.interrupted = self.turning = False
        self.usage = {"input_tokens": 0, "output_tokens": 0}
        self.stop_reason: str | None = None
        self.answer: list[tuple[str, dict[str, Any]]] = []
        threading.Thread(target=self.listen, daemon=True).start()

    def unknown(self, session: str) -> None:
        text = f"No conversation found with session ID: {session}"
        line = {"type": "result", "subtype": "error_during_execution", "is_error": True, "num_turns": 0}
        print(json.dumps({**line, "errors": [text]}), flush=True)
        sys.exit(text)

    # -- lines

    def say(self, **line: Any) -> None:
        with self.saying:
            super().say(**line)

    def listen(self) -> None:
        for data in sys.stdin:
            line = json.loads(data)
            if line.get("request", {}).get("subtype") == "interrupt":
                answer = {"subtype": "success", "request_id": line["request_id"], "response": {"still_queued": []}}
                self.say(type="control_response", response=answer)
                if self.turning:
                    self.interrupted = True
                    with contextlib.suppress(OSError, AttributeError):
                        self.connection.sock.shutdown(socket.SHUT_RDWR)
                    self.incoming.put({"type": "interrupted"})
                continue
            if line["type"] == "user":
                self.turning = True
            self.incoming.put(line)
        self.incoming.put(None)

    def hear(self) -> dict[str, Any]:
        line = self.incoming.get()
        if line is None:
            self.store.note(type="last-prompt", leafUuid=self.store.last)
            sys.exit(0)
        return line

    def gather(self, questions: dict[str, str]) -> dict[str, Any]:
        """The answers to several questions, by what they were asked for; those that there are at an interrupt."""
        found: dict[str, Any] = {}
        while len(found) < len(questions) and not self.interrupted:
            line = self.hear()
            match line:
                case {"type": "control_response", "response": {"request_id": number, "response": response}}:
                    found[questions[number]] = response
                case {"type": "interrupted"}:
                    break
                case _:
                    self.waiting.append(line)
        return found

    def question(self, **request: Any) -> str:
        number = str(uuid.uuid4())
        self.say(type="control_request", request_id=number, request=request)
        return number

    # -- the conversation

    def take(self, line: dict[str, Any]) -> None:
        if line["type"] == "interrupted":
            return
        if line["type"] != "user":
            super().take(line)
            return
        self.store.note(type="queue-operation", operation="dequeue")
        self.say(type="system", subtype="init", claude_code_version=one_answer.VERSION, tools=self.names())
        self.usage = {"input_tokens": 0, "output_tokens": 0}
        if "/cost" in str(line["message"]["content"]) and not line.get("text_not_typed"):
            super().result(False, "Estimated cost: $0.0000", "completed")
            return
        if self.options.resume and self.store.unanswered:
            self.store.put({"role": "assistant", "model": "<synthetic>", "content": "No response requested."})
        self.store.unanswered = False
        self.store.put(line["message"], uuid=line.get("uuid") or str(uuid.uuid4()))
        self.turn()

    def turn(self) -> None:
        cuts = 0
        while True:
            self.messages, self.answer = self.store.messages(), []
            if not self.interrupted:
                calls = self.answered()
                if calls is None:
                    return
            if self.interrupted:
                self.result(True, "", "aborted_streaming")
                return
            if self.stop_reason == "max_tokens" and cuts < 3:
                cuts += 1
                nudge = {"role": "user", "content": [{"type": "text", "text": RESUME}]}
                self.store.put(nudge, isMeta=True)
                self.say(type="user", message=nudge, parent_tool_use_id=None, isSynthetic=True)
            elif self.stop_reason in ("refusal", "max_tokens"):
                deed = "max_output_tokens" if self.stop_reason == "max_tokens" else None
                self.apologise("API Error: the safeguards stopped the response, or it was too long.", deed=deed)
                self.result(True, self.error_text, "api_error")
                return
            elif not calls:
                self.result(False, "", "completed")
                return
            elif not self.run_calls(calls):
                return

    def run_calls(self, calls: list[dict[str, Any]]) -> bool:
        """Have the calls made; False where the turn has ended with it."""
        known = {f"mcp__{self.server}__{tool['name']}" for tool in self.tools}
        questions = {
            self.question(
                subtype="can_use_tool", tool_name=call["name"], input=call["input"], tool_use_id=call["id"]
            ): call["id"]
            for call in calls
            if call["name"] in known
        }
        allowed = self.gather(questions)
        numbers = {}
        for n, call in enumerate(calls):
            if allowed.get(call["id"], {}).get("behavior") == "allow":
                params = {
                    "name": call["name"].split("__", 2)[2],
                    "arguments": allowed[call["id"]]["updatedInput"],
                    "_meta": {"claudecode/toolUseId": call["id"], "progressToken": n},
                }
                message = {"jsonrpc": "2.0", "id": n + 2, "method": "tools/call", "params": params}
                number = self.question(subtype="mcp_message", server_name=self.server, message=message)
                numbers[number] = call["id"]
        done = self.gather(numbers)
        lines = {block["id"]: line for line, block in self.answer if block["type"] == "tool_use"}
        for call in calls:
            block = self.outcome(call, known, allowed, done)
            message = {"role": "user", "content": [block]}
            self.store.put(message, lines[call["id"]], toolUseResult=block["content"])
            self.say(type="user", message=message, parent_tool_use_id=None)
        if not self.interrupted:
            return True
        self.result(True, "", "aborted_tools")
        return False

    def outcome(
        self, call: dict[str, Any], known: set[str], allowed: dict[str, Any], done: dict[str, Any]
    ) -> dict[str, Any]:
        block = {"type": "tool_result", "tool_use_id": call["id"]}
        if call["name"] not in known:
            text = f"<tool_use_error>Error: No such tool available: {call['name']}.</tool_use_error>"
            return {**block, "content": text, "is_error": True}
        if allowed.get(call["id"], {}).get("behavior") == "deny":
            return {**block, "content": allowed[call["id"]]["message"], "is_error": True}
        if call["id"] not in done:
            return {**block, "content": REJECTED, "is_error": True}
        result = done[call["id"]]["mcp_response"]["result"]
        if result.get("isError"):
            return {**block, "content": result["content"][0]["text"], "is_error": True}
        content = []
        for item in result["content"]:
            if item["type"] == "image":
                source = {"type": "base64", "media_type": item["mimeType"], "data": item["data"]}
                content += [{"type": "image", "source": source}, {"type": "text", "text": "[Image: source: /t/1.png]"}]
            else:
                content.append(item)
        return {**block, "content": content}

    def finished(self, block: dict[str, Any]) -> None:
        message = {**self.shell, "role": "assistant", "content": [block]}
        line = self.store.put(message)
        self.answer.append((line, block))
        self.say(type="assistant", message=message, parent_tool_use_id=None)

    def streamed(self, answer: Any) -> list[dict[str, Any]] | None:
        calls: list[dict[str, Any]] | None = super().streamed(_Counting(answer, self))
        return calls

    # -- ends

    def apologise(self, text: str, status: int | None = None, kind: str | None = None, deed: str | None = None) -> None:
        if self.interrupted:
            return
        content = [{"type": "text", "text": text}]
        self.store.put({"role": "assistant", "model": "<synthetic>", "content": content}, isApiErrorMessage=True)
        super().apologise(text, status, kind, deed)

    def result(self, is_error: bool, text: str, reason: str, status: int | None = None) -> None:
        line: dict[str, Any] = {"subtype": "success", "is_error": is_error, "num_turns": 1, "result": text}
        stop = "stop_sequence" if is_error and self.stop_reason != "refusal" else self.stop_reason
        if self.interrupted:
            if reason != "aborted_tools":
                reason = "aborted_streaming"
                self.partial()
            marker = ABORTED_TOOL if reason == "aborted_tools" else ABORTED
            message = {"role": "user", "content": [{"type": "text", "text": marker}]}
            self.store.put(message)
            self.say(type="user", message=message, parent_tool_use_id=None)
            self.interrupted = False
            line = {"subtype": "error_during_execution", "is_error": True, "errors": ["[ede_diagnostic]"]}
        more = {} if status is None else {"api_error_status": status}
        # Before it is told: the next turn may be asked for, and interrupted, as soon as it is.
        self.turning = False
        self.say(type="result", **line, **more, terminal_reason=reason, usage=self.usage, stop_reason=stop)

    def partial(self) -> None:
        if self.block.get("type") == "text" and self.pieces and self.answer_lacks_it():
            message = {**self.shell, "role": "assistant", "content": [self.whole()]}
            self.store.put(message)
            self.say(type="assistant", message=message, parent_tool_use_id=None, aborted=True)

    def answer_lacks_it(self) -> bool:
        return not self.answer or self.answer[-1][1] != self.whole()


class _Counting:
    """An answer's lines, with the figures and the stop reason in them put down on the way."""

    def __init__(self, answer: Any, agent: Agent) -> None:
        self.answer, self.agent = answer, agent

    def __iter__(self) -> Any:
        self.agent.stop_reason = None
        for raw in self.answer:
            if raw.startswith(b"data:"):
                event = json.loads(raw[5:])
                start = event.get("message", {}).get("usage", {})
                self.agent.usage["input_tokens"] += start.get("input_tokens", 0)
                if event["type"] == "message_delta":
                    self.agent.usage["output_tokens"] += event.get("usage", {}).get("output_tokens", 0)
                    self.agent.stop_reason = event["delta"].get("stop_reason")
            yield raw


if __name__ == "__main__":
    _parser = one_answer.parser()
    _parser.add_argument("--resume")
    _parser.add_argument("--system-prompt-snapshot")
    _options = one_answer.flags(_parser)
    Agent(_options).run()
