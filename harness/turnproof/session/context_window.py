"""`ContextWindow`: how much of the model's context a conversation takes, and what is done when it takes too much.

Before and after a turn the collector is asked whether a collection is due. When the provider refuses a prompt as too
long, there is a ladder to climb, one step for each refusal: collect; collect to the running turn alone; cut the
largest tool results; give up. What the running turn said and was answered is never collected: the retry answers it.

The history holds what is finally sent, at every step: what was refused stands nowhere beside it. A turn that fails
after all gets back what had been taken, like everything else that a failed turn changed.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Final

from ..budget import BudgetState, ContextUsage, InstructionBudget
from ..cancel import CancelToken
from ..errors import ContextLimitError
from ..gc import Collector, FollowsHistory, FollowsProvider, GCConfig, GCResult, Reason, cut_results
from ..messages import JSON, Message, TokenUsage, to_builtins
from .conversation import Conversation
from .ports import Context
from .tracing import Tracing

CUT_TO: Final = 0.8
"""The share of the limit that a request is cut down to. Each further time in one turn it is half of what it was then.

A turn that goes on reading equally large things would otherwise overflow again with every one of them.
"""

_log = logging.getLogger(__name__)


class ContextWindow:
    """A session's budget, and its collections. `collector` is None where nothing is ever collected by itself."""

    def __init__(
        self, conversation: Conversation, collector: Collector | None, config: GCConfig, tracing: Tracing
    ) -> None:
        self._conversation = conversation
        self._chosen = collector
        self.collector = self.collector_for(conversation.provider)
        self.config = config
        self.tracing = tracing
        self._lock = threading.RLock()
        self._budget = InstructionBudget()
        conversation.caching.set_budget(self._budget)
        self._framed: Context | None = None
        self._counted_by: object = conversation.provider
        self._limit_by_provider: tuple[object, int | None] = (None, None)
        self._learned: int | None = None
        self._taught_by: object = None

    @property
    def budget(self) -> InstructionBudget:
        """The budget of the conversation as it is now, its limit included."""
        with self._lock:
            budget = self._synced()
            budget.limit = self._limit()
            return budget

    @property
    def usage(self) -> ContextUsage:
        """How full the context is. From any thread: a tool or a user interface may ask while the turn goes on."""
        with self._lock:
            return self.budget.get_context_usage()

    # Collections

    def collector_for(self, provider: object) -> Collector | None:
        """The session's collector, for this provider. Raises UsageError where it cannot work with it."""
        return self._chosen.for_provider(provider) if isinstance(self._chosen, FollowsProvider) else self._chosen

    def before_turn(self, new_messages: Sequence[Message], token: CancelToken) -> None:
        """Collect if what is about to be said would fill the context too far."""
        self._collect_if_due(new_messages, token)

    def after_turn(self, token: CancelToken) -> None:
        """Collect if the turn has filled the context too far, and so if its stream had already said so."""
        self._collect_if_due((), token)

    def collect(
        self,
        collector: Collector,
        reason: Reason,
        *,
        config: GCConfig | None = None,
        usage: ContextUsage | None = None,
        token: CancelToken | None = None,
    ) -> GCResult:
        """Have a collector shorten the history now; the provider gets it with the next `sync` or call.

        Whatever a collector does wrong, its error is in the result and the history as it was.
        """
        conversation = self._conversation
        conversation.make_sound()
        # By hand, it is about turns: no provider is asked for that. What it has said before still counts.
        budget = self._synced() if reason == "manual" else self.budget
        usage = usage or budget.get_context_usage()
        with self.tracing.collect(reason) as span:
            try:
                result = collector.collect(
                    conversation.history.messages,
                    usage=usage,
                    config=config or self.config,
                    reason=reason,
                    budget=budget,
                    token=token,
                )
            except Exception as error:
                _log.exception("%s failed", type(collector).__name__)
                count = len(conversation.history)
                error_text = f"{type(error).__name__}: {error}"
                result = GCResult(
                    messages=tuple(conversation.history.messages_ref),
                    reason=reason,
                    before=count,
                    after=count,
                    error=error_text,
                )
            span.collected(result, usage.used)
        if not result.success:
            _log.warning("the history was not collected (%s): %s", reason, result.error)
        elif result.changed:
            conversation.take_collected(result)
        return result

    # A turn

    @contextmanager
    def turn(self, token: CancelToken) -> Iterator[TurnRoom]:
        """The ladder of one turn. Left by an exception, the budget is what it was before."""
        conversation, budget = self._conversation, self._synced()
        before, state = conversation.history.messages, budget.state()
        try:
            yield TurnRoom(self, conversation, token)
        except BaseException:
            with self._lock:
                budget.restore(state, before)
            raise

    def record_usage(self, usage: TokenUsage) -> None:
        """The provider has counted the conversation as it is now, its answer included."""
        with self._lock:
            self._synced().report(usage)

    def cut_off(self, usage: TokenUsage) -> None:
        """The provider has counted the conversation as it is now, and an answer that is not kept as it was counted.

        So its prompt alone says something; and less than is known already says nothing, since some services count a
        streamed prompt in full only at the end.
        """
        with self._lock:
            budget = self._synced()
            if usage.prompt_tokens > budget.used:
                budget.report(TokenUsage(prompt_tokens=usage.prompt_tokens, total_tokens=usage.prompt_tokens))

    def limit_of(self, error: ContextLimitError) -> int | None:
        """The limit that a refusal names, else the provider's own, else the configured one. The session learns it."""
        if error.limit is not None and error.limit > 0:
            self._learned, self._taught_by = error.limit, self._conversation.provider
            return error.limit
        return self._provider_limit() or self.config.context_limit

    # Saving

    def state(self) -> JSON:
        """What a saved session keeps of the budget."""
        return to_builtins(self._synced().state())

    def restore(self, state: BudgetState | None, messages: Sequence[Message], usage: TokenUsage) -> None:
        """Take over what was saved with these messages; without a state, what the last report said of them."""
        with self._lock:
            budget = self._synced()
            budget.restore(state or BudgetState(), messages)
            if state is None:
                budget.report(usage)

    # Inside

    def _synced(self) -> InstructionBudget:
        conversation, budget = self._conversation, self._budget
        with self._lock:
            if self._counted_by is not conversation.provider:
                budget.use_other_provider()
                budget.limit = None
                self._counted_by = conversation.provider
            if self._framed is not conversation.context:
                budget.frame(conversation.context.system, conversation.context.tools)
                self._framed = conversation.context
            budget.sync(conversation.history.messages_ref)
        return budget

    def _collect_if_due(self, new_messages: Sequence[Message], token: CancelToken) -> None:
        if self.collector is None:
            return
        usage = self.budget.get_context_usage(new_messages)
        reason = self.collector.should_collect(usage, self.config)
        if reason is None and self.config.auto and isinstance(self.collector, FollowsHistory):
            reason = "compacted" if self.collector.was_compacted(self._conversation.history.messages_ref) else None
        if reason is not None:
            self.collect(self.collector, reason, usage=usage, token=token)

    def _limit(self) -> int | None:
        known = self.config.context_limit or self._provider_limit()
        if self._learned is None or self._taught_by is not self._conversation.provider:
            return known
        return min(self._learned, known or self._learned)

    def _provider_limit(self) -> int | None:
        provider = self._conversation.provider
        if self._limit_by_provider[0] is not provider:
            self._limit_by_provider = (provider, _limit_of(provider))
        return self._limit_by_provider[1]


