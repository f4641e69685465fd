"""Forks give results, and none of the ways in which one is lost holds up the others."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator

from mutation.forks import Alive, ForkLoss, forked

FOREVER = 60.0


def work(task: str, alive: Alive) -> str:
    match task:
        case "dies":
            os._exit(3)
        case "hangs":
            threading.Event().wait()
        case "tells":
            for _ in range(3):
                alive()
    return f"{task} done"


def results(*tasks: str, jobs: int = 2, silence: float = FOREVER) -> dict[str, str | ForkLoss]:
    return dict(forked(iter(tasks), work, jobs=jobs, silence=silence))


def test_every_task_gives_its_result() -> None:
    assert results("a", "b", "c") == {"a": "a done", "b": "b done", "c": "c done"}


def test_a_fork_that_dies_is_lost_alone() -> None:
    assert results("dies", "a") == {"dies": ForkLoss(hung=False), "a": "a done"}


def test_a_fork_that_falls_silent_is_ended() -> None:
    assert results("hangs", jobs=1, silence=0.05) == {"hangs": ForkLoss(hung=True)}


def test_a_sign_of_life_is_no_result() -> None:
    assert results("tells", "a") == {"tells": "tells done", "a": "a done"}


def test_the_next_task_is_chosen_when_there_is_a_place_for_it() -> None:
    known: list[str] = []

    def tasks() -> Iterator[str]:
        yield "first"
        yield f"after {len(known)}"

    for task, _ in forked(tasks(), work, jobs=1, silence=FOREVER):
        known.append(task)
    assert known == ["first", "after 1"]


def test_what_a_fork_changes_stays_in_it() -> None:
    here: list[str] = []

    def change(task: str, alive: Alive) -> int:
        here.append(task)
        return len(here)

    assert [result for _, result in forked(iter("abc"), change, jobs=1, silence=FOREVER)] == [1, 1, 1]
    assert here == []
