"""The record of one run: an ordered list of typed events, from both sides of the adapter.

The order is logical, not temporal: within one provider call the wire exchanges come first, then what the adapter
called back, then how it ended. Two runs with the same seed give the same list, so that its digest means something.
"""

from __future__ import annotations

from base64 import b64decode
from typing import Any, Literal, TypeAlias, TypeVar

import msgspec

from .._base.canonical import canonical
from ..messages import FunctionCall, Message, ProviderResponse, TokenUsage, ToolSchema
from ..provider import Path
from .tracebacks import Frame, Raised


class _Event(msgspec.Struct, frozen=True, kw_only=True, tag_field="event", omit_defaults=True):
    turn: int = -1
    """Index of the scenario turn the event belongs to; -1 outside any turn."""
    call: int = -1
    """Index of the provider call within the run; -1 where there is none."""
    probe: str = ""
    """Not empty for what a probe did after the conversation: `fresh`, `reversed`, `threads`, `loops`, `cancelled`."""


class SessionOpened(_Event, frozen=True, kw_only=True, omit_defaults=True, tag="session_opened"):
    """The session stands ready; `path` is the one that it says it is on."""

    path: Path


class TurnBegan(_Event, frozen=True, kw_only=True, omit_defaults=True, tag="turn_began"):
    """A scenario turn starts; `text` is what the user says."""

    text: str = ""


class CallBegan(_Event, frozen=True, kw_only=True, omit_defaults=True, tag="call_began"):
    """The session hands these messages, system text and tools to the adapter. `round` counts tool-result rounds.

    `path` is that of the provider which is called. `child`: a child of the session calls it, which has a conversation
    of its own. `at_ms` is when the call began, in milliseconds since the run did, and `ms` how long it took; None where
    nobody measured it, or the call never came to its end. No time is in any digest.
    """

    messages: tuple[Message, ...]
    system: str | None
    tools: tuple[ToolSchema, ...]
    round: int
    streamed: bool
    attempt: int = 0
    response_schema: Any = None
    path: Path | None = None
    child: bool = False
    at_ms: float | None = None
    ms: float | None = None


class WireRequest(_Event, frozen=True, kw_only=True, omit_defaults=True, tag="wire_request"):
    """A request as the server saw it.

    `headers` are kept by allow-list; `body` is the parsed JSON (or the text that was not JSON), `digest` of the
    raw bytes, and `raw` their text wherever canonical JSON of `body` is something else. `extra` marks unscripted
    operations; `findings` are the rules it offends, enforced or only logged, each
    `{"rule", "evidence", "status", "kind", "message", "path", "enforced"}`, and `"outdated": true` where time alone
    made it so. `at_ms` is when it arrived, in milliseconds since the run began, as the call's.
    """

    exchange: int
    method: str
    path: str
    headers: dict[str, str]
    body: Any
    digest: str
    operation: str
    raw: str = ""
    extra: bool = False
    findings: tuple[dict[str, Any], ...] = ()
    at_ms: float | None = None

    @property
    def data(self) -> bytes:
        """The body's bytes as they arrived."""
        if self.raw or self.body is None:
            return self.raw.encode()
        return self.body.encode() if isinstance(self.body, str) else canonical(self.body)


