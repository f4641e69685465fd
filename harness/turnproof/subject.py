"""What may be certified: an adapter, or a session with an adapter's provider underneath.

A `SessionBinding` is to a session what a `Binding` is to an adapter: the few lines that tell turnproof how to open
one and how to do with it whatever a session can do. The reference session is bound in the same way, so there is one
way to run a conversation, whoever's session holds it.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args

import msgspec

from .agents import Tool, ToolOutput
from .cancel import CancelToken
from .dialects import dialect
from .messages import FunctionCall, Message, Part, ProviderResponse, TokenUsage, ToolResult
from .provider import (
    PATHS,
    Binding,
    Capabilities,
    Difference,
    Endpoint,
    JSONSchema,
    OnChunk,
    OnFunctionCall,
    OnThinking,
    OnUsage,
    Path,
)
from .reproducer import SessionReproducer
from .sessions import SessionCapabilities, SessionInfo

if TYPE_CHECKING:
    from opentelemetry.trace import TracerProvider

__all__ = [
    "FACTS",
    "OF_KEPT_SESSIONS",
    "OPERATIONS",
    "AgentEvent",
    "AgentState",
    "Enricher",
    "Flag",
    "Operation",
    "SessionBinding",
    "SessionReply",
    "SessionSetup",
    "SessionTurn",
    "Subject",
    "SubjectKind",
    "Tool",
    "ToolOutput",
]


@dataclass(frozen=True, slots=True)
class Flag:
    """The switch of a migration: an environment variable, and what holds while nobody has set it.

    On means that the session owns the history (the stateless path), off that the provider does (the legacy path).
    """

    variable: str = "TURNPROOF_SESSION_OWNED_HISTORY"
    default: bool = False


@dataclass(frozen=True, slots=True)
class Enricher:
    """Changes the user's text on its way to the model. Of several, one of lower `priority` comes first, and of equal
    ones the one that stands first; each gets what the one before it made."""

    priority: int
    enrich: Callable[[str], str]


class AgentState(msgspec.Struct, frozen=True):
    """An agent as it is at a moment: its id, that of its parent, and whether a turn of it goes on."""

    agent: str
    parent: str | None = None
    activity: Literal["idle", "working"] = "idle"


class AgentEvent(msgspec.Struct, frozen=True, omit_defaults=True):
    """Something that happens to an agent, by its id.

    `created`: it is there, with this `parent`. `changed`: its `activity` is another one; `working` when a turn begins.
    `completed`: a turn of it is over, with this `ending`, and it is idle. `removed`: it is gone for good.
    """

    kind: Literal["created", "changed", "completed", "removed"]
    agent: str
    parent: str | None = None
    activity: Literal["idle", "working"] = "idle"
    ending: Literal["", "answer", "cancelled", "error"] = ""


def _itself(provider: Any) -> Any:
    return provider


def _permitted(call: FunctionCall) -> bool:
    return True


@dataclass(frozen=True, slots=True)
class SessionSetup:
    """What a session is opened with. Two runs with equal setups are to do the same, byte for byte.

    endpoint:       where the provider is, for a framework that opens one itself. What it sends is then seen on the
                    wire alone; there are no provider calls to look into.
    open_provider:  opens a fresh provider of the adapter on a path, ready to be called. What goes through it is
                    recorded, call by call. Raises HarnessError for a path that the adapter lacks.
    paths:          the paths that `open_provider` can open.
    path:           the path that the session has to be on; None leaves the choice to its own `flag`.
    attempts:       how often a provider call is made at the most, when it fails in a way that may pass.
    keep_turns:     how many turns `collect` leaves.
    cache_plugin:   makes the plugin that goes with a provider opened on the stateless path; None without caching.
    parallel_tools: whether tools of one response may run at the same time.
    sleep:          waits so many seconds, or until the token is set; True if it was set. Time is not real in a run.
    random, ids:    the only sources of randomness and of message ids.
    on_tool:        to be told of each tool result, in call order. May be left alone: a tool tells that it ran, too.
    on_retry:       to be told of each wait before it: the number of the attempt that follows, seconds, and the error
                    that is the reason. A session with `reports_retries` calls it each time.
    enrichers:      change each text that the user says, once, before it is sent, in order of their priority. There are
                    none for a session without `enrichment`.
    tracer_provider: where a session that has `spans` gets its tracers from, in place of the global one. It is the same
                    object in all runs of a process, so that what is instrumented once stays so. None for all others.
    watch:          gives what a session is to use in place of a provider that it opened itself: the same object, or,
                    where a gate looks at what the session does with it, a stand-in of the same class that passes
                    everything on but special methods (those of `with`, say). Providers of `open_provider` need not go
                    through it.
    home, cwd, session, continue_last, permits: for sessions that outlive the process, as `AgentSetup` has them. Empty
                    for all others.
    """

    endpoint: Endpoint
    open_provider: Callable[[Path], Any]
    paths: tuple[Path, ...]
    path: Path | None
    sleep: Callable[[float, CancelToken | None], bool]
    random: random.Random
    ids: Callable[[], str]
    on_tool: Callable[[FunctionCall, ToolResult], None]
    on_retry: Callable[[int, float, BaseException], None]
    system: str | None = None
    tools: tuple[Tool, ...] = ()
    attempts: int = 3
    keep_turns: int = 2
    cache_plugin: Callable[[Any], Any] | None = None
    parallel_tools: bool = True
    flag: Flag = Flag()
    enrichers: tuple[Enricher, ...] = ()
    tracer_provider: TracerProvider | None = None
    watch: Callable[[Any], Any] = _itself
    home: str = ""
    cwd: str = ""
    session: str | None = None
    continue_last: bool = False
    permits: Callable[[FunctionCall], bool] = _permitted


@dataclass(frozen=True, slots=True)
class SessionTurn:
    """The options of one turn. It is streamed if `on_chunk` is given, and stops when the token is set.

    `on_taken_back` is given if the user interface can remove text that was shown. The session calls it with that text.

    `on_thinking`, `on_function_call` and `on_usage_update` are for what a session shows beside text while a turn
    streams: thoughts piece by piece, each whole tool call before its tool runs, and the figures of the answer that is
    on its way. They are called in the model's order, and never for an answer that another one has followed.
    """

    cancel_token: CancelToken
    on_chunk: OnChunk | None = None
    response_schema: JSONSchema | None = None
    on_taken_back: Callable[[str], None] | None = None
    on_thinking: OnThinking | None = None
    on_function_call: OnFunctionCall | None = None
    on_usage_update: OnUsage | None = None


@dataclass(frozen=True, slots=True)
class SessionReply:
    """How a turn ended that did not fail. `text` ends with the visible text of the model's last answer.

    `response` is that answer, where the session gives more of it than text: its parts, finish reason, usage, model and
    structured output. All of it is then judged; what the session does not know is better left out with all the rest.
    """

    text: str
    outcome: Literal["answer", "cancelled"] = "answer"
    response: ProviderResponse | None = None


KeptOperation: TypeAlias = Literal[
    "session_id",
    "new_session",
    "list_sessions",
    "resume_session",
    "continue_last",
    "fork_session",
    "delete_session",
]

Fact: TypeAlias = Literal[
    "message_ids",
    "other_path",
    "spans",
    "children_at_once",
    "enrichment",
    "takes_back",
    "shows_thinking",
    "shows_calls",
    "shows_usage",
    "reports_retries",
]

Operation: TypeAlias = Literal[
    "send_parts",
    "stop",
    "interject",
    "inject",
    "configure",
    "adopt",
    "reset",
    "revert",
    "collect",
    "save",
    "load",
    "swap",
    "usage",
    "context",
    "provider_history",
    "path",
    "spawn",
    Fact,
    "background",
    "watch_agents",
    KeptOperation,
]

OPERATIONS: tuple[Operation, ...] = get_args(Operation)
"""What a session binding may lack. Requirements that need it are then not claimed, by this name."""

OF_KEPT_SESSIONS: frozenset[KeptOperation] = frozenset(get_args(KeptOperation))
"""Those of them that take sessions which outlive their process: who has none of those lacks none of these."""

FACTS: frozenset[Fact] = frozenset(get_args(Fact))
"""Those of them that are no functions, but say something of what the functions do."""


@dataclass(frozen=True, slots=True)
class SessionBinding:
    """How turnproof opens one session, and does with it what a session can do.

    Every function but `open` and `load` takes the handle that these returned, which can be any object. What a session
    lacks is left None. An operation refuses by raising; it must then have changed nothing.

    name:       what reports call it.
    open:       a session ready for its first turn, as its setup says.
    send:       says a text and returns when the turn is over. Raises a ProviderError when it failed, and may raise
                `Cancelled` when it was cancelled before anything was sent.
    history:    the messages it holds, in neutral form; may be asked for at any time, also while a turn runs.
    adapter:    whose provider it is run with: an installed name, `module:attribute`, or a binding. One that opens
                nothing (no path of its own) still says which dialect and model the session speaks.
    send_parts: as `send`, for a message that is not just text.
    stop:       cancels the running turn, from any thread.
    interject:  says a text while a turn runs, from any thread: it cuts the answer that is being given, waits for the
                results of tools that are running, and is answered in that turn.
    inject:     between turns, lets the model know of a command of the user and of its outcome, both as text, with the
                next turn.
    configure:  another system text (None: none) and other tools from the next turn on.
    adopt:      goes on from this conversation, which was held elsewhere, instead of its own.
    reset:      forgets the conversation; system text and tools stay.
    revert:     keeps the turns up to `turn_index`, counted from 0, and forgets the later ones. A turn starts at a
                user's message that has text. Raises for an index that no turn has.
    collect:    makes the history shorter now, down to the setup's `keep_turns` turns.
    save, load: the session as text, and a new session that goes on from it. `load` raises for text that is damaged.
    swap:       goes on with another provider, opened by the setup's `open_provider` for the session's path. A session
                that opens its own is given None, and opens another one.
    usage:      what the provider last reported.
    accounting: its account of the turns so far, an entry for each, in order. Gates look at how many there are.
    context:    tokens of the model's context that the conversation takes, by the session's own account: what the next
                request will carry, without what will be said in it. May be asked at any time between turns.
    provider_history: what the provider itself holds, on the legacy path.
    path:       the path that the session is on.
    spawn:      another session, a child of this one, in which nothing was said yet: with the same system text, tools
                and provider, or a provider of its own where that one keeps the history. Both are spoken to, and the
                child also by a tool that runs in its parent's turn, with the token that the tool was given.
    children_at_once: whether it and its children may be spoken to at the same time, each from a thread of its own.
    background: the results of tools that went on in the background and have returned since, each under the id of its
                call, in call order. A tool goes on so that has not returned after its `background_after`.
    watch_agents: calls a function with each event of this session and its children from now on, from any thread and in
                order, and returns the agents that there are now. No event is told twice, nor is one that the returned
                states show already. May be called several times, each time with another function.
    session_id: the id of the session that is open, of those that outlive the process; None before there is one. With
                it goes `session_capabilities`, what it says can be done with them.
    new_session, resume_session, continue_last, fork_session, delete_session: as `SessionSource` has them.
    list_sessions: every session of a working directory (None: of all), page after page.
    close:      lets go of what it holds open.
    paths:      the paths that a setup may put it on.
    message_ids: whether the ids in `history` are the session's own, and so stay with their messages.
    other_path: whether a session that was saved on one path can be loaded on the other.
    spans:      whether it makes OpenTelemetry spans of its turns, with the setup's `tracer_provider`. They are judged
                where OpenTelemetry's SDK is installed (`opentelemetry-sdk`).
    enrichment: whether it has the setup's `enrichers` change what the user says.
    takes_back: whether it goes on where an answer broke and came in other words when it was asked for again. It tells
                the turn's `on_taken_back`, before it shows anything of the new answer; without that the turn fails.
    shows_thinking, shows_calls, shows_usage: whether it calls the turn's `on_thinking`, `on_function_call` and
                `on_usage_update`. They are given to a session that opens its own provider.
    reports_retries: whether it calls the setup's `on_retry` for each request that it makes again, with the error of the
                request before.
    capabilities: what is claimed with this session; None: all that the adapter claims.
    declared:   intended differences between its paths.
    flag:       its migration switch.
    package:    the distribution whose version goes into reports.
    program:    name and version of the program behind it, where there is one and it has told them.
    reproducer: how the library is used without turnproof (`turnproof reproduce`), where it opens its own client.
    """

    name: str
    open: Callable[[SessionSetup], Any]
    send: Callable[[Any, str, SessionTurn], SessionReply]
    history: Callable[[Any], Sequence[Message]]
    adapter: str | Binding = "anthropic"
    send_parts: Callable[[Any, Sequence[Part], SessionTurn], SessionReply] | None = None
    stop: Callable[[Any], object] | None = None
    interject: Callable[[Any, str], object] | None = None
    inject: Callable[[Any, str, str], object] | None = None
    configure: Callable[[Any, str | None, Sequence[Tool]], object] | None = None
    adopt: Callable[[Any, Sequence[Message]], object] | None = None
    reset: Callable[[Any], object] | None = None
    revert: Callable[[Any, int], object] | None = None
    collect: Callable[[Any], object] | None = None
    save: Callable[[Any], str] | None = None
    load: Callable[[SessionSetup, str], Any] | None = None
    swap: Callable[[Any, Any], object] | None = None
    usage: Callable[[Any], TokenUsage] | None = None
    accounting: Callable[[Any], Sequence[Any]] | None = None
    context: Callable[[Any], int] | None = None
    provider_history: Callable[[Any], Sequence[Message]] | None = None
    path: Callable[[Any], Path] | None = None
    spawn: Callable[[Any], Any] | None = None
    background: Callable[[Any], Sequence[ToolResult]] | None = None
    watch_agents: Callable[[Any, Callable[[AgentEvent], None]], Sequence[AgentState]] | None = None
    session_id: Callable[[Any], str | None] | None = None
    session_capabilities: Callable[[Any], SessionCapabilities] | None = None
    new_session: Callable[[Any], object] | None = None
    list_sessions: Callable[[Any, str | None], Sequence[SessionInfo]] | None = None
    resume_session: Callable[[Any, str], object] | None = None
    continue_last: Callable[[Any, str | None], str | None] | None = None
    fork_session: Callable[[Any], str] | None = None
    delete_session: Callable[[Any, str], object] | None = None
    close: Callable[[Any], object] | None = None
    paths: tuple[Path, ...] = ("stateless",)
    message_ids: bool = True
    other_path: bool = False
    spans: bool = False
    children_at_once: bool = False
    enrichment: bool = False
    takes_back: bool = False
    shows_thinking: bool = False
    shows_calls: bool = False
    shows_usage: bool = False
    reports_retries: bool = False
    capabilities: Capabilities | None = None
    declared: Sequence[Difference] = ()
    flag: Flag = Flag()
    package: str | None = None
    program: Callable[[Any], str | None] | None = None
    reproducer: SessionReproducer | None = None

    @property
    def operations(self) -> frozenset[Operation]:
        """What it offers of `OPERATIONS`."""
        return frozenset(name for name in OPERATIONS if getattr(self, name))


SubjectKind: TypeAlias = Literal["adapter", "session", "agent"]


@dataclass(frozen=True, slots=True)
class Subject:
    """What one certification is about: a session and the adapter under it.

    Of an adapter, the session is the reference session, which is not what is judged; of a session, the adapter only
    brings the provider. An agent is both in one: its adapter opens nothing, and says which model it asks, and how.
    """

    kind: SubjectKind
    session: SessionBinding
    adapter: Binding

    @property
    def name(self) -> str:
        """What reports call it."""
        return self._judged.name

    @property
    def dialect(self) -> str:
        """The wire API that it speaks."""
        return self.adapter.dialect

    @property
    def model(self) -> str:
        """The model that it is run with."""
        return self.adapter.model

    @property
    def declared(self) -> Sequence[Difference]:
        """The intended differences between its paths."""
        return self._judged.declared

    @property
    def packages(self) -> tuple[str, ...]:
        """The distributions that take part."""
        both = (self.session.package if self.kind == "session" else None, self.adapter.package)
        return tuple(dict.fromkeys(package for package in both if package))

    @property
    def modules(self) -> tuple[str, ...]:
        """What those distributions may be imported by: `some-sdk` is `some_sdk` or `some.sdk`, where it is either."""
        names = (package.replace("-", mark) for package in self.packages for mark in "_.")
        return tuple(dict.fromkeys(names))

    @property
    def paths(self) -> tuple[Path, ...]:
        """The paths it can be run on: those of the session that the adapter has, or all where it opens no provider."""
        own = tuple(path for path in PATHS if self.adapter.opener(path) is not None)
        return tuple(path for path in PATHS if path in self.session.paths and (path in own or not own))

    @property
    def operations(self) -> frozenset[Operation]:
        """What can be done with its session, on the paths that there are and with what is installed."""
        lacking: set[Operation] = set() if len(self.paths) > 1 else {"other_path"}
        if self.session.spans and find_spec("opentelemetry.sdk") is None:
            lacking.add("spans")
        return self.session.operations - lacking

    @property
    def keeps_sessions(self) -> bool:
        """Whether its sessions outlive its process: it has a home, and they can be taken up again."""
        return bool(self.session.session_id)  # for each run: `operations` looks for what is installed

    def claims(self) -> Capabilities:
        """What is claimed for the model, and the traits of the wire API. Raises BindingError for an unknown one."""
        capabilities = self.session.capabilities if self.kind == "session" else None
        return replace(
            capabilities if capabilities is not None else self.adapter.claims(), wire=dialect(self.dialect).traits
        )

    @property
    def _judged(self) -> Binding | SessionBinding:
        return self.adapter if self.kind == "adapter" else self.session
