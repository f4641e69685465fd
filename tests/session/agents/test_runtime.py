"""What sessions of one runtime share, and what each has to itself."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest

from turnproof.cache import CachePlugin, Covers, ImplicitCachePlugin, Prepared
from turnproof.cancel import CancelToken
from turnproof.errors import ContextLimitError, OverloadedError, UsageError
from turnproof.gc import GCConfig, TruncateGC
from turnproof.messages import FunctionCall, TokenUsage
from turnproof.provider import Binding, Capabilities, Endpoint
from turnproof.session import Approval
from turnproof.session.agents import ProviderSource, Runtime, Team

from ..fakes import FakeLegacy, FakeStateless, Watching, reply, tool
from ..traced import Spans
from .kit import Minds, at_rest, calls, results, runtime_of, spawn, team_of


def test_stateless_sessions_share_one_provider_for_each_model_and_have_histories_of_their_own() -> None:
    opened: list[str] = []

    def open_one(model: str) -> FakeStateless:
        opened.append(model)
        return FakeStateless(reply("one"), reply("two"))

    runtime = Runtime({"p": ProviderSource(("small", "large"), open_stateless=open_one)})
    a, b, c = runtime.create_session("a"), runtime.create_session("b"), runtime.create_session("c", model="large")
    assert a.provider is b.provider
    assert a.provider is not c.provider
    assert opened == ["small", "large"]
    assert (a.send("hi").text, b.send("hello").text) == ("one", "two")
    assert [message.text for message in a.history.messages] == ["hi", "one"]


@pytest.mark.parametrize(
    "source",
    [
        ProviderSource(("m",), open_legacy=lambda model: FakeLegacy()),
        ProviderSource(("m",), open_stateless=lambda model: FakeStateless(), shared=False),
    ],
    ids=["legacy", "not shared"],
)
def test_a_provider_that_cannot_be_shared_belongs_to_its_session_and_is_shut_down_with_it(
    source: ProviderSource,
) -> None:
    runtime = Runtime({"p": source})
    a, b = runtime.create_session("a"), runtime.create_session("b")
    assert a.provider is not b.provider
    ended: list[str] = []
    a.provider.shutdown = lambda: ended.append("a")  # type: ignore[union-attr]
    b.provider.shutdown = lambda: ended.append("b")  # type: ignore[union-attr]
    runtime.release(a)
    runtime.release(a)
    assert ended == ["a"]
    runtime.close()
    assert ended == ["a", "b"]


def test_a_shared_provider_is_shut_down_with_the_runtime_and_not_before() -> None:
    minds = Minds()
    with runtime_of(minds) as runtime:
        runtime.release(runtime.create_session())
        assert minds.shut_down == 0
    assert minds.shut_down == 1


def test_a_session_has_the_tools_that_are_named_in_the_order_of_the_registry() -> None:
    runtime = runtime_of(Minds(), tools=[tool("look"), tool("dig"), tool("sow")])
    names = [one.schema.name for one in runtime.create_session(tools=["sow", "look"], more_tools=[tool("own")]).tools]
    assert names == ["look", "sow", "own"]
    assert len(runtime.create_session().tools) == 3
    assert runtime.create_session(tools=[]).tools == ()
    with pytest.raises(UsageError, match="unknown tool 'dog'; did you mean 'dig'"):
        runtime.create_session(tools=["dog"])


def test_a_registry_has_no_two_tools_of_one_name() -> None:
    with pytest.raises(UsageError, match="same name"):
        runtime_of(Minds(), tools=[tool("look"), tool("look")])


def test_a_runtime_without_providers_is_refused() -> None:
    with pytest.raises(UsageError, match="at least one source"):
        Runtime({})


def test_a_source_opens_something() -> None:
    with pytest.raises(UsageError, match="at least one path"):
        ProviderSource(("m",))
    with pytest.raises(UsageError, match="at least one model"):
        ProviderSource((), open_stateless=lambda model: FakeStateless())


def test_options_that_the_runtime_decides_are_refused_by_name() -> None:
    runtime = Runtime(
        {"p": ProviderSource(("m",), open_stateless=lambda model: FakeStateless())},
        options=lambda agent: {"observers": (), "path": "legacy"},
    )
    with pytest.raises(UsageError, match="agent 'main' name observers, path"):
        runtime.create_session()


def test_a_session_that_cannot_be_made_leaves_no_provider_open() -> None:
    ended: list[str] = []

    class Refuses(FakeLegacy):
        def create_session(self, *args: Any, **kwargs: Any) -> None:
            raise RuntimeError("not today")

        def shutdown(self) -> None:
            ended.append("shut down")

    runtime = Runtime({"p": ProviderSource(("m",), open_legacy=lambda model: Refuses())})
    with pytest.raises(RuntimeError, match="not today"):
        runtime.create_session()
    assert ended == ["shut down"]


def test_a_child_collects_and_retries_as_its_parent_does() -> None:
    too_long = ContextLimitError("prompt is too long", limit=100, requested=120)
    minds = Minds(
        lead=[calls(spawn("a")), calls(("message_subagent", {"name": "a", "text": "more"})), reply("Ok.")],
        a=[reply("first"), OverloadedError("busy"), too_long, reply("second")],
        more=[reply("second, without the first")],
    )
    with team_of(minds, options=lambda agent: {"gc": TruncateGC(), "gc_config": GCConfig(keep_turns=1)}) as team:
        team.send("lead")
        assert results(team)[0]["reports"] == [{"ended": "completed", "text": "second, without the first"}]
        assert [message.text for message in minds.requests[-2].messages] == ["more"]


def test_the_ledger_has_each_agents_usage_and_the_total() -> None:
    minds = Minds(
        lead=[calls(spawn("a")), reply("Ok.", prompt=30)],
        a=[calls(("look", {})), reply("dry", prompt=40, output=5)],
    )
    with team_of(minds, tools=[tool()]) as team:
        team.send("lead")
        assert team.runtime.usage("a") == TokenUsage(50, 7, 57)
        assert team.runtime.usage("main") == TokenUsage(40, 4, 44)
        assert team.runtime.ledger.total == TokenUsage(90, 11, 101)


@pytest.mark.parametrize(("covers", "serving"), [("prefix", [0, 0, 2, 3]), ("conversation", [0, 1, 2, 3])])
def test_a_cache_of_a_stored_prefix_serves_all_sessions_that_begin_alike(covers: Covers, serving: list[int]) -> None:
    plugins: list[ImplicitCachePlugin] = []
    used: list[int] = []

    class RecordingPlugin(ImplicitCachePlugin):
        def prepare(self, *args: Any, **kwargs: Any) -> Prepared:
            used.append(plugins.index(self))
            return super().prepare(*args, **kwargs)

    def plugin(provider: object) -> CachePlugin:
        plugins.append(RecordingPlugin())
        plugins[-1].covers = covers
        return plugins[-1]

    minds = Minds(hi=[reply("Ok.")] * 4)
    source = ProviderSource(("m",), open_stateless=lambda model: minds, cache_plugin=plugin)
    runtime = runtime_of(minds, tools=[tool("look"), tool("dig")], providers={"minds": source})
    for system, name in (("A", "look"), ("A", "look"), ("B", "look"), ("A", "dig")):
        runtime.create_session(system=system, tools=[name]).send("hi")
    assert used == serving


def test_observers_are_made_for_each_agent() -> None:
    outputs: list[tuple[str, str]] = []
    minds = Minds(lead=[calls(spawn("a")), reply("Ok.")], a=[reply("Fine.")])
    runtime = runtime_of(
        minds,
        observers=lambda agent: [Watching(on_output=lambda source, text, mode: outputs.append((agent, text)))],
    )
    with Team(runtime) as team:
        team.send("lead")
    assert outputs == [("a", "Fine."), ("main", "Ok.")]


# Sources of bindings


def binding(**more: Any) -> Binding:
    return Binding("fake", "anthropic-messages", "m", Capabilities(), **more)


def test_a_binding_is_a_source_of_its_paths_for_all_models_named() -> None:
    seen: list[Endpoint] = []

    def open_stateless(endpoint: Endpoint) -> FakeStateless:
        seen.append(endpoint)
        return FakeStateless()

    source = ProviderSource.of(
        binding(open_stateless=open_stateless), Endpoint("http://x", "k", "small"), models=["large"]
    )
    assert (source.models, source.paths) == (("small", "large"), ("stateless",))
    source.open(*source.choose(None, "large"))
    assert [(one.model, one.api_key) for one in seen] == [("large", "k")]


@pytest.mark.parametrize("form", [{"signature": "short"}, {"errors": "returned"}])
def test_a_binding_in_another_calling_form_is_refused_with_the_way_out(form: Any) -> None:
    with pytest.raises(UsageError, match="through turnproof"):
        ProviderSource.of(binding(open_stateless=lambda endpoint: None, **form), Endpoint("http://x", "k", "m"))


def test_a_child_asks_for_leave_where_its_parent_does() -> None:
    requests: list[tuple[str, str]] = []

    def ask(agent: str, call: FunctionCall, token: CancelToken) -> Approval:
        requests.append((agent, call.name))
        return Approval(allowed=call.name != "rm", reason="not in this house")

    minds = Minds(lead=[calls(spawn("a")), reply("Ok.")], a=[calls(("rm", {})), reply("I may not.")])
    with team_of(minds, tools=[tool("rm")], options=lambda agent: {"approve": partial(ask, agent)}) as team:
        team.send("lead")
        (result,) = minds.of("a")[-1].messages[-1].results
    assert requests == [("main", "spawn_subagent"), ("a", "rm")]
    assert (result.result, result.is_error) == ("permission denied: not in this house", True)


@pytest.mark.parametrize("background", [False, True])
def test_the_spans_of_a_child_hang_below_the_call_that_started_it(background: bool) -> None:
    spans = Spans()
    minds = Minds(
        lead=[calls(spawn("a", background=background)), reply("Ok."), reply("Heard.")],
        a=[calls(("look", {})), reply("Fine.")],
    )
    with team_of(minds, tools=[tool()], tracing=lambda agent: spans.tracing(agent=agent)) as team:
        team.send("lead")
        list(team.settle())
    outline = [line.split(" [")[0] for line in spans.outline()]
    assert outline[:8] == [
        "invoke_agent main",
        "  chat",
        "  execute_tool spawn_subagent",
        "    invoke_agent a",
        "      chat",
        "      execute_tool look",
        "      chat",
        "  chat",
    ]
    assert outline[8:] == (["invoke_agent main", "  chat"] if background else [])


def test_both_paths_are_offered_the_stateless_one_first() -> None:
    source = ProviderSource(("m",), lambda model: FakeStateless(), lambda model: FakeLegacy())
    assert source.paths == ("stateless", "legacy")
    assert source.choose(None, None) == ("stateless", "m")
    assert source.choose("legacy", None) == ("legacy", "m")


def test_a_child_runs_on_what_its_parent_runs_on_unless_it_is_given_something_else() -> None:
    opened: list[tuple[str, str]] = []

    def source(name: str, *models: str) -> ProviderSource:
        def open_one(path: str, model: str) -> Any:
            opened.append((f"{name}, {path}", model))
            return FakeLegacy() if path == "legacy" else FakeStateless()

        return ProviderSource(models, partial(open_one, "stateless"), partial(open_one, "legacy"))

    runtime = runtime_of(Minds(), providers={"x": source("x", "x1"), "y": source("y", "y1", "y2", "y3")})
    with Team(runtime, provider="y", path="legacy", model="y2") as team:
        for settings in ({}, {"model": "y3"}, {"path": "stateless"}, {"provider": "x"}, {"provider": "y"}):
            at_rest(team, team.spawn(team.lead, "a", **settings))  # type: ignore[arg-type]
    assert opened == [
        ("y, legacy", "y2"),
        ("y, legacy", "y2"),
        ("y, legacy", "y3"),
        ("y, stateless", "y2"),
        ("x, stateless", "x1"),
        ("y, legacy", "y2"),
    ]


def test_a_stateless_parent_has_a_legacy_child() -> None:
    minds = Minds(
        lead=[calls(spawn("a", provider="old")), calls(("message_subagent", {"name": "a", "text": "b"})), reply("Ok.")]
    )
    legacy = FakeLegacy(reply("first"), reply("second"))
    providers = {
        "minds": ProviderSource(("m",), open_stateless=lambda model: minds),
        "old": ProviderSource(("m",), open_legacy=lambda model: legacy),
    }
    with team_of(minds, providers=providers) as team:
        team.send("lead")
        (child,) = team.lead.children
        assert (team.lead.session.path, child.session.path) == ("stateless", "legacy")
        assert [message.text for message in legacy.get_history()] == ["a", "first", "b", "second"]
        assert [message.text for message in child.session.history.messages] == ["a", "first", "b", "second"]
        at_rest(team, child)
