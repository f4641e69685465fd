"""Events of a run's turns: the calls, their results, and how the run ended."""

from __future__ import annotations

from typing import Any, Literal

from ...messages import FunctionCall, Message, Part, ProviderResponse, TokenUsage, ToolResult, ToolSchema
from ...provider import Path
from ...subject import AgentEvent, AgentState
from ..tracebacks import Frame, Raised
from ._event import BaseEvent


class SessionOpened(BaseEvent, frozen=True, kw_only=True, omit_defaults=True, tag="session_opened"):
    """The session stands ready; `path` is the one that it says it is on."""

    path: Path


class TurnBegan(BaseEvent, frozen=True, kw_only=True, omit_defaults=True, tag="turn_began"):
    """A scenario turn starts; `text` is what the user says."""

    text: str = ""


class CallBegan(BaseEvent, frozen=True, kw_only=True, omit_defaults=True, tag="call_began"):
    """The session hands these messages, system text and tools to the adapter. `round` counts tool-result rounds.

    `path` is that of the provider which is called; None where a probe says something again to a session that shows no
    calls, which then holds all messages but the last one. `child`: a child of the session calls it, which has a
    conversation of its own. `broken` names what a probe has broken in the history on purpose. `at_ms` is when the call
    began, in milliseconds since the run did, and `ms` how long it took; None where nobody measured it, or the call
    never came to its end. No time is in any digest.
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
    broken: str = ""
    at_ms: float | None = None
    ms: float | None = None


class Chunk(BaseEvent, frozen=True, kw_only=True, omit_defaults=True, tag="chunk"):
    """`on_chunk` was called."""

    text: str


class Thinking(BaseEvent, frozen=True, kw_only=True, omit_defaults=True, tag="thinking"):
    """`on_thinking` was called."""

    text: str


class FunctionCallDetected(BaseEvent, frozen=True, kw_only=True, omit_defaults=True, tag="function_call"):
    """`on_function_call` was called."""

    function_call: FunctionCall


class UsageUpdate(BaseEvent, frozen=True, kw_only=True, omit_defaults=True, tag="usage"):
    """`on_usage_update` was called."""

    usage: TokenUsage


class LateCallback(BaseEvent, frozen=True, kw_only=True, omit_defaults=True, tag="late_callback"):
    """A callback ran after its call had returned."""

    kind: str


class Response(BaseEvent, frozen=True, kw_only=True, omit_defaults=True, tag="response"):
    """The provider call returned. `mutated` lists the paths of arguments it changed.

    `callback_raised`: a callback of the session raised during the call, and the adapter returned all the same.
    """

    response: ProviderResponse
    mutated: tuple[str, ...] = ()
    callback_raised: bool = False


class Interjected(BaseEvent, frozen=True, kw_only=True, omit_defaults=True, tag="interjected"):
    """The user said something while the turn ran. `at` is the scenario's name for the moment."""

    at: str
    text: str


