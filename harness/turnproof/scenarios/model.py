"""A scenario as data: what is said, what the model answers, what the tools return, and what goes wrong.

One scenario serves every dialect, path and backend. Replies are chosen by the number of tool-result rounds since
the user message, so `rounds[0]` answers the user and `rounds[1]` answers the first results.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final, Literal

import msgspec

from .._base.depth import DEFAULT_DEPTH, Depth
from ..dialects import api_of
from ..dialects.base import ReplyPart
from ..dialects.sse import Spelling
from ..messages import FileRef, FinishReason, InlineData, Message, Part, Text, ToolSchema
from ..subject import Operation, SubjectKind

CutPoint = Literal["before-start", "event", "batch", "tool", "between-tools", "backoff", "child"]

Action = Literal["gc", "save-load", "save-load-other-path", "damaged-load", "new-provider", "reset", "tamper"]

NEEDED: Final[Mapping[Action, tuple[Operation, ...]]] = {
    "gc": ("collect",),
    "save-load": ("save", "load"),
    "save-load-other-path": ("save", "load", "path", "other_path"),
    "damaged-load": ("save", "load"),
    "new-provider": ("swap",),
    "reset": ("reset",),
    "tamper": (),
}
"""What a session must be able to do for each action."""


Probe = Literal[
    "fresh", "reversed", "threads", "loops", "cancelled", "broken", "helpers", "other-model", "other-key", "deletion",
    "background", "broken-stream", "shutdown",
]  # fmt: skip
"""What is done with the calls of a run when the conversation is over, at the adapter and past the session."""

Doing = Literal["open", "new", "resume", "continue", "fork", "delete", "list", "damage", "later"]

STEPS: Final[Mapping[Doing, tuple[Operation, ...]]] = {
    "open": ("session_id",),
    "new": ("session_id", "new_session"),
    "resume": ("session_id", "resume_session"),
    "continue": ("session_id", "continue_last"),
    "fork": ("session_id", "fork_session"),
    "delete": ("session_id", "delete_session"),
    "list": ("session_id", "list_sessions"),
    "damage": ("session_id",),
    "later": ("session_id",),
}
"""What an agent must be able to do for each step with its sessions."""

NOBODY: Final = "nobody"
"""The label of a session that there is not."""

FIRST: Final = "first"
"""The label of the session that a run begins with."""

PROJECT: Final = "project"
"""The label of the working directory that a run begins in."""

EVERYWHERE: Final = "everywhere"
"""The sessions of every working directory."""


class Cut(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """When the turn is cancelled.

    `at` is one of: `before-start`; `event` (the server holds the stream after writing event `index` of round
    `round`, counted without pings); `batch` (the request has arrived, no byte of the answer is written);
    `tool` (while tool number `index` of round `round` runs); `between-tools` (after tool `index` ended);
    `backoff` (while the session sleeps before retry `index`); `child` (as `event`, in the answer to the turn's child).
    For `event` and `child`, `after` may name the event by kind and ordinal instead: `text:2` is the second text event.
    `by` says how: the turn's token is set, the session's `stop` is called from another thread, or every process that
    the agent has started is killed. `on_piece` says who: not the server at its event, but the application, in the
    callback that gets this piece of the turn's text (counted from 1). At the event the server then holds the stream.
    """

    at: CutPoint
    round: int = 0
    index: int = 0
    after: str | None = None
    by: Literal["token", "stop", "kill"] = "token"
    on_piece: int = 0


FaultKind = Literal[
    "status",
    "reset",
    "stall",
    "truncate",
    "split",
    "garbage",
    "error-event",
    "drip",
    "no-end",
    "comment",
    "refuse-connection",
    "respelled",
    "merged",
    "compressed",
    "idle-close",
]


class Fault(msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename="kebab"):
    """What goes wrong on the socket, at request `round`, for the first `times` attempts.

    `status`: answer with `status` (and `retry_after` seconds, which a proxy may give as a date). `reset`: RST after
    event `index` (-1: before the headers). `stall`: silence after event `index`, until the client leaves. `truncate`:
    half of event `index`, then a clean close of the socket. `no-end`: the stream ends cleanly, after event `index` (-1:
    before its end marker). `split`: every byte in a write of its own around multi-byte characters and line ends.
    `garbage`: a broken frame after event `index`. `error-event`: the API's error event with `status`'s error type.
    `drip`: one byte a write. `comment`: SSE comments, pings and retry lines between events. `refuse-connection`: the
    socket is closed on accept. `respelled`: the same stream in another `spelling`, where the service or a proxy in
    front of it has it. `merged`: all events in one write. `compressed`: gzip, where the request accepts it.
    `idle-close`: the connection is closed behind the whole answer, which did not announce it.
    `message` and `error_kind` replace the API's usual words for a `status`.
    """

    kind: FaultKind
    round: int = 0
    index: int = 0
    status: int = 0
    retry_after: float | None = None
    retry_after_as: Literal["seconds", "date"] = "seconds"
    times: int = 1
    after: str | None = None
    message: str | None = None
    error_kind: str | None = None
    spelling: Spelling | None = None


class Origin(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Where the recorded answers of a scenario come from: the service's `host`, the `dialect` that it spoke, the
    `model` that was asked, and the `day` of the recording (ISO 8601) where it is known.

    An adapter of that API is run with that model: what a model signs goes back to no other one.
    """

    host: str
    dialect: str
    model: str = ""
    day: str = ""

    def is_of(self, dialect: str) -> bool:
        """Whether the answers are in the words of this dialect, or of one of its surfaces."""
        return api_of(self.dialect) == api_of(dialect)

    def __str__(self) -> str:
        return f"{self.host}, {self.day or 'day unknown'}"


class RecordedAnswer(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The bytes that a real service once answered with, as text.

    `asked` is how they were asked for: the last word of the address, and what of its parameters decides the form of the
    answer (`chat`, `streamGenerateContent?alt=sse`). `stream` says that a stream was asked for.
    """

    body: str
    asked: str
    status: int = 200
    headers: dict[str, str] = {}
    stream: bool = False


def asked_form(path: str, query: Mapping[str, str]) -> str:
    """How a request of this address asks for its answer, as `RecordedAnswer.asked` has it."""
    form = "&".join(f"{name}={query[name]}" for name in ("$alt", "alt") if name in query)
    return re.split("[/:]", path)[-1] + (f"?{form}" if form else "")


class ScriptRound(msgspec.Struct, frozen=True):
    """One answer of the model: parts with their pieces, how it finishes, and overridden usage figures.

    A `recorded` answer is sent as it is where the request asks the same API for the same form; elsewhere the parts say
    the same in that API's words. `again` is what is answered instead when the same is asked a second time, a third
    time and so on, the last of it from then on: a model draws its words anew.
    """

    parts: tuple[ReplyPart, ...]
    finish: FinishReason
    raw_finish: str | None = None
    usage: dict[str, int] = {}
    recorded: RecordedAnswer | None = None
    again: tuple[ScriptRound, ...] = ()

    def answer_after(self, times: int) -> ScriptRound:
        """The answer when the same was asked so many times before."""
        return (self, *self.again)[min(times, len(self.again))]


class ToolScript(msgspec.Struct, frozen=True):
    """What a tool does when it is called: return a value, fail, or return attachments.

    `cases` let one tool answer different arguments differently, so that a result under the wrong call shows;
    `for_args()` picks, the script itself answers what no case names.
    """

    result: Any = None
    error: str | None = None
    attachments: tuple[InlineData | FileRef, ...] = ()
    cases: tuple[ToolCase, ...] = ()

    def for_args(self, args: Mapping[str, Any]) -> ToolScript:
        """What the tool does when called with `args`: the first case whose `when` they contain, else this script."""
        return next((case.then for case in self.cases if case.applies(args)), self)


class ToolCase(msgspec.Struct, frozen=True):
    """A tool's answer to the calls whose arguments contain all of `when`."""

    when: dict[str, Any]
    then: ToolScript

    def applies(self, args: Mapping[str, Any]) -> bool:
        """Whether `args` contain every member of `when`."""
        return all(name in args and args[name] == value for name, value in self.when.items())


class Interjection(msgspec.Struct, frozen=True):
    """What the user says while the turn runs, at the point of `cut`: at an event of a stream, or while a tool runs."""

    text: str
    cut: Cut


class Injection(msgspec.Struct, frozen=True):
    """A command that the user gave to the program, and what it said: both are shown to the model."""

    command: str
    outcome: str


class SessionStep(msgspec.Struct, frozen=True):
    """Something done with the sessions that outlive the process. They go by labels; that of the first one is `first`.

    `open`: what is open is closed, and another agent is opened in its place, which is to go on with `session`, or with
    the last one if `last`. The others are done with the agent that is open: `new`, `resume`, `continue`, `fork`,
    `delete`, `list`. `damage` cuts in half what is stored of `session`. `later` waits for the clock's next second.
    `label` is that of the session that comes of it. `cwd` is the label of a working directory: for `open` where to work
    from now on, for `continue` and `list` which sessions are asked for (None: the one in which it works; `list` may ask
    for `everywhere`).
    """

    do: Doing
    session: str | None = None
    label: str | None = None
    cwd: str | None = None
    last: bool = False

    @property
    def operations(self) -> tuple[Operation, ...]:
        """What an agent must be able to do for it."""
        resuming: tuple[Operation, ...] = ("resume_session",) if self.do == "open" and self.session is not None else ()
        return STEPS[self.do] + resuming + (("continue_last",) if self.last else ())


class Turn(msgspec.Struct, frozen=True):
    """One user turn. `user` are its parts; empty for a turn that only does `before` actions.

    `before` happen ahead of the user's message: `gc` (collect), `save-load` (into a fresh session),
    `save-load-other-path` (into one on the path that the saved one was not on), `damaged-load` (half of a saved session
    is offered, and must be refused), `new-provider` (another provider object), `reset` (an empty history), `tamper`
    (the list that the session handed out is emptied). After them `revert` goes back to the end of a turn of the
    history, counted from 0; there may be no such turn. `system` and `tools` replace those of the session from this turn
    on (None: unchanged). `results` maps a tool name to what it returns. `inject` happens right before the user's
    message. `interject` cuts a round short, and the next round answers it. `child` is a turn of a child of the session,
    the same one all through the run; it is over before the user speaks, and fails where it expects that. Where it has a
    `child_tool`, that tool of the turn has it done meanwhile, and returns what the child answers; where it
    `child_outlives`, it begins before the turn and gets its answer behind it. `children` are turns of several children
    at the same time, the first of which is that of `child`; all are over before the user speaks. `sessions` are steps
    with the sessions that an agent keeps, ahead of everything else; `denied` are tools that may not run in this turn.
    `beside` is a turn that somebody else asks the same agent for, while the first tool of this one runs. The tool
    `background` returns only when the turn is over. With `take_back` the user can be told that text does not count.
    """

    user: tuple[Part, ...]
    rounds: tuple[ScriptRound, ...]
    results: dict[str, ToolScript] = {}
    system: str | None = None
    tools: tuple[ToolSchema, ...] | None = None
    before: tuple[Action, ...] = ()
    revert: int | None = None
    cancel: Cut | None = None
    faults: tuple[Fault, ...] = ()
    response_schema: dict[str, Any] | None = None
    expect: Literal["answer", "error", "cancelled"] = "answer"
    error: str | None = None
    advance_clock: float = 0.0
    inject: Injection | None = None
    interject: Interjection | None = None
    child: Turn | None = None
    child_tool: str | None = None
    child_outlives: bool = False
    children: tuple[Turn, ...] = ()
    sessions: tuple[SessionStep, ...] = ()
    denied: tuple[str, ...] = ()
    beside: Turn | None = None
    background: str | None = None
    take_back: bool = False

    @property
    def text(self) -> str:
        """The user's texts, joined."""
        return "".join(part.text for part in self.user if isinstance(part, Text))

    @property
    def beside_parent(self) -> tuple[Turn, ...]:
        """The turns of children that others go on beside: that of each child by its number."""
        if self.children:
            return self.children
        aside = self.child_tool is not None or self.child_outlives
        return (self.child,) if self.child is not None and aside else ()

    @property
    def cut(self) -> Cut | None:
        """Where the turn, or an answer in it, is broken off on purpose."""
        return self.interject.cut if self.interject is not None else self.cancel

    @property
    def operations(self) -> tuple[Operation, ...]:
        """What a session must be able to do for this turn."""
        needed: list[Operation] = [operation for action in self.before for operation in NEEDED[action]]
        needed += ["configure"] if self.system is not None or self.tools is not None else []
        needed += ["revert"] if self.revert is not None else []
        needed += ["inject"] if self.inject is not None else []
        needed += ["interject"] if self.interject is not None else []
        needed += ["spawn"] if self.child is not None or self.children else []
        needed += ["children_at_once"] if self.child_outlives or self.children else []
        needed += ["background"] if self.background is not None else []
        needed += ["takes_back"] if self.take_back else []
        needed += [operation for step in self.sessions for operation in step.operations]
        needed += (
            ["session_id"]
            if self.denied or self.beside is not None or (self.cancel is not None and self.cancel.by == "kill")
            else []
        )
        needed += ["stop"] if self.cancel is not None and self.cancel.by == "stop" else []
        needed += ["send_parts"] if self.user and not (len(self.user) == 1 and isinstance(self.user[0], Text)) else []
        return tuple(needed)


class TextChange(msgspec.Struct, frozen=True):
    """A change of each text that the user says, before it is sent: it `adds` a text in a paragraph of its own, or has
    another one (`by`) wherever the text has `replaces`. Those of lower priority come first."""

    priority: int
    adds: str | None = None
    replaces: str | None = None
    by: str = ""

    def applied(self, text: str) -> str:
        """The text after the change."""
        return f"{text}\n\n{self.adds}" if self.replaces is None else text.replace(self.replaces, self.by)


class Swept(msgspec.Struct, frozen=True):
    """The answer that is broken and cancelled at every one of its events (`scenarios.sweep`); `only` by these."""

    turn: int = 0
    round: int = 0
    only: tuple[str, ...] = ()


class Scenario(msgspec.Struct, frozen=True):
    """A whole conversation. `features` name the capabilities it needs; an adapter that lacks one skips it, visibly.

    `modes` says whether it runs streamed, in one piece, or both. At the default depth it is run only `unless` the
    subject is run with one of those scenarios, which show the same of a subject that claims more. `options` go to the
    endpoint (`thinking`, `max_tokens`, `timeout`), but for `context_tokens`: it narrows the service's window for this
    run, so that a prompt can be too long without being large. `probes` re-send the run's calls afterwards on a fresh
    object, in reverse order, from several threads, in event loops that come and go, or with a cancel token that is set
    already, on both paths; `broken` sends the last one with a history that no API accepts, and `helpers` has the
    adapter count and serialise the messages of each; `other-model` has one object that owns the history answer twice,
    by another model the second time, and `other-key` one that is given another key in between; `deletion` has one
    delete its conversation at the service, while a fork of it goes on; `background` has an answer in the background
    taken up by an object that did not ask for it, and another one cancelled; `broken-stream` has the stream of one
    break twice; `shutdown` counts the connections that are open behind it. `cache` says whether the session uses the
    binding's cache plugin. `debug_logs` says that the application logs at level DEBUG. `keep_turns` is how many turns a
    collection leaves. `given` is a conversation that was held elsewhere: the session goes on from it, and no model of
    this run has signed anything in it. A scenario whose `subject` is `session` or `agent` tells these apart, and
    adapters not: they are certified without it. `origin` is where its recorded answers come from. `enrichers` change
    each text that the user says. `watched`: the events of its agents are recorded.
    """

    name: str
    title: str
    turns: tuple[Turn, ...]
    system: str | None = None
    tools: tuple[ToolSchema, ...] = ()
    given: tuple[Message, ...] = ()
    features: tuple[str, ...] = ()
    modes: tuple[Literal["stream", "batch"], ...] = ("stream",)
    options: dict[str, Any] = {}
    cache: bool = False
    debug_logs: bool = False
    probes: tuple[Probe, ...] = ()
    depth: Depth = DEFAULT_DEPTH
    unless: tuple[str, ...] = ()
    keep_turns: int = 2
    subject: SubjectKind = "adapter"
    sweep: Swept | None = None
    origin: Origin | None = None
    enrichers: tuple[TextChange, ...] = ()
    watched: bool = False
    file: str = ""

    @property
    def operations(self) -> tuple[Operation, ...]:
        """What a session must be able to do for this scenario, sorted."""
        needed = {operation for turn in self.turns for operation in turn.operations}
        needed |= {"enrichment"} if self.enrichers else set()
        needed |= {"watch_agents"} if self.watched else set()
        return tuple(sorted(needed | ({"adopt"} if self.given else set())))

    def is_in(self, depth: Depth) -> bool:
        """Whether a command of this depth runs it."""
        return depth == "full" or self.depth == DEFAULT_DEPTH

    def modes_with(self, streaming: bool) -> list[Literal["stream", "batch"]]:
        """The modes in which it is run for a subject that streams, or does not."""
        return [mode for mode in self.modes if mode == "batch" or streaming]

    def enriched(self, text: str) -> str:
        """What a text of the user's becomes before it is sent."""
        for change in sorted(self.enrichers, key=lambda change: change.priority):
            text = change.applied(text)
        return text

    def model_for(self, dialect: str, usual: str) -> str:
        """The model that an adapter of this dialect is run with: the one whose recorded answers it gets, else its
        `usual` one."""
        origin = self.origin
        return origin.model if origin is not None and origin.model and origin.is_of(dialect) else usual

    def origin_for(self, dialect: str) -> Origin | None:
        """Where the answers come from that an adapter of this dialect gets, if they are recorded ones."""
        has_some = any(answer.recorded is not None for turn in self.turns for answer in turn.rounds)
        return self.origin if has_some and self.origin is not None and self.origin.is_of(dialect) else None

    def system_in(self, turn: int) -> str | None:
        """The system text in force in a turn."""
        changed = [script.system for script in self.turns[: turn + 1] if script.system is not None]
        return changed[-1] if changed else self.system

    def tools_in(self, turn: int) -> tuple[ToolSchema, ...]:
        """The tools declared in a turn: those of the last turn up to it that changed them, else the scenario's."""
        changed = [script.tools for script in self.turns[: turn + 1] if script.tools is not None]
        return changed[-1] if changed else self.tools
