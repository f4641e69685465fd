"""The reference session as a subject: the way in which turnproof drives every adapter."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from opentelemetry import trace

from .. import __version__
from ..errors import UsageError
from ..gc import GCConfig, TruncateGC
from ..messages import FunctionCall, Message, Part, Text, ToolResult
from ..provider import Binding, Capabilities
from ..subject import AgentEvent, AgentState, Enricher, SessionBinding, SessionReply, SessionSetup, SessionTurn, Tool
from ..windows import Window
from .agents.feed import AgentFeed
from .enrichment import PromptHook, enrich_in_order
from .flag import path_by_flag
from .observer import SessionObserver
from .prompt import Enriched
from .retry import Retry, RetryPolicy
from .session import Session
from .tracing import Tracing
from .window import SendWindow, last_messages, last_turns


class OpenedSession(Session):
    """A session with what its children need.

    Both hold on to the session, so they are parts of it and stand in no table: they end with it.
    """

    setup: SessionSetup
    """What it was opened with."""

    family: _Family
    """Where its events go."""

    send_window: SendWindow | None
    """What it sends of its history; None for all of it."""


def open_session(setup: SessionSetup, window: SendWindow | None = None) -> OpenedSession:
    """An empty session on the setup's path, or on that of the migration flag."""
    path = setup.path or path_by_flag(setup.flag, setup.paths)
    provider = setup.open_provider(path)
    cached = setup.cache_plugin is not None and path == "stateless"
    session = OpenedSession(
        provider,
        path=path,
        system=setup.system,
        tools=setup.tools,
        gc=TruncateGC(),
        gc_config=GCConfig(keep_turns=setup.keep_turns),
        cache_plugin=setup.cache_plugin(provider) if setup.cache_plugin and cached else None,
        retry=RetryPolicy(attempts=setup.attempts, random=setup.random),
        sleep=setup.sleep,
        ids=setup.ids,
        parallel_tools=setup.parallel_tools,
        enrich=enrich_in_order([_hook(enricher) for enricher in setup.enrichers]) if setup.enrichers else None,
        window=window,
        observers=(_SetupObserver(setup),),
        tracing=Tracing(trace.get_tracer("turnproof.session", __version__, setup.tracer_provider)),
    )
    session.setup = setup
    session.send_window = window
    session.family = family = _Family(AgentFeed(), "agent-1")
    session.observe(family.feed.add(family.agent))
    return session


def _hook(enricher: Enricher) -> PromptHook:
    """An enricher of a setup as a hook: it changes what is said in words."""

    def enrich(parts: tuple[Part, ...]) -> Enriched:
        text = "".join(part.text for part in parts if isinstance(part, Text))
        others = [part for part in parts if not isinstance(part, Text)]
        return Enriched([enricher.enrich(text), *others])

    return PromptHook("enricher", enrich, enricher.priority)


def spawn(session: OpenedSession) -> OpenedSession:
    """A child with a history of its own, on its parent's provider where that one keeps no history itself."""
    setup, provider = session.setup, session.provider
    tools, system = session.tools, session.system
    opened = setup.open_provider if session.path == "legacy" else lambda path: provider
    child = open_session(replace(setup, path=session.path, open_provider=opened, tools=tools), session.send_window)
    child.set_system(system)
    family = session.family
    child.family = own = _Family(family.feed, family.feed.free_id())
    child.observe(family.feed.add(own.agent, family.agent))
    return child


def watch_agents(session: OpenedSession, on_event: Callable[[AgentEvent], None]) -> Sequence[AgentState]:
    """The agents of the session's family, whose events are told from now on."""
    agents, _ = session.family.feed.watch(on_event)
    return agents


class _SetupObserver(SessionObserver):
    """Passes on what a setup wants to be told of."""

    def __init__(self, setup: SessionSetup) -> None:
        self._setup = setup

    def on_retry(self, retry: Retry) -> None:
        self._setup.on_retry(retry.attempt, retry.delay, retry.error)

    def on_tool_ended(self, call: FunctionCall, result: ToolResult) -> None:
        self._setup.on_tool(call, result)


def load_session(setup: SessionSetup, saved: str, window: SendWindow | None = None) -> OpenedSession:
    """A session that goes on where the saved one stopped. Raises SavedSessionError for text that is damaged."""
    session = open_session(setup, window)
    session.restore(saved)
    return session


def send(session: Session, content: str | Sequence[Part], turn: SessionTurn) -> SessionReply:
    """One turn. A streamed one asks the provider for every callback there is."""
    ignored = _ignore if turn.on_chunk is not None else None
    result = session.send(
        content,
        cancel_token=turn.cancel_token,
        on_chunk=turn.on_chunk,
        on_usage_update=turn.on_usage_update or ignored,
        on_function_call=turn.on_function_call or ignored,
        on_thinking=turn.on_thinking or ignored,
        on_taken_back=turn.on_taken_back,
        response_schema=turn.response_schema,
    )
    return SessionReply(result.text, result.outcome, result.response)


def configure(session: Session, system: str | None, tools: Sequence[Tool]) -> None:
    """Another system text and other tools; what stays the same is left alone."""
    if system != session.system:
        session.set_system(system)
    if tuple(tools) != session.tools:
        session.set_tools(tools)


def provider_history(session: Session) -> Sequence[Message]:
    """What the provider of the legacy path holds."""
    history: list[Message] = session.provider.get_history()  # type: ignore[union-attr]
    return history


def _ignore(_: Any) -> None:
    pass


@dataclass(frozen=True, slots=True)
class _Family:
    """Where the events of a session and its children come together, and the session's own id there."""

    feed: AgentFeed
    agent: str


REFERENCE = SessionBinding(
    name="reference",
    open=open_session,
    send=send,
    send_parts=send,
    stop=Session.stop,
    interject=Session.interject,
    inject=Session.inject,
    configure=configure,
    history=lambda session: session.history.messages,
    adopt=Session.reset,
    reset=Session.reset,
    revert=Session.revert_to_turn,
    collect=Session.collect,
    save=Session.save,
    load=load_session,
    swap=Session.swap,
    usage=lambda session: session.usage,
    context=lambda session: session.context_usage.used,
    provider_history=provider_history,
    path=lambda session: session.path,
    spawn=spawn,
    watch_agents=watch_agents,
    background=lambda session: [task.result for task in session.tasks if task.result is not None],
    paths=("stateless", "legacy"),
    other_path=True,
    spans=True,
    children_at_once=True,
    enrichment=True,
    takes_back=True,
    shows_thinking=True,
    shows_calls=True,
    shows_usage=True,
    reports_retries=True,
)


def windowed(claim: str, claims: Capabilities, *, adapter: str | Binding = "anthropic") -> SessionBinding:
    """The reference session with a window, such as `4 messages` or `2 turns`, over an adapter with these claims.

    It is on the stateless path, and tells nothing of the context that the conversation takes: that is the whole
    history's. Raises UsageError for what is no window, and for one of items: the session cuts no message.
    """
    found = Window.of_claim(claim)
    if found is None or found.unit == "item":
        raise UsageError(f"the reference session has windows such as '4 messages' or '2 turns', got {claim!r}")
    window = (last_messages if found.unit == "message" else last_turns)(found.count)
    return replace(
        REFERENCE,
        name=f"reference-{found.count}-{found.unit}s",
        adapter=adapter,
        open=partial(open_session, window=window),
        load=partial(load_session, window=window),
        context=None,
        provider_history=None,
        paths=("stateless",),
        other_path=False,
        capabilities=replace(claims, window=claim),
    )
