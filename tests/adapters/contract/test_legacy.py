"""The path that owns its history: what it holds after each kind of call, and what it sends."""

from __future__ import annotations

import ast
import importlib
import inspect
from collections.abc import Callable
from typing import Any

import pytest

from turnproof import messages as m
from turnproof.errors import OverloadedError, TransportError
from turnproof.provider import LegacyProvider, StatelessProvider

from ..background_call import BackgroundCall, write_and_hold
from ..callback_recorder import CallbackRecorder
from ..scripted_server import LIMIT, Exchange, scripted
from .adapter_kit import AdapterKit, Subject, rich_parts
from .subjects import KITS, each_case, each_kit, each_subject
from .wire_parts import call, text

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")
URL = "http://example.invalid"


def history_of(provider: Any) -> list[tuple[str, tuple[Any, ...]]]:
    return [(message.role, message.parts) for message in provider.get_history()]


def discard(piece: str) -> None:
    """A callback whose pieces no test looks at."""


@each_kit
def test_both_paths_follow_their_protocols(kit: AdapterKit) -> None:
    assert isinstance(kit.open("legacy", URL), LegacyProvider)
    assert isinstance(kit.open("stateless", URL), StatelessProvider)
    assert not hasattr(kit.open("stateless", URL), "get_token_usage")


