"""Collectors: how a history is made shorter before it outgrows the model's context."""

from __future__ import annotations

from .base import Collector, GCResult
from .truncate import TruncateGC
from .turns import splits_a_pair, turn_starts

__all__ = ["Collector", "GCResult", "TruncateGC", "splits_a_pair", "turn_starts"]