class TurnRoom:
    """Makes room in one turn, step by step, whenever the provider refuses its prompt."""

    def __init__(self, room: ContextWindow, conversation: Conversation, token: CancelToken) -> None:
        self._room = room
        self._conversation = conversation
        self._token = token
        self._before = conversation.history.last
        self._keeps = iter((room.config.keep_turns, 1))
        self._cut_to = CUT_TO
        self._is_cut = False

    def record_usage(self, usage: TokenUsage) -> None:
        """A call was answered, and its answer is in the history: the next one has the whole ladder before it."""
        self._room.record_usage(usage)
        self._is_cut = False

    def cut_off(self, usage: TokenUsage) -> None:
        """A call was answered in part, or with what cannot be kept; what is kept is not in the history yet."""
        self._room.cut_off(usage)
        self._is_cut = False

    def make(self, refused: ContextLimitError) -> bool:
        """Take the next step that makes the prompt shorter. False if there is none left."""
        limit = self._room.limit_of(refused)
        return any(map(self._collected, self._keeps)) or self._cut_history(refused, limit)

    def _collected(self, keep_turns: int) -> bool:
        collector, config = self._room.collector, self._room.config
        if collector is None:
            return False
        keep = replace(config, keep_turns=keep_turns, pinned=config.pinned.union(self._running()))
        return self._room.collect(collector, "overflow", config=keep, token=self._token).changed

    def _running(self) -> Iterator[str]:
        """Ids of the messages of the running turn, however many times the user has spoken in it."""
        for message in reversed(self._conversation.history.messages_ref):
            if message is self._before:
                return
            yield message.message_id

    def _cut_history(self, refused: ContextLimitError, limit: int | None) -> bool:
        if self._is_cut:
            return False
        budget = self._room.budget
        used = budget.used
        if refused.requested is None:
            # The provider counts more than the budget does: by how much, nobody says.
            free = used - self._cut_to * min(limit or used, used)
        else:
            # What it asked for beside the prompt (room for the answer, say) cannot be cut.
            requested_tokens = refused.requested
            free = (requested_tokens - self._cut_to * min(limit or requested_tokens, requested_tokens)) * max(
                1, used / requested_tokens
            )
        with self._room.tracing.collect("overflow") as span:
            result = cut_results(self._conversation.history.messages_ref, free=free, budget=budget)
            span.collected(result, used)
        if not result.changed:
            return False
        self._is_cut = True
        self._cut_to /= 2
        self._conversation.take_collected(result)
        return True


def _limit_of(provider: object) -> int | None:
    """What the provider says of its model's window, if it says anything."""
    ask: Callable[[], int] | None = getattr(provider, "get_context_limit", None)
    try:
        return (ask() if callable(ask) else 0) or None
    except Exception:
        _log.exception("%s.get_context_limit failed", type(provider).__name__)
        return None
