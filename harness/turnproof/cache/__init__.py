"""Prompt caching: who decides where breakpoints stand, what came of them, and what a changed prefix cost."""

from ._plugin import CachePlugin, CacheUsage, Covers, Prepared
from .explicit import ExplicitCachePlugin
from .implicit import ImplicitCachePlugin
from .managed import ManagedCachePlugin, ManagedCaches
from .monitor import LossReason, PrefixLoss, PrefixMonitor

__all__ = [
    "CachePlugin",
    "CacheUsage",
    "Covers",
    "ExplicitCachePlugin",
    "ImplicitCachePlugin",
    "LossReason",
    "ManagedCachePlugin",
    "ManagedCaches",
    "PrefixLoss",
    "PrefixMonitor",
    "Prepared",
]
