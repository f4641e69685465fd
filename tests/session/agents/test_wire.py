"""Subagents over real HTTP, with the real adapters: whose words are in which request, and whose socket is closed.

Fakes cannot show this: what must not be mixed up is bytes, and what must be closed is a connection.
"""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from adapters.anthropic import kit as anthropic_kit
from adapters.scripted_server import Exchange, scripted

from turnproof.cancel import CancelToken
from turnproof.dialects import dialect
from turnproof.dialects.base import Call, PromptUsage, Rendered, Reply, ReplyPart
from turnproof.messages import FinishReason, FunctionCall, Text
from turnproof.provider import Binding, Endpoint, Path
from turnproof.session import RetryPolicy
from turnproof.session.agents import Limits, ProviderSource, Runtime, SharedState, Team
from turnproof.wire.emulator import EmulatorServer, ServerRun
from turnproof.wire.emulator.server_run import CANARY_KEY
from turnproof_adapters.anthropic.binding import BINDING as ANTHROPIC
from turnproof_adapters.google_genai.binding import BINDING as GOOGLE

from ..fakes import Watching
from .kit import LIMIT, Minds, at_rest, calls, in_thread, over, results, spawn, statuses

LIMITS = Limits(patience=LIMIT, grace=LIMIT)
NAMES = [f"bed-{number}" for number in range(6)]


def text_reply(text: str) -> Reply:
    return Reply((ReplyPart(Text(text)),), FinishReason.STOP)


def called(tool: str, **args: Any) -> Reply:
    return Reply((ReplyPart(FunctionCall("", tool, args)),), FinishReason.TOOL_USE)


class Playing:
    """Answers each request by a function of the conversation; the first `together` of them at the same time."""

    def __init__(self, reply: Callable[[Call], Reply], together: int = 1) -> None:
        self._reply = reply
        self._missing = together
        self._all_here = asyncio.Event()

    async def answer(self, run: ServerRun, exchange: Any, call: Call) -> Rendered:
        self._missing -= 1
        if self._missing <= 0:
            self._all_here.set()
        await asyncio.wait_for(self._all_here.wait(), LIMIT)
        return run.dialect.render(call, self._reply(call), PromptUsage(10), run.world, str(exchange.number))


def serving(server: EmulatorServer, binding: Binding, playing: Playing) -> tuple[ServerRun, ProviderSource]:
    """A run of the emulator, and a source of providers that speak to it, without a cache that they would ask for."""
    run = server.open_run(dialect(binding.dialect), playing)
    source = ProviderSource.of(binding, Endpoint(run.base_url, CANARY_KEY, binding.model))
    return run, replace(source, cache_plugin=None)


def runtime_on(**sources: ProviderSource) -> Runtime:
    """A runtime whose sessions take no failure for one that passes."""
    return Runtime(sources, options=lambda agent: {"retry": RetryPolicy(attempts=1)})


def bodies(run: ServerRun) -> list[str]:
    """What was sent to a run, which found nothing wrong with it."""
    for exchange in run.exchanges:
        assert not exchange.findings, exchange.findings
        assert exchange.answered == 200
    return [exchange.request.body.decode() for exchange in run.exchanges]


@pytest.mark.parametrize("binding", [ANTHROPIC, GOOGLE], ids=["anthropic", "google_genai"])
def test_children_on_one_provider_object_send_only_their_own_words(server: EmulatorServer, binding: Binding) -> None:
    playing = Playing(lambda call: text_reply(f"you said {call.messages[-1].text}"), together=len(NAMES))
    run, source = serving(server, binding, playing)
    with runtime_on(p=source) as runtime, Team(runtime, limits=LIMITS) as team:
        children = [team.spawn(team.lead, f"task of {name}", name=name) for name in NAMES]
        for child in children:
            at_rest(team, child)
        assert len({child.session.provider for child in children}) == 1
        # Each goes on with what it has, and nothing else.
        for child in children:
            child.tell(f"more for {child.name}")
        for child in children:
            at_rest(team, child)
        for child in children:
            texts = [message.text for message in child.session.history.messages]
            first, more = f"task of {child.name}", f"more for {child.name}"
            assert texts == [first, f"you said {first}", more, f"you said {more}"]
    sent = bodies(run)
    assert len(sent) == 2 * len(NAMES)
    own = [[name for name in NAMES if name in body] for body in sent]
    assert sorted(own) == sorted([name] for name in NAMES for _ in range(2))


