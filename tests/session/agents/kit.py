"""Many conversations on one provider object, each with a script of its own, and calls that stand still until told."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any

from turnproof.cancel import CancelToken
from turnproof.messages import FunctionCall, Message, ProviderResponse
from turnproof.session import RetryPolicy
from turnproof.session.agents import Agent, Limits, ProviderSource, Runtime, SharedState, Team
from turnproof.subject import Tool

from ..fakes import Naps, Play, Request, Script, Step, numbered, reply

LIMIT = 60.0
"""Seconds after which something that must happen has not happened."""


class Minds:
    """A stateless provider that plays, in each conversation, the script under the words that it begins with."""

    def __init__(self, **scripts: Sequence[Step]) -> None:
        self.scripts = {words: Script(steps) for words, steps in scripts.items()}
        self.requests: list[Request] = []
        self.shut_down = 0
        self._lock = threading.Lock()

    def complete(
        self, messages: Any, system_instruction: Any = None, tools: Any = None, **kwargs: Any
    ) -> ProviderResponse:
        with self._lock:
            self.requests.append(Request(list(messages), system_instruction, list(tools or ()), kwargs))
        return self.scripts[mind_of(messages)].play(kwargs)

    def shutdown(self) -> None:
        self.shut_down += 1

    def of(self, words: str) -> list[Request]:
        """What was asked in the conversation that begins with these words."""
        return [request for request in self.requests if mind_of(request.messages) == words]


def mind_of(messages: Sequence[Message]) -> str:
    return messages[0].text.split()[0]


class Pause:
    """A step that shows some text and then stands still, until `go` is set or its call is cancelled."""

    def __init__(self, before: str = "so far", after: str = ", and done") -> None:
        self.before, self.after = before, after
        self.reached = threading.Event()
        self.go = threading.Event()
        self.cut = False

    def __call__(self, play: Play) -> ProviderResponse:
        play.stream(self.before)
        self.reached.set()
        play.token.on_cancel(self.go.set)
        assert self.go.wait(LIMIT)
        if play.token.is_cancelled:
            self.cut = True
            return reply(self.before, finish="cancelled")
        play.stream(self.after)
        return reply(self.before + self.after)

    def await_reached(self) -> None:
        assert self.reached.wait(LIMIT), "the call was not made"


def when(reached: threading.Event, step: Step) -> Step:
    """The same step, once something else has happened."""

    def wait_and_play(play: Play) -> ProviderResponse:
        assert reached.wait(LIMIT), "it did not happen"
        assert not isinstance(step, BaseException)
        return play.deliver(step) if isinstance(step, ProviderResponse) else step(play)

    return wait_and_play


def calls(*tool_calls: tuple[str, dict[str, Any]]) -> ProviderResponse:
    """A response that calls these tools."""
    return reply(*(FunctionCall(f"c{n}", name, args) for n, (name, args) in enumerate(tool_calls)))


def spawn(task: str, *, background: bool = False, **more: Any) -> tuple[str, dict[str, Any]]:
    """A call that starts a subagent which is named after the first word of its task."""
    arguments = {"task": task, "name": task.split()[0], **more}
    return "spawn_subagent", {**arguments, "background": True} if background else arguments


def runtime_of(minds: Minds, *, tools: Sequence[Tool] = (), **more: Any) -> Runtime:
    """A runtime with one provider, counted ids, and no real sleep."""
    ids = numbered()
    options = more.pop("options", lambda agent: {})
    return Runtime(
        more.pop("providers", {"minds": ProviderSource(("m",), open_stateless=lambda model: minds)}),
        tools=tools,
        options=lambda agent: {"ids": ids, "sleep": Naps(), "retry": RetryPolicy(jitter=0), **options(agent)},
        **more,
    )


def team_of(minds: Minds, *, limits: Limits | None = None, shared: SharedState | None = None, **more: Any) -> Team:
    """A team on a runtime of `runtime_of`, whose tools never wait for long in vain."""
    return Team(runtime_of(minds, **more), limits=limits or Limits(patience=LIMIT, grace=LIMIT), shared=shared)


def results(team: Team, turn: int = -1) -> list[Any]:
    """What the lead's model was told of its calls, in its last message of results."""
    tool_message = [message for message in team.lead.session.history.messages if message.role == "tool"][turn]
    return [result.result for result in tool_message.results]


def statuses(team: Team) -> dict[str, str]:
    """What the lead's children do, by name."""
    return {agent.name: agent.status for agent in team.lead.children}


def at_rest(team: Team, agent: Agent) -> None:
    """Wait until a subagent's run is over."""
    assert team.wait_for(lambda: not agent.is_running, timeout=LIMIT), f"{agent.name} is still {agent.status}"


def in_thread(work: Any) -> threading.Thread:
    """Run something in a thread of its own, which has to be joined."""
    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    return thread


def over(thread: threading.Thread) -> None:
    """Wait for a thread."""
    thread.join(LIMIT)
    assert not thread.is_alive()


def cancelled() -> CancelToken:
    """A token that is set already."""
    token = CancelToken()
    token.cancel()
    return token
