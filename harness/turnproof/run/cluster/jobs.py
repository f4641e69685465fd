"""What goes to a cluster and comes back from it: values alone, written as JSON."""

from __future__ import annotations

import msgspec

from ...errors import HarnessError
from ..backends import Played
from ..driver import RunSpec
from .identity import Identity, Needs
from .wheels import Wheel


class Answers(msgspec.Struct, frozen=True):
    """What answers an adapter. `folder` has its cassettes; empty means the installed ones."""

    backend: str
    folder: str = ""


class Setup(msgspec.Struct, frozen=True):
    """What all runs of a command have in common.

    campaign: a name that no other command has.
    project:  the folder that the command runs in, which modules are found from.
    share:    the folder or fsspec URL that transcripts are put into.
    sign:     a file that is there, by which a worker sees that it is the same place: its name and SHA-256.
    answers:  what answers each subject; None: the emulator answers all of them.
    modules:  what the subjects need, to be imported as early as can be.
    issued:   whether the answer to a batch has what the service issued in each run.
    identity: what the machine of the command has; a worker that has something else makes no run.
    wheels:   packages that are unpacked for these runs.
    environment: variables that the runs find with these values; None: not set.
    names:    names for sessions that share the name of their binding, by spec.
    """

    campaign: str
    project: str
    share: str
    sign: tuple[str, str]
    seed: int
    time_limit: float
    needs: Needs
    identity: Identity
    answers: dict[str, Answers] | None = None
    modules: tuple[str, ...] = ()
    memory: int | None = None
    processes: int | None = None
    issued: bool = False
    wheels: tuple[Wheel, ...] = ()
    environment: dict[str, str | None] = {}
    names: dict[str, str] = {}


class Batch(msgspec.Struct, frozen=True):
    """Runs that one worker makes, one after the other."""

    name: str
    specs: tuple[RunSpec, ...]


class Ready(msgspec.Struct, frozen=True, tag="ready"):
    """A worker is ready to make runs, unless something of it differs from the machine of the command."""

    differences: tuple[str, ...] = ()


class FinishedRuns(msgspec.Struct, frozen=True, tag="made"):
    """The runs of a batch: their transcripts are in `file` of the share, which has this SHA-256.

    played:  what was replayed, which the command sums up at its end.
    issued:  what the service of each run had issued when it was over, where the setup asks for it.
    starved: that the machine has too little processor time, in words, or empty.
    """

    file: str
    sha256: str
    played: Played = Played()
    issued: tuple[dict[str, tuple[str, str]], ...] = ()
    starved: str = ""


class Broken(msgspec.Struct, frozen=True, tag="broken"):
    """turnproof or the machine failed; no adapter is at fault. With `usage` it is what was asked for that cannot be."""

    reason: str
    usage: bool = False


class LostProcess(msgspec.Struct, frozen=True, tag="lost"):
    """The process that made the runs has ended before they were over. They have to be made again."""

    reason: str


Answer = Ready | FinishedRuns | Broken | LostProcess

_answers = msgspec.json.Decoder(Answer)
_setups = msgspec.json.Decoder(Setup)
_batches = msgspec.json.Decoder(Batch)


def encoded(value: Setup | Batch | Answer) -> bytes:
    """A message. Raises HarnessError for a scenario that holds text which has no form outside of this process."""
    try:
        return msgspec.json.encode(value)
    except (TypeError, ValueError) as error:
        raise HarnessError(f"this cannot be sent to a cluster: {error}") from error


def answer_of(message: bytes) -> Answer:
    """An answer from its message."""
    answer: Answer = _answers.decode(message)
    return answer


def setup_of(message: bytes) -> Setup:
    """A setup from its message."""
    return _setups.decode(message)


def batch_of(message: bytes) -> Batch:
    """A batch from its message."""
    return _batches.decode(message)
