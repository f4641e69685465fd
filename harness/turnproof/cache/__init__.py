"""Prompt caching: who decides where breakpoints stand, and what came of them."""

from ._plugin import CachePlugin, CacheUsage, Prepared

__all__ = ["CachePlugin", "CacheUsage", "Prepared"]
