"""What `forking` expects of forks, in a process of its own: one with threads of other tests is none to be forked."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent


def test_forks_give_results_and_none_that_is_lost_holds_up_the_others() -> None:
    command = [sys.executable, "-m", "pytest", "-q", "-c", os.devnull, "-p", "no:cacheprovider", HERE / "forking.py"]
    environment = {**os.environ, "PYTHONPATH": str(HERE.parent)}
    done = subprocess.run(command, env=environment, cwd=HERE, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    assert "6 passed" in done.stdout
