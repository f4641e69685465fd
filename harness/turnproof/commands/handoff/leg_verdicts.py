"""One leg of a journey, judged by the same checks as a certification."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from ...judge.requirements import REGISTRY, Requirement
from ...judge.verdict import Status
from ...judge.view import View
from ...report.handoff import Leg, Loss, Party, Unmet
from ...run.evidence import EvidenceStore, digest
from ...subject import Subject
from ..certify.decide import Claimed, decide
from .legs import Stretch
from .losses import Arrival


class Judge:
    """Makes a `Leg` of a run. Runs with something to complain of are kept in `store`, if there is one."""

    def __init__(
        self, subjects: Mapping[str, Subject], requirements: Sequence[Requirement], store: EvidenceStore | None
    ) -> None:
        self._subjects = subjects
        self._requirements = requirements
        self._store = store

    def leg(self, party: Party, stretch: Stretch, view: View) -> Leg:
        """What the checks say of the run, and what of its history did not arrive."""
        held_count, violated, undecided = 0, list[Unmet](), list[Unmet]()
        claimed = Claimed.of_subject(self._subjects[party.adapter], [view.scenario])
        for requirement in self._requirements:
            if not requirement.looks_at(view.scenario.name):
                continue
            verdict = decide(requirement, party.path, [view], claimed)
            finding = Unmet(requirement.id, requirement.level, REGISTRY.message(verdict))
            if verdict.status is Status.HELD:
                held_count += 1
            elif verdict.status is Status.VIOLATED:
                violated.append(finding)
            elif verdict.status is Status.INCONCLUSIVE and not verdict.compared_nothing:
                undecided.append(finding)
        losses, signed, restored = _arrival(party, view)
        evidence = self._store.put(view.transcript) if self._store is not None else digest(view.transcript)
        return Leg(
            party=party,
            first=stretch.first + 1,
            last=stretch.end,
            held=held_count,
            violated=tuple(violated),
            undecided=tuple(undecided),
            losses=losses,
            signed=signed,
            restored=restored,
            evidence=evidence,
        )


def _arrival(party: Party, view: View) -> tuple[tuple[Loss, ...], int, int]:
    """What the first request says of the history it brought; nothing where there was no history, or no request."""
    exchanges = (exchange for call in view.calls for exchange in call.exchanges if exchange.generates and exchange.call)
    exchange = next(exchanges, None)
    if not view.scenario.given or exchange is None or exchange.call is None:
        return (), 0, 0
    body = msgspec.json.encode(exchange.body).decode()
    issuer = party.dialect.partition("@")[0]
    arrival = Arrival(view.scenario.given, exchange.call, body, issuer, party.model)
    return (arrival.losses(), *arrival.signed())
