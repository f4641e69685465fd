"""`turnproof handoff`: conversations that move from adapter to adapter, path to path, model to model, and back."""

from ...report.handoff import Handoff, Leg, Loss, Route
from .engine import HandoffOptions, hand_over

__all__ = ["Handoff", "HandoffOptions", "Leg", "Loss", "Route", "hand_over"]
