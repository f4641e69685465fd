"""Attach, detach, unload: what is in memory is what is on the disk, for one client and for several."""

from __future__ import annotations

import gc
import os
import signal
import threading
import weakref
from collections.abc import Callable
from typing import Any

import pytest

from session.fakes import Naps, Play, reply, tool
from turnproof.cancel import CancelToken
from turnproof.errors import Cancelled, UsageError
from turnproof.messages import Message, ProviderResponse
from turnproof.session import RetryPolicy, Session, TurnResult
from turnproof.session.persistence import Connection
from turnproof.session.store import (
    Client,
    FileStore,
    SessionBusyError,
    SessionManager,
    StoreFullError,
    UnknownSessionError,
    exit_on_sigterm,
)
from turnproof.session.store.signals import uninterrupted
from turnproof.sessions import SessionSource

from .kit import Echo, echo_session, numbered_from, sim_store, typed_texts
from .simfiles import SimFiles
from .test_fifo import started


class Opened:
    """Opens echo sessions, each with message ids of its own, and remembers their providers."""

    def __init__(self, **options: Any) -> None:
        self.providers: list[Echo] = []
        self._options = options

    def __call__(self) -> Session:
        provider = Echo()
        self.providers.append(provider)
        options = {"ids": numbered_from(100 * len(self.providers)), "tools": [tool()], **self._options}
        return Session(provider, sleep=Naps(), retry=RetryPolicy(jitter=0), **options)


def managed(opened: Callable[[], Session] | None = None, **options: Any) -> SessionManager:
    return SessionManager(sim_store(SimFiles(), **options), opened or Opened(), patience=0)


def texts_of(messages: list[Message]) -> list[str]:
    return [message.text for message in messages]


# In memory and on the disk


def test_detached_unloaded_and_attached_again_the_next_request_is_the_same() -> None:
    straight = Opened()
    whole = managed(straight).create()
    opened = Opened()
    manager = managed(opened)
    client = manager.create(session_id="s")
    for text in ("hello", "look here"):
        whole.send(text)
        client.send(text)
    client.detach()
    assert not manager.loaded
    with manager.attach("s") as again:
        assert manager.loaded == ("s",)
        again.send("go on")
    whole.send("go on")
    expected, actual = straight.providers[0].requests[-1], opened.providers[1].requests[-1]
    assert [(m.role, m.parts) for m in actual] == [(m.role, m.parts) for m in expected]


def test_a_session_is_loaded_once_and_unloaded_when_the_last_client_has_gone() -> None:
    opened = Opened()
    manager = managed(opened)
    first = manager.create(session_id="s", description="a talk", workspace="/w", connection=Connection("anthropic"))
    second, third = manager.attach("s"), manager.attach(1)
    assert len(opened.providers) == 1
    first.send("hello")
    assert texts_of(second.messages) == texts_of(third.messages) == ["hello", "You said: hello"]
    first.detach()
    second.detach()
    assert manager.loaded == ("s",)
    third.detach()
    third.detach()
    assert not manager.loaded
    (info,) = manager.store.list_sessions().sessions
    assert (info.title, info.cwd, info.provider) == ("a talk", "/w", "anthropic")


def test_a_detached_client_says_so_until_it_resumes_a_session() -> None:
    client = managed().create(session_id="s")
    client.detach()
    assert client.session_id is None
    for attempt in (lambda: client.send("hello"), lambda: client.messages, client.stop, lambda: client.kept_session):
        with pytest.raises(UsageError, match="this client is detached"):
            attempt()
    client.resume_session("s")
    assert client.send("hello").text == "You said: hello"


def test_a_session_can_be_begun_that_is_made_with_what_is_said_first() -> None:
    manager = managed()
    client = manager.begin(workspace="/w", connection=Connection("anthropic"))
    assert (client.session_id, client.messages, client.stop()) == (None, [], False)
    token = CancelToken()
    token.cancel()
    with pytest.raises(Cancelled):
        client.send("never mind", cancel_token=token)
    assert manager.store.list_sessions().sessions == ()
    client.send("hello")
    (info,) = manager.store.list_sessions().sessions
    assert (info.session_id, info.title, info.cwd, info.provider) == (client.session_id, "hello", "/w", "anthropic")