class Failed(BaseEvent, frozen=True, kw_only=True, omit_defaults=True, tag="failed"):
    """A provider call or a whole turn raised. `typed` says whether it was a ProviderError; `scope` which of both.

    `from_callback`: the exception came out of the session's own callback; the adapter let it through or wrapped it.
    `raised` is the exception with its traceback, in this event as in others: it is in no digest, as lines and paths
    vary.
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
    kind: str | None = None
    partial: tuple[Part, ...] = ()
    from_callback: bool = False
    raised: Raised | None = None


class Cancelled(BaseEvent, frozen=True, kw_only=True, omit_defaults=True, tag="cancelled"):
    """The turn was cancelled at this point of the scenario: its token was set, or the session `stopped`."""

    at: str
    stopped: bool = False


class ToolRun(BaseEvent, frozen=True, kw_only=True, omit_defaults=True, tag="tool_run"):
    """A tool ran (or was refused) for a call."""

    call_id: str
    name: str
    args: Any
    outcome: Literal["ok", "error", "unknown", "cancelled"]


class ToolWentOn(BaseEvent, frozen=True, kw_only=True, omit_defaults=True, tag="tool_went_on"):
    """A tool that returns only when its turn is over has returned. `waited` says that the turn did not end before.

    `cancelled` says that its token was set, and `results` are what the session tells of tools in the background.
    """

    name: str
    waited: bool = False
    cancelled: bool = False
    results: tuple[ToolResult, ...] = ()


class Retried(BaseEvent, frozen=True, kw_only=True, omit_defaults=True, tag="retried"):
    """The session slept `delay` seconds (virtual time) before attempt `attempt`, because of `error`.

    `failure` is that error with all that it says, where no provider call shows it.
    """

    attempt: int
    delay: float
    error: str
    failure: Failed | None = None


class HistorySnapshot(BaseEvent, frozen=True, kw_only=True, omit_defaults=True, tag="history"):
    """The history after an operation: the session's (`owner=session`) or the provider's own (`owner=provider`).

    `after` is `turn`, or the operation by the word that scenarios have for it. After `tamper` the list that the session
    had handed out before had been emptied.
    """

    owner: Literal["session", "provider"]
    messages: tuple[Message, ...]
    after: str = "turn"


class ChildEnded(BaseEvent, frozen=True, kw_only=True, omit_defaults=True, tag="child_ended"):
    """A turn of a child is over that others went on beside. `child` is its number.

    `asked` says that its request came, where its answer was held back until it had: of a session that speaks to one at
    a time it comes only when another one is answered. `open` is one that has not ended long after the tool's turn had.
    `error` is the class of what the turn raised, with its `message`.
    """

    child: int
    outcome: Literal["answer", "error", "cancelled", "open"]
    text: str = ""
    asked: bool = False
    error: str = ""
    message: str = ""
    raised: Raised | None = None


class AgentsWatched(BaseEvent, frozen=True, kw_only=True, omit_defaults=True, tag="agents_watched"):
    """The events of the session's agents since the last time, and the agents as somebody sees them who connects now.

    `after` is `open`, `turn`, or the operation by the word that scenarios have for it. Ids are replaced by words, in
    the order in which they were first seen. `differing` counts those who connected in between and were told something
    else from then on.
    """

    after: str
    events: tuple[AgentEvent, ...] = ()
    now: tuple[AgentState, ...] = ()
    differing: int = 0


class TakenBack(BaseEvent, frozen=True, kw_only=True, omit_defaults=True, tag="taken_back"):
    """The session told that `text`, the text shown of an answer, does not count: another answer follows."""

    text: str


class TurnEnded(BaseEvent, frozen=True, kw_only=True, omit_defaults=True, tag="turn_ended"):
    """A scenario turn is over. `shown` is the text the user saw, without what was taken back.

    `answer` is the model's last answer as the session gave it to its user, where no provider call shows it.
    """

    outcome: Literal["answer", "error", "cancelled"]
    shown: str = ""
    text: str = ""
    answer: ProviderResponse | None = None


class RunEnded(BaseEvent, frozen=True, kw_only=True, omit_defaults=True, tag="run_ended"):
    """The run is over.

    `how` says whether by itself. `stdout` is what the adapter printed, `stderr` what was written to standard error
    (warnings, logs), `leaks` where the key was seen outside an auth header, `threads_left` how many threads outlived
    the adapter's shutdown, `connections_left` how many connections did (None where nobody looked), and `processes_left`
    the names of the processes that did, which were killed then. `files_left` are the first files in the worker's own
    folders (`work/...`, `tmp/...`), which are removed. `raised` is what ended it early, where that was an exception.
    `opened` is where the class of what was opened is defined.
    """

    how: Literal["completed", "open-failed", "hung", "died", "harness-fault", "service-fault"]
    detail: str = ""
    stdout: str = ""
    stderr: str = ""
    leaks: tuple[str, ...] = ()
    threads_left: int = 0
    connections_left: int | None = None
    processes_left: tuple[str, ...] = ()
    files_left: tuple[str, ...] = ()
    raised: Raised | None = None
    opened: Frame | None = None
