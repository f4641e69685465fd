"""A peer's process, and its callers: they are told what to do, and say what it took there."""

from __future__ import annotations

import json
import os
import select
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from ....errors import ProviderError
from ....messages import FunctionCall, Message, Text, ToolResult, thaw
from ....provider import Conversation, OnChunk
from .catalogue import PEERS, SHOWN
from .venvs import python_with

_WORKER = Path(__file__).with_name("worker.py")
_LIMIT = 600.0
"""Seconds in which an answer has to come: a visit with thousands of messages takes many."""


class PeerProcess:
    """One peer beside one adapter. Its environment is made where it is not there yet.

    Raises ProviderError, here and later, for whatever the peer does not do: install, start, answer.
    """

    def __init__(self, peer: str, adapter: str, *, python: Path | None = None) -> None:
        package = PEERS[peer].get(adapter)
        if package is None:
            raise ProviderError(f"{peer} is not known to speak to what {adapter} speaks to")
        self.name, self.package = peer, package
        # Closed with the process.
        self._stderr = tempfile.TemporaryFile("w+")  # noqa: SIM115
        words = [str(python or python_with(package)), "-E", "-s", str(_WORKER), peer, adapter]
        self._process = subprocess.Popen(
            words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._stderr, text=True, env=_environment()
        )
        self.versions: dict[str, str] = {
            name: version for name, version in self.ask({"do": "versions"})["versions"].items() if name in SHOWN
        }

    def open(self, url: str, key: str, model: str, talk: Conversation) -> PeerCaller:
        """A caller for this conversation."""
        request = {"do": "open", "url": url, "key": key, "model": model, **as_json(talk)}
        return PeerCaller(self, self.ask(request)["opened"])

    def ask(self, request: Mapping[str, Any]) -> Any:
        """The answer to one request."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        try:
            self._process.stdin.write(json.dumps(request) + "\n")
            self._process.stdin.flush()
        except OSError:
            raise self._died() from None
        # Answers are single lines, one for a request: nothing of one waits in the buffer.
        ready, _, _ = select.select([self._process.stdout], [], [], _LIMIT)
        if not ready:
            raise ProviderError(f"{self.name} has not answered for {_LIMIT:g} s")
        line = self._process.stdout.readline()
        if not line:
            raise self._died()
        answer = json.loads(line)
        if "error" in answer:
            raise ProviderError(answer["error"])
        return answer

    def close(self) -> None:
        """End the process."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.kill()
        self._process.wait()
        # What a dead process was not told any more stays in the buffer, and cannot be told now.
        with suppress(OSError):
            self._process.stdin.close()
        self._process.stdout.close()
        self._stderr.close()

    def _died(self) -> ProviderError:
        self._stderr.seek(0)
        output = " ".join(self._stderr.read().split())
        return ProviderError(f"the process of {self.name} has died: {output[-300:] or 'it printed nothing'}")


class PeerCaller:
    """One conversation in a peer's process; see `turnproof.provider.PlainCall` and `bench.timing.TimedElsewhere`."""

    def __init__(self, process: PeerProcess, number: int) -> None:
        self._process, self._number = process, number

    def ready(self) -> None:
        """Every call sends the same conversation."""

    def ask(self) -> str:
        """The text of one answer."""
        return "".join(self._request_turns(1, streamed=False)["pieces"])

    def stream(self, on_chunk: OnChunk) -> None:
        """One streamed answer, told when all of it is there."""
        for piece in self._request_turns(1, streamed=True)["pieces"]:
            on_chunk(piece)

    def run_turns(self, turns: int, *, streamed: bool) -> Sequence[tuple[int, int]]:
        """So many turns: nanoseconds of CPU of the peer's process, in all and to the first piece."""
        return [(total, first) for total, first in self._request_turns(turns, streamed=streamed)["taken"]]

    def close(self) -> None:
        """Forget the conversation."""
        self._process.ask({"do": "close", "caller": self._number})

    def _request_turns(self, turns: int, *, streamed: bool) -> Any:
        return self._process.ask({"do": "take", "caller": self._number, "turns": turns, "streamed": streamed})


def as_json(talk: Conversation) -> dict[str, Any]:
    """A conversation as the worker takes it."""
    tools = [
        {"name": tool.name, "description": tool.description, "parameters": thaw(tool.parameters)} for tool in talk.tools
    ]
    return {"messages": [_message(message) for message in talk.messages], "system": talk.system, "tools": tools}


def _message(message: Message) -> dict[str, Any]:
    document: dict[str, Any] = {"role": message.role, "text": "", "calls": [], "results": []}
    for part in message.parts:
        match part:
            case Text():
                document["text"] += part.text
            case FunctionCall():
                document["calls"].append({"id": part.id, "name": part.name, "args": thaw(part.args)})
            case ToolResult():
                document["results"].append({"id": part.call_id, "name": part.name, "text": str(part.result)})
            case _:
                raise TypeError(f"no conversation that is measured has a {type(part).__name__}")
    return document


def _environment() -> dict[str, str]:
    """Ours, less what would send a peer elsewhere."""
    variables = {name: value for name, value in os.environ.items() if "proxy" not in name.lower()}
    return {**variables, "NO_PROXY": "127.0.0.1", "LITELLM_LOCAL_MODEL_COST_MAP": "True"}
