"""Kills a process that takes turns, over and over, and looks at what it left: `python -m tests.session.store.kill`.

A server process imports everything once and forks a child for each life, so that a life costs milliseconds. The child
opens the session that the one before it left, takes turns, and says `ack` for each that `send` has returned from. It
dies by SIGKILL: from outside, at a random moment, or by its own hand, at a random operation on a file, with half of a
write done. Whatever was acknowledged must be there, and what is there must be whole.
"""

from __future__ import annotations

import argparse
import os
import random
import select
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from turnproof.messages import FinishReason, FunctionCall, ProviderResponse, Text, TokenUsage, ToolSchema
from turnproof.session import Session, Tool
from turnproof.session.pairing import is_paired
from turnproof.session.store import FileStore, Handle, LocalFiles, UnknownSessionError

TURNS = 60
"""More than a life has time for."""

LONGEST = 0.03
"""Seconds after which a life ends at the latest, where it ends from outside."""

LIVES_OF_A_SESSION = 20


# The child


class Echo:
    """A model in memory. It calls a tool where it is told to `look`."""

    def complete(self, messages: Any, system_instruction: Any = None, tools: Any = None, **_: Any) -> ProviderResponse:
        last, usage = messages[-1], TokenUsage(10, 2, 12)
        if last.role == "user" and "look" in last.text:
            return ProviderResponse((FunctionCall("c1", "look"),), usage, FinishReason.TOOL_USE)
        question = next(message.text for message in reversed(messages) if message.role == "user")
        return ProviderResponse((Text(answer(question)),), usage, FinishReason.STOP)


def prompt(turn: int) -> str:
    """What is said in a turn: mostly a word, sometimes more than a disk writes at once."""
    return f"{turn}:" + (" look" if turn % 3 == 1 else "") + "." * (9000 if turn % 5 == 4 else 5)


def answer(question: str) -> str:
    return f"You said {question}"


class MortalFiles(LocalFiles):
    """Kills its own process at an operation, counted from 1."""

    def __init__(self, dies_at: int) -> None:
        self.left = dies_at

    def step(self, *, half: Callable[[], object] = lambda: None) -> None:
        self.left -= 1
        if self.left == 0:
            half()
            os.kill(os.getpid(), signal.SIGKILL)

    def create(self, path: Path) -> Handle:
        self.step()
        return MortalHandle(self, super().create(path))

    def append_to(self, path: Path) -> Handle:
        return MortalHandle(self, super().append_to(path))

    def truncate(self, path: Path, size: int) -> None:
        self.step()
        super().truncate(path, size)

    def replace(self, source: Path, target: Path) -> None:
        self.step()
        super().replace(source, target)

    def remove(self, path: Path) -> None:
        self.step()
        super().remove(path)

    def sync_folder(self, folder: Path) -> None:
        self.step()
        super().sync_folder(folder)