class WireResponse(_Event, frozen=True, kw_only=True, omit_defaults=True, tag="wire_response"):
    """What the server wrote and how the exchange ended.

    `body` is the answer in the dialect's own spelling, as far as its events were written. Where other bytes than these
    went out, `sent` is what went out, without its transfer coding, and `spelling` names the fault's spelling, if that
    is why; a client has received all of it, or after a reset or a close of its own a beginning.

    `ended`: `completed`, `cut-by-us` (a fault), `cut-by-peer` (the client closed), `timed-out`, `left-open`.
    `written` counts events. `held` says that the stream was held for a cancel; `released` how the hold ended
    (`peer-closed`, `call-returned`, `limit`). `events_after_cancel` counts events written after the cancel.

    How much is written until a client closes depends on the moment. Where that was the case, `settled` says of each
    field how much of it does not: so many characters of a text, this much of a count. A digest covers no more.

    `ms` is how long it took from the request to the end of the answer. `origin` says whose answer it is: empty for the
    emulator, a cassette or a fault of the scenario; the real `service`; or what the service had answered to the same
    request before, `kept`.
    """

    exchange: int
    status: int
    headers: dict[str, str]
    body: str
    written: int
    base64: bool = False
    ended: Literal["completed", "cut-by-us", "cut-by-peer", "timed-out", "left-open"]
    fault: str | None = None
    held: bool = False
    released: str | None = None
    events_after_cancel: int = 0
    prompt_tokens: int = 0
    sent: str | None = None
    sent_base64: bool = False
    spelling: str = ""
    settled: dict[str, int] = {}
    origin: Literal["", "service", "kept"] = ""
    ms: float | None = None

    @property
    def data(self) -> bytes:
        """The body's bytes as far as they were written, in the dialect's own spelling: what readers of answers take."""
        return b64decode(self.body) if self.base64 else self.body.encode()

    @property
    def bytes_sent(self) -> bytes:
        """The bytes that really went out, in order, without their transfer coding."""
        if self.sent is None:
            return self.data
        return b64decode(self.sent) if self.sent_base64 else self.sent.encode()


class Chunk(_Event, frozen=True, kw_only=True, omit_defaults=True, tag="chunk"):
    """`on_chunk` was called."""

    text: str


class Thinking(_Event, frozen=True, kw_only=True, omit_defaults=True, tag="thinking"):
    """`on_thinking` was called."""

    text: str


class FunctionCallDetected(_Event, frozen=True, kw_only=True, omit_defaults=True, tag="function_call"):
    """`on_function_call` was called."""

    function_call: FunctionCall


class UsageUpdate(_Event, frozen=True, kw_only=True, omit_defaults=True, tag="usage"):
    """`on_usage_update` was called."""

    usage: TokenUsage


class LateCallback(_Event, frozen=True, kw_only=True, omit_defaults=True, tag="late_callback"):
    """A callback ran after its call had returned."""

    kind: str


class Response(_Event, frozen=True, kw_only=True, omit_defaults=True, tag="response"):
    """The provider call returned. `mutated` lists the paths of arguments it changed."""

    response: ProviderResponse
    mutated: tuple[str, ...] = ()


class Interjected(_Event, frozen=True, kw_only=True, omit_defaults=True, tag="interjected"):
    """The user said something while the turn ran. `at` is the scenario's name for the moment."""

    at: str
    text: str


class Failed(_Event, frozen=True, kw_only=True, omit_defaults=True, tag="failed"):
    """A provider call or a whole turn raised. `typed` says whether it was a ProviderError; `scope` which of both.

    `from_callback`: the exception came out of the session's own callback, and the adapter let it through. `raised` is
    the exception with its traceback, in this event as in others: it is in no digest, as lines and paths vary.
    """

    scope: Literal["call", "turn"]
    error: str
    message: str
    typed: bool
    retryable: bool = False
    status: int | None = None
    retry_after: float | None = None
    bases: tuple[str, ...] = ()
    mutated: tuple[str, ...] = ()
    limit: int | None = None
    requested: int | None = None
    from_callback: bool = False
    raised: Raised | None = None


class Cancelled(_Event, frozen=True, kw_only=True, omit_defaults=True, tag="cancelled"):
    """The turn was cancelled at this point of the scenario: its token was set, or the session `stopped`."""

    at: str
    stopped: bool = False


class ToolRun(_Event, frozen=True, kw_only=True, omit_defaults=True, tag="tool_run"):
    """A tool ran (or was refused) for a call."""

    call_id: str
    name: str
    args: Any
    outcome: Literal["ok", "error", "unknown", "cancelled"]


class Retried(_Event, frozen=True, kw_only=True, omit_defaults=True, tag="retried"):
    """The session slept `delay` seconds (virtual time) before attempt `attempt`, because of `error`."""

    attempt: int
    delay: float
    error: str


