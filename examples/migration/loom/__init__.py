"""A small agent framework: a session that talks to a model, with tools."""

from .notes import Call, Note, Outcome, Tool
from .session import Session

__all__ = ["Call", "Note", "Outcome", "Session", "Tool"]
