"""Reports of a run: pure functions of `run.ndjson` and the evidence beside it."""

from __future__ import annotations

from .certification import Certification, certification, certification_json
from .conversation import conversation
from .terminal import print_summary
from .write import write_reports

__all__ = [
    "Certification",
    "certification",
    "certification_json",
    "conversation",
    "print_summary",
    "write_reports",
]