class Collected(_Event, frozen=True, kw_only=True, omit_defaults=True, tag="collected"):
    """History was collected: message ids before, and after."""

    before: tuple[str, ...]
    after: tuple[str, ...]


class Saved(_Event, frozen=True, kw_only=True, omit_defaults=True, tag="saved"):
    """The session was saved; `data` is the saved text."""

    data: str


class Loaded(_Event, frozen=True, kw_only=True, omit_defaults=True, tag="loaded"):
    """A session was loaded into a fresh one. `damaged` says that the text had been: the run does not go on with it.

    `path` is the one that the loaded session is on, where it was saved on the other. `message_ids` is what the session
    claims of that name: where it is False, the ids of the messages are made up each time that they are read.
    """

    messages: tuple[Message, ...]
    damaged: bool = False
    path: Path | None = None
    message_ids: bool = True


class Swapped(_Event, frozen=True, kw_only=True, omit_defaults=True, tag="swapped"):
    """The provider object was replaced by a fresh one in mid conversation."""

    name: str


class Reset(_Event, frozen=True, kw_only=True, omit_defaults=True, tag="reset"):
    """The session was told to forget the conversation."""


class Reverted(_Event, frozen=True, kw_only=True, omit_defaults=True, tag="reverted"):
    """The session went back to the end of turn `to` of its history, counted from 0."""

    to: int


class Refused(_Event, frozen=True, kw_only=True, omit_defaults=True, tag="refused"):
    """An operation of the session raised; it has to have changed nothing."""

    operation: str
    error: str
    message: str
    raised: Raised | None = None


class UsageReport(_Event, frozen=True, kw_only=True, omit_defaults=True, tag="usage_report"):
    """What the session gives as its provider's last figures, after a turn."""

    usage: TokenUsage


class ContextReport(_Event, frozen=True, kw_only=True, omit_defaults=True, tag="context_report"):
    """How many tokens of context the conversation takes, by the session's account, after a turn or an operation."""

    tokens: int


class SpanMade(_Event, frozen=True, kw_only=True, omit_defaults=True, tag="span"):
    """An OpenTelemetry span of the session. All of a run's are told when it is over, parents first.

    `span` counts them in that order; `parent` is the count of the one above it, -1 where there is none. Siblings stand
    in the order in which they began; tool calls beside each other by what they say, since they may begin at once.
    `during` is what was being done when it began: `turn`, or an operation by the word that scenarios have for it.
    `calls` are how many provider calls had been made when it began, and when it ended. `notes` are the events in it,
    each `{"name", "attributes"}`. One that never `ended` is told as it stood at the end of the run.

    Those named `turnproof.work` are turnproof's own: made where a provider is called, or where the tool runs that
    `turnproof.work.tool` names, so that their parents show which span was the current one.
    """

    span: int
    name: str
    kind: str
    status: Literal["unset", "ok", "error"]
    calls: tuple[int, int]
    parent: int = -1
    attributes: dict[str, Any] = {}
    description: str = ""
    notes: tuple[dict[str, Any], ...] = ()
    during: str = ""
    ended: bool = True


class ProviderSeen(_Event, frozen=True, kw_only=True, omit_defaults=True, tag="provider_seen"):
    """A provider object as it is, in a run that is watched.

    `cls` is its class as `module:name`, `methods` are those by which a provider owns a history (`create_session` and
    so on), and `path` is the one that it was opened for. `how`: it was `given` to the session, was only `opened` to be
    looked at, or is `behind` another one that the adapter's binding put in front of it. `complete` says whether it has
    such a method, and `refuses` why that one cannot be called as the contract has it. `takes_plugin`: it has a
    `set_cache_plugin`.
    """

    cls: str
    how: Literal["given", "opened", "behind"]
    path: Path | None = None
    methods: tuple[str, ...] = ()
    complete: bool = False
    refuses: str = ""
    takes_plugin: bool = False


