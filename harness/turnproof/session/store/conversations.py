"""`ConversationManager`: one history for providers that remember a conversation and for those that do not.

A stateless provider gets the whole history with each request, a stateful one only what is new, and the id under which
it keeps the rest. Both sides of every exchange are logged either way, so that a conversation can go on with the other
kind, and be looked at later.
"""

from __future__ import annotations

import sys
import threading
import time
import uuid
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import TypeAlias

from ..._base.closeable import Closeable
from ...agents import Agent
from ...budget import ContextUsage
from ...cancel import CancelToken
from ...errors import ProviderError, ResumeError, UsageError
from ...gc import Collector, GCConfig, GCResult, Reason, turn_starts
from ...messages import JSON, Message, TokenUsage
from ...provider import StatelessProvider, SystemInstruction
from .. import persistence
from ..conversation import quietly
from .conversation_log import ConversationLog
from .files import Files, LocalFiles
from .journal import Problem
from .locking import Place, this_process
from .providers import Memory, ProviderRegistry, provider_of
from .read_session import Paths, checked_id


@dataclass(frozen=True, slots=True)
class ConversationRequest:
    """What a provider is to answer: the last message, with those before it where the provider does not have them.

    `session_id` is the provider's own, from its last answer in this conversation; None for the first request, and for
    a stateless provider.
    """

    model: str
    messages: tuple[Message, ...]
    session_id: str | None
    request_id: str


@dataclass(frozen=True, slots=True)
class ConversationReply:
    """An answer. `session_id` is where a stateful provider goes on; `details` is JSON for the log."""

    result: str
    session_id: str | None = None
    usage: TokenUsage = field(default_factory=TokenUsage)
    details: Mapping[str, JSON] = field(default_factory=dict)


Complete: TypeAlias = Callable[[ConversationRequest], ConversationReply]
"""Calls a provider. Raises `ResumeError` where the provider does not know the session id, and whatever else fails."""


def complete_with(provider: StatelessProvider, system: SystemInstruction = None) -> Complete:
    """Calls a stateless provider of ours."""

    def complete(request: ConversationRequest) -> ConversationReply:
        response = provider.complete(list(request.messages), system)
        return ConversationReply(response.text, usage=response.usage)

    return complete


def converse_with(agent: Agent) -> Complete:
    """Speaks to an agent, each conversation in a session of its own; those of several take turns.

    A request without a session id begins a session, any other goes on in that one, which is resumed unless it is the
    one that is open. The agent is sent the new message alone. Raises ResumeError where it cannot go on with a session,
    and UsageError for a request that brings a history: who holds the conversation has to be registered as stateful.
    The agent must be spoken to in no other way meanwhile.
    """
    one_at_a_time = threading.Lock()

    def complete(request: ConversationRequest) -> ConversationReply:
        if len(request.messages) != 1:
            raise UsageError(
                f"an agent is sent the new message alone, and the request brings {len(request.messages)}: it holds the "
                f"conversation itself. Register the models of {provider_of(request.model)!r} as stateful"
            )
        with one_at_a_time:
            _enter(agent, request.session_id)
            response = agent.send(request.messages[0].parts)
            if agent.session_id is None:
                raise ProviderError(
                    f"{type(agent).__name__} tells no session id after a turn: nobody could go on with it"
                )
            return ConversationReply(response.text, agent.session_id, response.usage)

    return complete


def _enter(agent: Agent, session_id: str | None) -> None:
    if session_id is None:
        # Also where none seems to be open: what was said in a first turn that failed may still be there.
        agent.new_session()
    elif session_id != agent.session_id:
        try:
            agent.resume_session(session_id)
        except NotImplementedError as error:
            raise ResumeError(
                f"session {session_id!r} cannot be gone on with: {error}", session_id=session_id
            ) from error


