"""What a run tells of the sessions that an agent keeps, and of its processes, as entries of its conversation."""

from __future__ import annotations

from typing import TypeAlias

from .._base.counts import counted
from ..run.transcript import Killed, LeftBehind, SaidBeside, SessionInForce, SessionListed, SessionStepped

AgentEvent: TypeAlias = SessionStepped | SessionInForce | SaidBeside | Killed | LeftBehind


def agent_entry(event: AgentEvent) -> tuple[str, str]:
    """A label, and the text under it."""
    match event:
        case SessionStepped():
            session_words = f" {event.asked}" if event.asked else " the last session" if event.last else ""
            where = f" in {event.cwd}" if event.cwd else ""
            now = f"open was {_name(event.was)}, now {_name(event.now)}"
            label = f"{event.do}{session_words}{where}: {event.outcome}; {now}"
            lines = [f"{event.error}: {event.message}"] if event.error else []
            return label, "\n".join([*lines, *map(_list_entry, event.listed)])
        case SessionInForce():
            can = f"it can {', '.join(event.can)}" if event.can else "it can do nothing with its sessions"
            unknown_names = f"; and it says {', '.join(event.unknown)}" if event.unknown else ""
            return f"open session: {_name(event.session)}", can + unknown_names
        case SaidBeside():
            text = f"{event.error}: {event.message}" if event.error else event.text
            return f"a turn that was asked for at the same time: {event.outcome}", text
        case Killed():
            return f"{counted(event.processes, 'process')} of the agent killed at {event.at}", ""
        case LeftBehind():
            left = [f"process {name}" for name in event.processes] + [f"file {name}" for name in event.files]
            left += [f"the key in the command line of {name}" for name in event.exposed]
            return f"left behind of {counted(event.started, 'process')}", "\n".join(left) or "nothing"


def _name(label: str | None) -> str:
    return label if label is not None else "none"


def _list_entry(entry: SessionListed) -> str:
    where = f" in {entry.cwd}" if entry.cwd else ""
    age = "no time reported" if entry.age is None else f"number {entry.age + 1} from the newest"
    return f"{entry.session}{where}, {age}{', cannot be resumed' if entry.problem else ''}"