class ProviderTouched(_Event, frozen=True, kw_only=True, omit_defaults=True, tag="provider_touched"):
    """The session used something of its provider, in a run that is watched.

    `during` is what was being done: `open`, `turn`, `context`, `usage`, or an operation by the word that scenarios have
    for it. `call` is that of the last provider call so far. What is used again in the same place is told once.
    """

    name: str
    how: Literal["read", "called", "written"]
    during: str


class ProviderHolds(_Event, frozen=True, kw_only=True, omit_defaults=True, tag="provider_holds"):
    """What was found in a provider's own state, in a run that is watched.

    `after` is `conversation` (the session still lives, so that it may hold messages itself) or `call` (nobody but the
    provider can hold any more what was said). `messages` are the places that hold what was said in the conversation,
    `plugins` those that hold the session's cache plugin. `looked_at` counts the objects; `whole` says that there were
    no more of them.
    """

    cls: str
    after: Literal["conversation", "call"]
    looked_at: int
    whole: bool = True
    messages: tuple[str, ...] = ()
    plugins: tuple[str, ...] = ()


class ProviderAsked(_Event, frozen=True, kw_only=True, omit_defaults=True, tag="provider_asked"):
    """Something that a provider does beside answering was tried, in a run that is watched.

    `outcome`: it `works`, it `fails` (`said` tells how), the provider has `none`, or it is `unknown` how it is called.
    """

    what: str
    outcome: Literal["works", "fails", "none", "unknown"]
    said: str = ""


class Accounts(_Event, frozen=True, kw_only=True, omit_defaults=True, tag="accounts"):
    """What a session accounts for, in a run that is watched: the last figures, and turns. None where it shows none.

    `at` says when: right `before` a reset, or `after` it.
    """

    at: Literal["before", "after"]
    usage: TokenUsage | None = None
    turns: int | None = None


class SessionListed(msgspec.Struct, frozen=True, omit_defaults=True):
    """An entry of a list of sessions, by labels. `age` counts from the one that was updated last, 0; None: not told."""

    session: str
    cwd: str = ""
    titled: bool = False
    age: int | None = None
    problem: bool = False


class SessionStepped(_Event, frozen=True, kw_only=True, omit_defaults=True, tag="session_stepped"):
    """Something was done with the sessions that an agent keeps: `do`, as scenarios have it, with the session `asked`.

    Sessions go by the labels of the scenario; one that it does not speak of is `other-1` and so on, and `nobody` is an
    id that no session has. `was` and `now` are the sessions open before and after it, None where the agent knows of
    none. `outcome`: it was `done`, or `refused` with an error (`typed`: one of turnproof's tree; `unsupported`: a
    NotImplementedError), or there was `nothing` to be done. `returned` is the session that the agent named. `last`: the
    last session was asked for.
    """

    do: str
    outcome: Literal["done", "refused", "nothing"]
    asked: str | None = None
    cwd: str = ""
    was: str | None = None
    now: str | None = None
    returned: str | None = None
    last: bool = False
    error: str = ""
    message: str = ""
    typed: bool = False
    unsupported: bool = False
    listed: tuple[SessionListed, ...] = ()
    raised: Raised | None = None


class SessionInForce(_Event, frozen=True, kw_only=True, omit_defaults=True, tag="session_in_force"):
    """The session that is open after a turn, by its label, and what the agent says can be done with its sessions.

    `unknown` names what it says beside that, of whatever type. `program` is what the program behind it calls itself,
    with its version.
    """

    session: str | None
    can: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()
    program: str = ""


class SaidBeside(_Event, frozen=True, kw_only=True, omit_defaults=True, tag="said_beside"):
    """Somebody else asked the agent for a turn while this one ran, and it came to this end.

    `outcome`: an `answer`, or an `error` (`typed`: one of turnproof's tree); `open` where it came to none in time.
    """

    outcome: Literal["answer", "error", "open"]
    text: str = ""
    error: str = ""
    message: str = ""
    typed: bool = False
    raised: Raised | None = None


