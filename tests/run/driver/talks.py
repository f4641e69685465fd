"""A conversation for small adapters, also where the tests are no package: in scripts of theirs."""

from __future__ import annotations

from turnproof.dialects.base import ReplyPart
from turnproof.messages import FinishReason, Text
from turnproof.scenarios.model import Scenario, ScriptRound, Turn


def scenario(*answers: str, name: str = "toy/talk", **options: str) -> Scenario:
    turns = tuple(
        Turn(user=(Text(f"question {n}"),), rounds=(ScriptRound((ReplyPart(Text(text)),), FinishReason.STOP),))
        for n, text in enumerate(answers)
    )
    return Scenario(name=name, title="Talk", turns=turns, options=options)
