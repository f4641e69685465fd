"""One rich answer as each API streams it, and the shipped adapters on a transport that hands it over in any pieces."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import httpx2
from adapters.callback_recorder import CallbackRecorder

from turnproof.dialects import dialect
from turnproof.dialects.base import Call, PromptUsage, Reply, ReplyPart, World
from turnproof.errors import ProviderError
from turnproof.messages import FinishReason, FunctionCall, Message, Text, Thought, ToolSchema
from turnproof.provider import Binding, Endpoint, Path
from turnproof_adapters.anthropic.binding import BINDING as ANTHROPIC
from turnproof_adapters.google_genai.binding import BINDING as GOOGLE

BINDINGS = {"anthropic": ANTHROPIC, "google_genai": GOOGLE}
TOOLS = [ToolSchema("read"), ToolSchema("water")]
ANSWER = Reply(
    (
        ReplyPart(Thought("hm ’ so"), ("hm ’", " so")),
        ReplyPart(Text("it’s é 北🌍\nto 5 °C"), ("it’s é", " 北🌍\n", "to 5 °C")),
        ReplyPart(FunctionCall("a1", "read", {"p": "’北\r\n", "n": -1.5}), ('{"p": "’', '北\\r\\n", "n"', ":-1.5}")),
        ReplyPart(FunctionCall("a2", "water", {})),
    ),
    FinishReason.TOOL_USE,
)


def stream_of(binding: Binding) -> list[bytes]:
    """The events of the answer, pings included."""
    api = dialect(binding.dialect)
    world = World(keys=frozenset(), models=api.models, clock=lambda: 0.0)
    settings = {"thinkingConfig": {"includeThoughts": True}}
    call = Call("generate", binding.model, stream=True, tools=tuple(TOOLS), settings=settings)
    return [event.data for event in api.render(call, ANSWER, PromptUsage(10), world, "seed").events]


class _Pieces(httpx2.SyncByteStream):
    def __init__(self, pieces: Sequence[bytes]) -> None:
        self._pieces = pieces

    def __iter__(self) -> Iterator[bytes]:
        yield from self._pieces


@dataclass(frozen=True)
class Outcome:
    """Everything that a streamed call gives and tells."""

    parts: Any
    usage: Any
    finish: Any
    events: Any
    figures: Any


class Reader:
    """A provider of one path that reads what it is given, over and over, through one client."""

    def __init__(self, name: str, path: Path) -> None:
        binding = BINDINGS[name]
        self.name, self.path = name, path
        self.events = stream_of(binding)
        self.noise, self.spellings = (getattr(dialect(binding.dialect), what) for what in ("noise", "spellings"))
        self._pieces: Sequence[bytes] = ()
        opener: Callable[[Endpoint], Any] | None = binding.opener(path)
        assert opener is not None
        transport = httpx2.MockTransport(self._answer)
        self._provider = opener(Endpoint("http://example.invalid", "key", binding.model, {"transport": transport}))

    def read(self, pieces: Sequence[bytes]) -> Outcome | ProviderError:
        """What comes of a stream that arrives in these pieces."""
        self._pieces = pieces
        recorder = CallbackRecorder()
        options = dict(recorder.callbacks)
        try:
            if self.path == "stateless":
                response = self._provider.complete([Message.user("hi")], None, TOOLS, **options)
            else:
                self._provider.create_session(None, TOOLS)
                response = self._provider.send_message_streaming("hi", options.pop("on_chunk"), **options)
        except ProviderError as error:
            return error
        return Outcome(response.parts, response.usage, response.finish_reason, recorder.events, recorder.usage)

    def _answer(self, request: httpx2.Request) -> httpx2.Response:
        return httpx2.Response(200, headers={"content-type": "text/event-stream"}, stream=_Pieces(self._pieces))
