"""The power goes at every operation of a session's life, and comes back to every kind of disk.

Walked over a simulated disk, because a killed process cannot show what an fsync was good for.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import count
from pathlib import Path

import pytest

from turnproof.messages import dump_messages
from turnproof.session.pairing import is_paired
from turnproof.session.persistence import SavedSessionError, SessionState
from turnproof.session.store import KeptSession, UnknownSessionError

from .kit import echo_session, numbered_from, sim_store
from .simfiles import PowerCut, SimFiles, SimHandle


@dataclass(frozen=True)
class Snapshot:
    """What of a session has to be the same after a crash."""

    messages: bytes
    turns: int
    inputs: tuple[str, ...]
    description: str | None
    system: object

    @classmethod
    def of(cls, state: SessionState) -> Snapshot:
        inputs = tuple(one.text for one in state.inputs)
        return cls(dump_messages(state.messages), state.turn_count, inputs, state.description, state.system)


def life(files: SimFiles) -> Iterator[KeptSession]:
    """A session from its making to its end in another process; yields whenever something was acknowledged."""
    store = sim_store(files, checkpoint_every=2)
    kept_session = store.create(echo_session(system="be brief"), session_id="s")
    yield kept_session
    for text in ("hello", "look here", "x" * 5000):
        kept_session.send(text)
        yield kept_session
    kept_session.change(lambda session: session.reset(session.history.messages[-2:]))
    yield kept_session
    kept_session.describe("a talk")
    yield kept_session
    kept_session.send("look again")
    yield kept_session
    kept_session.change(lambda session: session.set_system("be long"))
    yield kept_session
    kept_session.close()
    with sim_store(files).resume(echo_session(ids=numbered_from(100)), "s") as again:
        yield again
        again.send("bye")
        yield again
    yield again


def undisturbed() -> tuple[int, list[Snapshot]]:
    """How many operations a life takes, and what is stored after each of its steps."""
    files = SimFiles()
    steps = [Snapshot.of(kept_session.state) for kept_session in life(files)]
    return files.operations, steps


OPERATIONS, STEPS = undisturbed()


def lived_until(cut: int) -> tuple[SimFiles, int]:
    """The disk of a life that ends at this operation, and how many of its steps were acknowledged."""
    files, acknowledged = SimFiles(dies_at=cut), 0
    try:
        for _ in life(files):
            acknowledged += 1
    except PowerCut:
        return files, acknowledged
    raise AssertionError(f"a life ends before operation {cut}")


def disks(files: SimFiles, seeds: int) -> Iterator[SimFiles]:
    """What may be there when the power is back."""
    yield files.after(luck=True)
    yield files.after(luck=False)
    for seed in range(seeds):
        yield files.after(luck=random.Random(seed))


def found(files: SimFiles) -> SessionState | None:
    """What can be loaded; None if there is no session."""
    try:
        return sim_store(files).load("s").state
    except UnknownSessionError:
        return None


def is_right(state: SessionState | None, acknowledged: int) -> bool:
    """Whether that is what was acknowledged last, or the next step, of which nobody had been told yet."""
    if state is None:
        return acknowledged == 0
    return Snapshot.of(state) in STEPS[max(0, acknowledged - 1) : acknowledged + 1] and is_paired(state.messages)


@pytest.mark.parametrize("cut", range(1, OPERATIONS + 1))
def test_whenever_the_power_goes_what_was_acknowledged_is_there_and_nothing_is_half_there(cut: int) -> None:
    files, acknowledged = lived_until(cut)
    for disk in disks(files, seeds=6):
        assert is_right(found(disk), acknowledged)


@pytest.mark.parametrize("cut", range(OPERATIONS // 3, OPERATIONS + 1, 3))
def test_after_a_power_cut_the_session_goes_on_and_is_whole_again(cut: int) -> None:
    files, _ = lived_until(cut)
    for disk in disks(files, seeds=3):
        before = found(disk)
        assert before is not None
        with sim_store(disk).resume(echo_session(ids=numbered_from(500)), "s") as kept_session:
            kept_session.send("still there?")
        loaded = sim_store(disk).load("s")
        assert loaded.problems == ()
        assert [one.text for one in loaded.state.inputs] == [*(one.text for one in before.inputs), "still there?"]
        assert loaded.state.messages[-1].text == "You said: still there?"


def test_the_power_may_go_again_while_the_damage_of_the_first_time_is_repaired() -> None:
    lives = (lived_until(cut) for cut in range(OPERATIONS // 2, OPERATIONS))
    torn, acknowledged = next(
        (disk, snapshots)
        for files, snapshots in lives
        for disk in disks(files, seeds=6)
        if sim_store(disk).load("s").problems
    )
    for second_cut in count(1):
        disk = torn.after(luck=True)
        disk.dies_at = second_cut
        try:
            sim_store(disk).resume(echo_session(), "s")
        except PowerCut:
            for after in disks(disk, seeds=6):
                assert is_right(found(after), acknowledged)
        else:
            break
    assert second_cut > 5


def without_sync(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(SimHandle, "sync", lambda self: None)


def without_folder_sync(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(SimFiles, "sync_folder", lambda self, folder: None)


def without_replacing(monkeypatch: pytest.MonkeyPatch) -> None:
    def write_in_place(files: SimFiles, path: Path, data: bytes) -> None:
        handle = files.create(path)
        handle.write(data)
        handle.sync()
        files.sync_folder(path.parent)

    monkeypatch.setattr("turnproof.session.store.session_log.write_whole", write_in_place)


def without_checksums(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("turnproof.session.store.journal._checksum", lambda seq, body: 0)


@pytest.mark.parametrize("careless", [without_sync, without_folder_sync, without_replacing, without_checksums])
def test_a_store_that_is_less_careful_is_caught(
    careless: Callable[[pytest.MonkeyPatch], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The simulated disk is worth something only if it shows what every single precaution is for."""
    careless(monkeypatch)

    def check_cuts() -> Iterator[bool]:
        for cut in range(1, undisturbed()[0] + 1):
            files, acknowledged = lived_until(cut)
            for disk in disks(files, seeds=6):
                try:
                    yield not is_right(found(disk), acknowledged)
                except (SavedSessionError, AssertionError):
                    yield True

    assert any(check_cuts())
