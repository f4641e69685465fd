"""Small adapters for the driver's tests: one that works, and ones that misbehave in a single way each.

They speak the wire with the standard library alone, so that nothing but the driver is under test.
"""

from __future__ import annotations

import http.client
import json
import logging
import os
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from turnproof.messages import FinishReason, Message, ProviderResponse, Text, TokenUsage
from turnproof.provider import Binding, Capabilities, Endpoint, TransportError


class Plain:
    """Sends texts, reads texts. Streams nothing: `on_chunk` gets the whole text once."""

    def __init__(self, endpoint: Endpoint) -> None:
        self.endpoint = endpoint

    def complete(
        self,
        messages: list[Message],
        system_instruction: Any = None,
        tools: Any = None,
        *,
        on_chunk: Callable[[str], None] | None = None,
        **_: Any,
    ) -> ProviderResponse:
        answer = self.post(
            {
                "model": self.endpoint.model,
                "max_tokens": 100,
                "messages": [
                    {"role": "assistant" if message.role == "model" else "user", "content": message.text}
                    for message in messages
                ],
            }
        )
        text = "".join(block["text"] for block in answer["content"])
        if on_chunk is not None:
            on_chunk(text)
        used = answer["usage"]
        usage = TokenUsage(used["input_tokens"], used["output_tokens"], used["input_tokens"] + used["output_tokens"])
        return ProviderResponse((Text(text),), usage, FinishReason.STOP, answer["stop_reason"])

    def post(self, body: dict[str, Any]) -> dict[str, Any]:
        url = urlsplit(self.endpoint.base_url)
        connection = http.client.HTTPConnection(url.hostname or "", url.port, timeout=60)
        headers = {
            "content-type": "application/json",
            "x-api-key": self.endpoint.api_key,
            "anthropic-version": "2023-06-01",
        }
        try:
            connection.request("POST", f"{url.path}/v1/messages", json.dumps(body), headers)
            response = connection.getresponse()
            data = response.read()
        except OSError as error:
            raise TransportError(str(error)) from error
        finally:
            connection.close()
        if response.status != 200:
            raise TransportError(data.decode(), status=response.status)
        answer: dict[str, Any] = json.loads(data)
        return answer

    def shutdown(self) -> None:
        """Nothing is kept open."""


class Hangs(Plain):
    def complete(self, *args: Any, **kw: Any) -> ProviderResponse:
        if path := self.endpoint.options.get("hangs"):
            Path(path).touch()
        threading.Event().wait()
        raise AssertionError


class Dies(Plain):
    def complete(self, *args: Any, **kw: Any) -> ProviderResponse:
        os._exit(7)


class Prints(Plain):
    def complete(self, *args: Any, **kw: Any) -> ProviderResponse:
        print("debug: sending")
        return super().complete(*args, **kw)


class Warns(Plain):
    """Writes to standard error what belongs there, and more of it where the application debugs."""

    def complete(self, *args: Any, **kw: Any) -> ProviderResponse:
        sys.stderr.write("toy: the option is ignored\n")
        if logging.getLogger("toy").isEnabledFor(logging.DEBUG):
            os.write(2, b"toy: pages of it\n")
        return super().complete(*args, **kw)


class LogsToOutput(Plain):
    """Sends the logs of the whole process to standard output, where something goes wrong with an event loop, too."""

    def complete(self, *args: Any, **kw: Any) -> ProviderResponse:
        handler = logging.StreamHandler(sys.stdout)
        logging.getLogger().addHandler(handler)
        logging.getLogger("asyncio").error("Task exception was never retrieved")
        if self.endpoint.options.get("max_tokens"):
            logging.getLogger("toy").error("the answer is short")
        logging.getLogger().removeHandler(handler)
        return super().complete(*args, **kw)


class Exits(Plain):
    def complete(self, *args: Any, **kw: Any) -> ProviderResponse:
        raise SystemExit("good bye")


class Leaks(Plain):
    def complete(self, *args: Any, **kw: Any) -> ProviderResponse:
        logging.getLogger("toy").debug("using key %s", self.endpoint.api_key)
        raise ValueError(f"cannot use key {self.endpoint.api_key}")


class ReturnsNothing(Plain):
    def complete(self, *args: Any, **kw: Any) -> Any:
        return None


class CallsBackLate(Plain):
    def complete(self, *args: Any, on_chunk: Any = None, **kw: Any) -> ProviderResponse:
        response = super().complete(*args, on_chunk=on_chunk, **kw)
        self.late = on_chunk
        return response

    def shutdown(self) -> None:
        if self.late is not None:
            self.late("too late")


def _broken_on_open(endpoint: Endpoint) -> Any:
    raise RuntimeError("no such region")


def _binding(name: str, opener: Callable[[Endpoint], Any]) -> Binding:
    return Binding(
        name=name,
        dialect="anthropic-messages",
        model="claude-sonnet-4-5",
        capabilities=Capabilities(streaming=True),
        open_stateless=opener,
    )


PLAIN = _binding("toy-plain", Plain)
HANGS = _binding("toy-hangs", Hangs)
DIES = _binding("toy-dies", Dies)
PRINTS = _binding("toy-prints", Prints)
WARNS = _binding("toy-warns", Warns)
LOGS_TO_OUTPUT = _binding("toy-logs-to-output", LogsToOutput)
EXITS = _binding("toy-exits", Exits)
LEAKS = _binding("toy-leaks", Leaks)
NOTHING = _binding("toy-nothing", ReturnsNothing)
LATE = _binding("toy-late", CallsBackLate)
BROKEN = _binding("toy-broken", _broken_on_open)