def test_what_is_not_there_or_open_elsewhere_is_told_and_nothing_is_loaded() -> None:
    manager = managed()
    with pytest.raises(UnknownSessionError):
        manager.attach("s")
    with sim_store(manager.store._files).create(echo_session(), session_id="s"), pytest.raises(SessionBusyError):
        manager.attach("s")
    assert not manager.loaded
    manager.attach("s").send("free again")


def test_changes_between_turns_come_from_any_client_and_are_stored_at_once() -> None:
    manager = managed()
    client, other = manager.create(session_id="s"), manager.attach("s")
    client.send("hello")
    other.change(lambda session: session.set_system("be brief"))
    other.change(lambda session: session.swap(Echo()), connection=Connection("google_genai"))
    state = manager.store.load("s").state
    assert (state.system, state.connection.provider) == ("be brief", "google_genai")
    assert client.kept_session.session.system == "be brief"


# A client and its one session


def test_a_client_is_a_source_of_sessions_and_its_history_is_that_of_the_one_it_is_on() -> None:
    manager = managed()
    for name in ("a", "b"):
        with manager.create(session_id=name, workspace="/w") as one:
            one.send(f"in {name}")
    client = manager.create(session_id="c", workspace="/elsewhere")
    assert isinstance(client, SessionSource)
    assert client.session_capabilities.can_continue_last
    assert [info.session_id for info in client.list_sessions(cwd="/w").sessions] == ["b", "a"]
    client.resume_session("a")
    assert (client.session_id, texts_of(client.messages)[0]) == ("a", "in a")
    assert client.continue_last("/w") == "b"
    assert (client.session_id, texts_of(client.messages)[0]) == ("b", "in b")
    assert client.continue_last("/nowhere") is None
    client.resume_session("b")
    assert manager.loaded == ("b",)


def test_a_failed_resume_leaves_the_client_where_it_was() -> None:
    manager = managed()
    client = manager.create(session_id="s")
    client.send("hello")
    with sim_store(manager.store._files).create(echo_session(), session_id="busy"):
        for name, error in (("busy", SessionBusyError), ("no-such", UnknownSessionError)):
            with pytest.raises(error):
                client.resume_session(name)
            assert client.session_id == "s"
    assert client.send("again").text == "You said: again"
    assert manager.loaded == ("s",)


def test_a_session_that_cannot_be_stored_is_not_left_behind() -> None:
    manager = managed(checkpoint_every=100)
    with manager.create(session_id="other"):
        pass
    client = manager.create(session_id="s")
    client.send("hello")
    client.send("again")
    files = manager.store._files
    assert isinstance(files, SimFiles)
    joining = SimFiles.lock

    def then_full(self: SimFiles, path: Any, owner: bytes) -> Callable[[], None]:
        release = joining(self, path, owner)
        self.full_at = self.operations + 1
        return release

    files.lock = then_full.__get__(files)  # type: ignore[method-assign]
    with pytest.raises(StoreFullError):
        client.resume_session("other")
    assert client.session_id == "s"
    with pytest.raises(StoreFullError):
        client.detach()
    assert "s" in manager.loaded, "what could not be stored is only there"
    files.full_at = None
    manager.attach("s").detach()
    assert typed_texts(manager.store.load("s").state) == ["hello", "again"]


def test_the_last_session_is_attached_to_by_time_within_its_directory() -> None:
    manager = managed()
    assert manager.attach_last() is None
    for name in ("a", "b"):
        manager.create(session_id=name, workspace=f"/{name}").detach()
    with manager.attach("a") as client:
        client.send("later")
    last = manager.attach_last()
    assert last is not None
    assert last.session_id == "a"
    assert manager.attach_last("/b").session_id == "b"  # type: ignore[union-attr]


# Several clients


class Gate(Echo):
    """Answers only when it is let; tells when it was asked."""

    def __init__(self) -> None:
        super().__init__()
        self.call_began, self.answers = threading.Event(), threading.Event()

    def complete(self, messages: Any, *args: Any, **kwargs: Any) -> ProviderResponse:
        self.call_began.set()
        self.answers.wait(60)
        token = kwargs.get("cancel_token")
        if token and token.is_cancelled:
            return reply("I was", finish="cancelled")
        return super().complete(messages, *args, **kwargs)


def gated() -> tuple[SessionManager, Gate]:
    gate = Gate()
    return managed(lambda: Session(gate, sleep=Naps())), gate


