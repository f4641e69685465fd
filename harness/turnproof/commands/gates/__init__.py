"""Gates: whether a phase of the migration to session-owned history is done, decided from runs.

`phases.toml` has the phases and their criteria. The runs of a gate are made once for each way in which the migration
flag may stand; checks read them as views and drive nothing; the report follows from what they say.
"""

from __future__ import annotations

from .annotations import gate_annotations
from .engine import gate
from .every_phase import gate_every_phase, worst_exit_code
from .model import CriterionReport, GateReport, State, SubjectReport, gate_json
from .options import GateOptions
from .phases import Criterion, Phase, Phases, load_phases
from .summary import gate_md
from .terminal import print_gate, print_phases

__all__ = [
    "Criterion",
    "CriterionReport",
    "GateOptions",
    "GateReport",
    "Phase",
    "Phases",
    "State",
    "SubjectReport",
    "gate",
    "gate_annotations",
    "gate_every_phase",
    "gate_json",
    "gate_md",
    "load_phases",
    "print_gate",
    "print_phases",
    "worst_exit_code",
]
