"""What is told of the processes, threads and files that subjects leave behind."""

from __future__ import annotations

from turnproof.commands.certify.leftovers import Leftovers
from turnproof.run.transcript import RunEnded


def sentences(*ends: RunEnded) -> list[str]:
    leftovers = Leftovers()
    for end in ends:
        leftovers.add("mine", end)
    return list(leftovers.sentences())


def test_nothing_is_told_of_runs_that_leave_nothing() -> None:
    assert sentences(RunEnded(how="completed"), RunEnded(how="hung")) == []


def test_each_kind_of_leftover_is_counted_over_all_runs() -> None:
    assert sentences(
        RunEnded(how="completed", processes_left=("node", "sleep"), threads_left=3),
        RunEnded(how="completed", processes_left=("sleep",), threads_left=1, files_left=("work/a", "work/b")),
        RunEnded(how="completed", files_left=("tmp/c", "tmp/d")),
    ) == [
        "mine left 3 processes running (node, sleep); they were ended",
        "mine left 4 threads running after 2 runs; their worker processes were replaced",
        "mine left 4 files behind (tmp/c, tmp/d, work/a, ...); they were removed",
    ]
