"""Requirements that nobody has: a run is polite, or it is not."""

from __future__ import annotations

from turnproof.judge.requirements import Level, Requirement


def requirement(id: str, level: Level = Level.MUST, title: str = "") -> Requirement:
    return Requirement(
        id=id,
        title=title or id,
        level=level,
        profile="core",
        reason="Politeness.",
        provider="It hears it.",
        code="Say it.",
        sources=("design:politeness",),
        counts="steps",
    )