def in_line(client: Client, waiting: int) -> None:
    while client._attached_to.line.waiting != waiting:
        pass


def test_clients_take_turns_in_the_order_in_which_they_asked() -> None:
    manager, gate = gated()
    clients = [manager.create(session_id="s"), *(manager.attach("s") for _ in range(4))]
    threads = [started(lambda: clients[0].send("turn 0"))]
    gate.call_began.wait(60)
    for number, client in enumerate(clients[1:], 1):
        threads.append(started(lambda number=number, client=client: client.send(f"turn {number}")))  # type: ignore[misc]
        in_line(clients[0], number)
    gate.answers.set()
    for thread in threads:
        thread.join(60)
    assert typed_texts(manager.store.load("s").state) == [f"turn {n}" for n in range(5)]
    assert [len(request) for request in gate.requests] == [1, 3, 5, 7, 9], "each saw what was said before"


def test_a_client_may_give_up_waiting_and_then_has_said_nothing() -> None:
    manager, gate = gated()
    first, second = manager.create(session_id="s"), manager.attach("s")
    token, failures = CancelToken(), []

    def give_up() -> None:
        try:
            second.send("never mind", cancel_token=token)
        except Cancelled as error:
            failures.append(error)

    running = started(lambda: first.send("hello"))
    gate.call_began.wait(60)
    waiting = started(give_up)
    in_line(first, 1)
    token.cancel()
    waiting.join(60)
    gate.answers.set()
    running.join(60)
    assert len(failures) == 1
    assert typed_texts(manager.store.load("s").state) == ["hello"]


def test_any_client_can_stop_the_running_turn() -> None:
    manager, gate = gated()
    first, second = manager.create(session_id="s"), manager.attach("s")
    results: list[TurnResult] = []
    thread = started(lambda: results.append(first.send("hello")))
    gate.call_began.wait(60)
    assert second.stop()
    gate.answers.set()
    thread.join(60)
    assert results[0].outcome == "cancelled"
    assert not second.stop()


def test_a_tool_that_comes_back_to_its_own_session_is_refused_and_does_not_hang() -> None:
    refused: list[str] = []

    def look(args: Any, token: Any) -> str:
        for attempt in (lambda: client.send("again"), client.detach, lambda: client.resume_session("other")):
            with pytest.raises(UsageError, match="from inside one of its own turns") as failure:
                attempt()
            refused.append(str(failure.value))
        return "seen"

    manager = managed(Opened(tools=[tool(run=look)]))
    manager.create(session_id="other").detach()
    client = manager.create(session_id="s")
    assert client.send("look").text.endswith("You said: look")
    assert len(refused) == 3
    assert client.session_id == "s"


def test_who_detaches_while_others_still_wait_takes_nothing_from_them() -> None:
    manager, gate = gated()
    first, second = manager.create(session_id="s"), manager.attach("s")
    thread = started(lambda: first.send("hello"))
    gate.call_began.wait(60)
    second.detach()
    gate.answers.set()
    thread.join(60)
    first.detach()
    assert typed_texts(manager.store.load("s").state) == ["hello"]


# The end


@pytest.mark.parametrize("leave", [KeyboardInterrupt, SystemExit, RuntimeError])
def test_whatever_ends_the_program_every_session_is_stored(leave: type[BaseException]) -> None:
    manager = managed(checkpoint_every=100)

    def shown(piece: str) -> None:
        raise leave

    def run() -> None:
        with manager:
            for name in ("a", "b"):
                client = manager.create(session_id=name)
                client.send("hello")
                client.send("again")
            client.kept_session.session.set_system("changed")
            client.kept_session.session.swap(Streaming())
            client.send("interrupted", on_chunk=shown)

    with pytest.raises(leave):
        run()
    for name in ("a", "b"):
        state = manager.store.load(name).state
        assert typed_texts(state) == ["hello", "again"]
        assert (state.interrupted, state.log_seq > 0) == (None, True)
    assert manager.store.load("b").state.system == "changed"
    assert not manager.loaded
    manager.attach("a")


class Streaming(Echo):
    def complete(self, messages: Any, *args: Any, on_chunk: Any = None, **kwargs: Any) -> ProviderResponse:
        on_chunk("piece")
        return super().complete(messages, *args, **kwargs)


