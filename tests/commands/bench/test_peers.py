"""Peers in processes of their own: what is said over the line, what is installed, and what happens when one fails."""

from __future__ import annotations

import stat
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from turnproof.commands.bench.conversations import conversation
from turnproof.commands.bench.peers import process, venvs, worker
from turnproof.commands.bench.peers.catalogue import PEERS, check_peer, peers_of
from turnproof.commands.bench.peers.process import PeerProcess, as_json
from turnproof.commands.bench.timing import Case, TimedElsewhere
from turnproof.errors import ProviderError, UsageError
from turnproof.messages import Message, Thought
from turnproof.provider import Conversation

TALK = conversation(4, tools=True)

FAKE = """#!{python}
import sys, types

class Piece:
    def __init__(self, text):
        delta = types.SimpleNamespace(content=text)
        self.choices = [types.SimpleNamespace(message=delta, delta=delta)]

def completion(*, model, messages, stream=False, **options):
    print("a peer may print")
    if model.endswith("broken"):
        raise OverflowError("enough")
    if model.endswith("deadly"):
        sys.stderr.write("farewell")
        sys.stderr.flush()
        import os
        os._exit(3)
    if model.endswith("silent"):
        import time
        time.sleep(600)
    words = [model, " ", str(len(messages))]
    return map(Piece, ["", *words]) if stream else Piece("".join(words))

sys.modules["litellm"] = types.SimpleNamespace(completion=completion)
_, _, _, path, *rest = sys.argv
sys.argv = [path, *rest]
import runpy
runpy.run_path(path, run_name="__main__")
"""


@pytest.fixture
def python(tmp_path: Path) -> Path:
    """A Python in which `litellm` is what a test says."""
    file = tmp_path / "python"
    file.write_text(FAKE.format(python=sys.executable))
    file.chmod(file.stat().st_mode | stat.S_IXUSR)
    return file


@pytest.fixture
def peer(python: Path) -> Iterator[PeerProcess]:
    peer_process = PeerProcess("litellm", "anthropic", python=python)
    yield peer_process
    peer_process.close()


def test_a_peer_takes_turns_and_says_what_they_took(peer: PeerProcess) -> None:
    caller = peer.open("http://127.0.0.1:9", "key", "m", TALK)
    assert isinstance(caller, TimedElsewhere)
    caller.ready()
    # System, four messages of history, the question.
    assert caller.ask() == "anthropic/m 6"
    pieces: list[str] = []
    caller.stream(pieces.append)
    assert pieces == ["anthropic/m", " ", "6"]
    whole = caller.run_turns(3, streamed=False)
    assert len(whole) == 3
    assert all(first == 0 < nanoseconds for nanoseconds, first in whole)
    assert all(0 < first <= nanoseconds for nanoseconds, first in caller.run_turns(2, streamed=True))
    caller.close()


def test_what_a_peer_raises_is_told_and_it_goes_on(peer: PeerProcess) -> None:
    broken = peer.open("http://127.0.0.1:9", "key", "broken", TALK)
    with pytest.raises(ProviderError, match="OverflowError: enough"):
        broken.ask()
    assert peer.open("http://127.0.0.1:9", "key", "m", TALK).ask() == "anthropic/m 6"


def test_a_peer_that_dies_is_told_with_its_last_words(peer: PeerProcess) -> None:
    deadly = peer.open("http://127.0.0.1:9", "key", "deadly", TALK)
    with pytest.raises(ProviderError, match=r"the process of litellm has died: .*farewell"):
        deadly.ask()
    with pytest.raises(ProviderError, match="has died"):
        deadly.ask()


def test_a_peer_that_does_not_answer_is_not_waited_for_for_ever(
    peer: PeerProcess, monkeypatch: pytest.MonkeyPatch
) -> None:
    silent = peer.open("http://127.0.0.1:9", "key", "silent", TALK)
    monkeypatch.setattr(process, "_LIMIT", 0.0)
    with pytest.raises(ProviderError, match="litellm has not answered for 0 s"):
        silent.ask()


def test_only_what_a_peer_is_known_for_is_started() -> None:
    with pytest.raises(ProviderError, match="langchain is not known to speak to what zai speaks to"):
        PeerProcess("langchain", "zai")
    assert check_peer("litellm") == "litellm"
    with pytest.raises(UsageError, match="unknown peer 'litelm'; did you mean 'litellm'\\?; there are langchain, "):
        check_peer("litelm")


