"""From a scenario that fails to the smallest one that still does."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Final

from ...scenarios.documents import Document
from .shrink_steps import PASSES

MOST_ATTEMPTS: Final = 300
"""Smaller scenarios that are tried before the smallest so far is good enough."""


def smallest(document: Document, fails: Callable[[Document], bool], most: int = MOST_ATTEMPTS) -> tuple[Document, int]:
    """The smallest document that was found to fail like this one, and how many were tried for it.

    `fails` is asked at most once for each document; for one that makes no sense it says no.
    """
    known = {json.dumps(document)}
    changed = True
    while changed:
        changed = False
        for smaller in PASSES:
            candidates = smaller(document)
            while len(known) <= most and (candidate := next(candidates, None)) is not None:
                written = json.dumps(candidate)
                if written not in known:
                    known.add(written)
                    if fails(candidate):
                        document, changed, candidates = candidate, True, smaller(candidate)
    return document, len(known) - 1
