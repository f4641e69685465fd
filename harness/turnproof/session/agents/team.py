"""`Team`: an agent that the application speaks for, its lead, and the subagents that models start.

The application sends to the lead as to any session. Models have tools with which they start subagents, speak to them,
ask for what they report, and end them. What is not asked for waits until the lead is idle, and is then delivered:

    with Runtime({"claude": ProviderSource.of(BINDING, endpoint)}, tools=tools) as runtime, Team(runtime) as team:
        print(team.send("Compare both greenhouses.").text)
        for result in team.settle():
            print(result.text)
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterator, Sequence
from itertools import count
from typing import Any

from ..._base.suggestions import did_you_mean
from ...cancel import CancelToken
from ...errors import UsageError
from ...messages import Part
from ...provider import Path, SystemInstruction
from ...subject import Tool
from ..inbox import Sender
from ..result import TurnResult
from .agent import Agent
from .feed import AgentFeed
from .limits import AgentLimitError, Limits
from .provider_sources import Origin
from .runtime import Runtime
from .shared_state import SharedState, shared_state_tools
from .tools import subagent_tools

SUBAGENT_SYSTEM = (
    "You are a subagent. You see nothing of the conversation that your task comes from. Your last answer is reported "
    "to whoever gave you the task: make it complete."
)
"""The system text of subagents, where a team is given no other."""

_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")


class Team:
    """A lead and all agents below it. `close` it, or use it in a `with`, before its runtime.

    `provider`, `path`, `model`, `system` and `tools` are the lead's, as for `Runtime.create_session`. A subagent runs
    on what its parent runs on unless it is given something else, and has no tool of the registry that its parent
    lacks. With a `shared` state all of them have tools to read and set it. `feed` has the events of all agents, by
    their names.
    """

    def __init__(
        self,
        runtime: Runtime,
        *,
        name: str = "main",
        limits: Limits | None = None,
        subagent_system: SystemInstruction = SUBAGENT_SYSTEM,
        shared: SharedState | None = None,
        provider: str | None = None,
        path: Path | None = None,
        model: str | None = None,
        system: SystemInstruction = None,
        tools: Sequence[str] | None = None,
    ) -> None:
        self.runtime = runtime
        self.limits = limits or Limits()
        self.shared = shared
        self.feed = AgentFeed()
        self._subagent_system = subagent_system
        # One for all: there are few agents, and nothing is done under it that takes time.
        self._changed = threading.Condition()
        self._numbers = count(1)
        self._named: dict[str, Agent] = {}
        tool_names = [tool.schema.name for tool in runtime.tools_named(tools)]
        self.lead = self._named[name] = self._agent(name, None, tool_names, Origin(provider, path, model), system)

    # What the application does

    def send(self, content: str | Sequence[Part], **options: Any) -> TurnResult:
        """A turn of the lead, with the options of `Session.send`. What waits for the lead is said first."""
        return self.lead.session.send(content, **options)

    def interject(self, content: str | Sequence[str | Part], *, sender: Sender = "user") -> None:
        """Say something to the lead, which may be busy: `Session.interject`. From any thread."""
        self.lead.session.interject(content, sender=sender)
        self._wake()

    def wait(self, timeout: float | None = None) -> bool:
        """Wait until something waits for the lead, or no subagent works any more; whether something waits.

        `timeout` is in seconds.
        """
        lead = self.lead.session
        self.wait_for(lambda: bool(lead.waiting) or not self.running, timeout=timeout)
        return bool(lead.waiting)

    def deliver(self, **options: Any) -> TurnResult | None:
        """A turn of the lead on what waits for it, with the options of `Session.send`; None if nothing does."""
        return self.lead.session.send_waiting(**options)

    def settle(self, **options: Any) -> Iterator[TurnResult]:
        """Deliver what is reported as it comes, until no subagent works. Ends with a turn that was cancelled."""
        while self.wait() and (result := self.deliver(**options)) is not None:
            yield result
            if result.outcome == "cancelled":
                return

    def stop(self) -> bool:
        """Cancel the lead's turn and all subagents, from any thread. False if nobody was at work."""
        return any([self.lead.session.stop(), self.lead.cancel()])

    def close(self) -> tuple[str, ...]:
        """End all agents, and wait for them `limits.grace` seconds at the most. Returns the names of those that go on.

        These are at work in a provider that ignores its cancellation; no observer is told of what they still do.
        Calling it twice is harmless.
        """
        self.lead.session.stop()
        return self._end(self.lead)

    def __enter__(self) -> Team:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # Subagents

    @property
    def running(self) -> list[Agent]:
        """The subagents that are at work."""
        return [agent for agent in self.lead.family() if agent.is_running]

    def child(self, parent: Agent, name: str) -> Agent:
        """The subagent of that name. Raises UsageError if this parent has none."""
        names = {child.name: child for child in tuple(parent.children)}
        if name not in names:
            hint = did_you_mean(name, names) or f"; it has {', '.join(names) or 'none'}"
            raise UsageError(f"{parent.name!r} has no subagent {name!r}{hint}")
        return names[name]

    def spawn(
        self,
        parent: Agent,
        task: str,
        *,
        name: str | None = None,
        tools: Sequence[str] | None = None,
        provider: str | None = None,
        path: Path | None = None,
        model: str | None = None,
        under: CancelToken | None = None,
    ) -> Agent:
        """Start a subagent on a task. `tools` are names from the registry (None: all that the parent has).

        Another `provider` than the parent's brings its own path and model, unless they are given too. Cancelling
        `under` cancels the run that the task begins. Raises AgentLimitError where the team's limits are reached,
        UsageError for names that are unknown, taken, or not the parent's to give, and what opening a provider raises.
        """
        self._check_room(parent, name)
        tool_names = [name_ for name_ in self.runtime.tools if name_ in parent.tools]
        if tools is not None:
            tool_names = [tool.schema.name for tool in self.runtime.tools_named(tools)]
            if missing := sorted(set(tool_names) - parent.tools):
                raise UsageError(f"{parent.name!r} cannot give away what it has not: {', '.join(missing)}")
        name = name or self._free_name()
        agent = self._agent(name, parent, tool_names, parent.origin.but(provider, path, model), self._subagent_system)
        try:
            with self._changed:
                self._check_room(parent, name)
                parent.children.append(agent)
                self._named[name] = agent
            agent.tell(task, under=under)
        except BaseException:
            self.dismiss(agent)
            raise
        return agent

    def cancel(self, agent: Agent) -> bool:
        """Cancel a subagent and those below it; whether they stopped within `limits.grace` seconds."""
        agent.cancel()
        return self.wait_for(lambda: not any(one.is_running for one in agent.family()), timeout=self.limits.grace)

    def dismiss(self, agent: Agent) -> bool:
        """End a subagent and those below it for good, and forget them; whether they stopped in time, as in `cancel`."""
        left = self._end(agent)
        with self._changed:
            if agent.parent is not None and agent in agent.parent.children:
                agent.parent.children.remove(agent)
                for one in agent.family():
                    del self._named[one.name]
                    self.feed.remove(one.name)
        return not left

    def wait_for(
        self, condition: Callable[[], bool], *, token: CancelToken | None = None, timeout: float | None = None
    ) -> bool:
        """Wait until a condition on the agents of this team holds, the token is set, or so many seconds are over.

        Returns whether the condition holds.
        """
        forget = token.on_cancel(self._wake) if token is not None else _nothing
        try:
            with self._changed:
                self._changed.wait_for(
                    lambda: condition() or (token is not None and token.is_cancelled), timeout=timeout
                )
                return condition()
        finally:
            forget()

    # Inside

    def _agent(
        self, name: str, parent: Agent | None, tools: Sequence[str], origin: Origin, system: SystemInstruction
    ) -> Agent:
        agent = Agent(name, parent=parent, tools=frozenset(tools), origin=origin, changed=self._changed)
        more: list[Tool] = []
        if self.shared is not None:
            more += shared_state_tools(self.shared)
        if agent.depth < self.limits.depth:
            more += subagent_tools(self, agent)
        agent.session = self.runtime.create_session(
            name,
            provider=origin.provider,
            path=origin.path,
            model=origin.model,
            system=system,
            tools=tools,
            more_tools=more,
        )
        agent.session.observe(self.feed.add(name, parent.name if parent is not None else None))
        return agent

    def _check_room(self, parent: Agent, name: str | None) -> None:
        if parent.status == "closed":
            raise UsageError(f"{parent.name!r} is closed: it starts no more subagents")
        if parent.depth >= self.limits.depth:
            raise AgentLimitError(
                f"{parent.name!r} is at depth {parent.depth}, and {self.limits.depth} is the deepest: do it there"
            )
        if len(parent.children) >= self.limits.children:
            raise AgentLimitError(
                f"{parent.name!r} has {len(parent.children)} subagents, and {self.limits.children} is the most: "
                "close one that is not needed any more"
            )
        if name is not None:
            if not _NAME.fullmatch(name):
                raise UsageError(f"a name has 1 to 64 letters, digits, - or _, got {name!r}")
            if name in self._named:
                raise UsageError(f"there is an agent {name!r} already: choose another name")

    def _free_name(self) -> str:
        return next(name for number in self._numbers if (name := f"agent-{number}") not in self._named)

    def _end(self, agent: Agent) -> tuple[str, ...]:
        agent.close()
        self.wait_for(lambda: not any(one.is_running for one in agent.family()), timeout=self.limits.grace)
        left = tuple(one.name for one in agent.family() if one.is_running)
        for one in agent.family():
            for task in one.session.tasks:
                task.cancel()
            self.runtime.release(one.session, self.limits.grace)
        return left

    def _wake(self) -> None:
        with self._changed:
            self._changed.notify_all()


def _nothing() -> None:
    pass
