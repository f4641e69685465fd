"""All parts in one run."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path

from msgspec import structs

from ....errors import ProviderError
from ....report.progress import Telling
from ..peers.venvs import python_with
from ..report import Own
from .cassettes import Cassettes
from .certification import Certifying, Contexts
from .imports import ImportedSdks, Imports
from .parts import measure_parts
from .plugin import Plugin
from .server import Server

_STANDARD_TESTS = "langchain-tests langchain-anthropic"


def measure_own(rounds: int, peers: Sequence[str], told: Telling) -> Own:
    """What turnproof costs by itself, in so many rounds; with the peer `langchain` also what its standard tests do."""
    told.stage("parts")
    python: Path | None = None
    left_out = "checks were not compared with langchain-tests: --peer langchain installs them"
    if "langchain" in peers:
        try:
            python = python_with(_STANDARD_TESTS)
        except ProviderError as error:
            left_out = f"checks were not compared with langchain-tests: {error}"
    parts = (Server, Cassettes, Plugin, Imports, ImportedSdks, partial(Certifying, python), Contexts)
    own = measure_parts(parts, rounds, told)
    return own if python is not None else structs.replace(own, notes=(*own.notes, left_out))
