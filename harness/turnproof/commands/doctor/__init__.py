"""Is everything here that turnproof needs, does its emulator work on this machine, and can it speak to an adapter?"""

from __future__ import annotations

from .engine import DoctorOptions, examine
from .model import Diagnosis, Diagnostic, State, diagnosis_json

__all__ = ["Diagnosis", "Diagnostic", "DoctorOptions", "State", "diagnosis_json", "examine"]
