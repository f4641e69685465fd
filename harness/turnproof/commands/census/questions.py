"""A pair's two requests, asked of the service itself."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Final

import msgspec

from ... import __version__
from ..._base.loopback import is_loopback
from ..._base.secrets import environment_secrets, mask
from ...dialects.contract import Dialect
from ...errors import ServiceError
from ...wire.cassettes.model import RecordedResponse
from ...wire.cassettes.recording_proxy import ProxyTarget
from .observation import Observation, ShortAnswer
from .options import CensusOptions
from .pairs import PlainRequest, RulePair, rule_id

_LONGEST_MESSAGE: Final = 500
_PRIVATE: Final = re.compile(
    r"\b((?:org|proj|req|user|acct|resp|msg|chatcmpl)[-_])[A-Za-z0-9-]{6,}"
    r"|\b[0-9a-f]{32}\b|\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b"
)
"""Ids that say who asked, or when: with a prefix, as 32 digits, and as UUIDs."""


class Answered(msgspec.Struct, frozen=True):
    """What the service answered to a pair: the line, and both responses whole, None of one that never came."""

    observation: Observation
    illegal: RecordedResponse | None
    legal: RecordedResponse | None


async def ask(options: CensusOptions, wire: Dialect, target: ProxyTarget, pair: RulePair) -> Answered:
    """Ask both requests of a pair, the illegal one first. A service that cannot be reached is an answer too."""
    illegal, illegal_response = await _short_answer(wire, target, pair.illegal)
    legal, legal_response = await _short_answer(wire, target, pair.legal)
    observation = Observation(
        turnproof=__version__,
        dialect=options.dialect,
        rule=rule_id(wire, pair),
        variant=pair.variant,
        day=datetime.now(UTC).date().isoformat(),
        host=target.host,
        loopback=is_loopback(target.host),
        contributor=options.contributor,
        model=pair.legal.model_asked,
        illegal=illegal,
        legal=legal,
    )
    return Answered(observation, illegal_response, legal_response)


def read_short(wire: Dialect, response: RecordedResponse, secrets: tuple[str, ...] = ()) -> ShortAnswer:
    """A response in short, its message without keys and without ids of who asked."""
    read = wire.read_response(response.status, response.headers, response.body)
    message = without_private(read.error_message or "", secrets)
    return ShortAnswer(response.status, read.error_kind or "", message[:_LONGEST_MESSAGE])


def without_private(text: str, secrets: tuple[str, ...]) -> str:
    """The service's words without keys, and without ids of who asked."""
    return _PRIVATE.sub(_without_id, mask(text, (*secrets, *environment_secrets())))


def _without_id(found: re.Match[str]) -> str:
    return f"{found[1][:-1]}-…" if found[1] else "…"


async def _short_answer(
    wire: Dialect, target: ProxyTarget, request: PlainRequest
) -> tuple[ShortAnswer, RecordedResponse | None]:
    try:
        answer = await target.forward(request.as_http())
        body = b"".join([chunk async for chunk in answer.chunks])
    except ServiceError as error:
        return ShortAnswer(0, "unreachable", mask(str(error), target.secrets)[:_LONGEST_MESSAGE]), None
    response = RecordedResponse(answer.status, dict(answer.headers), body)
    return read_short(wire, response, target.secrets), response
