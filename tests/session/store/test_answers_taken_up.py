"""A process dies while the service works on an answer in the background: the next one takes that answer up."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from adapters.contract.chains import GOOGLE, OPENAI, ChainKind
from dialects.answers import reply
from dialects.responders import ScriptedService

from turnproof.background_answers import BackgroundCall, BackgroundPolicy, RunningAnswer
from turnproof.errors import UsageError
from turnproof.messages import FinishReason, FunctionCall, Message, Part, ProviderResponse, Text, TokenUsage
from turnproof.session import Enriched, RetryPolicy, Session, SessionObserver
from turnproof.session.store import FileStore, KeptSession
from turnproof.wire.emulator import EmulatorServer

from ..fakes import numbered, tool
from .ask_and_wait import open_session, opened_in
from .kit import numbered_from, sim_store
from .simfiles import PowerCut, SimFiles

AT_ONCE = BackgroundPolicy(poll_seconds=0.001)
AT_OPENAI = "turnproof_adapters.openai_responses.at_openai"
CLASSES = {
    (
        "openai_responses",
        "stateless",
    ): f"{AT_OPENAI}.stateless:OpenAIResponsesStateless",
    ("openai_responses", "legacy"): f"{AT_OPENAI}.legacy:OpenAIResponsesChain",
    ("google_interactions", "stateless"): "turnproof_adapters.google_interactions.stateless:InteractionsStateless",
    ("google_interactions", "legacy"): "turnproof_adapters.google_interactions.legacy:InteractionsChain",
}
KINDS = {"openai_responses": OPENAI, "google_interactions": GOOGLE}
PATIENCE = 60.0


# -- killed, over HTTP


class Died:
    """A service, a folder, and processes that ask and are killed while they wait."""

    def __init__(self, server: EmulatorServer, name: str, path: str, folder: Path) -> None:
        self.kind: ChainKind = KINDS[name]
        self.service = ScriptedService(server, self.kind.dialect)
        self.folder = folder
        self.subject = (CLASSES[name, path], self.kind.models[0], path, self.service.run.base_url)

    def say(self, *parts: Any, finish: FinishReason = FinishReason.STOP) -> None:
        self.service.responder.reply = reply(*parts, finish=finish)

    def ask_and_die(self, words: str, records: int) -> None:
        """Kill a process as soon as the log has so many answers, for the last of which it then waits."""
        command = [sys.executable, "-m", "tests.session.store.ask_and_wait", *self.subject, str(self.folder), words]
        root = Path(__file__).resolve().parents[3]
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(root), *sys.path])}
        with subprocess.Popen(command, env=environment, cwd=root) as process:
            until = time.monotonic() + PATIENCE
            while self.answers_begun < records:
                assert process.poll() is None, "the process ended by itself"
                assert time.monotonic() < until, "no answer was noted"
                time.sleep(0.01)
            process.send_signal(signal.SIGKILL)
        assert process.returncode == -signal.SIGKILL

    def work_on(self, session_id: str) -> None:
        """Have the service finish the answer, which it gets on with whenever somebody retrieves it."""
        left = FileStore(self.folder).load(session_id).state.interrupted
        assert left is not None
        assert left.answer is not None
        with provider_of(open_session(*self.subject, AT_ONCE)) as provider:
            for _ in range(2):
                provider._retrieve(left.answer.id)

    @property
    def answers_begun(self) -> int:
        log = self.folder / "s.jsonl"
        return log.read_bytes().count(b'"type":"answer_began"') if log.exists() else 0

    @property
    def creations(self) -> int:
        """How many answers were requested."""
        return sum(
            exchange.request.method == "POST" and not exchange.request.path.endswith("cancel")
            for exchange in self.service.run.exchanges
        )

    @contextmanager
    def resumed(self) -> Iterator[KeptSession]:
        session = open_session(*self.subject, AT_ONCE)
        with provider_of(session), opened_in(session, str(self.folder)) as kept_session:
            yield kept_session


@contextmanager
def provider_of(session: Session) -> Iterator[Any]:
    """Its provider, which is shut down afterwards."""
    provider: Any = session.provider
    try:
        yield provider
    finally:
        provider.shutdown()


@pytest.fixture
def died(server: EmulatorServer, name: str, path: str, tmp_path: Path) -> Died:
    return Died(server, name, path, tmp_path)


SUBJECTS = pytest.mark.parametrize(("name", "path"), list(CLASSES))


@SUBJECTS
def test_a_killed_process_loses_no_answer_and_none_is_paid_for_again(died: Died) -> None:
    died.say(Text("The bed is dry."))
    died.ask_and_die("How is bed 3?", 1)
    with died.resumed() as kept_session:
        assert kept_session.interrupted is not None
        assert kept_session.interrupted.content == (Text("How is bed 3?"),)
        assert kept_session.take_up().text == "The bed is dry."
        assert kept_session.interrupted is None
        kept_session.send("And bed 4?")
    assert died.creations == 2, "the answer that was taken up, and that of the next turn"
    stored = FileStore(died.folder).load("s").state
    assert [message.text for message in stored.messages] == [
        "How is bed 3?", "The bed is dry.", "And bed 4?", "The bed is dry.",
    ]  # fmt: skip
    assert [one.text for one in stored.inputs] == ["How is bed 3?", "And bed 4?"]
    assert len(stored.turns) == 2


@SUBJECTS
def test_the_second_answer_of_a_turn_is_taken_up_with_the_results_that_lead_to_it(died: Died) -> None:
    died.say(FunctionCall("", "look", {}), finish=FinishReason.TOOL_USE)
    died.ask_and_die("How is bed 3?", 1)
    # The service gets on with it. The second process takes the call up, runs the tool, asks with its result, and dies.
    died.work_on("s")
    died.say(Text("It is dry."))
    died.ask_and_die("take-up", 2)
    with died.resumed() as kept_session:
        assert kept_session.interrupted is not None
        assert [message.role for message in kept_session.interrupted.messages] == ["user", "model", "tool"]
        assert kept_session.take_up().text == "It is dry."
        assert [message.role for message in kept_session.session.history.messages] == ["user", "model", "tool", "model"]
    assert died.creations == 2


@SUBJECTS
def test_a_turn_that_fails_while_its_answer_is_worked_on_can_be_taken_up(died: Died) -> None:
    died.say(Text("The bed is dry."))
    with died.resumed() as kept_session:
        forget = kept_session.session.observe(Watching())
        with pytest.raises(KeyboardInterrupt):
            kept_session.send("How is bed 3?")
        forget()
        assert kept_session.interrupted is not None
        assert kept_session.take_up().text == "The bed is dry."
        with pytest.raises(UsageError, match="no interrupted turn"):
            kept_session.take_up()
    assert died.creations == 1


class Watching(SessionObserver):
    """Ends the process, as Ctrl-C does, once an answer has begun."""

    def on_answer_began(self, answer: RunningAnswer, messages: Sequence[Message]) -> None:
        raise KeyboardInterrupt


# -- the power goes


class Service:
    """Answers in memory, which outlives every process."""

    def __init__(self, files: SimFiles) -> None:
        self.files = files
        self.answers: dict[str, ProviderResponse] = {}
        self.written_down: list[str] = []

    def is_without_power(self) -> bool:
        return self.files.dies_at is not None and self.files.operations >= self.files.dies_at


class Asks:
    """A provider of it: told to `look`, the model calls that tool first."""

    model_name = "m"

    def __init__(self, service: Service) -> None:
        self._service = service
        self._call: BackgroundCall | None = None

    @contextmanager
    def in_background(self, call: BackgroundCall) -> Iterator[None]:
        self._call = call
        try:
            yield
        finally:
            self._call = None

    def cancel_answer(self, answer: RunningAnswer) -> None:
        self._service.answers.pop(answer.id)

    def complete(self, messages: Any, *_: Any, **__: Any) -> ProviderResponse:
        service, call = self._service, self._call
        assert call is not None
        if call.running is not None:
            return service.answers[call.running.id]
        name, last = f"a{len(service.answers)}", messages[-1]
        looks = last.role == "user" and last.text.startswith("look")
        part = FunctionCall(f"c{len(messages)}", "look", {"at": last.text}) if looks else Text("Dry.")
        finish = FinishReason.TOOL_USE if looks else FinishReason.STOP
        service.answers[name] = ProviderResponse((part,), TokenUsage(10, 2, 12), finish)
        call.on_began(RunningAnswer(name, "m"))
        if service.is_without_power():
            raise PowerCut
        service.written_down.append(name)
        return service.answers[name]


WORDS = ("hello", "look here", "bye")


def sim_session(service: Service, ids: Callable[[], str]) -> Session:
    return Session(Asks(service), tools=[tool()], ids=ids, background=AT_ONCE, retry=RetryPolicy(attempts=1))


def live(files: SimFiles, service: Service) -> int:
    """Turns until the power goes, and how many were acknowledged."""
    acknowledged = 0
    try:
        kept_session = sim_store(files).create(sim_session(service, numbered()), session_id="s")
        for words in WORDS:
            kept_session.send(words)
            acknowledged += 1
        kept_session.close()
    except PowerCut:
        pass
    return acknowledged


def operations() -> int:
    files = SimFiles()
    assert live(files, Service(files)) == len(WORDS)
    return files.operations


@pytest.mark.parametrize("cut", range(1, operations() + 1))
def test_whenever_the_power_goes_an_answer_that_was_noted_is_taken_up(cut: int) -> None:
    files = SimFiles(dies_at=cut)
    service = Service(files)
    acknowledged = live(files, service)
    if not service.written_down or acknowledged == len(WORDS):
        return
    for luck in (True, False, random.Random(1), random.Random(2)):
        disk = files.after(luck=luck)
        later = Service(disk)
        later.answers |= service.answers
        with sim_store(disk).resume(sim_session(later, numbered_from(500)), "s") as kept_session:
            left, count = kept_session.interrupted, len(later.answers)
            if left is None or left.calls:
                continue
            if left.answer is None:
                # What was noted belongs to the turns before.
                assert len(service.written_down) == count_of_answers(kept_session)
                continue
            assert left.answer.id in (service.written_down[-1], f"a{count - 1}")
            lost_answer = service.answers[left.answer.id]
            kept_session.take_up()
            assert len(later.answers) == count + (1 if lost_answer.calls else 0)
            assert kept_session.interrupted is None
        assert [one.text for one in sim_store(disk).load("s").state.inputs] == list(WORDS[: acknowledged + 1])


def count_of_answers(kept_session: KeptSession) -> int:
    return sum(message.role == "model" for message in kept_session.session.history.messages)


def test_a_tool_that_has_begun_is_not_run_again_by_taking_its_answer_up() -> None:
    files = SimFiles()
    service = Service(files)

    disks: list[SimFiles] = []

    class PowerGoes(SessionObserver):
        def on_tool_began(self, call: FunctionCall) -> None:
            disks.append(files.after(luck=False))

    session = sim_session(service, numbered())
    kept_session = sim_store(files).create(session, session_id="s")
    session.observe(PowerGoes())
    kept_session.send("look here")
    left = sim_store(disks[0]).load("s").state.interrupted
    assert left is not None
    assert [one.call.name for one in left.calls] == ["look"]
    assert left.answer is None


def test_what_was_typed_is_stored_with_the_answer_that_is_taken_up() -> None:
    files = SimFiles()
    service = Service(files)

    def enrich(parts: tuple[Part, ...]) -> Enriched:
        return Enriched((Text("Bed 3 is the small one."), *parts))

    session = Session(Asks(service), ids=numbered(), enrich=enrich, background=AT_ONCE, observers=[])
    kept_session = sim_store(files).create(session, session_id="s")
    session.observe(Watching())
    with pytest.raises(KeyboardInterrupt):
        kept_session.send("How is bed 3?")
    disk = files.after(luck=False)
    with sim_store(disk).resume(sim_session(service, numbered_from(500)), "s") as again:
        again.take_up()
        first = again.session.history.messages[0]
        assert again.session.typed(first) == (Text("How is bed 3?"),)
    (typed,) = sim_store(disk).load("s").state.typed
    assert typed.parts == (Text("How is bed 3?"),)
