"""`turnproof reproduce` of a library: its own call, without turnproof, also where it takes more than that call."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from ..command_line import run_turnproof

pytestmark = pytest.mark.long

LIBRARY = '''
"""A library that opens a client, which belongs to the event loop that it was first used in."""

import asyncio
import json
from dataclasses import dataclass
from urllib.error import HTTPError
from urllib.request import Request, urlopen

MEND = False


class Refused(Exception):
    def __init__(self, words, status, wait=None):
        super().__init__(words)
        self.status, self.wait = status, wait


class Busy(Refused):
    pass


@dataclass
class Reply:
    text: str
    calls: list
    words: dict


class Client:
    def __init__(self, url, key, model):
        self.url, self.model, self.loop = url, model, None
        self.headers = {"content-type": "application/json", "authorization": f"Bearer {key}"}
        with urlopen(Request(f"{url}/models", headers=self.headers)) as answer:  # as libraries do that look a model up
            json.load(answer)

    async def ask(self, messages, tools):
        here = asyncio.get_running_loop()
        if not MEND and self.loop not in (None, here):
            raise RuntimeError("the client is attached to a different loop")
        self.loop = here
        if MEND:
            answered = {one["tool_call_id"] for one in messages if one["role"] == "tool"}
            asked = {call["id"] for one in messages for call in one.get("tool_calls") or ()}
            messages = [one for one in messages if one.get("tool_call_id", "") in {"", *asked}]
            messages = [one for one in messages if all(c["id"] in answered for c in one.get("tool_calls") or ())]
        body = {"model": self.model, "messages": messages, **({"tools": tools} if tools else {})}
        try:
            with urlopen(Request(f"{self.url}/chat/completions", json.dumps(body).encode(), self.headers)) as answer:
                document = json.load(answer)
        except HTTPError as error:
            if not MEND:
                print("the garden is closed")
                raise Refused(str(error), error.code) from None
            kind = Busy if error.code == 429 else Refused
            raise kind(str(error), error.code, error.headers.get("retry-after")) from error
        message = document["choices"][0]["message"]
        words = {"model": document["model"]} if MEND else {}
        return Reply(message.get("content") or "", message.get("tool_calls") or [], words)
'''

BINDING = """
import json
import os

from garden_llm import Busy, Client, Refused

from turnproof import errors
from turnproof.messages import FunctionCall, ProviderResponse, Text, ToolSchema, thaw
from turnproof.provider import Binding, Capabilities
from turnproof.reproducer import LibraryCode


def written(messages, system):
    rows = [{"role": "system", "content": system}] if system else []
    for message in messages:
        if message.role == "tool":
            rows += [{"role": "tool", "tool_call_id": one.call_id, "content": json.dumps(thaw(one.result))}
                     for one in message.results]
            continue
        calls = [{"id": one.id, "type": "function",
                  "function": {"name": one.name, "arguments": json.dumps(thaw(one.args))}} for one in message.calls]
        role = "assistant" if message.role == "model" else message.role
        rows.append({"role": role, "content": message.text, **({"tool_calls": calls} if calls else {})})
    return rows


def declared(tools):
    return [{"type": "function", "function": {"name": one.name, "description": one.description,
                                              "parameters": thaw(one.parameters)}} for one in tools]


class Garden:
    def __init__(self, endpoint):
        self.client = Client(endpoint.base_url, endpoint.api_key, endpoint.model)

    async def complete(self, messages, system_instruction=None, tools=None, **rest):
        system = getattr(system_instruction, "text", system_instruction)
        try:
            reply = await self.client.ask(written(messages, system), declared(tools or ()))
        except Refused as error:
            kind = Code.errors[type(error).__name__]
            raise kind(str(error), status=error.status) from error
        calls = [FunctionCall(one["id"], one["function"]["name"], json.loads(one["function"]["arguments"]))
                 for one in reply.calls]
        return ProviderResponse((*([Text(reply.text)] if reply.text else []), *calls), model=reply.words.get("model"))


class Code:
    packages = ("msgspec",)
    errors = {"Busy": errors.RateLimitError, "Refused": errors.InvalidRequestError}

    def code(self, call):
        rest = declared(call.tools)
        return LibraryCode(
            imports=[f"sys.path.insert(0, {os.path.dirname(__file__)!r})", "from garden_llm import Client"],
            messages=[repr(one) for one in written(call.messages, call.system)],
            opening=[f"client = Client(url, 'key', {call.model!r})"],
            body=[
                f"reply = await client.ask(messages, {rest!r})",
                f"return {{{call.wanted!r}: {'repr(reply)' if call.wanted == 'whole' else 'reply.text'}}}",
            ],
        )


BINDING = Binding(
    "garden", "openai-chat", "gpt-5-mini",
    Capabilities(tools=True, parallel_tools=True, finish_reasons=False, typed_errors=True),
    open_stateless=Garden, reproducer=Code(),
)
"""


@pytest.fixture(scope="module")
def certified(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("library")
    (folder / "garden_llm.py").write_text(LIBRARY, "utf-8")
    (folder / "garden_binding.py").write_text(BINDING, "utf-8")
    scenarios = ("basics/four_turns", "basics/plain", "tools/parallel", "faults/rate_limited")
    words = [word for name in scenarios for word in ("--scenario", name)]
    done = run_turnproof(folder, "certify", "garden_binding:BINDING", *words, "--out", "reports")
    assert done.returncode == 1, done.stdout + done.stderr
    return folder


@pytest.mark.parametrize(
    ("requirement", "message"),
    [
        ("core/event-loops-may-come-and-go", "the client is attached to a different loop"),
        ("core/answering-model-is-named", 'expected the model "gpt-5-mini-'),
        ("tools/broken-pairs-are-not-sent", "DEFECT: "),
        ("errors/class-fits-the-status", "expected RateLimitError for the API's answer 429"),
        ("errors/retry-after-is-kept", "expected a `retry_after` of"),
        ("core/adapter-prints-nothing", "got 'the garden is closed'"),
    ],
)
def test_the_library_alone_shows_it_and_a_mended_one_does_not(
    certified: Path, tmp_path: Path, requirement: str, message: str
) -> None:
    file = tmp_path / "shown.py"
    done = run_turnproof(certified, "reproduce", requirement, "--out", str(file))
    assert done.returncode == 0, done.stdout + done.stderr
    source = file.read_text("utf-8")
    assert len(source.splitlines()) <= 60
    assert "import turnproof" not in source
    assert "from turnproof" not in source
    shown = run_file(file)
    line = shown.stdout.splitlines()[-1]  # the library itself may print others
    assert (shown.returncode, line[:8]) == (1, "DEFECT: "), shown.stdout + shown.stderr
    assert message in line
    (tmp_path / "garden_llm.py").write_text(LIBRARY.replace("MEND = False", "MEND = True"), "utf-8")
    file.write_text(source.replace(str(certified), str(tmp_path)), "utf-8")
    right = run_file(file)
    assert (right.returncode, right.stdout[:6]) == (0, "gone: "), right.stdout + right.stderr


def run_file(file: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-P", str(file)]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