def test_a_peer_is_missed_where_it_can_stand_beside_none_of_the_adapters() -> None:
    assert peers_of("zai", ("litellm", "langchain"), ("zai", "openai")) == ()
    assert peers_of("openai", ("litellm", "langchain"), ("zai", "openai")) == ("litellm", "langchain")
    assert peers_of("zai", ("litellm",), ("zai", "ollama")) == ("litellm",)


def test_every_known_peer_has_a_worker_for_the_same_adapters() -> None:
    assert set(PEERS) == set(worker.PEERS)
    assert {tuple(sorted(adapters)) for adapters in PEERS.values()} == {("anthropic", "google_genai", "openai")}


def test_a_conversation_goes_over_the_line_in_plain_json() -> None:
    sent = as_json(TALK)
    user, call, result, answer, question = sent["messages"]
    assert (user["role"], call["role"], result["role"], answer["role"]) == ("user", "model", "tool", "model")
    assert call["calls"][0]["args"]["bed"] == "0"
    assert result["results"][0]["id"] == call["calls"][0]["id"]
    assert question["text"] == TALK.messages[-1].text
    assert (sent["system"], sent["tools"][0]["name"]) == (TALK.system, TALK.tools[0].name)


def test_a_part_that_no_peer_could_be_told_of_is_no_silent_loss() -> None:
    with pytest.raises(TypeError, match="has a Thought"):
        as_json(Conversation((Message.model(Thought("hm")),), "", ()))


def test_messages_in_openais_form_keep_calls_with_their_results() -> None:
    messages = worker._openai_messages(as_json(TALK))
    assert [message["role"] for message in messages] == ["system", "user", "assistant", "tool", "assistant", "user"]
    assert messages[2]["tool_calls"][0]["id"] == messages[3]["tool_call_id"]


def test_the_text_of_blocks_is_their_text_alone() -> None:
    assert worker._text("a") == "a"
    assert worker._text(["a", {"type": "text", "text": "b"}, {"type": "tool_use", "id": "x"}]) == "ab"


class Elsewhere:
    """A caller that says itself what its turns took."""

    def __init__(self) -> None:
        self.calls: list[tuple[int, bool]] = []

    def run_turns(self, turns: int, *, streamed: bool) -> list[tuple[int, int]]:
        self.calls.append((turns, streamed))
        return [(6_000_000, 2_000_000)] * turns

    def ready(self) -> None:
        raise AssertionError("it is not asked turn by turn")

    ask = stream = close = ready


def test_times_of_another_process_are_taken_as_they_are_told() -> None:
    caller = Elsewhere()
    case = Case("stream", "peer", 2, caller)  # type: ignore[arg-type]
    case.warm_up()
    case.round()
    assert caller.calls == [(1, True), (1, True), (10, True)]
    assert (case.whole, case.first) == ([6.0], [2.0])


def test_an_environment_is_made_once_and_again_if_it_was_never_finished(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    done: list[list[str]] = []

    def install(package: str, words: list[str]) -> None:
        done.append(words)
        if words[1:3] == ["-m", "venv"]:
            Path(words[3]).mkdir()
        elif "refused" in package and len(done) < 4:
            raise ProviderError("refused could not be installed: no")

    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(venvs, "_run", install)
    first = venvs.python_with("any-llm-sdk[anthropic] mcp")
    assert first.parent.parent.parent == tmp_path / "turnproof" / "peers"
    assert done[1][-2:] == ["any-llm-sdk[anthropic]", "mcp"]
    assert venvs.python_with("any-llm-sdk[anthropic] mcp") == first
    assert len(done) == 2
    del done[:]
    for _ in range(1):
        with pytest.raises(ProviderError, match="could not be installed"):
            venvs.python_with("refused")
    assert len(done) == 2
    venvs.python_with("refused")
    assert len(done) == 4


def test_what_pip_said_at_the_end_is_told() -> None:
    words = [sys.executable, "-c", "import sys; sys.exit('No matching distribution')"]
    with pytest.raises(ProviderError, match="x could not be installed: No matching distribution"):
        venvs._run("x", words)


def test_what_would_lead_a_peer_elsewhere_is_kept_from_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTPS_PROXY", "http://elsewhere")
    environment: Any = process._environment()
    assert "HTTPS_PROXY" not in environment
    assert environment["LITELLM_LOCAL_MODEL_COST_MAP"] == "True"