class Killed(_Event, frozen=True, kw_only=True, omit_defaults=True, tag="killed"):
    """Every process that the agent had started was killed at this point of the scenario; `processes` counts them."""

    at: str
    processes: int


class LeftBehind(_Event, frozen=True, kw_only=True, omit_defaults=True, tag="left_behind"):
    """What the agent has left when it was shut down: `processes` by their names, and changed `files` in the folders it
    worked in.

    `started` counts the processes that it ever had, `exposed` those in whose command line the key stood.
    """

    processes: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    started: int = 0
    exposed: tuple[str, ...] = ()


class HistorySnapshot(_Event, frozen=True, kw_only=True, omit_defaults=True, tag="history"):
    """The history after an operation: the session's (`owner=session`) or the provider's own (`owner=provider`).

    `after` is `turn`, or the operation by the word that scenarios have for it. After `tamper` the list that the session
    had handed out before had been emptied.
    """

    owner: Literal["session", "provider"]
    messages: tuple[Message, ...]
    after: str = "turn"


class TurnEnded(_Event, frozen=True, kw_only=True, omit_defaults=True, tag="turn_ended"):
    """A scenario turn is over. `shown` is the text the user saw."""

    outcome: Literal["answer", "error", "cancelled"]
    shown: str = ""
    text: str = ""


class RunEnded(_Event, frozen=True, kw_only=True, omit_defaults=True, tag="run_ended"):
    """The run is over.

    `how` says whether by itself. `stdout` is what the adapter printed, `stderr` what was written to standard error
    (warnings, logs), `leaks` where the key was seen outside an auth header, `threads_left` how many threads outlived
    the adapter's shutdown, and `processes_left` the names of the processes that did, which were killed then. `raised`
    is what ended it early, where that was an exception. `opened` is where the class of what was opened is defined.
    """

    how: Literal["completed", "open-failed", "hung", "died", "harness-fault", "service-fault"]
    detail: str = ""
    stdout: str = ""
    stderr: str = ""
    leaks: tuple[str, ...] = ()
    threads_left: int = 0
    processes_left: tuple[str, ...] = ()
    raised: Raised | None = None
    opened: Frame | None = None


Event: TypeAlias = (
    SessionOpened
    | TurnBegan
    | CallBegan
    | WireRequest
    | WireResponse
    | Chunk
    | Thinking
    | FunctionCallDetected
    | UsageUpdate
    | LateCallback
    | Response
    | Failed
    | Cancelled
    | Interjected
    | ToolRun
    | Retried
    | Collected
    | Saved
    | Loaded
    | Swapped
    | Reset
    | Reverted
    | Refused
    | UsageReport
    | ContextReport
    | SpanMade
    | ProviderSeen
    | ProviderTouched
    | ProviderHolds
    | ProviderAsked
    | Accounts
    | SessionStepped
    | SessionInForce
    | SaidBeside
    | Killed
    | LeftBehind
    | HistorySnapshot
    | TurnEnded
    | RunEnded
)

E = TypeVar("E", bound=_Event)


class RunKey(msgspec.Struct, frozen=True, order=True):
    """Which run: scenario × path × mode; `repeat` 1 is the second legacy run that measures noise."""

    scenario: str
    path: Path
    mode: Literal["stream", "batch"] = "stream"
    repeat: int = 0

    def __str__(self) -> str:
        return f"{self.scenario}/{self.path}/{self.mode}" + (f"#{self.repeat}" if self.repeat else "")


class Transcript(msgspec.Struct, frozen=True):
    """One run of one scenario on one path, as evidence."""

    adapter: str
    dialect: str
    model: str
    backend: str
    key: RunKey
    seed: int
    events: tuple[Event, ...]

    def of(self, *kinds: type[E]) -> list[E]:
        """The events of these kinds, in order."""
        return [event for event in self.events if isinstance(event, kinds)]

    @property
    def end(self) -> RunEnded:
        """How the run ended."""
        last = self.events[-1]
        assert isinstance(last, RunEnded)
        return last
