#!/usr/bin/env python3
"""What Claude's command line program does for the adapter, as a small script: the same flags, lines and requests.

It follows 2.1.330 as it was seen; the tests beside it are run with the real program too (`nox -s agents`).
"""

from __future__ import annotations

import argparse
import contextlib
import http.client
import json
import os
import sys
import time
import uuid
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

VERSION = "2.1.330"
RESUME = "Output token limit hit. Resume directly — no apology, no recap of what you were doing."
THOUGHT = 30
"""Seconds until it goes on where nobody has told it to. The program itself takes 20 ms, and a busy machine does not
always come to end it before."""
UNPARSED = "__unparsedToolInput"
DEEDS = {401: "authentication_failed", 404: "model_not_found", 429: "rate_limit"}


def worded(status: int, body: bytes) -> tuple[str, str | None]:
    """What the program says of a refusal of the API, and the type that the API gave it."""
    try:
        error = json.loads(body)["error"]
    except (ValueError, KeyError):
        error = {"type": None, "message": ""}
    too_long = error["message"].startswith("prompt is too long")
    return "Prompt is too long" if too_long else f"API Error: {status} {error['message']}", error["type"]


def parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="claude", allow_abbrev=False)
    for name in ("print", "bare", "verbose", "include-partial-messages", "no-session-persistence", "strict-mcp-config"):
        parser.add_argument(f"--{name}", action="store_true")
    for name in ("output-format", "input-format", "permission-prompt-tool", "max-turns", "tools", "mcp-config"):
        parser.add_argument(f"--{name}")
    for name in ("model", "system-prompt", "system-prompt-file", "session-id"):
        parser.add_argument(f"--{name}")
    return parser


def flags(parser: argparse.ArgumentParser) -> argparse.Namespace:
    options = parser.parse_args()
    if options.print and options.output_format == "stream-json" and not options.verbose:
        sys.exit("Error: When using --print, --output-format=stream-json requires --verbose")
    if options.system_prompt_file:
        options.system_prompt = Path(options.system_prompt_file).read_text("utf-8")
    return options