def test_system_texts_of_sessions_on_one_provider_object_stay_with_their_requests(server: EmulatorServer) -> None:
    run, source = serving(server, ANTHROPIC, Playing(lambda call: text_reply("yes"), together=len(NAMES)))
    with runtime_on(p=source) as runtime:
        sessions = [runtime.create_session(name, system=f"You tend {name}.") for name in NAMES]
        threads = [in_thread(lambda session=session: session.send("hi")) for session in sessions]
        for thread in threads:
            over(thread)
    own = [[name for name in NAMES if name in body] for body in bodies(run)]
    assert sorted(own) == [[name] for name in NAMES]


@pytest.mark.parametrize("path", ["stateless", "legacy"])
@pytest.mark.parametrize("binding", [ANTHROPIC, GOOGLE], ids=["anthropic", "google_genai"])
def test_a_stateless_parent_has_a_child_of_either_provider_on_either_path(
    server: EmulatorServer, binding: Binding, path: Path
) -> None:
    def lead(call: Call) -> Reply:
        if call.messages[-1].role == "tool":
            return text_reply("The child counted seven.")
        return called("spawn_subagent", task="count the pots", name="counter", provider="other", path=path)

    def child(call: Call) -> Reply:
        if call.messages[-1].role == "tool":
            return text_reply("There are seven.")
        return called("get_shared_state", key="pots")

    leads, source = serving(server, ANTHROPIC, Playing(lead))
    childs, other = serving(server, binding, Playing(child))
    state = SharedState()
    state.set("pots", 7)
    with runtime_on(own=source, other=other) as runtime, Team(runtime, limits=LIMITS, shared=state) as team:
        result = team.send("How many pots? The secret word is xylophone.", on_chunk=lambda piece: None)
        assert result.text == "The child counted seven."
        assert results(team)[0]["reports"] == [{"ended": "completed", "text": "There are seven."}]
        (agent,) = team.lead.children
        assert agent.session.path == path
        assert [message.role for message in agent.session.history.messages] == ["user", "model", "tool", "model"]
    assert not any("xylophone" in body for body in bodies(childs))
    assert all("count the pots" in body for body in bodies(childs))
    assert not any('"version"' in body and "get_shared_state" not in body for body in bodies(leads))
    assert sum("There are seven." in body for body in bodies(leads)) == 1


def test_two_keys_stay_apart_and_the_environment_is_left_alone(server: EmulatorServer) -> None:
    before = dict(os.environ)
    keys = ("key-of-the-first", "key-of-the-second")
    run = server.open_run(dialect("anthropic-messages"), Playing(lambda call: text_reply("yes")), any_key=True)
    sources = {key: ProviderSource.of(ANTHROPIC, Endpoint(run.base_url, key, ANTHROPIC.model)) for key in keys}
    with runtime_on(**sources) as runtime:
        sessions = {key: runtime.create_session(key, provider=key) for key in keys}
        for word in ("one", "two"):
            for key, session in sessions.items():
                session.send(f"{word} of {key[11:]}")
    used = [(e.request.headers["authorization"], e.request.body.decode()) for e in run.exchanges]
    assert len(used) == 4
    for key, body in used:
        assert [f"Bearer {one}" for one in keys if one[11:] in body] == [key]
    assert dict(os.environ) == before


