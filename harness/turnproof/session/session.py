"""The reference `Session`: it owns the history, runs the turns, and keeps both sound whatever happens.

One class for both paths. What a provider does differently on each is behind a port; what a turn does is in `loop`.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, cast

from ..cancel import CancelToken
from ..errors import UsageError
from ..gc import Collector, GCResult, TruncateGC, turn_starts
from ..messages import Message, MessageIds, Part, TokenUsage, new_message_id
from ..provider import (
    JSONSchema,
    LegacyProvider,
    OnChunk,
    OnFunctionCall,
    OnThinking,
    OnUsage,
    Path,
    StatelessProvider,
    SystemInstruction,
)
from ..subject import Tool
from . import persistence
from .history import SessionHistory
from .loop import Turn, TurnSetup
from .observer import Observers, SessionObserver
from .pairing import repair
from .ports import Context, LegacyPort, Port, StatelessPort
from .relay import Callbacks
from .result import TurnResult
from .retry import RetryPolicy, Sleep, wait_for_token
from .tools import ToolBox

if TYPE_CHECKING:
    from ..cache import CachePlugin

_log = logging.getLogger(__name__)


class Session:
    """A conversation with one provider at a time.

    `provider` speaks the named `path` (pass a foreign one through `turnproof.foreign` first); the session neither
    connects nor shuts it down. `gc` collects before a turn once the last usage comes near `context_limit` (tokens),
    when the provider says that the prompt is too long, and on `collect()`. `cache_plugin` marks what the stateless
    path sends. Failed calls are repeated by the `retry` policy, which waits with `sleep`.

    `observers` are told of everything that happens, and change nothing.

    One turn at a time: a second `send`, or any change of the session, in a running turn raises UsageError. `stop`
    may be called from any thread at any time.
    """

    def __init__(
        self,
        provider: StatelessProvider | LegacyProvider,
        *,
        path: Path = "stateless",
        system: SystemInstruction = None,
        tools: Sequence[Tool] = (),
        gc: Collector | None = None,
        context_limit: int | None = None,
        cache_plugin: CachePlugin | None = None,
        retry: RetryPolicy | None = None,
        sleep: Sleep | None = None,
        clock: Callable[[], float] = time.time,
        ids: MessageIds = new_message_id,
        max_rounds: int = 100,
        parallel_tools: bool = True,
        observers: Sequence[SessionObserver] = (),
    ) -> None:
        if max_rounds < 1:
            raise UsageError(f"a turn has at least one round, got max_rounds={max_rounds!r}")
        self._path: Path = path
        self._gc = gc
        self._context_limit = context_limit
        self._cache_plugin = cache_plugin
        self._retry = retry or RetryPolicy()
        self._sleep = self._waiting(sleep or wait_for_token)
        self._clock = clock
        self._ids = ids
        self._max_rounds = max_rounds
        self._parallel_tools = parallel_tools
        self._observer = Observers(observers)
        self._running = threading.Lock()
        self._token: CancelToken | None = None
        self._history = SessionHistory()
        self._sound_version = self._history.version
        self._usage = TokenUsage()
        self._tools = self._toolbox(tools)
        self._context = Context(system, self._tools.schemas)
        self._provider = provider
        self._port = self._open_port(provider)
        self._sync()

    # What it holds

    @property
    def path(self) -> Path:
        """`stateless` or `legacy`."""
        return self._path

    @property
    def provider(self) -> StatelessProvider | LegacyProvider:
        """The provider of the next call."""
        return self._provider

    @property
    def history(self) -> SessionHistory:
        """The session's own history, on both paths. Change it between turns only."""
        return self._history

    @property
    def turn_boundaries(self) -> list[int]:
        """Where in the history the turns begin: at the user's messages that have text, so no tool results do."""
        return turn_starts(self._history.messages_ref)

    @property
    def system(self) -> SystemInstruction:
        """The system text of the next call."""
        return self._context.system

    @property
    def tools(self) -> tuple[Tool, ...]:
        """The tools of the next call."""
        return self._tools.tools

    @property
    def usage(self) -> TokenUsage:
        """The last call's usage that was not zero: how full the context is."""
        return self._usage

    # Turns

    def send(
        self,
        content: str | Sequence[Part],
        *,
        cancel_token: CancelToken | None = None,
        on_chunk: OnChunk | None = None,
        on_usage_update: OnUsage | None = None,
        on_function_call: OnFunctionCall | None = None,
        on_thinking: OnThinking | None = None,
        response_schema: JSONSchema | None = None,
    ) -> TurnResult:
        """Say something, and return when the model has answered and calls no more tools.

        Streams if `on_chunk` is given. On any exception (a ProviderError, TooManyRounds, what a callback raised)
        the history is as it was before. A cancelled turn returns: the history then holds what had been said, ready
        for the next turn, and not even the user's message if the model never got it.
        """
        parts = _content(content)
        callbacks = Callbacks(on_chunk, on_usage_update, on_function_call, on_thinking)
        user = Message("user", parts, self._ids())
        with self._exclusively(), self._cancellable(cancel_token) as token, self._told_of(user) as end:
            self._make_sound()
            if self._gc and self._context_limit and self._gc.should_collect(self._usage, self._context_limit):
                self._collect(self._gc, None)
            turn = Turn(self._setup(), callbacks, token, response_schema)
            result = self._undone_on_error(lambda: turn.run(user), token)
            self._note_usage(result.usage)
            self._sound_version = self._history.version
            # The turn is done, its result stands; what fails here, the port tries again before its next call.
            _quietly("bringing the provider's history up to date", self._sync)
            end(result)
        return result

    def stop(self) -> bool:
        """Cancel the running turn, from any thread. False if none is running."""
        token = self._token
        if token is None:
            return False
        token.cancel()
        return True

    # Changes between turns

    def set_system(self, system: SystemInstruction) -> None:
        """Use another system text from the next call on."""
        with self._exclusively():
            self._context = Context(system, self._context.tools)
            self._sync()

    def set_tools(self, tools: Sequence[Tool]) -> None:
        """Offer other tools from the next call on."""
        with self._exclusively():
            self._tools = self._toolbox(tools)
            self._context = Context(self._context.system, self._tools.schemas)
            self._sync()

    def collect(self, keep_turns: int | None = None) -> GCResult:
        """Collect now. Without a collector `keep_turns` is needed, and older turns are dropped."""
        with self._exclusively():
            collector = self._gc
            if collector is None:
                if keep_turns is None:
                    raise UsageError("this session has no collector: pass gc=..., or say how many turns to keep")
                collector = TruncateGC(keep_turns)
            result = self._collect(collector, keep_turns)
            self._changed()
            return result

    def clear(self) -> None:
        """Forget the conversation; system text and tools stay."""
        with self._exclusively():
            self._history.clear()
            self._usage = TokenUsage()
            self._changed()

    def reset(self, history: Sequence[Message] | None = None) -> None:
        """Hold these messages instead (none by default). The stateless path calls no provider for it."""
        with self._exclusively():
            self._history.replace(history or ())
            self._usage = TokenUsage()
            self._changed()

    def revert_to_turn(self, turn: int) -> None:
        """Keep the turns up to this one, counted from 0, and forget the later ones.

        Raises UsageError, and changes nothing, for a turn that the history does not have.
        """
        with self._exclusively():
            starts = self.turn_boundaries
            if not 0 <= turn < len(starts):
                there = f"turns 0 to {len(starts) - 1}" if starts else "no turn yet"
                raise UsageError(f"there is no turn {turn}: this history has {there}")
            if turn + 1 < len(starts):
                self._history.replace(self._history.slice(0, starts[turn + 1]))
                self._changed()

    def swap(self, provider: StatelessProvider | LegacyProvider, *, path: Path | None = None) -> None:
        """Go on with another provider, which gets the same conversation."""
        with self._exclusively():
            self._path = path or self._path
            self._provider = provider
            self._port = self._open_port(provider)
            self._sync()

    # Persistence

    def save(self) -> str:
        """The conversation and system text as versioned JSON; the history counts as saved afterwards."""
        with self._exclusively():
            saved = persistence.SavedSession(
                saved_at=self._clock(),
                system=self._context.system,
                tools=self._context.tools,
                messages=tuple(self._history.messages_ref),
                usage=self._usage,
            )
            text = persistence.dump(saved)
            self._history.mark_saved()
            return text

    def restore(self, text: str | bytes) -> None:
        """Take over a saved conversation and its system text; tools stay this session's.

        Raises SavedSessionError, and changes nothing, if the text is damaged or of another format.
        """
        saved = persistence.load(text)
        with self._exclusively():
            self._history.replace(saved.messages)
            self._history.mark_saved()
            self._usage = saved.usage
            self._context = Context(saved.system, self._context.tools)
            self._changed()

    @classmethod
    def load(cls, text: str | bytes, provider: StatelessProvider | LegacyProvider, **options: Any) -> Session:
        """A new session, with the constructor's `options`, that goes on where a saved one stopped."""
        session = cls(provider, **options)
        session.restore(text)
        return session

    # Inside

    @contextmanager
    def _exclusively(self) -> Iterator[None]:
        # Not blocking: a tool or a callback that came back in here would wait for itself for ever.
        if not self._running.acquire(blocking=False):
            raise UsageError("a turn of this session is running: wait for it, or stop() it first")
        try:
            yield
        finally:
            self._running.release()

    @contextmanager
    def _cancellable(self, outer: CancelToken | None) -> Iterator[CancelToken]:
        """A token of the turn's own, so that `stop()` never cancels what else the caller's token stands for."""
        token = CancelToken()
        forget = outer.on_cancel(token.cancel) if outer else lambda: None
        self._token = token
        try:
            yield token
        finally:
            self._token = None
            forget()

    @contextmanager
    def _told_of(self, user: Message) -> Iterator[Callable[[TurnResult], None]]:
        """Has the observers told of a turn's beginning and of its one end, which is what it raises unless noted."""
        ends: list[TurnResult | BaseException] = []
        self._observer.on_status("running")
        self._observer.on_turn_began(user)
        try:
            yield ends.append
        except BaseException as error:
            ends.append(error)
            raise
        finally:
            self._observer.on_turn_ended(ends[0])
            self._observer.on_history(self._history.messages)
            self._observer.on_status("idle")

    def _waiting(self, sleep: Sleep) -> Sleep:
        def wait(seconds: float, token: CancelToken) -> bool:
            self._observer.on_status("waiting")
            try:
                return sleep(seconds, token)
            finally:
                self._observer.on_status("running")

        return wait

    def _undone_on_error(self, turn: Callable[[], TurnResult], token: CancelToken) -> TurnResult:
        before = self._history.snapshot()
        try:
            return turn()
        except BaseException:
            token.cancel()  # nobody waits any more for tools that may still run
            self._history.replace(before)
            self._sound_version = self._history.version
            # The turn's own error says more than another one here would; the port tries again before its next call.
            _quietly("setting the provider's history back", self._sync)
            raise

    def _make_sound(self) -> None:
        """Repair what came from elsewhere, in the history itself: what is sent later is what is stored."""
        if self._history.version == self._sound_version:
            return
        repaired = repair(self._history.messages_ref, self._ids)
        if len(repaired) != len(self._history) or any(
            new is not old for new, old in zip(repaired, self._history.messages_ref, strict=True)
        ):
            self._history.replace(repaired)
        self._sound_version = self._history.version

    def _collect(self, collector: Collector, keep_turns: int | None) -> GCResult:
        before = self._history.messages
        result = collector.collect(before, keep_turns=keep_turns)
        if not result.removed_ids:
            return result
        sound = self._history.version == self._sound_version
        self._history.replace(result.messages)
        if sound:
            self._sound_version = self._history.version
        # Observers: the history is collected whether they like that or not.
        if (plugin := self._cache_plugin) is not None:
            _quietly("cache_plugin.on_collected", lambda: plugin.on_collected(before, result.messages))
        self._observer.on_collected(result)
        return result

    def _make_room(self, keep_turns: int | None) -> bool:
        return self._gc is not None and bool(self._collect(self._gc, keep_turns).removed_ids)

    def _setup(self) -> TurnSetup:
        return TurnSetup(
            history=self._history,
            port=self._port,
            context=self._context,
            tools=self._tools,
            retry=self._retry,
            sleep=self._sleep,
            observer=self._observer,
            ids=self._ids,
            max_rounds=self._max_rounds,
            make_room=self._make_room,
        )

    def _sync(self) -> None:
        self._port.sync(self._history.messages_ref, self._context)

    def _changed(self) -> None:
        try:
            self._sync()
        finally:
            self._observer.on_history(self._history.messages)

    def _note_usage(self, usage: TokenUsage) -> None:
        if usage.total_tokens:
            self._usage = usage

    def _toolbox(self, tools: Sequence[Tool]) -> ToolBox:
        return ToolBox(tools, parallel=self._parallel_tools, observer=self._observer)

    def _open_port(self, provider: StatelessProvider | LegacyProvider) -> Port:
        wanted = "complete" if self._path == "stateless" else "create_session"
        if not callable(getattr(provider, wanted, None)):
            raise UsageError(f"{type(provider).__name__} has no {wanted}(): it cannot serve the {self._path} path")
        if self._path == "stateless":
            return StatelessPort(cast("StatelessProvider", provider), self._cache_plugin)
        return LegacyPort(cast("LegacyProvider", provider))


def _content(content: str | Sequence[Part]) -> tuple[Part, ...]:
    parts = Message.user(*([content] if isinstance(content, str) else content)).parts
    if not parts:
        raise UsageError("a turn needs something to say: the content is empty")
    return parts


def _quietly(what: str, action: Callable[[], None]) -> None:
    try:
        action()
    except Exception:
        _log.exception("%s failed", what)
