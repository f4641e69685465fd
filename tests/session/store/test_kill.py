"""A process that takes turns is killed again and again, for real. `nox -s kill` does it a thousand times."""

from __future__ import annotations

from pathlib import Path

from .kill import kill


def test_no_acknowledged_turn_is_lost_when_the_process_is_killed(tmp_path: Path) -> None:
    tally = kill(40, seed=1, folder=tmp_path)
    assert tally.lives == 40
    assert tally.acknowledged > 40
    assert tally.interrupted > 0
    assert tally.torn > 0