class Streams:
    """A server that streams half of an answer to each child, and the rest when told; and a runtime that hears of it.

    Each answer speaks of the child whose name is in the request.
    """

    def __init__(self, *names: str) -> None:
        self.output_events = {name: threading.Event() for name in names}
        self.go_on = {name: threading.Event() for name in names}
        self.exchanges: dict[str, Exchange] = {}

    def script(self, exchange: Exchange) -> None:
        (name,) = [name for name in self.output_events if name.encode() in exchange.body]
        self.exchanges[name] = exchange
        first, rest = f"{name} has half", f", and now all of {name}"
        events = anthropic_kit.stream(anthropic_kit.text_block(0, first, rest))
        middle = next(n for n, event in enumerate(events) if b"has half" in event) + 1
        exchange.stream_head()
        exchange.chunk(b"".join(events[:middle]))
        if not self.go_on[name].wait(LIMIT):
            return
        try:
            exchange.chunk(b"".join(events[middle:]))
            exchange.end()
        except OSError:
            exchange.hung_up.set()

    def runtime(self, url: str, **more: ProviderSource) -> Runtime:
        wire = ProviderSource.of(ANTHROPIC, Endpoint(url, CANARY_KEY, ANTHROPIC.model))
        return Runtime(
            {**more, "wire": wire},
            observers=lambda agent: (
                [Watching(on_output=lambda *_: self.output_events[agent].set())] if agent in self.output_events else []
            ),
        )

    def await_halves(self) -> None:
        for name, event in self.output_events.items():
            assert event.wait(LIMIT), f"nothing of {name} has arrived"

    def is_cut(self, name: str) -> bool:
        """Whether the client has closed the connection of this child, which the server only reads from."""
        return self.exchanges[name].connection.recv(1) == b""


def test_one_child_is_cut_in_mid_stream_and_the_answers_of_its_siblings_are_whole() -> None:
    streams = Streams(*NAMES[:3])
    cut, *siblings = NAMES[:3]
    with (
        scripted(streams.script) as served,
        streams.runtime(served.url) as runtime,
        Team(runtime, limits=LIMITS) as team,
    ):
        children = {name: team.spawn(team.lead, f"task of {name}", name=name) for name in streams.output_events}
        streams.await_halves()
        assert team.cancel(children[cut])
        assert streams.is_cut(cut)
        assert statuses(team) == {cut: "cancelled", **dict.fromkeys(siblings, "working")}
        for name in siblings:
            streams.go_on[name].set()
            at_rest(team, children[name])
        streams.go_on[cut].set()
        texts = {name: [one.text for one in child.take_reports()] for name, child in children.items()}
        assert texts == {cut: [f"{cut} has half"]} | {
            name: [f"{name} has half, and now all of {name}"] for name in siblings
        }
        assert len({child.session.provider for child in children.values()}) == 1
        assert served.connections == 3


@pytest.mark.parametrize("path", ["stateless", "legacy"])
def test_cancelling_the_parents_turn_closes_the_sockets_of_its_children(path: Path) -> None:
    streams = Streams(*NAMES[:2])
    minds = Minds(lead=[calls(*(spawn(name, provider="wire", path=path) for name in streams.output_events))])
    token = CancelToken()
    with (
        scripted(streams.script) as served,
        streams.runtime(served.url, minds=ProviderSource(("m",), open_stateless=lambda model: minds)) as runtime,
        Team(runtime, limits=LIMITS) as team,
    ):
        turn = in_thread(lambda: team.send("lead", cancel_token=token))
        streams.await_halves()
        token.cancel()
        over(turn)
        assert all(streams.is_cut(name) for name in streams.output_events)
        for event in streams.go_on.values():
            event.set()
        assert team.wait_for(lambda: not team.running, timeout=LIMIT)
        reports = [message.text for message in team.lead.session.waiting]
        assert sorted(reports) == [
            f"[subagent {name}: CANCELLED]\n{name} has half" for name in sorted(streams.output_events)
        ]
