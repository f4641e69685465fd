"""Agents: programs that hold the conversation themselves, call the tools themselves, and outlive the process that asks.

A message goes in, and what comes back is the end of a whole turn. What was said stands with the agent, under the id of
a session; whoever speaks to it has at best a copy. `Agent` is what an adapter offers over such a program, and
`AgentBinding` the few lines that tell turnproof how to open one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, Unpack

from .cancel import CancelToken
from .errors import BindingError
from .messages import JSON, FileRef, FunctionCall, InlineData, Message, Part, ProviderResponse, ToolSchema
from .provider import CallOptions, Capabilities, Endpoint
from .sessions import SessionCapabilities, SessionSource


@dataclass(frozen=True, slots=True)
class ToolOutput:
    """A tool's return value where plain JSON does not say enough: an error flag, or images and files beside it."""

    result: JSON = None
    is_error: bool = False
    attachments: tuple[InlineData | FileRef, ...] = ()


@dataclass(frozen=True, slots=True)
class Tool:
    """What the model may call: its schema, and a function of the arguments and the turn's cancel token.

    `run` gets a plain dict of its own to change as it likes, and may be called from several threads at once. It returns
    JSON, or a `ToolOutput` where there is more to say than JSON can, and raises what makes the tool fail. It raises
    `Cancelled` when the token is set while it runs.

    One that has not returned `background_after` seconds after it began goes on in the background: its call is answered
    with `{"task_id": ..., "status": "running"}`, once and for all. None: the turn waits for it.
    """

    schema: ToolSchema
    run: Callable[[dict[str, Any], CancelToken], Any]
    background_after: float | None = None


def _anything(call: FunctionCall) -> bool:
    return True


@dataclass(frozen=True, slots=True)
class AgentSetup:
    """What an agent is opened with.

    endpoint:      where the model is that the agent asks, and as whom.
    home:          a folder of the agent's own, where it keeps its sessions and settings. It stays from one process to
                   the next, and nothing of the user's own settings is looked at beside it.
    cwd:           the folder it works in. Sessions belong to it. The adapter writes nothing there.
    system:        the system text; it reaches the model with every request, also in a session that is resumed.
    tools:         what the model may call. They run in this process, once for each call; no other tool is to run.
    session:       the session to go on with. Where it cannot be, the one that was updated last is taken up if
                   `continue_last` says so, and else a new one is begun: opening does not fail for it.
    continue_last: go on with the session of `cwd` that was updated last, if there is one.
    permits:       asked where the program asks whether a call may run: no is told to the model, and the turn goes on.
    """

    endpoint: Endpoint
    home: str
    cwd: str
    system: str | None = None
    tools: tuple[Tool, ...] = ()
    session: str | None = None
    continue_last: bool = False
    permits: Callable[[FunctionCall], bool] = _anything


class Agent(SessionSource, Protocol):
    """An agent with one session open. It serves one turn at a time: a second one is refused with UsageError.

    What a program does may start late: opening it may start nothing, and then the first turn, or the first question
    about its sessions, does.
    """

    @property
    def history(self) -> Sequence[Message]:
        """What was said in the session that is open, as far as the agent has shown it; oldest first.

        Never anything of another session, and nothing of a turn that failed or was lost. After `resume_session` it is
        what the agent gave back of it.
        """

    def send(self, content: str | Sequence[Part], **options: Unpack[CallOptions]) -> ProviderResponse:
        """A whole turn: the model's answers and the calls between them. The response holds all visible text of it and
        no call, and `usage` of this turn alone.

        A cancel gives a response with `finish_reason=cancelled` and what had arrived; the session can be gone on with.
        Raises a ProviderError where the turn failed; the program may be started again by the next turn, in the same
        session. Raises `Cancelled` if the token was set before anything was said, and UsageError while a turn runs.
        """

    def shutdown(self) -> None:
        """End the program and all that it has started. What it has stored stays. Calling it twice is harmless."""


@dataclass(frozen=True, slots=True)
class AgentBinding:
    """How turnproof opens one agent.

    name:     what reports call it.
    dialect:  the wire API by which the program asks its model, with its surface (`anthropic-messages@claude-cli`).
    model:    the model it is run with.
    open:     an agent, as its setup says.
    capabilities: what is claimed with it.
    sessions: what is claimed of its sessions; the agent says the same at run time.
    options:  for the endpoint.
    package:  the distribution whose version goes into reports.
    program:  name and version of the program behind an agent (`Claude Code 2.1.330`), for reports; None before it has
              told them. Asked after each turn. It is not installed with the package, and may update itself.
    """

    name: str
    dialect: str
    model: str
    open: Callable[[AgentSetup], Agent]
    capabilities: Capabilities = Capabilities()  # noqa: RUF009 (frozen)
    sessions: SessionCapabilities = SessionCapabilities()  # noqa: RUF009 (frozen)
    options: Mapping[str, Any] = field(default_factory=dict)
    package: str | None = None
    program: Callable[[Any], str | None] | None = None

    def __post_init__(self) -> None:
        """Raise BindingError for a field that is not what it is for: where it is written, and not where it is used."""
        for name in ("name", "dialect", "model"):
            self._demand(name, isinstance(getattr(self, name), str) and bool(getattr(self, name)), "a word")
        self._demand("open", callable(self.open), "a function")
        self._demand("capabilities", isinstance(self.capabilities, Capabilities), "Capabilities")
        self._demand("sessions", isinstance(self.sessions, SessionCapabilities), "SessionCapabilities")
        self._demand("options", isinstance(self.options, Mapping), "a mapping")
        self._demand("program", self.program is None or callable(self.program), "a function")

    def _demand(self, name: str, holds: bool, what: str) -> None:
        if not holds:
            raise BindingError(f"agent binding {self.name!r}: {name} is {getattr(self, name)!r:.80}, not {what}")
