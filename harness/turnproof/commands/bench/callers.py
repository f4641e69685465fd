"""Who is measured: the paths of an adapter, behind the same four methods as a plain call of the SDK.

`ready` puts a caller to where the turn begins and is not measured; `ask` and `stream` are. What happens in between is
the path alone: no session stands in front of it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, TypeAlias

from ...errors import ProviderError
from ...foreign import normalise, normalise_legacy
from ...gc import GCConfig, TruncateGC
from ...messages import Message
from ...provider import Binding, Conversation, Endpoint, OnChunk, Path, PlainCall
from ...run.driver.providers import shared_ssl_context
from ...wire.emulator.server_run import CANARY_KEY
from .conversations import QUESTION, Answer, conversation, half

Caller: TypeAlias = PlainCall

Kind: TypeAlias = Literal["turn", "stream", "long-stream", "collect", "restore", "tls", "conversation", "crowd"]
"""What a caller does: a turn in one piece, streamed, streamed at length, after a collection, after a restoration, over
TLS; a whole conversation; a turn of each of many sessions at once."""


def open_caller(binding: Binding, name: str, kind: Kind, base_url: str, messages: int) -> Caller:
    """A path, or a plain call of the binding, by name, that has a history of so many messages."""
    if name in _CALLERS:
        collected, restored, turn = _CALLERS[name]
        open_one = {"collect": collected, "restore": restored}.get(kind, turn)
        return open_one(binding, base_url, messages)
    talk = conversation(messages, tools=binding.claims().tools)
    return binding.plain_calls[name](endpoint(binding, base_url), talk)


def open_path(binding: Binding, path: Path, base_url: str) -> Any:
    """A provider of the adapter on that path, in the one calling form."""
    opener = binding.opener(path)
    assert opener is not None, f"{binding.name} has no {path} path"
    provider = opener(endpoint(binding, base_url))
    if path == "stateless":
        return normalise(provider, signature=binding.signature, errors=binding.errors)
    return normalise_legacy(provider, errors=binding.errors)


def endpoint(binding: Binding, base_url: str) -> Endpoint:
    """Where a binding is opened: the TLS context, which loopback has no use for, is shared and costs nothing."""
    return Endpoint(base_url, CANARY_KEY, binding.model, dict(binding.options), shared_ssl_context())


def checked(caller: Caller, answer: Answer) -> None:
    """Make one call and look whether it says what the server said. Raises ProviderError if not."""
    caller.ready()
    if answer.streamed:
        pieces: list[str] = []
        caller.stream(pieces.append)
        text = "".join(pieces)
    else:
        text = caller.ask()
    if text != answer.text:
        raise ProviderError(f"the server answered {answer.text!r:.60}, but the caller received {text!r:.60}")


class _PathCaller:
    """What the paths share: one provider, and the conversation in parts."""

    path: Path

    def __init__(self, binding: Binding, base_url: str, messages: int) -> None:
        self._binding, self._base_url, self._count = binding, base_url, messages
        self._tools_claimed = binding.claims().tools
        self._provider = open_path(binding, self.path, base_url)
        self._start(self._fresh())

    def close(self) -> None:
        """Shut the provider down."""
        self._provider.shutdown()

    def _start(self, talk: Conversation) -> None:
        self._history: Sequence[Message] = talk.messages[:-1]
        self._system, self._tools = talk.system, list(talk.tools) or None

    def _fresh(self) -> Conversation:
        """The conversation in messages that nobody has seen yet."""
        return conversation(self._count, tools=self._tools_claimed)

    def _younger_half(self) -> list[Message]:
        """What a collection leaves of the history: its younger half, in whole turns."""
        keep = half(self._count, tools=self._tools_claimed)
        return list(TruncateGC().collect(self._history, config=GCConfig(keep_turns=keep)).messages)

    def _replace_provider(self) -> None:
        """Another provider, which has answered before, if not in this conversation: its connection is open."""
        self._provider.shutdown()
        self._provider = open_path(self._binding, self.path, self._base_url)


class StatelessTurn(_PathCaller):
    """`complete()` with a history that the path has sent before and one new message."""

    path: Path = "stateless"

    def ready(self) -> None:
        """Put the new message behind the history."""
        self._say_next(self._history)

    def ask(self) -> str:
        """One call."""
        return str(self._provider.complete(self._messages, self._system, self._tools).text)

    def stream(self, on_chunk: OnChunk) -> None:
        """One streamed call."""
        self._provider.complete(self._messages, self._system, self._tools, on_chunk=on_chunk)

    def _say_next(self, history: Sequence[Message]) -> None:
        self._messages = [*history, Message.user(QUESTION)]


class StatelessCollected(StatelessTurn):
    """The turn after a collection: the younger half of a history that the path has sent whole before."""

    def ready(self) -> None:
        """Send a conversation of new messages, then collect it."""
        self._start(self._fresh())
        super().ready()
        self.ask()
        self._say_next(self._younger_half())


class StatelessRestored(StatelessTurn):
    """The first turn of a conversation that a fresh provider has never seen."""

    def ready(self) -> None:
        """Open a provider and let it answer something else."""
        self._replace_provider()
        self._say_next(())
        self.ask()
        self._start(self._fresh())
        super().ready()


class LegacyTurn(_PathCaller):
    """`send_message()` to a provider that holds the history."""

    path: Path = "legacy"

    def ready(self) -> None:
        """Hand the history over."""
        self._hand_over(self._history)

    def ask(self) -> str:
        """One call."""
        return str(self._provider.send_message(QUESTION).text)

    def stream(self, on_chunk: OnChunk) -> None:
        """One streamed call."""
        self._provider.send_message_streaming(QUESTION, on_chunk)

    def _hand_over(self, history: Sequence[Message]) -> None:
        self._provider.create_session(self._system, self._tools, list(history))


class LegacyCollected(LegacyTurn):
    """A collection, which a provider of its own history learns of by a new session, and the turn after it."""

    def ready(self) -> None:
        """Hand over a conversation of new messages, then collect it."""
        self._start(self._fresh())
        super().ready()
        self._left = self._younger_half()

    def ask(self) -> str:
        """Both."""
        self._hand_over(self._left)
        return super().ask()


class LegacyRestored(LegacyTurn):
    """A conversation handed to a provider that has never seen it, and the turn after it."""

    def ready(self) -> None:
        """Open a provider and let it answer something else."""
        self._replace_provider()
        self._hand_over(())
        super().ask()
        self._start(self._fresh())

    def ask(self) -> str:
        """Both."""
        self._hand_over(self._history)
        return super().ask()


_CALLERS: Mapping[str, tuple[Callable[[Binding, str, int], Caller], ...]] = {
    "stateless": (StatelessCollected, StatelessRestored, StatelessTurn),
    "legacy": (LegacyCollected, LegacyRestored, LegacyTurn),
}
"""The callers of a path: after a collection, after a restoration, and in all other kinds."""
