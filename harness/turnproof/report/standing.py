"""What a subject is, and where it or a profile stands, in the same words in every report."""

from __future__ import annotations

from typing import Final

from .._base.counts import counted
from ..dialects import dialect
from ..dialects.catalogue import table_date
from ..errors import BindingError
from ..judge.verdict import Status
from .certification import AdapterReport, ProfileReport
from .layers import Answer

ANSWERS: Final[dict[Answer, tuple[Status, str]]] = {
    "yes": (Status.HELD, "yes"),
    "known-issues": (Status.KNOWN_ISSUE, "yes, but for known issues"),
    "no": (Status.VIOLATED, "no"),
    "unknown": (Status.INCONCLUSIVE, "not known"),
}
"""How each answer of a layer looks, and its words."""


def wire_of(found: AdapterReport) -> str:
    """What it speaks; of a session, whose provider it was run with."""
    match found.kind:
        case "session":
            return f"session run with {found.run_with}, {found.dialect}"
        case "agent":
            return ", ".join(["agent that owns its history", *found.programs, found.dialect])
        case "adapter":
            return found.dialect


def model_of(found: AdapterReport) -> str:
    """The model, and for one that the table of models does not list, what follows from that."""
    try:
        listed = not found.model or found.model in dialect(found.dialect).models
    except BindingError:  # a report of another version of turnproof
        listed = True
    if listed:
        return found.model
    return f"{found.model} (not in the table of models of {table_date()}: judged as one of its family)"


def proof_of(found: AdapterReport) -> str:
    """How far the proof goes, at how many points an answer was cancelled or broken for it, and an agent's processes."""
    proof = f"{found.claim}, {counted(found.swept, 'point')} swept" if found.swept else found.claim
    if (count := found.processes) is None:
        return proof
    killed = f", {count.killed} of them killed in a turn" if count.killed else ""
    return f"{proof}, {counted(count.started, 'process')}{killed}, {count.left or 'none'} left behind"


def standing(found: AdapterReport, *, complete: bool) -> str:
    """An adapter's standing in words."""
    if not complete:
        return "unknown: the run was cut"
    if certificate := _certificate(found):
        return certificate
    violated = any(one.level == "MUST" and one.status is Status.VIOLATED for one in found.requirements.values())
    unmeasured = any(profile.unmeasured for profile in found.profiles.values())
    return "not certified: not everything was measured" if unmeasured and not violated else "not certified"


def today_apart(found: AdapterReport) -> str:
    """Whether it works with today's models, where the answer is not that of the whole contract; else nothing."""
    layers = found.layers
    if layers is None or layers.today is None or layers.today.answer == layers.contract.answer:
        return ""
    aside = counted(len(layers.today.set_aside), "MUST")
    return f"works with today's models: {ANSWERS[layers.today.answer][1]}, with {aside} set aside"


def _certificate(found: AdapterReport | ProfileReport) -> str:
    """How far an adapter or a profile is certified; empty where it is not."""
    if found.certified:
        return "certified"
    return "conditional" if found.conditional else ""


def held_of_all(pair: tuple[int, int], every: int = 0) -> str:
    """`11/12`, held of claimed; `11/12 of 15` where there are more to claim."""
    count, claimed = pair
    return f"{count}/{claimed} of {every}" if every > claimed else f"{count}/{claimed}"


def profile_standing(profile: ProfileReport, *, complete: bool) -> str:
    """A profile's standing in words."""
    if not complete:
        return "unknown"
    if certificate := _certificate(profile):
        return certificate
    if profile.unmeasured:
        return f"{profile.unmeasured} MUSTs not measured"
    return "not certified" if profile.must[1] else "not claimed"
