"""A provider whose model has a context without a limit, for measurements of long conversations."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from turnproof.dialects import dialect
from turnproof.provider import Binding, Endpoint, Path
from turnproof.wire.emulator import EmulatorServer, ServerRun
from turnproof.wire.emulator.echo import EchoResponder
from turnproof.wire.emulator.server_run import CANARY_KEY


@contextmanager
def unlimited_provider(server: EmulatorServer, binding: Binding, path: Path) -> Iterator[tuple[Any, ServerRun]]:
    """A provider on a path, and the run that answers it with echoes."""
    spoken_dialect = dialect(binding.dialect)
    models = {name: replace(facts, context_tokens=10**9) for name, facts in spoken_dialect.models.items()}
    run = server.open_run(spoken_dialect, EchoResponder(), models=models)
    opener = binding.opener(path)
    assert opener is not None
    provider = opener(Endpoint(run.base_url, CANARY_KEY, binding.model, {}))
    try:
        yield provider, run
    finally:
        provider.shutdown()
        server.close_run(run)
