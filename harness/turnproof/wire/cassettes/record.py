"""Collects the exchanges of one scenario and makes a cassette of them.

The recorder is given the complete answer of whatever answered (script or real API), before the front applies a cancel
or a fault to it: those belong to the scenario and happen again on replay. The same recorder serves a recording from
the emulator and one from the real API.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date
from itertools import chain

from ...dialects.base import Call, HttpRequest
from ...dialects.contract import Dialect
from ...messages import FunctionCall, Text
from .match import digest
from .model import Cassette, Interaction, Place, Provenance, offsets_of
from .scrub import scrub_request, scrub_response, why_not_written


class Recorder:
    """One per scenario; both modes (streamed, in one piece) go into the same recorder.

    `address` is the one of the service that answered, where it is not the vendor's own.
    `left_out` names the exchanges that no cassette may hold, with the reason.
    """

    def __init__(
        self,
        *,
        adapter: str,
        scenario: str,
        dialect: Dialect,
        model: str,
        recorded: Provenance,
        day: date,
        address: str = "",
    ) -> None:
        self.left_out: list[str] = []
        self._adapter = adapter
        self._scenario = scenario
        self._dialect = dialect
        self._model = model
        self._recorded = recorded
        self._day = day
        self._address = address or dialect.default_host
        self._exchanges: dict[tuple[str, bool, Place], list[Interaction]] = {}

    def add(
        self,
        request: HttpRequest,
        call: Call,
        *,
        status: int,
        headers: Mapping[str, str],
        chunks: Sequence[bytes],
        turn: int,
        round_: int,
        extra: bool = False,
    ) -> None:
        """Take one complete exchange; `chunks` are its response body in the pieces in which it came.

        The same request at the same place is a retry. An answer replaces a failure before it and an answer that says
        the same; one that says something else, as of a model that draws its words, is kept behind the earlier ones. A
        failure never replaces an answer. Purity probes, which repeat a run's requests after it, are not to be added.
        """
        body = b"".join(chunks)
        reason = why_not_written(request, call, headers, body)
        if reason:
            self.left_out.append(f"{request.method} {request.path}: {reason}")
            return
        key = digest(self._dialect, call), call.stream, (turn, round_)
        attempts = self._exchanges.setdefault(key, [])
        if attempts and attempts[-1].response.status < 400 <= status:
            return
        interaction = Interaction(
            request=scrub_request(request, self._address, self._dialect.service),
            response=scrub_response(status, headers, body, self._dialect.service),
            turn=turn,
            round=round_,
            digest=key[0],
            offsets=offsets_of(chunks),
            stream=call.stream,
            extra=extra,
        )
        if attempts and (attempts[-1].response.status >= 400 or self._says(attempts[-1]) == self._says(interaction)):
            attempts.pop()
        attempts.append(interaction)

    def _says(self, interaction: Interaction) -> list[object]:
        """The texts and calls of an answer, without what is drawn for each anew."""
        response = interaction.response
        read = self._dialect.read_response(response.status, response.headers, response.body)
        return [
            part.text if isinstance(part, Text) else (part.name, part.args)
            for part in read.parts
            if isinstance(part, Text | FunctionCall)
        ]

    def cassette(self) -> Cassette:
        """What was recorded, in an order that does not depend on how requests interleaved."""
        ordered = sorted(
            chain.from_iterable(self._exchanges.values()),
            key=lambda item: (item.place, item.extra, not item.stream, item.digest),
        )
        return Cassette(
            adapter=self._adapter,
            scenario=self._scenario,
            dialect=self._dialect.name,
            model=self._model,
            recorded=self._recorded,
            date=self._day.isoformat(),
            interactions=tuple(ordered),
        )
