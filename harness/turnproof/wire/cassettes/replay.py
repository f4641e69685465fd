"""Answers from a cassette.

A reply is found by what the request says: the digest leads to it in one look-up. The same request gets the same reply
(it is a retry), unless the service was recorded with several at one place: then the first attempt gets the first one.
Where a conversation came twice to the very same request, its place (turn and round) decides between the recorded
replies.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter, defaultdict

from ...dialects.base import Call, Rendered
from ...dialects.contract import Dialect
from .match import Mismatch, canonical, digest_of, mismatch
from .model import Cassette, Interaction, Place

__all__ = ["Mismatch", "Player", "rendered"]


class Player:
    """One run's replay of one cassette. Keeps count of what was played; a fresh run takes a fresh player."""

    def __init__(self, cassette: Cassette, dialect: Dialect) -> None:
        self._cassette = cassette
        self._dialect = dialect
        self._request_count = 0
        self._played: set[int] = set()
        self._attempts: Counter[tuple[str, bool, Place]] = Counter()
        self._candidates: defaultdict[tuple[str, bool], list[int]] = defaultdict(list)
        self._by_place: defaultdict[Place, list[int]] = defaultdict(list)
        interactions = cassette.interactions
        for index in sorted(range(len(interactions)), key=lambda n: interactions[n].place):
            interaction = interactions[index]
            self._candidates[interaction.digest, interaction.stream].append(index)
            self._by_place[interaction.place].append(index)

    @property
    def cassette(self) -> Cassette:
        """What is played."""
        return self._cassette

    def find(self, call: Call, turn: int = -1, round_: int = 0) -> Interaction | Mismatch:
        """The recorded exchange that answers this call, or how it differs from the nearest one.

        Among several recordings of the same request the last ones not after `turn` and `round_` answer, attempt after
        attempt, and then always the last of them. Where no turn is known (-1) they answer in recorded order, one after
        the other, the last one from then on.
        """
        place = (turn, round_) if turn >= 0 else None
        self._request_count += 1
        form = canonical(self._dialect, call)
        candidates = self._candidates.get((digest_of(form), call.stream))
        if candidates is None:
            return mismatch(
                self._dialect,
                call,
                form,
                self._nearest(call, place),
                adapter=self._cassette.adapter,
                scenario=self._cassette.scenario,
                number=self._request_count,
                place=place,
            )
        index = self._choose(candidates, place)
        self._played.add(index)
        return self._cassette.interactions[index]

    def answer(self, call: Call, turn: int = -1, round_: int = 0) -> Rendered | Mismatch:
        """What `find` finds, as events: the unit in which a front writes, cuts and holds."""
        found = self.find(call, turn, round_)
        return found if isinstance(found, Mismatch) else rendered(found, self._dialect)

    def unplayed(self) -> list[Interaction]:
        """What was recorded and never asked for, in recorded order."""
        return [item for n, item in enumerate(self._cassette.interactions) if n not in self._played]

    def _choose(self, candidates: list[int], place: Place | None) -> int:
        if len(candidates) == 1:
            return candidates[0]
        if place is None:
            return next((index for index in candidates if index not in self._played), candidates[-1])
        interactions = self._cassette.interactions
        after = bisect_right(candidates, place, key=lambda index: interactions[index].place)
        last = interactions[candidates[max(0, after - 1)]]
        here = [index for index in candidates if interactions[index].place == last.place]
        attempt = self._attempts[last.digest, last.stream, last.place]
        self._attempts[last.digest, last.stream, last.place] += 1
        return here[min(attempt, len(here) - 1)]

    def _nearest(self, call: Call, place: Place | None) -> Interaction | None:
        """The recorded exchange that this call most likely stands for: same place, then same operation and form."""
        interactions = self._cassette.interactions
        if not interactions:
            return None
        if place is not None and place in self._by_place:
            here = [interactions[index] for index in self._by_place[place]]
        else:
            here = self.unplayed() or list(interactions)
        return max(here, key=lambda item: (item.extra == (call.operation != "generate"), item.stream == call.stream))


def rendered(interaction: Interaction, dialect: Dialect) -> Rendered:
    """A recorded response as events; joined, they are its body."""
    response = interaction.response
    return Rendered(response.status, response.headers, dialect.split_stream(response.headers, response.body))