class ConversationManager(Closeable):
    """Conversations by name, each with a file `<name>.jsonl` in `folder`.

    One request of a conversation at a time, in the order in which they came; what a request needs (history, session id)
    is looked up when its turn has come, so that a burst of first requests makes one conversation. A request that fails
    leaves nothing in it. `collector` shortens what stateless providers are sent, by `config`.
    """

    def __init__(
        self,
        folder: str | Path,
        complete: Complete,
        *,
        registry: ProviderRegistry | None = None,
        collector: Collector | None = None,
        config: GCConfig | None = None,
        program: str | None = None,
        files: Files | None = None,
        clock: Callable[[], float] = time.time,
        ids: Callable[[], str] = lambda: uuid.uuid4().hex,
    ) -> None:
        self.registry = registry or ProviderRegistry()
        self._folder = Path(folder).absolute()
        self._complete = complete
        self._collector = collector
        self._config = config or GCConfig()
        self._program = program or Path(sys.argv[0] or "python").name
        self._files = files or LocalFiles()
        self._clock = clock
        self._ids = ids
        self._lock = threading.Lock()
        self._open: dict[str, ConversationLog] = {}

    def request(
        self,
        conversation: str,
        model: str,
        content: str,
        *,
        request_id: str | None = None,
        cancel_token: CancelToken | None = None,
    ) -> ConversationReply:
        """Say something, and return when both sides are on the disk.

        Raises what the provider raises; Cancelled if the token is set while the request waits for others; StoreError if
        the exchange cannot be logged, and then it is not in the conversation.
        """
        conversation_log = self._conversation(conversation)
        with conversation_log.line.turn(cancel_token):
            memory = self.registry.memory_of(model)
            if memory == "stateless":
                self._collect_if_due(conversation_log)
            return _exchange(conversation_log, self._complete, model, content, request_id or self._ids(), memory)

    def feedback(self, conversation: str, content: str, *, request_id: str | None = None) -> None:
        """Log what the system itself has to say. No model is ever shown it."""
        conversation_log = self._conversation(conversation)
        with conversation_log.line.turn():
            conversation_log.log({"type": "feedback", "content": content, "request_id": request_id or self._ids()})

    def messages(self, conversation: str) -> list[Message]:
        """What a stateless provider would be sent with the next request, but for the new message."""
        conversation_log = self._conversation(conversation)
        with conversation_log.line.turn():
            return list(conversation_log.transcript.messages)

    def problems(self, conversation: str) -> tuple[Problem, ...]:
        """What was wrong with the lines of the file when it was opened."""
        return self._conversation(conversation).problems

    def collect(self, conversation: str) -> GCResult:
        """Shorten a conversation now. Raises UsageError without a collector."""
        conversation_log = self._conversation(conversation)
        with conversation_log.line.turn():
            if self._collector is None:
                raise UsageError("these conversations have no collector: pass collector=...")
            return self._collected(conversation_log, self._collector, "manual")

    def close(self) -> None:
        """Let other processes have the conversations. The next request opens one again."""
        with self._lock:
            open_logs, self._open = list(self._open.values()), {}
        with ExitStack() as closing:
            for conversation in open_logs:
                closing.callback(conversation.close)

    def _conversation(self, name: str) -> ConversationLog:
        paths = Paths(self._folder, checked_id(name))
        with self._lock:
            if name not in self._open:
                owner = this_process(self._program, self._now())
                self._open[name] = ConversationLog(Place(self._files, paths, owner, self._now))
            return self._open[name]

    def _collect_if_due(self, conversation: ConversationLog) -> None:
        if self._collector is None:
            return
        messages = conversation.transcript.messages
        usage = ContextUsage(conversation.transcript.tokens, self._config.context_limit, len(turn_starts(messages)))
        if reason := self._collector.should_collect(usage, self._config):
            self._collected(conversation, self._collector, reason)

    def _collected(self, conversation: ConversationLog, collector: Collector, reason: Reason) -> GCResult:
        result = collector.collect(conversation.transcript.messages, config=self._config, reason=reason)
        if result.changed:
            conversation.replace(result.messages)
        return result

    def _now(self) -> datetime:
        return persistence.at(self._clock())


def _exchange(
    conversation: ConversationLog, complete: Complete, model: str, content: str, request_id: str, memory: Memory
) -> ConversationReply:
    provider, asked_at = provider_of(model), conversation.now()
    user = conversation.next_message(content)
    session_id = conversation.transcript.session_ids.get(provider) if memory == "stateful" else None
    before = () if memory == "stateful" else conversation.transcript.messages
    try:
        reply = complete(ConversationRequest(model, (*before, user), session_id, request_id))
    except ResumeError:
        if session_id is not None:
            # Whatever id came with the error: it is none that anybody can go on with.
            loss = {"type": "session_lost", "provider": provider, "request_id": request_id}
            quietly("noting that a session is lost", lambda: conversation.log(loss))
        raise
    usage = {"input_tokens": reply.usage.prompt_tokens, "output_tokens": reply.usage.output_tokens}
    answer = {"type": "claude", "result": reply.result, "request_id": request_id, "model": model, "usage": usage}
    if memory == "stateful" and reply.session_id:
        answer["session_id"] = reply.session_id
    if reply.details:
        answer["details"] = reply.details
    # Both at once, and only now: of a request that failed nothing is to be found.
    conversation.log({"type": "user", "timestamp": asked_at, "content": content, "request_id": request_id}, answer)
    return reply
