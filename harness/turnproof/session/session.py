"""The reference `Session`: it owns the history, runs the turns, and keeps both sound whatever happens.

One class for both paths. What a provider does differently on each is behind a port; what a turn does is in `loop`,
what surrounds it in `running`, and what lasts from one to the next in `conversation`.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Unpack

from ..background_answers import BackgroundPolicy, RunningAnswer
from ..budget import ContextUsage, InstructionBudget
from ..chains import ChainPolicy, ChainState
from ..errors import UsageError
from ..gc import Collector, GCConfig, GCResult, TruncateGC, turn_starts
from ..messages import Message, MessageIds, Part, Text, TokenUsage, new_message_id
from ..provider import (
    LegacyProvider,
    Path,
    StatelessProvider,
    SystemInstruction,
)
from ..subject import Tool
from . import persistence
from .approval import Approve
from .background import Tasks
from .callback_relay import Callbacks, TurnOptions
from .command import command_parts, output_text
from .context_window import ContextWindow, TurnRoom
from .conversation import Conversation, quietly
from .history import SessionHistory
from .inbox import Inbox, Prompt, Sender
from .loop import Turn, TurnSetup
from .observer import Observers, SessionObserver
from .persistence import Connection, InterruptedTurn, SessionState
from .ports import Context
from .prompt import Enrich, Prompts, Typed
from .request_pacer import RequestPacer
from .result import TurnResult
from .retry import RetryPolicy, Sleep, wait_for_token
from .running_answer import AnswersInBackground
from .tools import ToolBox
from .tracing import Tracing
from .turn_guard import TurnGuard
from .window import SendWindow

if TYPE_CHECKING:
    from ..cache import CachePlugin, PrefixMonitor


class Session:
    """A conversation with one provider at a time.

    `provider` speaks the named `path` (pass a foreign one through `turnproof.foreign` first); the session neither
    connects nor shuts it down. `gc` collects around a turn that fills the context as far as `gc_config` says, when the
    provider says that the prompt is too long, and on `collect()`. `cache_plugin` marks what is sent, unless
    the provider holds one itself. Failed calls are repeated by the `retry` policy, which waits with `sleep`; a `pacer`
    keeps requests apart.

    Tools of one response run at the same time unless `parallel_tools` is off, each when `approve` has allowed its call.
    `enrich` makes of what is typed what is sent. With a `cancel_note` what is said after a cancelled turn begins with
    that text, as a part of its own; without one the model is told nothing of a cancel.

    `chain` is what a provider of the legacy path does over a service that stores answers, each provider of the session;
    None leaves it to the provider. UsageError is raised for a provider that cannot be told to store nothing.

    With a `window` (`window.last_turns`, `window.last_messages`) each request has the end of the history alone, which
    stays whole. That is for the stateless path: of a provider that holds the history, UsageError is raised.

    With `background` each call is answered in the background of the service: an answer is then neither lost nor paid
    for again when a connection breaks, nor, in a stored session, when the process dies. UsageError is raised for a
    provider that cannot do it.

    `observers` are told of everything that happens, and change nothing. `tracing` makes OpenTelemetry spans of it, by
    default with the global tracer provider.

    One turn at a time: a second `send`, or any change of the session, `save` among them, raises UsageError while a turn
    runs. `stop` and `interject` may be called from any thread at any time. A change that raises has changed nothing.
    """

    def __init__(
        self,
        provider: StatelessProvider | LegacyProvider,
        *,
        path: Path = "stateless",
        system: SystemInstruction = None,
        tools: Sequence[Tool] = (),
        gc: Collector | None = None,
        gc_config: GCConfig | None = None,
        cache_plugin: CachePlugin | None = None,
        retry: RetryPolicy | None = None,
        pacer: RequestPacer | None = None,
        sleep: Sleep | None = None,
        clock: Callable[[], float] = time.time,
        ids: MessageIds = new_message_id,
        max_rounds: int = 100,
        parallel_tools: bool = True,
        approve: Approve | None = None,
        enrich: Enrich | None = None,
        cancel_note: str | None = None,
        chain: ChainPolicy | None = None,
        window: SendWindow | None = None,
        background: BackgroundPolicy | None = None,
        observers: Sequence[SessionObserver] = (),
        tracing: Tracing | None = None,
    ) -> None:
        if max_rounds < 1:
            raise UsageError(f"a turn has at least one round, got max_rounds={max_rounds!r}")
        self._window = window
        self._check_window(path)
        self._retry = retry or RetryPolicy()
        self._pacer = pacer
        self._clock = clock
        self._ids = ids
        self._max_rounds = max_rounds
        self._prompts = Prompts(enrich, cancel_note, ids)
        self._inbox = Inbox()
        self._observer = Observers(observers)
        self._tracing = tracing or Tracing()
        self._tasks = Tasks(ids)
        self._toolbox = partial(
            ToolBox,
            parallel=parallel_tools,
            approve=approve,
            tasks=self._tasks,
            sleep=sleep or wait_for_token,
            observer=self._observer,
            tracing=self._tracing,
        )
        self._running = TurnGuard(self._observer)
        self._sleep = self._running.waiting(sleep or wait_for_token)
        self._conversation = Conversation(
            provider,
            path,
            system=system,
            tools=self._toolbox(tools),
            cache_plugin=cache_plugin,
            observer=self._observer,
            ids=ids,
            chain=chain,
            background=background,
        )
        self._room = ContextWindow(self._conversation, gc, gc_config or GCConfig(), self._tracing)

    # What it holds

    @property
    def path(self) -> Path:
        """`stateless` or `legacy`."""
        return self._conversation.path

    @property
    def provider(self) -> StatelessProvider | LegacyProvider:
        """The provider of the next call."""
        return self._conversation.provider

    @property
    def history(self) -> SessionHistory:
        """The session's own history, on both paths. Change it between turns only."""
        return self._conversation.history

    @property
    def turn_boundaries(self) -> list[int]:
        """Where in the history the turns begin: at the user's messages that have text, so no tool results do."""
        return turn_starts(self.history.messages_ref)

    @property
    def system(self) -> SystemInstruction:
        """The system text of the next call."""
        return self._conversation.context.system

    @property
    def tools(self) -> tuple[Tool, ...]:
        """The tools of the next call."""
        return self._conversation.tools.tools

    @property
    def tasks(self) -> Tasks:
        """What tools went on with in the background."""
        return self._tasks

    def typed_records(self, messages: Sequence[Message]) -> tuple[Typed, ...]:
        """What was typed for those of the messages that say something else."""
        return self._prompts.records(messages)

    def typed(self, message: Message) -> tuple[Part, ...]:
        """What was typed where this message of the history was sent: its own parts, unless something was added."""
        return self._prompts.typed(message)

    @property
    def usage(self) -> TokenUsage:
        """The last call's usage that was not zero: how full the context is."""
        return self._conversation.usage

    @property
    def prefix(self) -> PrefixMonitor:
        """What became of the cached start of this conversation; measured where there is a cache plugin."""
        return self._conversation.caching.monitor

    @property
    def chain_state(self) -> ChainState | None:
        """The chain of stored answers that the next call continues; None where the provider has no such thing."""
        return self._conversation.port.chain_state

    @property
    def context_usage(self) -> ContextUsage:
        """How full the model's context is, by the budget: right after a call, what the provider reported.

        Asked from any thread, also while a turn runs.
        """
        return self._room.usage

    @property
    def budget(self) -> InstructionBudget:
        """What each part of the next prompt takes. To look at, and to `mark` messages in, between turns."""
        return self._room.budget

    # Turns

    def send(self, content: str | Sequence[Part], **options: Unpack[TurnOptions]) -> TurnResult:
        """Say something, and return when the model has answered and calls no more tools.

        Streams if `on_chunk` is given. On any exception (a ProviderError, TooManyRounds, CallMissing, what a callback
        or the `enrich` hook raised) the history is as it was before. A cancelled turn returns: the history then holds
        what had been said, ready for the next turn, and not even the user's message if the model never got it.
        `TurnOptions` says what `on_taken_back` is for.
        """
        user = self._prompt(content)
        return self._turn(user, user, **options)

    def send_waiting(self, **options: Unpack[TurnOptions]) -> TurnResult | None:
        """A turn like that of `send`, on what was said to the session and still waits; None if nothing does."""
        if not (waiting := self.waiting):
            return None
        return self._turn(None, waiting[0], **options)

    def take_up(self, interrupted: InterruptedTurn, **options: Unpack[TurnOptions]) -> TurnResult:
        """Go on with a turn that was interrupted while the service worked on an answer in the background.

        That answer is received, and the turn goes on from it as one of `send`. Where the service no longer has it, the
        background policy decides. Raises UsageError for a turn without such an answer, or a session without a policy.
        """
        if self._conversation.background is None:
            raise UsageError("this session takes up no answers: open it with background=BackgroundPolicy()")
        if interrupted.answer is None or not interrupted.messages:
            raise UsageError("no answer of this turn can be taken up: its `content` can be sent again")
        messages = interrupted.messages
        self._prompts.remember(interrupted.typed, messages)
        self._inbox.drop(message.message_id for message in messages)
        return self._turn(None, messages[0], interrupted, **options)

    def interject(self, content: str | Sequence[str | Part], *, sender: Sender = "user") -> Message:
        """Say something to a session that may be busy, from any thread; the message that it becomes.

        While a turn runs it is answered in that turn. An answer that is just being given is interrupted: what was
        shown of it stays in the history. Behind a tool call it waits for the results. It counts as a turn of its own
        in `turn_boundaries`.

        Where no turn runs, it waits for the next one; so does what a `child` says, until the session is idle. What a
        turn took that was then cancelled, before the model got it, or failed, waits again.
        """
        message = self._prompts.message(content)
        self._inbox.put(Prompt(message, sender))
        return message

    @property
    def waiting(self) -> tuple[Message, ...]:
        """What was said to the session and is in no turn yet. The next turn, or `send_waiting`, says it first."""
        return self._inbox.waiting

    def withdraw(self) -> tuple[Message, ...]:
        """Take back all that waits. Between turns only: a running one may be about to answer it."""
        with self._running.exclusively():
            return tuple(prompt.message for prompt in self._inbox.take_all())

    def recall(self, message: Message) -> bool:
        """Take back one message that a `child` said, also while a turn runs. False if it does not wait any more."""
        return self._inbox.recall(message)

    @property
    def is_processing(self) -> bool:
        """Whether a turn is running; asked from any thread."""
        return self._running.is_processing

    def stop(self) -> bool:
        """Cancel the running turn, from any thread. False if none is running."""
        return self._running.stop()

    def observe(self, observer: SessionObserver) -> Callable[[], None]:
        """Tell one more observer of what happens from now on. Returns a function that ends it."""
        return self._observer.add(observer)

    # Changes between turns

    def inject(self, command: str, result: Any = None) -> Message:
        """Let the model know of a command that the user ran, and of its outcome; the message that tells of it.

        `result` has the shapes of what a tool returns. The message is the user's, holds the command with the outcome
        below it, and goes out with the next turn; it counts as a turn of its own in `turn_boundaries`.
        """
        parts = command_parts(command, result)
        with self._running.exclusively():
            return self._conversation.add(Message("user", parts, self._ids()))

    def announce(self, task_id: str) -> Message:
        """Let the model know what became of a task, if it does not ask itself; the message that tells of it.

        A message of the user, as with `inject`. Raises UsageError for a task that is still running, or unknown.
        """
        task = self._tasks[task_id]
        if task.status == "running":
            raise UsageError(f"task {task_id!r} is still running: wait() for it, or cancel() it")
        report = task.report()
        with self._running.exclusively():
            return self._conversation.add(
                Message("user", (Text(output_text(report)), *report.attachments), self._ids())
            )

    def set_system(self, system: SystemInstruction) -> None:
        """Use another system text from the next call on."""
        with self._running.exclusively():
            self._conversation.use_system(system)

    def set_tools(self, tools: Sequence[Tool]) -> None:
        """Offer other tools from the next call on."""
        with self._running.exclusively():
            self._conversation.use_tools(self._toolbox(tools))

    def collect(self, keep_turns: int | None = None) -> GCResult:
        """Collect now. Without a collector `keep_turns` is needed, and older turns are dropped."""
        with self._running.exclusively():
            collector, config = self._room.collector, self._room.config
            if collector is None:
                if keep_turns is None:
                    raise UsageError("this session has no collector: pass gc=..., or say how many turns to keep")
                collector = TruncateGC()
            if keep_turns is not None:
                config = replace(config, keep_turns=keep_turns)
            result = self._room.collect(collector, "manual", config=config)
            self._conversation.changed()
            return result

    def clear(self) -> None:
        """Forget the conversation; system text and tools stay."""
        with self._running.exclusively(), self._conversation.changing():
            self.history.clear()
            self._conversation.usage = TokenUsage()

    def reset(self, history: Sequence[Message] | None = None) -> None:
        """Hold these messages instead (none by default). The stateless path calls no provider for it."""
        with self._running.exclusively(), self._conversation.changing():
            self.history.replace(history or ())
            self._conversation.usage = TokenUsage()

    def begin_new_chain(self) -> None:
        """Have the next call send the whole conversation, and begin a new chain at a service that stores answers.

        The history stays. No change where the provider has no chain.
        """
        with self._running.exclusively():
            self._conversation.port.end_chain()

    def revert_to_turn(self, turn: int) -> None:
        """Keep the turns up to this one, counted from 0, and forget the later ones.

        Raises UsageError, and changes nothing, for a turn that the history does not have.
        """
        with self._running.exclusively():
            starts = self.turn_boundaries
            if not 0 <= turn < len(starts):
                there = f"turns 0 to {len(starts) - 1}" if starts else "no turn yet"
                raise UsageError(f"there is no turn {turn}: this history has {there}")
            if turn + 1 < len(starts):
                with self._conversation.changing():
                    self.history.replace(self.history.slice(0, starts[turn + 1]))
                self._conversation.port.caching.because("revert")

    def swap(self, provider: StatelessProvider | LegacyProvider, *, path: Path | None = None) -> None:
        """Go on with another provider, which gets the same conversation; on this session's path, or on another.

        Raises UsageError for a provider that has not the path's methods, or with which the policy of chains or the
        collector cannot work, or what its `create_session` raises; the session then goes on with the provider that it
        had.
        """
        with self._running.exclusively():
            self._check_window(path or self.path)
            collector = self._room.collector_for(provider)
            self._conversation.use_provider(provider, path or self.path)
            self._room.collector = collector

    # Persistence

    def save(self) -> str:
        """The conversation and system text as versioned JSON; the history counts as saved afterwards."""
        with self._running.exclusively():
            text = persistence.dump(self.state())
            self.history.mark_saved()
            return text

    def state(self, since: int = 0) -> SessionState:
        """What `save` writes, of the messages only those from `since` on. Between turns only."""
        now = persistence.at(self._clock())
        messages = self.history.messages_ref[since:]
        cut = self._prompts.cancelled_at
        return SessionState(
            created_at=now,
            updated_at=now,
            connection=Connection(path=self.path),
            turn_count=len(turn_starts(messages)),
            budget=self._room.state(),
            usage=self.usage,
            system=self.system,
            tools=self._conversation.context.tools,
            messages=tuple(messages),
            typed=self._prompts.records(messages),
            waiting=self._inbox.prompts,
            cancelled_at=cut.message_id if cut else None,
        )

    def restore(self, saved: SessionState | str | bytes) -> None:
        """Take over a saved conversation and its system text; tools stay this session's.

        Raises SavedSessionError, and changes nothing, if the text is damaged or of another format.
        """
        state = saved if isinstance(saved, SessionState) else persistence.load(saved)
        budget = persistence.budget(state)
        with self._running.exclusively():
            with self._conversation.changing():
                self.history.replace(state.messages)
                self._conversation.usage = state.usage
                self._conversation.context = Context(state.system, self._conversation.context.tools)
            self.history.mark_saved()
            self._prompts.remember(state.typed, state.messages)
            self._prompts.cancelled_at = persistence.cancelled_at(state)
            self._inbox.take_all()
            self._inbox.put_back(state.waiting)
            self._room.restore(budget, state.messages, state.usage)

    @classmethod
    def load(cls, text: str | bytes, provider: StatelessProvider | LegacyProvider, **options: Any) -> Session:
        """A new session, with the constructor's `options`, that goes on where a saved one stopped."""
        session = cls(provider, **options)
        session.restore(text)
        return session

    # Inside

    def _prompt(self, content: str | Sequence[Part]) -> Message:
        context, version = self._conversation.context, self.history.version
        message = self._prompts.message(content, self.history)
        if self._conversation.context is not context or self.history.version != version:
            self._conversation.port.caching.because("enrichment")
        return message

    def _turn(
        self,
        user: Message | None,
        first: Message,
        interrupted: InterruptedTurn | None = None,
        **options: Unpack[TurnOptions],
    ) -> TurnResult:
        callbacks = Callbacks.of(options)
        conversation, guard = self._conversation, self._running
        with (
            guard.exclusively(),
            guard.cancellable(options.get("cancel_token")) as token,
            self._tracing.turn(conversation.path) as span,
            guard.told_of(first, conversation.history) as end,
        ):
            conversation.make_sound()
            with self._room.turn(token) as room:
                running = interrupted.answer if interrupted else None
                turn = Turn(self._setup(room, running), callbacks, token, options.get("response_schema"))

                def run() -> TurnResult:
                    if interrupted is not None:
                        # What was sent is answered already: a collection would change nothing about it.
                        return turn.take_up(interrupted.messages)
                    self._room.before_turn([*self.waiting, *([user] if user else [])], token)
                    return turn.run(user)

                result = conversation.undone_on_error(run, token)
            conversation.note_usage(result.usage)
            conversation.is_sound()
            if turn.reached_model:
                self._prompts.cancelled_at = self.history.last if result.outcome == "cancelled" else None
            self._room.after_turn(token)
            # The turn is done, its result stands; what fails here, the port tries again before its next call.
            quietly("bringing the provider's history up to date", conversation.sync)
            span.record_result(result)
            end(result)
        return result

    def _setup(self, room: TurnRoom, running: RunningAnswer | None) -> TurnSetup:
        conversation = self._conversation
        answers = AnswersInBackground(
            conversation.background, conversation.port, self.history, self._observer, self.provider, running
        )
        return TurnSetup(
            history=self.history,
            port=self._conversation.port,
            context=self._conversation.context,
            tools=self._conversation.tools,
            retry=self._retry,
            pacer=self._pacer,
            sleep=self._sleep,
            observer=self._observer,
            inbox=self._inbox,
            ids=self._ids,
            max_rounds=self._max_rounds,
            room=room,
            answers=answers,
            provider=self.provider,
            tracing=self._tracing,
            window=self._window,
        )

    def _check_window(self, path: Path) -> None:
        if self._window is not None and path == "legacy":
            raise UsageError("a window is for the stateless path: on this one the provider holds the history")
