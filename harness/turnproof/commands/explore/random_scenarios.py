"""Random scenarios one after the other, each once, from a seed and nothing else."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

import hypothesis.configuration
from hypothesis import HealthCheck, Phase, Verbosity, given, seed, settings
from hypothesis.internal.conjecture.providers import AVAILABLE_PROVIDERS, HypothesisProvider
from hypothesis.strategies import SearchStrategy

from ...scenarios.documents import Document

_BATCH: Final = 20


class SteadyProvider(HypothesisProvider):
    """Draws as hypothesis does, but for the constants that it picks up from the source of whatever is imported.

    With them the same seed would give other scenarios as soon as somebody edits a file.
    """

    def _maybe_draw_constant(self, *_: Any, **__: Any) -> None:
        return None


AVAILABLE_PROVIDERS["turnproof"] = SteadyProvider


def draw_documents(documents: SearchStrategy[Document], seeded: int) -> Iterator[Document]:
    """Documents without end, no two alike. They are drawn in batches, so the first come soon."""
    known: set[str] = set()
    number = 0
    while True:
        number += 1
        for document in _batch(documents, f"{seeded}/{number}"):
            written = json.dumps(document)
            if written not in known:
                known.add(written)
                yield document


def _batch(documents: SearchStrategy[Document], seeded: str) -> list[Document]:
    found: list[Document] = []

    @seed(seeded)
    @settings(
        max_examples=_BATCH,
        phases=(Phase.generate,),
        backend="turnproof",
        database=None,
        deadline=None,
        derandomize=False,
        suppress_health_check=list(HealthCheck),
        verbosity=Verbosity.quiet,
    )
    @given(documents)
    def draw(document: Document) -> None:
        found.append(document)

    with _elsewhere():
        draw()
    return found


@contextmanager
def _elsewhere() -> Iterator[None]:
    """Whatever hypothesis may want to write goes into a folder that is gone afterwards."""
    with tempfile.TemporaryDirectory(prefix="turnproof-explore-") as folder:
        hypothesis.configuration.set_hypothesis_home_dir(folder)
        try:
            yield
        finally:
            hypothesis.configuration.set_hypothesis_home_dir(None)
