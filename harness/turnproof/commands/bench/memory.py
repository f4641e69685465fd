"""What a thousand live sessions hold in memory: each caller in a process of its own, whose growth is what counts.

A path holds the messages and, once it has sent them, what it keeps beside them. A user of an SDK holds the history in
the SDK's own types. No two sessions share a text.
"""

from __future__ import annotations

import contextlib
import gc
import multiprocessing
import os
import pickle
import sys
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from ...errors import HarnessError, ProviderError
from ...provider import Binding, PlainConversation
from ...run.bindings import resolve_binding
from .callers import endpoint, open_path
from .conversations import conversation

SESSIONS = 1000
MESSAGES = 200
_LIMIT = 900.0
"""Seconds in which a process has to have made all of its sessions."""

_STATM = Path("/proc/self/statm")


@dataclass(frozen=True, slots=True)
class Holding:
    """Whose sessions: the stateless path, or a plain call, of the adapter that `spec` names, answered at `url`.

    `bare` drops the encodings that the path keeps, after each session.
    """

    spec: str
    caller: str
    url: str
    bare: bool = False


def can_measure() -> bool:
    """Whether this system says how large a process is."""
    return _STATM.exists()


def bytes_per_message(holding: Holding, sessions: int = SESSIONS, messages: int = MESSAGES) -> float | None:
    """Bytes by which a process grows, for each message of all sessions. None for a path that cannot be asked to drop
    its encodings, and for a plain call that does not show its history.

    Raises ProviderError for whatever the adapter raises there, HarnessError for a process that died.
    """
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=_main, args=(theirs, holding, sessions, messages), daemon=True)
    process.start()
    theirs.close()
    try:
        if not ours.poll(_LIMIT):
            raise HarnessError(f"the process that measures memory has taken more than {_LIMIT:g} s")
        found = ours.recv()
    except EOFError:
        raise HarnessError("the process that measures memory has died") from None
    finally:
        process.kill()
        process.join()
    if isinstance(found, str):
        raise ProviderError(found)
    return None if found is None else float(found)


def _main(line: Connection, holding: Holding, sessions: int, messages: int) -> None:
    with contextlib.redirect_stdout(sys.stderr):
        try:
            line.send(_memory_growth(holding, sessions, messages))
        except Exception as error:  # whatever somebody's adapter raises is told where it is asked for
            line.send(f"{type(error).__name__}: {error}")


def _memory_growth(holding: Holding, sessions: int, messages: int) -> float | None:
    binding = resolve_binding(holding.spec)
    hold = _stateless if holding.caller == "stateless" else _plain
    return hold(binding, holding, sessions, messages)


def _stateless(binding: Binding, holding: Holding, sessions: int, messages: int) -> float | None:
    provider = open_path(binding, "stateless", holding.url)
    forget = getattr(provider, "forget_encodings", None) if holding.bare else lambda: None
    if forget is None:
        return None
    tools = binding.claims().tools

    def session() -> Any:
        talk = conversation(messages, tools=tools)
        provider.complete(list(talk.messages), talk.system, list(talk.tools) or None)
        forget()
        return talk.messages

    warm = session()
    before = _resident()
    sessions_alive = [session() for _ in range(sessions)]
    growth = _resident() - before
    del warm
    provider.shutdown()
    return growth / len(sessions_alive) / messages


def _plain(binding: Binding, holding: Holding, sessions: int, messages: int) -> float | None:
    talk = conversation(messages, tools=binding.claims().tools)
    call = binding.plain_calls[holding.caller](endpoint(binding, holding.url), talk)
    if not isinstance(call, PlainConversation):
        return None
    # By way of bytes each has objects and texts of its own, whatever the SDK's types are.
    packed = pickle.dumps(call.history)
    warm = pickle.loads(packed)
    before = _resident()
    copies = [pickle.loads(packed) for _ in range(sessions)]
    growth = _resident() - before
    del warm
    call.close()
    return growth / len(copies) / messages


def _resident() -> int:
    gc.collect()
    return int(_STATM.read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
