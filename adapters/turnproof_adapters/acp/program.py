"""What there is to know of one agent program: how it is started, and the ways in which it differs from the others."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from turnproof.agents import AgentSetup
from turnproof.errors import UsageError

from .._program import find_program, passed_environment


@dataclass(frozen=True, slots=True)
class Prepared:
    """How a program is told of a setup.

    environment: its own variables: the endpoint, the key, the model.
    arguments:   what comes behind its command.
    meta:        `_meta` of every request that opens a session.
    instructed:  whether it is told the system text. Where not, the text goes in front of a session's first message.
    """

    environment: Mapping[str, str]
    arguments: Sequence[str] = ()
    meta: Mapping[str, Any] = field(default_factory=dict)
    instructed: bool = False


@dataclass(frozen=True, slots=True)
class Program:
    """One program.

    name:     the agent's, in reports and lists.
    command:  how it is called where the endpoint's option `program` does not say.
    install:  how one gets it.
    prepare:  how it is told of a setup. It may write files below the setup's home.
    asks:     whether it asks before it calls a tool of the session's. Where not, `permits` is asked when it calls.
    hangs_up: whether it ends when its input does. Where not, it is asked to by a signal.
    reports_usage: whether it sends the token counts of a turn.
    replays_late: whether what a loaded session holds may still be told of after the answer to `session/load`.
    retells:  whether a message that broke off is told anew under a new message id, without a call between the two.
    before_load: called with the home and a session's id before that is loaded.
    noise:    what it tells of a loaded session in the user's name that the user has not said.
    off_by_one: how an agent calls itself that answers every prompt after a cancelled one with the answer to the one
              before; after a cancel it is started again.
    parses:   whether it takes a text that a tool returns for JSON where it can be read as such, and refuses all but
              objects.
    apology:  how the text begins that it puts in place of an answer when the model could not be asked. It is shown
              only if the turn does not fail.
    """

    name: str
    command: tuple[str, ...]
    install: str
    prepare: Callable[[AgentSetup], Prepared]
    asks: bool = True
    hangs_up: bool = True
    reports_usage: bool = True
    replays_late: bool = False
    retells: bool = False
    before_load: Callable[[Path, str], None] | None = None
    noise: re.Pattern[str] | None = None
    off_by_one: str | None = None
    parses: bool = False
    apology: re.Pattern[str] | None = None

    def loses_count(self, agent: str) -> bool:
        """Whether the agent of this name is not to be trusted after a cancel."""
        return self.off_by_one is not None and agent == self.off_by_one

    def found(self, setting: object) -> list[str]:
        """The command: what is `setting` (a name on PATH, a path, or a command with its arguments), or the usual one.

        Raises UsageError where there is no such program, or where it cannot be run.
        """
        if setting is None:
            words = list(self.command)
        else:
            words = [str(setting)] if isinstance(setting, str | Path) else []
            words = [str(word) for word in setting] if isinstance(setting, list | tuple) else words
        if not words:
            raise UsageError(f"program: {setting!r} is neither a name nor a command")
        return [find_program(words[0], self.install), *words[1:]]


def environment(home: Path, own: Mapping[str, str]) -> dict[str, str]:
    """All that a program sees of the environment. Its home is the folder given, and so is what it takes for /tmp."""
    scratch = home / "tmp"
    scratch.mkdir(parents=True, exist_ok=True)
    return {**passed_environment(), "HOME": str(home), "TMPDIR": str(scratch), **own}