@each_subject
def test_neither_path_imports_the_other(subject: Subject) -> None:
    other = "legacy" if subject.path == "stateless" else "stateless"
    names = {each.__module__ for each in type(subject.open(URL).provider).__mro__}
    own = [name for name in names if name.startswith("turnproof_adapters.")]
    assert any(name.endswith(f".{subject.path}") for name in own)
    for name in own:
        tree = ast.parse(inspect.getsource(importlib.import_module(name)))
        imported = {(node.module or "").split(".")[-1] for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
        assert other not in imported, name


@each_kit
def test_a_conversation_with_tools_is_recorded_as_it_goes(kit: AdapterKit) -> None:
    used, done = kit.answer(text("look"), call("a", "read", '{"p": 1}'), ending="calls"), kit.stream(text("do", "ne"))
    with scripted(lambda exchange: exchange.answer(used), lambda exchange: exchange.stream(*done)) as server:
        provider = kit.open("legacy", server.url)
        provider.create_session("rules", [m.ToolSchema("read")])
        first = provider.send_message("hi")
        assert (first.text, first.calls[0].name, first.calls[0].args) == ("look", "read", {"p": 1})
        result = m.ToolResult(first.calls[0].id, "read", "ok")
        second = provider.send_tool_results_streaming([result], discard)
        assert history_of(provider) == [
            ("user", (m.Text("hi"),)),
            ("model", first.parts),
            ("tool", (result,)),
            ("model", second.parts),
        ]
        assert second.text == "done"
        assert provider.get_token_usage() == second.usage
        assert all(b"rules" in exchange.body for exchange in server.requests)


SENDS: dict[str, Callable[[Any], object]] = {
    "message": lambda provider: provider.send_message("again"),
    "message-streamed": lambda provider: provider.send_message_streaming("again", discard),
    "parts": lambda provider: provider.send_message_with_parts([m.Text("again"), m.InlineData("image/png", b"\x89")]),
    "parts-streamed": lambda provider: provider.send_message_with_parts_streaming([m.Text("again")], discard),
    "results": lambda provider: provider.send_tool_results([m.ToolResult("a", "read", "ok")]),
    "results-streamed": lambda provider: provider.send_tool_results_streaming(
        [m.ToolResult("a", "read", "ok")], discard
    ),
}


@each_kit
@pytest.mark.parametrize("send", SENDS)
def test_a_refused_call_leaves_the_history_as_it_was(kit: AdapterKit, send: str) -> None:
    with scripted(lambda exchange: exchange.answer({"error": {"message": "busy"}}, 503)) as server:
        provider = kit.open("legacy", server.url)
        provider.create_session(None, None, [m.Message.user("hi"), m.Message.model(m.FunctionCall("a", "read", {}))])
        before = history_of(provider)
        with pytest.raises(OverloadedError):
            SENDS[send](provider)
        assert history_of(provider) == before


@each_kit
def test_a_stream_that_breaks_off_leaves_the_history_as_it_was(kit: AdapterKit) -> None:
    with scripted(lambda exchange: exchange.stream(kit.stream(text("so ", "far"))[0])) as server:
        provider = kit.open("legacy", server.url)
        with pytest.raises(TransportError):
            provider.send_message_streaming("hi", discard)
        assert provider.get_history() == []


@each_kit
def test_a_callback_that_raises_leaves_the_history_as_it_was(kit: AdapterKit) -> None:
    def fail(_: object) -> None:
        raise LookupError("mine")

    events = kit.stream(*rich_parts(kit), ending="calls")
    for name in kit.callbacks:
        with scripted(lambda exchange: exchange.stream(*events)) as server:
            provider = kit.open("legacy", server.url)
            callbacks: dict[str, Any] = {"on_chunk": discard, name: fail}
            with pytest.raises(LookupError, match="mine"):
                provider.send_message_streaming("hi", callbacks.pop("on_chunk"), **callbacks)
            assert provider.get_history() == []


@each_case((Subject(kit, "legacy"), moment) for kit in KITS for moment in kit.cancel_moments())
def test_a_cancelled_call_keeps_the_users_side_and_what_the_model_had_said(subject: Subject, case: str) -> None:
    moment = subject.kit.cancel_moments()[case]
    script, stall = write_and_hold(*moment.events)
    recorder = CallbackRecorder()
    with scripted(script) as server:
        opened = subject.open(server.url, **moment.options)
        running = BackgroundCall(lambda token: opened.stream(recorder, token=token))
        assert stall.wait(LIMIT)
        running.wait_until_reading(after=lambda: recorder.text == moment.text)
        running.token.cancel()
        response = running.result()
    assert isinstance(response, m.ProviderResponse)
    question, *answers = history_of(opened.provider)
    assert question == ("user", (m.Text("hi"),))
    assert answers == ([("model", response.parts)] if response.parts else [])


@each_kit
def test_a_call_that_the_limit_cut_is_not_recorded(kit: AdapterKit) -> None:
    """Where its arguments may be cut: they are JSON in a string."""
    if kit.arguments_are_text:
        recorder, events = CallbackRecorder(), kit.stream(text("so"), call("a", "rm", '{"path": "/'), ending="limit")
        with scripted(lambda exchange: exchange.stream(*events)) as server:
            opened = Subject(kit, "legacy").open(server.url)
            opened.stream(recorder)
        assert history_of(opened.provider)[1:] == [("model", (m.Text("so"),))]
        assert recorder.calls == []


@each_kit
def test_the_history_handed_out_is_the_callers_own(kit: AdapterKit) -> None:
    provider = kit.open("legacy", URL)
    history = [m.Message.user("hi"), m.Message.model("ho")]
    provider.create_session(None, None, history)
    history.clear()
    provider.get_history().clear()
    assert len(provider.get_history()) == 2
    provider.create_session()
    assert provider.get_history() == []


@each_kit
def test_a_serialised_history_comes_back_without_loss(kit: AdapterKit) -> None:
    provider = kit.open("legacy", URL)
    history = [
        m.Message.user("question", m.InlineData("image/png", b"\x89")),
        m.Message.model("let me look", m.FunctionCall("a", "read", {"n": 1})),
        m.Message.tool(m.ToolResult("a", "read", {"rows": [1, None, "’北"]})),
        m.Message.model("answer"),
    ]
    assert m.same_history(provider.deserialize_history(provider.serialize_history(history)), history)


@each_kit
@pytest.mark.parametrize("streamed", [False, True], ids=["batch", "stream"])
def test_both_paths_send_the_same_request(kit: AdapterKit, streamed: bool) -> None:
    tools = [m.ToolSchema("mcp.ls", "List files", {"type": "object", "properties": {"at": {"type": "string"}}})]
    earlier = [m.Message.user("see"), m.Message.model("look", m.FunctionCall("a", "mcp.ls", {"at": "’北"}))]
    earlier.append(m.Message.tool(m.ToolResult("a", "mcp.ls", {"n": [1.5, None]})))
    earlier.append(m.Message.model("so"))

    def reply(exchange: Exchange) -> None:
        if streamed:
            exchange.stream(*kit.stream(text("a", "b")))
        else:
            exchange.answer(kit.answer(text("ab")))

    with scripted(reply) as server:
        stateful = kit.open("legacy", server.url)
        stateful.create_session("rules", tools, earlier)
        stateful.send_message_streaming("so?", discard) if streamed else stateful.send_message("so?")
        callbacks = {"on_chunk": discard} if streamed else {}
        kit.open("stateless", server.url).complete([*earlier, m.Message.user("so?")], "rules", tools, **callbacks)
        by_legacy, by_stateless = server.requests
    assert by_legacy.path == by_stateless.path
    assert kit.comparable(by_legacy.json) == kit.comparable(by_stateless.json)
