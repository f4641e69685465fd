"""`Agent`: a session with a name, a parent, and a thread for as long as it has something to do.

A subagent's run begins when somebody speaks to it and ends when nothing waits any more. After each turn it reports to
its parent; the report waits in the parent's session, as what a child says does, until that one is idle. Between runs
an agent is a session and a few fields: it has no thread.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator
from contextvars import copy_context
from functools import partial
from typing import Any, Literal, TypeAlias

from ...cancel import CancelToken
from ...errors import UsageError
from ...messages import Message
from ..conversation import quietly
from ..inbox import InboxFullError
from ..session import Session
from .provider_sources import Origin
from .report import Report, ReportKind

AgentStatus: TypeAlias = Literal["working", "stopping", "idle", "cancelled", "failed", "closed"]
"""`stopping` is cancelled but not at its end yet; `cancelled` and `failed` say how the last run ended."""

_RESTS: dict[ReportKind, AgentStatus] = {"completed": "idle", "cancelled": "cancelled", "error": "failed"}

_log = logging.getLogger(__name__)


class Agent:
    """One member of a team, which makes it. `parent` is None for the agent that the application speaks for.

    All agents of a team share `changed`: it guards what they are, and is notified whenever that changes. While it is
    held nothing is called that could block, or come back in here.
    """

    session: Session
    """Its conversation. Set by the team before anybody else sees the agent."""

    def __init__(
        self,
        name: str,
        *,
        parent: Agent | None,
        tools: frozenset[str],
        origin: Origin,
        changed: threading.Condition,
    ) -> None:
        self.name = name
        self.parent = parent
        self.tools = tools
        self.origin = origin
        self.children: list[Agent] = []
        self._changed = changed
        self._token: CancelToken | None = None
        self._rest: AgentStatus = "idle"
        self._unread: list[tuple[Report, Message | None]] = []

    @property
    def depth(self) -> int:
        """Generations above it: 0 for the agent without a parent."""
        return 0 if self.parent is None else self.parent.depth + 1

    @property
    def status(self) -> AgentStatus:
        """What a subagent does, or how its last run ended."""
        token = self._token
        if token is None or self._rest == "closed":
            return self._rest
        return "stopping" if token.is_cancelled else "working"

    @property
    def is_running(self) -> bool:
        """Whether a run goes on, be it that of a closed agent which has not stopped yet."""
        return self._token is not None

    def family(self) -> Iterator[Agent]:
        """This agent and all below it."""
        yield self
        for child in tuple(self.children):
            yield from child.family()

    def tell(self, text: str, *, under: CancelToken | None = None) -> None:
        """Say something to a subagent as its parent: into its running turn, or to begin a run with.

        Cancelling `under` before the run ends cancels it. Raises UsageError for one that is closed or stopping,
        InboxFullError for one that too much waits for, and Cancelled, with nothing said, if `under` is set already.
        """
        if under is not None:
            under.raise_if_cancelled()
        if (status := self.status) in ("closed", "stopping"):
            raise UsageError(f"subagent {self.name!r} is {status}: nothing can be said to it now")
        self.session.interject(text, sender="parent")
        with self._changed:
            token = self._started()
        if under is not None:
            # The token of this run alone: once that is over, cancelling it stops nobody.
            under.on_cancel(token.cancel)

    def cancel(self) -> bool:
        """Stop its run and those of all agents below it, from any thread. False if there was none.

        What was cancelled goes on only when its own parent says so. That holds as well for an agent which had ended
        its run, while another below it had not: the other's report must not set it to work again.
        """
        with self._changed:
            running = [agent for agent in self.family() if agent._token is not None]
            for agent in self.family():
                if agent._rest == "idle" and any(one in running for one in agent.family()):
                    agent._rest = "cancelled"
            tokens = [agent._token for agent in running if agent._token is not None]
        for token in tokens:
            token.cancel()
        return bool(tokens)

    def close(self) -> None:
        """End it and all agents below it for good: they are cancelled, and report nothing any more."""
        with self._changed:
            for agent in self.family():
                agent._rest = "closed"
            self._changed.notify_all()
        self.cancel()

    @property
    def has_report(self) -> bool:
        """Whether there is a report that no turn of the parent has taken yet."""
        with self._changed:
            unread = [message for _, message in self._unread]
        waiting = self._parents.waiting if unread else ()
        return any(message is None or message in waiting for message in unread)

    def take_reports(self) -> list[Report]:
        """Its reports that no turn of the parent has taken yet; no turn will take them any more."""
        with self._changed:
            unread, self._unread = self._unread, []
        return [report for report, message in unread if message is None or self._parents.recall(message)]

    @property
    def _parents(self) -> Session:
        assert self.parent is not None
        return self.parent.session

    def _started(self) -> CancelToken:
        """The token of the run that goes on, or of a new one; with the lock held. A closed agent raises UsageError."""
        if self._rest == "closed":
            raise UsageError(f"subagent {self.name!r} was closed")
        if self._token is None:
            token = CancelToken()
            # The context of whoever speaks: spans of the run nest in those of the call that began it.
            work = partial(copy_context().run, self._work, token)
            threading.Thread(target=work, name=f"turnproof-agent-{self.name}", daemon=True).start()
            self._token = token
        return self._token

    def _work(self, token: CancelToken) -> None:
        while True:
            report = self._turn(token)
            if report is not None:
                quietly(f"the report of subagent {self.name!r}", partial(self._hand_in, report))
            with self._changed:
                if report is not None and report.kind == "completed" and self.session.waiting:
                    continue
                if self._rest != "closed":
                    self._rest = _RESTS[report.kind] if report is not None else "idle"
                self._token = None
                self._changed.notify_all()
                return

    def _turn(self, token: CancelToken) -> Report | None:
        """A turn on what waits; None if it was withdrawn. Streamed, so that a cancel keeps what had arrived."""
        try:
            result = self.session.send_waiting(
                cancel_token=token,
                on_chunk=_ignore,
                on_usage_update=_ignore,
                on_function_call=_ignore,
                on_thinking=_ignore,
            )
        except BaseException as error:  # the thread ends here: also SystemExit is for the parent to know
            _log.debug("subagent %r failed", self.name, exc_info=True)
            return Report(self.name, "error", f"{type(error).__name__}: {error}")
        if result is None:
            return None
        if result.outcome == "cancelled":
            return Report(self.name, "cancelled", result.text)
        return Report(self.name, "completed", result.response.text or result.text, result.response.finish_reason)

    def _hand_in(self, report: Report) -> None:
        parent = self.parent
        if parent is None or "closed" in (self._rest, parent._rest):
            return
        lines = [str(report)]
        if report.kind == "completed" and not self.session.waiting:
            lines.append(str(Report(self.name, "idle")))
        message: Message | None = None
        try:
            # One message: the two belong together, and a turn of the parent for the second alone would be wasted.
            message = parent.session.interject("\n".join(lines), sender="child")
        except InboxFullError:
            _log.warning(
                "subagent %r cannot report: too much waits for %r; it can still be asked", self.name, parent.name
            )
        waiting = parent.session.waiting
        with self._changed:
            self._unread = [entry for entry in self._unread if entry[1] is None or entry[1] in waiting]
            self._unread.append((report, message))
            # A subagent that was cancelled or that failed goes on only when its own parent says so.
            if parent.parent is not None and parent._rest == "idle":
                parent._started()
            self._changed.notify_all()


def _ignore(_: Any) -> None:
    pass
