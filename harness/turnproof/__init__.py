"""turnproof certifies LLM provider adapters. Importing it imports no provider SDK."""

from __future__ import annotations

__version__ = "0.1.0"
