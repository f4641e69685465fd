"""Scenario + path -> Transcript: runs a session over an adapter and records both sides of it."""

from __future__ import annotations

from .job import Backend, Job, RunSpec, Watch
from .lab import Lab

__all__ = ["Backend", "Job", "Lab", "RunSpec", "Watch"]