def test_a_turn_that_runs_when_the_manager_closes_is_stopped_and_stored() -> None:
    manager, gate = gated()
    client = manager.create(session_id="s")
    thread = started(lambda: client.send("hello"))
    gate.call_began.wait(60)
    manager._sessions._patience = 60
    kept_session = client.kept_session
    gate_opens = kept_session.session.stop

    def stop() -> bool:
        stopped = gate_opens()
        gate.answers.set()
        return stopped

    kept_session.stop = stop  # type: ignore[method-assign]
    manager.close()
    thread.join(60)
    state = manager.store.load("s").state
    assert [turn.outcome for turn in state.turns] == ["cancelled"]
    assert client.session_id is None


def test_a_turn_that_does_not_listen_is_left_behind_and_noted_as_interrupted() -> None:
    manager, gate = gated()
    client = manager.create(session_id="s")
    thread = started(lambda: client.send("hello"))
    gate.call_began.wait(60)
    manager.close()
    state = manager.store.load("s").state
    assert state.interrupted is not None
    assert [part.text for part in state.interrupted.content] == ["hello"]  # type: ignore[union-attr]
    gate.answers.set()
    thread.join(60)


def test_a_manager_that_nobody_closes_stores_when_the_interpreter_exits() -> None:
    manager = managed(checkpoint_every=100)
    client = manager.create(session_id="s")
    client.send("hello")
    client.kept_session.session.set_system("changed")
    assert manager._sessions._at_exit.atexit
    manager._sessions._at_exit()
    assert manager.store.load("s").state.system == "changed"
    manager.attach("s").detach()


def test_a_manager_without_clients_is_not_held_in_memory() -> None:
    manager = managed()
    manager.create(session_id="s").detach()
    reference = weakref.ref(manager)
    del manager
    gc.collect()
    assert reference() is None


def test_sigterm_leaves_in_order_and_the_former_handler_is_back() -> None:
    before = signal.getsignal(signal.SIGTERM)
    manager = managed(checkpoint_every=100)

    def terminated(play: Play) -> ProviderResponse:
        os.kill(os.getpid(), signal.SIGTERM)
        return reply("not any more")

    def run() -> None:
        with exit_on_sigterm(), manager:
            client = manager.create(session_id="s")
            client.send("hello")
            client.kept_session.session.swap(Scripted(terminated))
            client.send("interrupted")

    with pytest.raises(SystemExit) as failure:
        run()
    assert failure.value.code == 143
    assert signal.getsignal(signal.SIGTERM) is before
    assert typed_texts(manager.store.load("s").state) == ["hello"]
    assert manager.store.load("s").state.interrupted is None


class Scripted(Echo):
    def __init__(self, step: Callable[[Play], ProviderResponse]) -> None:
        super().__init__()
        self._step = step

    def complete(self, messages: Any, *args: Any, **kwargs: Any) -> ProviderResponse:
        return self._step(Play(CancelToken(), kwargs))


@pytest.mark.parametrize("other_threads", [0, 1])
def test_a_signal_waits_until_what_must_not_be_cut_is_done(other_threads: int) -> None:
    """Also where another thread is there to take it."""
    done, over = [], threading.Event()
    before = signal.getsignal(signal.SIGINT)
    threads = [threading.Thread(target=over.wait) for _ in range(other_threads)]
    for thread in threads:
        thread.start()

    def work() -> None:
        with uninterrupted():
            os.kill(os.getpid(), signal.SIGINT)
            done.append(True)

    with pytest.raises(KeyboardInterrupt):
        work()
    over.set()
    assert done == [True]
    assert signal.getsignal(signal.SIGINT) is before


def test_other_threads_are_never_interrupted_anyway() -> None:
    masks: list[set[Any]] = []

    def work() -> None:
        with uninterrupted():
            masks.append(signal.pthread_sigmask(signal.SIG_BLOCK, ()))

    started(work).join(60)
    assert masks == [set()]


def test_on_a_real_disk_two_managers_are_two_writers(tmp_path: Any) -> None:
    first, second = (SessionManager(FileStore(tmp_path), Opened()) for _ in range(2))
    with first, second:
        client = first.create(session_id="s")
        with pytest.raises(SessionBusyError):
            second.attach("s")
        client.send("hello")
        client.detach()
        second.attach("s").send("again")
    assert typed_texts(FileStore(tmp_path).load("s").state) == ["hello", "again"]
