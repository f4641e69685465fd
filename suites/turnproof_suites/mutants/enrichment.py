"""Sessions that enrich what the user says in another order, not at all, or twice."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from turnproof.subject import Enricher, SessionSetup

from ._mutant import suite_mutant
from ._session import BrokenSession


class _Enriched(BrokenSession):
    """Opened with other enrichers."""

    def open_handle(self, setup: SessionSetup) -> Any:
        return super().open_handle(replace(setup, enrichers=self.changed(setup.enrichers)))

    def changed(self, enrichers: tuple[Enricher, ...]) -> tuple[Enricher, ...]:
        """Other enrichers than those that were given."""
        return enrichers


@suite_mutant("enrichers-in-the-order-given")
class EnrichersInTheOrderGiven(_Enriched):
    """Their priority is not looked at."""

    def changed(self, enrichers: tuple[Enricher, ...]) -> tuple[Enricher, ...]:
        return tuple(replace(one, priority=0) for one in enrichers)


@suite_mutant("enrichers-get-what-was-typed")
class EnrichersGetWhatWasTyped(_Enriched):
    """Each gets what was typed, and what they added is joined."""

    def changed(self, enrichers: tuple[Enricher, ...]) -> tuple[Enricher, ...]:
        ordered = sorted(enrichers, key=lambda one: one.priority)

        def all_at_once(text: str) -> str:
            return text + "".join(one.enrich(text).removeprefix(text) for one in ordered)

        return (Enricher(0, all_at_once),)


@suite_mutant("enriched-on-the-first-turn-alone")
class EnrichedOnTheFirstTurnAlone(_Enriched):
    """Later messages go out as they were typed."""

    def changed(self, enrichers: tuple[Enricher, ...]) -> tuple[Enricher, ...]:
        return tuple(replace(one, enrich=_once(one)) for one in enrichers)


def _once(enricher: Enricher) -> Any:
    done: list[str] = []

    def enrich(text: str) -> str:
        if done:
            return text
        done.append(text)
        return enricher.enrich(text)

    return enrich


@suite_mutant("enriched-twice")
class EnrichedTwice(_Enriched):
    """The hooks run once more on what they have made."""

    def changed(self, enrichers: tuple[Enricher, ...]) -> tuple[Enricher, ...]:
        last = max(one.priority for one in enrichers) if enrichers else 0
        again = (replace(one, priority=last + 1 + one.priority) for one in enrichers)
        return (*enrichers, *again)