class MortalHandle:
    def __init__(self, files: MortalFiles, handle: Handle) -> None:
        self._files = files
        self._handle = handle

    def write(self, data: bytes) -> None:
        self._files.step(half=lambda: self._handle.write(data[: len(data) // 2]))
        self._handle.write(data)

    def sync(self) -> None:
        self._files.step()
        self._handle.sync()

    def close(self) -> None:
        self._handle.close()


def live(folder: str, dies_at: int) -> None:
    """One life: until somebody ends it."""
    store = FileStore(folder, checkpoint_every=3, files=MortalFiles(dies_at))
    session = Session(Echo(), tools=[Tool(ToolSchema("look"), lambda args, token: "seen")])
    there = any(path.suffix in (".json", ".jsonl") for path in Path(folder).iterdir())
    with store.resume(session, "s") if there else store.create(session, session_id="s") as kept_session:
        for turn in range(len(kept_session.state.inputs), TURNS):
            kept_session.send(prompt(turn))
            os.write(1, b"ack %d\n" % turn)
            if turn % 7 == 6:
                kept_session.change(lambda session: session.collect(2))


def serve() -> None:
    """Fork a child for each line `FOLDER DIES_AT`, and tell of its birth and its death."""
    for line in sys.stdin:
        folder, dies_at = line.split()
        child = os.fork()
        if child == 0:
            try:
                live(folder, int(dies_at))
                if dies_at == "0":
                    signal.pause()  # so that whoever kills this process does not kill another
            except BaseException as error:
                os.write(1, f"failed {type(error).__name__}: {error}\n".replace("\n", " ").encode() + b"\n")
            os._exit(0)
        os.write(1, b"born %d\n" % child)
        os.waitpid(child, 0)
        os.write(1, b"dead\n")


# The parent


@dataclass
class Tally:
    """What has happened in all lives together."""

    lives: int = 0
    acknowledged: int = 0
    unacknowledged: int = 0
    torn: int = 0
    interrupted: int = 0

    def __str__(self) -> str:
        return (
            f"{self.lives} processes killed; {self.acknowledged} turns acknowledged, none lost, and "
            f"{self.unacknowledged} more found that nobody had been told of; "
            f"{self.interrupted} times a turn was running, {self.torn} times the log was torn"
        )


class Server:
    """The process that forks the children."""

    def __init__(self) -> None:
        command = [sys.executable, "-m", f"{__package__}.kill" if __package__ else "kill", "--serve"]
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment)
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._in, self._out = self._process.stdin, self._process.stdout.fileno()
        self._buffer = b""

    def life(self, folder: Path, luck: random.Random) -> list[int]:
        """The turns that a child acknowledged before it died."""
        by_itself = luck.random() < 0.5
        dies_at = luck.randrange(1, 150) if by_itself else 0
        self._in.write(f"{folder} {dies_at}\n".encode())
        self._in.flush()
        born = self._line(None)
        assert born is not None
        child = int(born.removeprefix("born "))
        until = None if by_itself else time.monotonic() + luck.uniform(0, LONGEST)
        acknowledged: list[int] = []
        while True:
            line = self._line(until)
            if line is None:
                os.kill(child, signal.SIGKILL)
                until = None
            elif line == "dead":
                return acknowledged
            else:
                word, _, rest = line.partition(" ")
                assert word == "ack", line
                acknowledged.append(int(rest))

    def close(self) -> None:
        with self._process:
            self._in.close()

    def _line(self, until: float | None) -> str | None:
        """The next line; None if none has come by then."""
        while b"\n" not in self._buffer:
            left = None if until is None else max(0.0, until - time.monotonic())
            if not select.select([self._out], [], [], left)[0]:
                return None
            data = os.read(self._out, 65536)
            assert data, "the server is gone"
            self._buffer += data
        line, _, self._buffer = self._buffer.partition(b"\n")
        return line.decode()


def kill(times: int, seed: int, folder: Path) -> Tally:
    """So many lives, each followed by a look at what it left. Raises AssertionError for a turn that is lost."""
    luck, tally, server = random.Random(seed), Tally(), Server()
    try:
        for life in range(times):
            if life % LIVES_OF_A_SESSION == 0:
                store = FileStore(folder / f"session-{life}")
                store.folder.mkdir()
                known = 0
            acknowledged = server.life(store.folder, luck)
            assert acknowledged == list(range(known, known + len(acknowledged))), "turns were taken in order"
            known = look(store, known + len(acknowledged), tally)
            tally.lives += 1
            tally.acknowledged += len(acknowledged)
    finally:
        server.close()
    return tally


def look(store: FileStore, acknowledged: int, tally: Tally) -> int:
    """Whether every acknowledged turn is there, and everything is whole. How many turns there are."""
    try:
        loaded = store.load("s")
    except UnknownSessionError:
        assert acknowledged == 0, "the session is gone"
        return 0
    state = loaded.state
    found = len(state.inputs)
    assert [one.text for one in state.inputs] == [prompt(turn) for turn in range(found)], "each turn once, in order"
    assert found == state.turn_count == len(state.turns)
    assert acknowledged <= found <= acknowledged + 1, f"{acknowledged} turns were acknowledged, {found} are there"
    everything = [text for turn in range(found) for text in said_in(turn)]
    left = [message.text for message in state.messages]
    assert left == everything[len(everything) - len(left) :], "what is there is the end of what was said"
    assert not left or state.messages[0].role == "user"
    assert is_paired(state.messages)
    for problem in loaded.problems:
        assert "no whole record" in problem.reason, str(problem)
    tally.torn += bool(loaded.problems)
    tally.unacknowledged += found - acknowledged
    tally.interrupted += state.interrupted is not None
    return found


def said_in(turn: int) -> list[str]:
    """The texts of a turn's messages."""
    question = prompt(turn)
    return [question, "", "", answer(question)] if "look" in question else [question, answer(question)]


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--times", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.serve:
        serve()
        return
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        tally = kill(options.times, options.seed, Path(folder))
    print(f"{tally} ({time.monotonic() - began:.1f} s, seed {options.seed})")


if __name__ == "__main__":
    main()
