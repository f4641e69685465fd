"""The model behind a session: asked over its API, and shown while it answers."""

from __future__ import annotations

import argparse
import contextlib
import http.client
import json
import os
import socket
import uuid
from typing import Any
from urllib.parse import urlsplit

from adapters.claude_cli.standin import worded

from . import VERSION
from .blocks import text_block
from .session import Session
from .wire import Refused

KINDS = {401: "authentication_failed", 400: "invalid_request", 404: "model_not_found", 429: "rate_limit"}


class Model:
    """The model for one turn, asked once or more."""

    def __init__(self, session: Session, options: argparse.Namespace, *, dies: bool) -> None:
        self.session = session
        self.options = options
        self.dies = dies
        self.usage = {"inputTokens": 0, "outputTokens": 0, "cachedReadTokens": 0, "cachedWriteTokens": 0}
        self.blocks: list[dict[str, Any]] = []
        """What it has said since it was asked last."""
        self._broke_off = False

    def say(self) -> str:
        """Ask the model once, and show what it says. Raises Refused where it cannot be asked."""
        self.session.check()
        self.blocks = []
        url = urlsplit(os.environ["ANTHROPIC_BASE_URL"])
        connection = http.client.HTTPConnection(url.hostname or "", url.port)
        try:
            connection.connect()
            line: socket.socket = connection.sock
            self.session.on_cancel(lambda: _hang_up(line))
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
            self.session.on_cancel(None)
            connection.close()

    def body(self) -> dict[str, Any]:
        cache_mark = {"cache_control": {"type": "ephemeral"}}
        messages: list[dict[str, Any]] = []
        for message in self.session.record["messages"]:
            if messages and messages[-1]["role"] == message["role"]:
                messages[-1]["content"] += message["content"]
            else:
                messages.append({"role": message["role"], "content": list(message["content"])})
        messages[-1]["content"][-1] = {**messages[-1]["content"][-1], **cache_mark}
        own = [{"type": "text", "text": self.session.system, **cache_mark}] if self.session.system.strip() else []
        budget = int(os.environ.get("MAX_THINKING_TOKENS", "0"))
        billing = f"x-anthropic-billing-header: cc_version={VERSION}.bfd; cc_entrypoint=sdk-ts;"
        return {
            "model": os.environ["ANTHROPIC_MODEL"],
            "messages": messages,
            "system": [
                text_block(billing),
                {**text_block("You are a Claude agent, built on Anthropic's Claude Agent SDK."), **cache_mark},
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
                        self.session.show_call(block, {})
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
                if self.options.retell and not self._broke_off:
                    self.session.show_text("agent_message_chunk", text, f"{number}-broken")
                    self._broke_off = True
                if self.options.repeat:
                    self.session.show_text("agent_thought_chunk", text, number)
                self.session.show_text("agent_message_chunk", text, number)
                if self.dies:
                    os._exit(3)
            case {"type": "thinking_delta", "thinking": text}:
                block["thinking"] += text
                if text:
                    self.session.show_text("agent_thought_chunk", text, number)
            case {"type": "signature_delta", "signature": signature}:
                block["signature"] = signature

    # -- failures

    def refused(self, status: int, body: bytes) -> None:
        text, _ = worded(status, body)
        self.sorry(text, KINDS.get(status, "overloaded" if status == 529 else "server_error"))

    def sorry(self, text: str, kind: str) -> None:
        """What stands in an answer's place, and then the error."""
        self.session.show_text("agent_message_chunk", text, str(uuid.uuid4()))
        raise Refused(-32603, f"Internal error: {text}", {"errorKind": kind})


def _hang_up(line: socket.socket) -> None:
    with contextlib.suppress(OSError):  # the answer may be over by now, and the line closed
        line.shutdown(socket.SHUT_RDWR)
