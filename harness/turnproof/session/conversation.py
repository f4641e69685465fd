"""`Conversation`: what a session holds, and keeps in step with its provider.

The history, what stands beside it in every call, and the provider that gets both. Nothing here runs a turn.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeVar, cast

from ..background_answers import BackgroundPolicy
from ..cancel import CancelToken
from ..chains import ChainPolicy
from ..errors import UsageError
from ..gc import GCResult
from ..messages import Message, MessageIds, TokenUsage
from ..provider import LegacyProvider, Path, StatelessProvider, SystemInstruction
from .caching import Caching
from .history import SessionHistory
from .observer import SessionObserver
from .pairing import repair
from .ports import Context, LegacyPort, Port, StatelessPort, refuse_without_background
from .tools import ToolBox

if TYPE_CHECKING:
    from ..cache import CachePlugin

T = TypeVar("T")

_log = logging.getLogger(__name__)


class Conversation:
    """One history, one provider at a time, and the same content in both.

    `usage` is the last call's that was not zero. Not synchronised: a session lets one thread in at a time.
    """

    def __init__(
        self,
        provider: StatelessProvider | LegacyProvider,
        path: Path,
        *,
        system: SystemInstruction,
        tools: ToolBox,
        cache_plugin: CachePlugin | None,
        observer: SessionObserver,
        ids: MessageIds,
        chain: ChainPolicy | None = None,
        background: BackgroundPolicy | None = None,
    ) -> None:
        self.history = SessionHistory()
        self.usage = TokenUsage()
        self.tools = tools
        self.context = Context(system, tools.schemas)
        self.provider = provider
        self.path: Path = path
        self.chain = chain
        self.background = background
        self.caching = Caching(cache_plugin, provider, observer)
        self._observer = observer
        self._ids = ids
        self._sound_version = self.history.version
        self.port = self._open_port(provider, path)
        self.sync()

    # Changes

    @contextmanager
    def changing(self) -> Iterator[None]:
        """Change history, usage, system text or tools; the provider gets it at once. Undone if anything raises."""
        history, version, dirty = self.history.snapshot(), self.history.version, self.history.dirty
        before = self.usage, self.context, self.tools
        try:
            yield
            self.sync()
        except BaseException:
            self.usage, self.context, self.tools = before
            if self.history.version != version:
                self.history.replace(history)
                if not dirty:
                    self.history.mark_saved()
            raise
        if self.history.version != version:
            self._observer.on_history(self.history.messages)

    def use_system(self, system: SystemInstruction) -> None:
        """Another system text from the next call on."""
        with self.changing():
            self.context = Context(system, self.context.tools)

    def use_tools(self, tools: ToolBox) -> None:
        """Other tools from the next call on."""
        with self.changing():
            self.tools = tools
            self.context = Context(self.context.system, tools.schemas)

    def use_provider(self, provider: StatelessProvider | LegacyProvider, path: Path) -> None:
        """Another provider, which is given the conversation at once. One that cannot take it is not used."""
        port = self._open_port(provider, path)
        port.sync(self.history.messages_ref, self.context)
        left, self.provider, self.path, self.port = self.port, provider, path, port
        left.leave()

    def add(self, message: Message) -> Message:
        """Another message at the end, behind the answers to all calls."""
        with self.changing():
            self.make_sound()
            self.history.append(message)
            self.is_sound()
        return message

    def changed(self) -> None:
        """The history was changed: hand it to the provider, and tell the observers."""
        try:
            self.sync()
        finally:
            self._observer.on_history(self.history.messages)

    def take_collected(self, result: GCResult) -> None:
        """Hold what a collection left; the provider gets it with the next `sync` or call."""
        before = self.history.messages
        self.history.replace(result.messages)
        self.make_sound()
        self.port.caching.collected(before, result.messages)
        self._observer.on_collected(result)

    # Keeping it sound

    def sync(self) -> None:
        """Make the provider hold this conversation, if it holds any."""
        self.port.sync(self.history.messages_ref, self.context)

    def make_sound(self) -> None:
        """Repair what came from elsewhere, in the history itself: what is sent later is what is stored."""
        if self.history.version == self._sound_version:
            return
        repaired = repair(self.history.messages_ref, self._ids)
        if len(repaired) != len(self.history) or any(
            new is not old for new, old in zip(repaired, self.history.messages_ref, strict=True)
        ):
            self.history.replace(repaired)
        self.is_sound()

    def is_sound(self) -> None:
        """Note that the history, as it is now, needs no repair."""
        self._sound_version = self.history.version

    def undone_on_error(self, turn: Callable[[], T], token: CancelToken) -> T:
        """Run a turn; whatever it raises, the history is then as it was before."""
        before = self.history.snapshot()
        try:
            return turn()
        except BaseException:
            token.cancel()  # nobody waits any more for tools that may still run
            self.history.replace(before)
            self.is_sound()
            # The turn's own error says more than another one here would; the port tries again before its next call.
            quietly("setting the provider's history back", self.sync)
            raise

    def note_usage(self, usage: TokenUsage) -> None:
        """Keep the last figures that say anything."""
        if usage.total_tokens:
            self.usage = usage

    def _open_port(self, provider: StatelessProvider | LegacyProvider, path: Path) -> Port:
        method = "complete" if path == "stateless" else "create_session"
        if not callable(getattr(provider, method, None)):
            raise UsageError(f"{type(provider).__name__} has no {method}(): it cannot serve the {path} path")
        if self.background is not None:
            refuse_without_background(provider)
        caching = self.caching.for_provider(provider, path)
        if path == "stateless":
            return StatelessPort(cast("StatelessProvider", provider), caching)
        return LegacyPort(cast("LegacyProvider", provider), caching, self.chain)


def quietly(what: str, action: Callable[[], None]) -> None:
    """Do something whose failure must not hide what matters more: it is logged."""
    try:
        action()
    except Exception:
        _log.exception("%s failed", what)
