"""Scenario + path -> Transcript: runs a session over an adapter and records both sides of it.

The runner is imported when it is asked for: `prefork` comes before all that a run needs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..._base.lazy import lazily

if TYPE_CHECKING:
    from .job import Backend, Job, RunSpec, Watch
    from .runner import Runner
else:  # a type checker that saw it would take any name
    _MODULES = {"Backend": "job", "Job": "job", "Runner": "runner", "RunSpec": "job", "Watch": "job"}
    __getattr__ = lazily(__name__, _MODULES)

__all__ = ["Backend", "Job", "RunSpec", "Runner", "Watch"]
