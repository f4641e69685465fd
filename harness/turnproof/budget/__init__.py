"""What a conversation takes of the model's context, from which source, and what of it may be taken away."""

from __future__ import annotations

from .budget import ERROR, ERROR_TOKENS, InstructionBudget, within_error
from .model import BudgetState, ContextUsage, Entry, Mark, Policy, Source
from .notes import Note, begins_turn, is_note, note

__all__ = [
    "ERROR",
    "ERROR_TOKENS",
    "BudgetState",
    "ContextUsage",
    "Entry",
    "InstructionBudget",
    "Mark",
    "Note",
    "Policy",
    "Source",
    "begins_turn",
    "is_note",
    "note",
    "within_error",
]
