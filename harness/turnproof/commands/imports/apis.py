"""Which API an exchange is with, and what it says in neutral form."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Final

from ...dialects import dialect, dialect_names, surface_names
from ...dialects.base import Call, Refusal, WireAnswer, World
from ...dialects.contract import Dialect
from .exchanges import RecordedExchange

_LEFT_OUT: Final[tuple[Mapping[str, str], ...]] = (
    {},
    {"authorization": "Bearer recorded"},
    {"x-api-key": "recorded", "anthropic-version": "2023-06-01"},
    {"x-goog-api-key": "recorded"},
    {"api-key": "recorded"},
)
"""Headers that recorders leave out, and without which a service reads no request."""


@dataclass(frozen=True, slots=True)
class ReadExchange:
    """An exchange with a model, read. `objections` are the rules of the dialect that the request offends."""

    recorded: RecordedExchange
    dialect: Dialect
    call: Call
    answer: WireAnswer
    objections: tuple[Refusal, ...]

    @property
    def failed(self) -> bool:
        """Whether the service answered with an error."""
        return self.answer.error_kind is not None or self.answer.status >= 400


class Reader:
    """Reads the exchanges of one file in order, with what the service has issued and stored on the way.

    `name` is the dialect to read them in; without it each exchange is read in the one with the fewest objections, of
    several in the one whose service is at its host.
    """

    def __init__(self, name: str | None = None) -> None:
        self._dialect = dialect(name) if name is not None else None
        self._worlds: dict[str, World] = {}

    def read(self, recorded: RecordedExchange) -> ReadExchange | None:
        """The exchange, if it asks a model for an answer in an API that is known; else None."""
        read = min(self._readings(recorded), key=lambda one: len(one.objections), default=None)
        if read is None:
            return None
        answer = (recorded.status, recorded.response_headers, recorded.response_body)
        read.dialect.observe(read.call, *answer, self._world_of(read.dialect))
        return read if read.call.operation == "generate" else None

    def _readings(self, recorded: RecordedExchange) -> Iterator[ReadExchange]:
        """The exchange in every API that takes its address, up to one in which nothing is wrong with it."""
        for wire in (self._dialect,) if self._dialect is not None else _candidates(recorded.host):
            world = self._world_of(wire)
            for headers in _LEFT_OUT:
                request = recorded.request(headers)
                call = wire.parse(request, world)
                if isinstance(call, Refusal):
                    continue
                objections = tuple(each for each in wire.validate(request, call, world) if each.enforced)
                answer = wire.read_response(recorded.status, recorded.response_headers, recorded.response_body)
                yield ReadExchange(recorded, wire, call, answer, objections)
                if not objections:
                    return

    def _world_of(self, wire: Dialect) -> World:
        return self._worlds.setdefault(wire.name, _world(wire))


def _world(wire: Dialect) -> World:
    return World.with_any_key(wire.models)


def _candidates(host: str) -> Iterator[Dialect]:
    return iter(sorted(_every_dialect(), key=lambda wire: not _is_at(wire, host)))


def _is_at(wire: Dialect, host: str) -> bool:
    return host.partition(":")[0] == wire.default_host.rpartition("/")[2].partition(":")[0]


@cache
def _every_dialect() -> tuple[Dialect, ...]:
    """Dialects before their surfaces: what fits both is read as the API itself."""
    names = dialect_names()
    return tuple(map(dialect, (*names, *(f"{name}@{surface}" for name in names for surface in surface_names(name)))))
