"""Collectors: how a history is made shorter before it outgrows the model's context."""

from __future__ import annotations

from .base import Collector, FollowsHistory, FollowsProvider, GCConfig, GCResult, Reason, due
from .by_budget import BudgetGC
from .collection import BaseCollector, Collection
from .compact import CompactGC
from .cut import cut_results
from .summarize import HybridGC, SummarizeGC
from .summarizer import ProviderSummarizer, Summarizer, transcript
from .truncate import TruncateGC
from .turns import links, turn_starts

__all__ = [
    "BaseCollector",
    "BudgetGC",
    "Collection",
    "Collector",
    "CompactGC",
    "FollowsHistory",
    "FollowsProvider",
    "GCConfig",
    "GCResult",
    "HybridGC",
    "ProviderSummarizer",
    "Reason",
    "SummarizeGC",
    "Summarizer",
    "TruncateGC",
    "cut_results",
    "due",
    "links",
    "transcript",
    "turn_starts",
]
