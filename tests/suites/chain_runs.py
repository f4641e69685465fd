"""Runs of conversations that the service keeps: of the reference adapter, on real sockets, and with other requests."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import turnproof_suites
from turnproof.dialects import dialect
from turnproof.judge.view import View
from turnproof.run.driver import Runner, RunSpec
from turnproof.run.transcript import Failed, Response, RunKey, WireRequest
from turnproof.scenarios import load
from turnproof_adapters.openai_responses.binding import BINDING, CONVERSATION, WEBSOCKET

from .build import body_with, spoilt

SCENARIOS = Path(next(iter(turnproof_suites.__path__))) / "scenarios" / "stored"

Body = dict[str, Any]
Item = dict[str, Any]
Change = Callable[[View, Body], None]


@cache
def view_of(name: str, path: str = "legacy", *, conversation: bool = False) -> View:
    """The run of a scenario on real sockets, made once."""
    script = load(SCENARIOS / f"{name}.yaml")
    mode = "batch" if "batch" in script.modes else "stream"
    binding = WEBSOCKET if "websocket" in script.features else CONVERSATION if conversation else BINDING
    with Runner(in_process=True, bindings={binding.name: binding}) as runner:
        transcript = runner.run(RunSpec(binding.name, script, RunKey(script.name, path, mode)))  # type: ignore[arg-type]
    return View(transcript, dialect(transcript.dialect), script)


def request(number: int, change: Change) -> Callable[[View], View]:
    """Another body in one request."""

    def changed(view: View) -> View:
        return spoilt(view, WireRequest, body_with(lambda body: change(view, body)), number)

    return changed


def body(view: View, number: int) -> Body:
    """The body of a request as it was sent."""
    found: Body = view.transcript.of(WireRequest)[number].body
    return found


def failed(view: View) -> View:
    error = Failed(scope="call", error="InvalidRequestError", message="no", typed=True, turn=2, call=2)
    return spoilt(view, Response, lambda event: error, 2)
