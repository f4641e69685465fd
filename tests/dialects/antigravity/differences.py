"""Conversations with the gateway: those with the Gemini API, carried over."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from turnproof.dialects.antigravity import DIALECT
from turnproof.dialects.base import WireDifference
from turnproof.messages import Message, Opaque, Part, ProviderData

from ..differences import Case, DifferenceKit
from ..gemini.builders import MODEL
from ..gemini.builders import OLD as GEMINI_OLD
from ..gemini.differences import RIGHT, UNLISTED, WRONG
from .builders import GEMINI, OLD, Ask, envelope, read

NAME = "antigravity"
MODELS = {MODEL: GEMINI, GEMINI_OLD: OLD}


def carried(case: Case) -> bool:
    """Whether a case can be carried over: the gateway has neither managed caches nor aliases."""
    return "cachedContent" not in case.wire and (case.model or MODEL) in MODELS


def ours(part: Part) -> Part:
    """A part as the gateway would have issued it."""
    data = part.provider_data
    if data is not None and data.dialect == "gemini":
        part = replace(part, provider_data=ProviderData(NAME, MODELS.get(data.model, data.model), data.data))
    return replace(part, dialect=NAME) if isinstance(part, Opaque) and part.dialect == "gemini" else part


def find_differences(case: Case) -> list[WireDifference]:
    history = [Message(each.role, tuple(map(ours, each.parts)), each.message_id) for each in case.history]
    name = MODELS[case.model or MODEL]
    sent = read(Ask(envelope({"contents": list(case.sent), **case.wire}, name)))
    return DIALECT.differences(history, case.system, case.tools, sent, name)


def of_gateway(cases: Sequence[Case]) -> list[Case]:
    return [case for case in cases if carried(case)]


DIFFERENCES = DifferenceKit(
    DIALECT, find_differences, of_gateway(RIGHT), of_gateway(WRONG), of_gateway(UNLISTED), allows_all=False
)
