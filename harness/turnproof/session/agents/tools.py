"""The tools with which a model works with subagents.

None of them fails the turn: what is refused, and what a subagent raises, comes back as a result that the model can
read. A result is handed out once: what was fetched here is not delivered later, and the other way round.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Annotated, Any, Protocol

from msgspec import Meta

from ...cancel import CancelToken
from ...messages import JSON
from ...provider import Path
from ...subject import Tool, ToolOutput
from .agent import Agent
from .arguments import Arguments, typed_tool
from .limits import Limits
from .report import Report
from .runtime import Runtime


class Subagents(Protocol):
    """What the tools need of a team."""

    runtime: Runtime
    limits: Limits

    def child(self, parent: Agent, name: str) -> Agent:
        """The subagent of an agent by its name. Raises UsageError where it has none of that name."""

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
        """A new subagent, at work on its task."""

    def cancel(self, agent: Agent) -> bool:
        """Stop an agent and all below it. Returns whether they have stopped."""

    def dismiss(self, agent: Agent) -> bool:
        """End an agent and all below it. Returns whether they have ended."""

    def wait_for(
        self, condition: Callable[[], bool], *, token: CancelToken | None = None, timeout: float | None = None
    ) -> bool:
        """Wait until a condition holds. Returns whether it does."""


class _Spawn(Arguments, frozen=True):
    task: Annotated[str, Meta(min_length=1, description="What it is to do. It sees nothing else of this conversation.")]
    name: Annotated[str, Meta(description="A name of your choice, to speak of it later: letters, digits, - and _.")] | (
        None
    ) = None
    tools: Annotated[list[str], Meta(description="The tools it gets; all that you have, if left out.")] | None = None
    provider: Annotated[str, Meta(description="Whose model it runs on.")] | None = None
    model: Annotated[str, Meta(description="The model it runs on.")] | None = None
    path: Annotated[Path, Meta(description="Who keeps its history: its session, or its provider (legacy).")] | (
        None
    ) = None
    background: Annotated[bool, Meta(description="Return at once, while it works. Otherwise wait for its report.")] = (
        False
    )


class _Named(Arguments, frozen=True):
    name: Annotated[str, Meta(description="The subagent's name.")]


class _Tell(_Named, frozen=True):
    text: Annotated[str, Meta(min_length=1, description="What to say. One that is at work hears it at once.")]
    background: Annotated[bool, Meta(description="Return at once. Otherwise wait for its report.")] = False


class _Result(Arguments, frozen=True):
    name: Annotated[str, Meta(description="The subagent's name; whichever reports first, if left out.")] | None = None
    wait: Annotated[bool, Meta(description="Whether to wait for a report that is not there yet.")] = True


class _Status(Arguments, frozen=True):
    pass


def subagent_tools(team: Subagents, parent: Agent) -> tuple[Tool, ...]:
    """What a model starts its subagents with, speaks to them, asks for their reports, and ends them."""

    def spawn(arguments: _Spawn, token: CancelToken) -> Any:
        agent = team.spawn(
            parent,
            arguments.task,
            name=arguments.name,
            tools=arguments.tools,
            provider=arguments.provider,
            path=arguments.path,
            model=arguments.model,
            under=token,
        )
        return started(agent, token, background=arguments.background)

    def tell(arguments: _Tell, token: CancelToken) -> Any:
        agent = team.child(parent, arguments.name)
        agent.tell(arguments.text, under=token)
        return started(agent, token, background=arguments.background)

    def started(agent: Agent, token: CancelToken, *, background: bool) -> Any:
        return {"agent": agent.name, "status": "started"} if background else waited_for(agent, token)

    def result(arguments: _Result, token: CancelToken) -> Any:
        if arguments.name is not None:
            agent = team.child(parent, arguments.name)
            return waited_for(agent, token) if arguments.wait else _outcome(agent)
        agents = tuple(parent.children)
        if arguments.wait:
            wait(lambda: any(map(_has_ended, agents)) or not any(agent.is_running for agent in agents), token)
        return [_outcome(agent).result for agent in agents if _has_ended(agent)]

    def cancel(arguments: _Named, token: CancelToken) -> Any:
        agent = team.child(parent, arguments.name)
        team.cancel(agent)
        return _outcome(agent)

    def close(arguments: _Named, token: CancelToken) -> Any:
        agent = team.child(parent, arguments.name)
        last = agent.take_reports()
        stopped = team.dismiss(agent)
        return {"agent": agent.name, "status": "closed" if stopped else "does not stop", "reports": _report_rows(last)}

    def status(arguments: _Status, token: CancelToken) -> JSON:
        return [
            {
                "agent": agent.name,
                "status": agent.status,
                "report_waits": agent.has_report,
                "tokens": team.runtime.usage(agent.name).total_tokens,
            }
            for agent in tuple(parent.children)
        ]

    def waited_for(agent: Agent, token: CancelToken) -> ToolOutput:
        wait(lambda: not agent.is_running, token)
        return _outcome(agent)

    def wait(condition: Callable[[], bool], token: CancelToken) -> None:
        team.wait_for(condition, token=token, timeout=team.limits.patience)
        token.raise_if_cancelled()

    sources = team.runtime.providers
    choices = {
        "tools": tuple(name for name in team.runtime.tools if name in parent.tools),
        "provider": tuple(sources),
        "model": tuple(dict.fromkeys(model for source in sources.values() for model in source.models)),
        "path": tuple(dict.fromkeys(path for source in sources.values() for path in source.paths)),
    }
    return (
        typed_tool(
            "spawn_subagent",
            "Give a task to a subagent: a model with a conversation of its own. "
            "Several that are started together work at the same time.",
            _Spawn,
            spawn,
            choices=choices,
        ),
        typed_tool("message_subagent", "Say something to a subagent, idle or at work.", _Tell, tell),
        typed_tool(
            "subagent_result",
            "What a subagent that works in the background has to report. Each report is handed out once.",
            _Result,
            result,
        ),
        typed_tool("subagent_status", "Your subagents, and what each is doing.", _Status, status),
        typed_tool("cancel_subagent", "Stop what a subagent is doing. It can be spoken to again.", _Named, cancel),
        typed_tool("close_subagent", "End a subagent for good, and make room for another.", _Named, close),
    )


def _has_ended(agent: Agent) -> bool:
    return agent.has_report and not agent.is_running


def _outcome(agent: Agent) -> ToolOutput:
    reports = agent.take_reports()
    outcome: dict[str, Any] = {"agent": agent.name, "status": agent.status, "reports": _report_rows(reports)}
    if not reports:
        outcome["note"] = (
            "still at work: ask again later" if agent.is_running else "nothing new: all was reported before"
        )
    failed = bool(reports) and all(report.kind == "error" for report in reports)
    return ToolOutput(outcome, is_error=failed)


def _report_rows(reports: Sequence[Report]) -> list[dict[str, str]]:
    return [{"ended": report.ending, "text": report.text} for report in reports]