class Program:
    def __init__(self, options: argparse.Namespace) -> None:
        self.options = options
        self.session = options.session_id or str(uuid.uuid4())
        self.server = next(iter(json.loads(options.mcp_config or "{}").get("mcpServers", {})), None)
        self.tools: list[dict[str, Any]] = []
        self.messages: list[dict[str, Any]] = []
        self.waiting: list[dict[str, Any]] = []
        self.error_text = ""
        self.status: int | None = None
        self.shell: dict[str, Any] = {}
        self.block: dict[str, Any] = {}
        self.pieces: list[str] = []
        self.blocks: list[dict[str, Any]] = []
        self.permission_ids: dict[str, str] = {}
        self.stop: str | None = None

    # -- lines

    def say(self, **line: Any) -> None:
        sys.stdout.write(json.dumps({**line, "session_id": self.session, "uuid": str(uuid.uuid4())}) + "\n")
        sys.stdout.flush()

    def hear(self) -> dict[str, Any]:
        line = sys.stdin.readline()
        if not line:
            sys.exit(0)
        found: dict[str, Any] = json.loads(line)
        return found

    def ask(self, **request: Any) -> dict[str, Any]:
        number = str(uuid.uuid4())
        self.say(type="control_request", request_id=number, request=request)
        while (line := self.hear()).get("type") != "control_response":
            if line["type"] == "control_request":
                self.take(line)
            else:
                self.waiting.append(line)
        answer: dict[str, Any] = line["response"]["response"]
        return answer

    def served(self, **message: Any) -> Any:
        return self.ask(subtype="mcp_message", server_name=self.server, message={"jsonrpc": "2.0", **message})

    # -- the conversation

    def run(self) -> None:
        if self.server is not None:
            self.served(method="initialize", id=0, params={"protocolVersion": "2025-11-25", "capabilities": {}})
            self.served(method="notifications/initialized")
            self.tools = self.served(method="tools/list", id=1)["mcp_response"]["result"]["tools"]
        while True:
            self.take(self.waiting.pop(0) if self.waiting else self.hear())

    def take(self, line: dict[str, Any]) -> None:
        match line:
            case {"type": "control_request", "request_id": number}:
                self.say(type="system", subtype="ui_invalidate", event="ui.render")
                self.say(type="control_response", response={"subtype": "success", "request_id": number, "response": {}})
            case {"type": "assistant", "message": message}:
                self.messages.append(self.outgoing_message(message))
                self.say(type="assistant", message=message)
            case {"type": "user", "message": message}:
                if "/cost" in str(message["content"]) and not line.get("text_not_typed"):
                    self.say(type="result", subtype="success", is_error=False, num_turns=0, result="Estimated cost: $0")
                    return
                self.messages.append(message)
                self.say(type="system", subtype="init", claude_code_version=VERSION, tools=self.names())
                if line.get("shouldQuery", True):
                    self.turn()
                else:
                    self.say(type="result", subtype="success", is_error=False, num_turns=0, result="")

    def outgoing_message(self, message: dict[str, Any]) -> dict[str, Any]:
        """An assistant's message as it goes out: its thinking only where its model is known to be the same."""
        same = message.get("model") == self.options.model and os.environ["MAX_THINKING_TOKENS"] != "0"
        content = [block for block in message["content"] if same or block["type"] != "thinking"]
        return {"role": "assistant", "content": content}

    def names(self) -> list[str]:
        return [f"mcp__{self.server}__{tool['name']}" for tool in self.tools]

    def turn(self) -> None:
        """Ask the model until it has said all."""
        while (calls := self.answered()) is not None:
            self.messages.append({"role": "assistant", "content": self.blocks})
            if self.stop in ("max_tokens", "refusal"):
                time.sleep(THOUGHT)
                self.messages.append({"role": "user", "content": [{"type": "text", "text": RESUME}]})
            elif not calls:
                self.result(False, "", "completed")
                return
            else:
                self.messages.append({"role": "user", "content": self.run_calls(calls)})
                if self.options.max_turns is not None:
                    self.result(True, "Reached maximum number of turns", "max_turns")
                    return

    def permission(self, call: dict[str, Any]) -> None:
        """Ask for it, and do not wait for the answer: the model is still speaking."""
        request = {"tool_name": call["name"], "input": call["input"], "tool_use_id": call["id"]}
        self.permission_ids[call["id"]] = str(uuid.uuid4())
        self.say(
            type="control_request",
            request_id=self.permission_ids[call["id"]],
            request={"subtype": "can_use_tool", **request},
        )

    def run_calls(self, calls: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """Have the calls made as they are allowed; the results in the order in which they come."""
        results = []
        numbers = {number: call for call in calls if (number := self.permission_ids.pop(call["id"], None))}
        for call in calls:
            if call not in numbers.values():
                text = f"<tool_use_error>Error: {call['name']} cannot be called like this</tool_use_error>"
                results.append({"type": "tool_result", "content": text, "is_error": True, "tool_use_id": call["id"]})
        if not numbers:
            time.sleep(THOUGHT)
        while len(results) < len(calls):
            line = self.hear()
            allowed = numbers.get(line.get("response", {}).get("request_id", ""))
            if allowed is None:
                self.waiting.append(line)
                continue
            meta = {"claudecode/toolUseId": allowed["id"], "progressToken": 1}
            params = {"name": allowed["name"].split("__", 2)[2], "arguments": allowed["input"], "_meta": meta}
            output = self.served(method="tools/call", id=2, params=params)["mcp_response"]["result"]
            results.append(
                {"type": "tool_result", "tool_use_id": allowed["id"], **self.result_fields(output, allowed["name"])}
            )
            self.say(type="user", message={"role": "user", "content": results[-1:]}, parent_tool_use_id=None)
        return results

    def result_fields(self, result: dict[str, Any], name: str) -> dict[str, Any]:
        """What the model is told of a result."""
        texts = [item["text"] for item in result["content"]]
        if result.get("isError"):
            error_text = texts[0].strip()
            content = (
                error_text
                if len(error_text) <= 10_000
                else f"{error_text[:5000]}\n\n... cut ...\n\n{error_text[-5000:]}"
            )
            return {"content": content or "Command failed with no output", "is_error": True}
        blank = not result.get("toolResult", texts[0]).strip()
        return {
            "content": f"({name} completed with no output)" if blank else result.get("toolResult", result["content"])
        }

    def answered(self) -> list[dict[str, Any]] | None:
        """Ask the model once; the calls of its answer, or None where there is none, which has been told."""
        url = urlsplit(os.environ["ANTHROPIC_BASE_URL"])
        connection = http.client.HTTPConnection(url.hostname or "", url.port)
        headers = {
            "content-type": "application/json",
            "anthropic-version": "2023-06-01",
            "x-api-key": os.environ["ANTHROPIC_API_KEY"],
            "user-agent": f"claude-cli/{VERSION} (external, sdk-cli)",
        }
        self.connection = connection
        connection.request("POST", f"{url.path}/v1/messages?beta=true", json.dumps(self.body()), headers)
        answer = connection.getresponse()
        if answer.status != 200:
            self.refused(answer.status, answer.read())
            return None
        calls = self.streamed(answer)
        if calls is None:
            self.result(True, self.error_text, "api_error", self.status)
        return calls

    def finished(self, block: dict[str, Any]) -> None:
        """A block of an answer is there."""
        self.blocks.append({key: value for key, value in block.items() if key != "caller"})
        self.say(type="assistant", message={**self.shell, "content": [block]}, parent_tool_use_id=None)
        if (
            block["type"] == "tool_use"
            and block["name"] in self.names()
            and "__unparsedToolInput" not in block["input"]
        ):
            self.permission(block)

    def whole(self) -> dict[str, Any]:
        """The block that is growing, as far as it has grown."""
        text = "".join(self.pieces)
        match self.block["type"]:
            case "tool_use":
                try:
                    return {**self.block, "input": json.loads(text or "{}")}
                except ValueError:
                    return {**self.block, "input": {UNPARSED: {"raw": text, "len": len(text)}}}
            case "text" | "thinking" as kind:
                return {**self.block, kind: text}
        return self.block

    def body(self) -> dict[str, Any]:
        *earlier, last = self.messages
        content = last["content"]
        content_blocks: list[dict[str, Any]] = (
            [{"type": "text", "text": content}] if isinstance(content, str) else content
        )
        blocks = [dict(each) for each in content_blocks]
        blocks[-1]["cache_control"] = {"type": "ephemeral"}
        cache_mark: dict[str, Any] = {"cache_control": {"type": "ephemeral"}}
        own = [{"type": "text", "text": self.options.system_prompt, **cache_mark}] if self.options.system_prompt else []
        budget = int(os.environ.get("MAX_THINKING_TOKENS", "0"))
        return {
            "model": self.options.model,
            "messages": [*earlier, {"role": "user", "content": blocks}],
            "system": [
                {
                    "type": "text",
                    "text": f"x-anthropic-billing-header: cc_version={VERSION}.0f7; cc_entrypoint=sdk-cli;",
                },
                {
                    "type": "text",
                    "text": "You are a Claude agent, built on Anthropic's Claude Agent SDK.",
                    **cache_mark,
                },
                *own,
            ],
            "tools": [
                {
                    "name": name,
                    "description": self.shortened(tool.get("description") or ""),
                    "input_schema": tool["inputSchema"],
                }
                for name, tool in zip(self.names(), self.tools, strict=True)
            ],
            "metadata": {"user_id": json.dumps({"device_id": "0", "account_uuid": "", "session_id": self.session})},
            "max_tokens": int(os.environ.get("CLAUDE_CODE_MAX_OUTPUT_TOKENS", "32000")),
            "thinking": {"type": "enabled", "budget_tokens": budget} if budget else {"type": "disabled"},
            "temperature": 1,
            "stream": True,
        }

    def shortened(self, description: str) -> str:
        most = int(os.environ.get("CLAUDE_CODE_MAX_MCP_DESCRIPTION_LENGTH", "4096"))
        return description if len(description) <= most else f"{description[:most]}… [truncated]"

    def streamed(self, answer: http.client.HTTPResponse) -> list[dict[str, Any]] | None:
        """Pass the events on; the calls that they held, or None where they broke off."""
        calls: list[dict[str, Any]] = []
        try:
            lines = iter(answer)
            for raw in lines:
                if not raw.startswith(b"data:"):
                    continue
                event = json.loads(raw[5:])
                match event:
                    case {"type": "error", "error": error}:
                        self.apologise(f"API Error: {error['message']}", 529, error["type"])
                        break
                    case {"type": "ping"}:
                        continue
                    case {"type": "message_start", "message": message}:
                        self.shell, self.block, self.blocks, self.stop = message, {}, [], None
                    case {"type": "content_block_start", "content_block": begun_block}:
                        self.block, self.pieces = dict(begun_block), []
                    case {"type": "content_block_delta", "delta": {"type": "signature_delta", "signature": signature}}:
                        self.block["signature"] = signature
                    case {"type": "content_block_delta", "delta": delta}:
                        words = delta.get("text") or delta.get("thinking") or delta.get("partial_json") or ""
                        self.pieces.append(words)
                    case {"type": "message_delta", "delta": {"stop_reason": reason}}:
                        self.stop = reason
                    case {"type": "content_block_stop"}:
                        block = self.whole()
                        if block["type"] == "tool_use":
                            calls.append(block)
                        self.finished(block)
                self.say(type="stream_event", event=event, parent_tool_use_id=None)
                if event["type"] == "message_stop":
                    with contextlib.suppress(OSError, http.client.HTTPException):
                        list(lines)  # it goes on when the body has come to its end, whatever stands there
                    return calls
            else:
                self.apologise("API Error: Connection to the API was lost (StreamTruncated).")
        except (OSError, http.client.HTTPException, ValueError):
            self.apologise("API Error: Connection to the API was lost (StreamTruncated).")
        # It ends in the program's own name what the service did not.
        self.say(type="stream_event", event={"type": "content_block_stop", "index": 0}, parent_tool_use_id=None)
        self.say(type="stream_event", event={"type": "message_stop"}, parent_tool_use_id=None)
        return None

    def refused(self, status: int, body: bytes) -> None:
        text, kind = worded(status, body)
        self.apologise(text, status, kind)
        self.result(True, text, "prompt_too_long" if text == "Prompt is too long" else "api_error", status)

    def apologise(self, text: str, status: int | None = None, kind: str | None = None, deed: str | None = None) -> None:
        """What stands in an answer's place."""
        self.error_text, self.status = text, status
        known = {} if status is None else {"api_error_status": status, "api_error_type": kind}
        self.say(
            type="assistant",
            message={"role": "assistant", "model": "<synthetic>", "content": [{"type": "text", "text": text}]},
            error=deed or DEEDS.get(status or 0, "server_error" if (status or 500) >= 500 else "unknown"),
            is_api_error_message=True,
            parent_tool_use_id=None,
            **known,
        )

    def result(self, is_error: bool, text: str, reason: str, status: int | None = None) -> None:
        line = {"subtype": "success", "is_error": is_error, "num_turns": 1, "result": text, "terminal_reason": reason}
        self.say(type="result", **line, **({} if status is None else {"api_error_status": status}))


if __name__ == "__main__":
    Program(flags(parser())).run()
