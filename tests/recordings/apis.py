"""What the judgement of recordings has to know of each API."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from turnproof.dialects import anthropic_messages, gemini
from turnproof.dialects.base import Dialect, Refusal, WireAnswer

from .material import Exchange, Recording, recordings


@dataclass(frozen=True)
class Api:
    """One API. `name` is the one that recordings give it.

    `kept_out` are headers that recorders filter out of every request, put back by host; `from_outside` says that an
    error came from the world outside; `missing_ground` why a recording cannot tell whether a decision is right (empty
    where it can).
    """

    name: str
    dialect: Dialect
    kept_out: Callable[[str], Mapping[str, str]]
    from_outside: Callable[[WireAnswer], bool]
    missing_ground: Callable[[Exchange, Refusal | None, WireAnswer], str]

    def recordings(self, folder: Path) -> Iterator[Recording]:
        """All that was recorded of this API, the mixed recordings included, in a fixed order."""
        return recordings(folder, self.name, self.kept_out)


_ISSUED_BEFORE = "accepted with a signature that was issued before the recording began"


# -- Anthropic

_TOO_LONG = re.compile(r"prompt is too long: (\d+) tokens")
_ENVIRONMENTAL = {"authentication_error", "rate_limit_error", "overloaded_error", "api_error", "timeout_error"}


def _anthropic_lacks(exchange: Exchange, ours: Refusal | None, answer: WireAnswer) -> str:
    too_long = _TOO_LONG.match(answer.error_message or "")
    if too_long and int(too_long[1]) > len(exchange.request.body):
        return (
            f"refused for {too_long[1]} tokens, but the recorded body has {len(exchange.request.body)} bytes: "
            "the recorder replaced its texts"
        )
    unknown = (anthropic_messages.rules.INVALID_SIGNATURE, anthropic_messages.rules.INVALID_REDACTED)
    return _ISSUED_BEFORE if answer.error_kind is None and ours is not None and ours.rule in unknown else ""


ANTHROPIC = Api(
    name="anthropic",
    dialect=anthropic_messages.DIALECT,
    kept_out=lambda host: {"x-api-key": "recorded", "anthropic-version": "2023-06-01"},
    from_outside=lambda answer: answer.error_kind in _ENVIRONMENTAL,
    missing_ground=_anthropic_lacks,
)


# -- Gemini


def _gemini_keys(host: str) -> Mapping[str, str]:
    vertex = host.endswith("aiplatform.googleapis.com")
    return {"authorization": "Bearer recorded"} if vertex else {"x-goog-api-key": "recorded"}


def _gemini_from_outside(answer: WireAnswer) -> bool:
    """Quota and load have a status of their own; a wrong key and a dead URL have that of a bad request."""
    message = answer.error_message or ""
    bad_key, dead_url = "API key not valid", "Cannot fetch content from the provided URL"
    return answer.status in (401, 429) or answer.status >= 500 or message.startswith((bad_key, dead_url))


def _gemini_lacks(exchange: Exchange, ours: Refusal | None, answer: WireAnswer) -> str:
    unknown = gemini.rules.INVALID_SIGNATURE
    return _ISSUED_BEFORE if answer.error_kind is None and ours is not None and ours.rule is unknown else ""


GEMINI = Api(
    name="gemini",
    dialect=gemini.DIALECT,
    kept_out=_gemini_keys,
    from_outside=_gemini_from_outside,
    missing_ground=_gemini_lacks,
)

ALL = (ANTHROPIC, GEMINI)
