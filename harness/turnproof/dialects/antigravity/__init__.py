"""Google's Cloud Code gateway, `v1internal`, as Antigravity and gemini-cli use it (`antigravity`)."""

from __future__ import annotations

from ..contract import Dialect
from .dialect import Antigravity

__all__ = ["DIALECT", "Antigravity"]

DIALECT: Dialect = Antigravity()
