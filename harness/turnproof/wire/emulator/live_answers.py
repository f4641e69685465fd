"""What the real service has answered so far, so that it is asked once for what has to be one answer.

A model draws its words anew. Whatever compares two answers to one request (a probe that makes a call again, the same
conversation on the other path) is given the one that there is; only an attempt that follows a failed one asks again.
"""

from __future__ import annotations

from collections import defaultdict

from ...dialects.base import Call, Rendered
from ...dialects.contract import Dialect
from ..cassettes.match import digest
from ..cassettes.model import Place


class LiveAnswers:
    """The service's answers within one conversation. Belongs to the server's event loop."""

    def __init__(self) -> None:
        self._by_request: defaultdict[tuple[str, bool], dict[Place, list[Rendered]]] = defaultdict(dict)

    def add(self, dialect: Dialect, call: Call, place: Place, answer: Rendered) -> None:
        """Remember an answer at a place: turn and round."""
        self._by_request[_key(dialect, call)].setdefault(place, []).append(answer)

    def find(self, dialect: Dialect, call: Call, place: Place, attempt: int) -> Rendered | None:
        """The answer to this attempt at the place; where the request was only made elsewhere, the last one there.

        None for a request that was not made, or not so often at this place: the service has to be asked.
        """
        places = self._by_request.get(_key(dialect, call))
        if not places:
            return None
        here = places.get(place)
        if here is None:
            return next(reversed(places.values()))[-1]
        return here[attempt] if attempt < len(here) else None

    def last(self, dialect: Dialect, call: Call) -> Rendered | None:
        """The last answer to this request, wherever it was made."""
        places = self._by_request.get(_key(dialect, call))
        return next(reversed(places.values()))[-1] if places else None


def _key(dialect: Dialect, call: Call) -> tuple[str, bool]:
    return digest(dialect, call), call.stream
