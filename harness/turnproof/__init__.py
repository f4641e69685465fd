"""turnproof certifies LLM provider adapters. Importing it imports no provider SDK."""

from __future__ import annotations

from ._base.moved import look_for_moved_modules

__version__ = "0.1.0"

look_for_moved_modules()
