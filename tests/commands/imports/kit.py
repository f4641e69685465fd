"""Recorded traffic in the making: one client of OpenAI's chat completions, in the forms of files that record it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from turnproof.commands.imports.exchanges import RecordedExchange

URL = "https://api.openai.com/v1/chat/completions"
KEY = "sk-live-0123456789abcdefghij"
TOOL = {
    "type": "function",
    "function": {
        "name": "read_sensor",
        "description": "Read one sensor",
        "parameters": {"type": "object", "properties": {"bed": {"type": "string"}}, "required": ["bed"]},
    },
}


def user(text: str) -> dict[str, Any]:
    return {"role": "user", "content": text}


def assistant(text: str) -> dict[str, Any]:
    return {"role": "assistant", "content": text}


def calls(*beds: str) -> dict[str, Any]:
    """An answer that reads the sensors of some beds."""
    return {
        "role": "assistant",
        "content": None,
        "tool_calls": [
            {
                "id": f"call_{bed}",
                "type": "function",
                "function": {"name": "read_sensor", "arguments": json.dumps({"bed": bed})},
            }
            for bed in beds
        ],
    }


def result(bed: str, text: str) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": f"call_{bed}", "content": text}


def answer(message: dict[str, Any], finish: str | None = None) -> dict[str, Any]:
    """A whole answer around a message."""
    usual = "tool_calls" if "tool_calls" in message else "stop"
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1_760_000_000,
        "model": "gpt-4.1-2025-04-14",
        "choices": [{"index": 0, "message": message, "finish_reason": finish or usual}],
        "usage": {"prompt_tokens": 9, "completion_tokens": 3, "total_tokens": 12},
    }


def exchange(
    messages: list[dict[str, Any]], answered: dict[str, Any], status: int = 200, *, tools: bool = True, **more: Any
) -> RecordedExchange:
    """A request with these messages, and its answer."""
    body = {"model": "gpt-4.1", "messages": messages, **({"tools": [TOOL]} if tools else {}), **more}
    return RecordedExchange(
        where="traffic.har: $.log.entries[0]",
        method="POST",
        url=URL,
        request_headers={"content-type": "application/json", "authorization": f"Bearer {KEY}"},
        request_body=json.dumps(body).encode(),
        status=status,
        response_headers={"content-type": "application/json", "x-request-id": "req_1"},
        response_body=json.dumps(answered).encode(),
        day="2026-11-02",
    )


def har(exchanges: list[RecordedExchange]) -> dict[str, Any]:
    """The exchanges as a HAR file has them."""
    return {"log": {"version": "1.2", "entries": [_entry(one) for one in exchanges]}}


def _entry(one: RecordedExchange) -> dict[str, Any]:
    return {
        "startedDateTime": f"{one.day}T10:00:00Z",
        "request": {
            "method": one.method,
            "url": one.url,
            "headers": [{"name": name, "value": value} for name, value in one.request_headers.items()],
            "postData": {"text": one.request_body.decode()},
        },
        "response": {
            "status": one.status,
            "headers": [{"name": name, "value": value} for name, value in one.response_headers.items()],
            "content": {"text": one.response_body.decode()},
        },
    }


def cassette(exchanges: list[RecordedExchange]) -> dict[str, Any]:
    """The exchanges as vcrpy writes them."""
    return {
        "version": 1,
        "interactions": [
            {
                "request": {
                    "method": one.method,
                    "uri": one.url,
                    "headers": {name: [value] for name, value in one.request_headers.items()},
                    "body": one.request_body.decode(),
                },
                "response": {
                    "status": {"code": one.status, "message": "OK"},
                    "headers": {name: [value] for name, value in one.response_headers.items()},
                    "body": {"string": one.response_body.decode()},
                },
            }
            for one in exchanges
        ],
    }


def written(folder: Path, name: str, data: Any) -> Path:
    """A file with this JSON."""
    path = folder / name
    path.write_text(json.dumps(data))
    return path


CONVERSATION = [
    exchange([user("How moist is bed 3?")], answer(calls("3"))),
    exchange([user("How moist is bed 3?"), calls("3"), result("3", "41 %")], answer(assistant("At 41 %."))),
    exchange(
        [user("How moist is bed 3?"), calls("3"), result("3", "41 %"), assistant("At 41 %."), user("Thanks!")],
        answer(assistant("You are welcome.")),
    ),
]
"""A client that reads a sensor, and says thanks."""
