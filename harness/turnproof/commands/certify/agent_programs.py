"""What stood behind an agent in one run: the program, and its processes."""

from __future__ import annotations

from ...judge.run_log import Processes
from ...run.transcript import Killed, LeftBehind, SessionInForce, Transcript


def program_behind(transcript: Transcript) -> str:
    """What the program calls itself, with its version; empty where none was told."""
    return next((told.program for told in transcript.of(SessionInForce) if told.program), "")


def processes_behind(transcript: Transcript) -> Processes | None:
    """The processes that were counted when the agent was shut down; None for what is no agent, or was not shut down."""
    counted = next(iter(transcript.of(LeftBehind)), None)
    if counted is None:
        return None
    killed = sum(event.processes for event in transcript.of(Killed))
    return Processes(started=counted.started, killed=killed, left=len(counted.processes))
