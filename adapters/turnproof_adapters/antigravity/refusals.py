"""What the gateway, or the token endpoint, says instead of an answer, read out of its body.

Google's error envelope with its details; for Claude models Anthropic's own error is a JSON string inside `message`; the
token endpoint says what OAuth has it say (RFC 6749, section 5.2). A proxy may put anything in their place.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from .._errors import retry_after

_DURATION = re.compile(
    r"(?:(?P<h>\d{1,9})h)?(?:(?P<m>\d{1,9})m(?!s))?(?:(?P<s>\d{1,9}(?:\.\d{1,9})?)s)?(?:(?P<ms>\d{1,9}(?:\.\d{1,9})?)ms)?"
)
_SECONDS = {"h": 3600.0, "m": 60.0, "s": 1.0, "ms": 0.001}
_IN_WORDS = re.compile(r"(?:[Pp]lease retry in|will reset after) (?P<delay>[\d.hms]+?)\.?(?:\s|$)")


@dataclass(frozen=True, slots=True)
class Refusal:
    """One error. `status` is its number, None where it has none, and `word` the service's own word for it.

    `reasons` and `quotas` are what its details name; `wait` is in seconds. `link` is where a person can put it right.
    `inner` is Anthropic's type for an error that came from there, whose text `message` then is.
    """

    status: int | None
    word: str | None
    message: str
    reasons: frozenset[str] = frozenset()
    quotas: frozenset[str] = frozenset()
    wait: float | None = None
    has_details: bool = False
    link: str | None = None
    inner: str | None = None

    @classmethod
    def of_body(cls, status: int, headers: Mapping[str, str], body: bytes) -> Refusal:
        """The error that an answer of this status is."""
        document = _document(body)
        error = document.get("error")
        if isinstance(error, str):
            described = document.get("error_description")
            refusal = cls(status, error, described if isinstance(described, str) and described else error)
        else:
            refusal = cls.of_error(error, status)
        return refusal if refusal.wait is not None else replace(refusal, wait=retry_after(headers))

    @classmethod
    def of_error(cls, error: object, status: int | None = None) -> Refusal:
        """The same, of what stands under `error`. Without a status of the answer its own number counts."""
        fields = error if isinstance(error, Mapping) else {}
        word, text, own = fields.get("status"), fields.get("message"), fields.get("code")
        if status is None and type(own) is int and 100 <= own < 1000:
            status = own
        word = word if isinstance(word, str) and word else None
        nothing = "no details" if status is None else f"HTTP status {status}"
        message = text if isinstance(text, str) and text else word or nothing
        details = tuple(_details(fields))
        inner_type, inner_message = _nested(message)
        return cls(
            status,
            word,
            inner_message or message,
            reasons=frozenset(str(each["reason"]) for each in details if "reason" in each),
            quotas=frozenset(_quotas(details)),
            wait=_wait(details, message),
            has_details=bool(details),
            link=_link(details),
            inner=inner_type,
        )


def seconds(text: object) -> float | None:
    """A duration as Go and protobuf spell it (`3.957525076s`, `510ms`, `1h16m0.667923083s`); None for anything else."""
    found = _DURATION.fullmatch(text) if isinstance(text, str) and text else None
    if found is None:
        return None
    return sum(float(value) * _SECONDS[unit] for unit, value in found.groupdict().items() if value)


def _json(body: bytes) -> Any:
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        return None  # a proxy's page of HTML, for one: the status has to do


def _document(body: bytes) -> Mapping[str, Any]:
    """The body as an object, or what is in the list of one that a stream is without `alt=sse`; else an empty one."""
    found = _json(body)
    if isinstance(found, list):
        found = found[0] if found else None
    return found if isinstance(found, Mapping) else {}


def _details(error: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    details = error.get("details")
    for detail in details if isinstance(details, list) else ():
        if isinstance(detail, Mapping):
            yield detail


def _entries(details: tuple[Mapping[str, Any], ...], name: str) -> Iterator[Mapping[str, Any]]:
    for detail in details:
        entries = detail.get(name)
        for entry in entries if isinstance(entries, list) else ():
            if isinstance(entry, Mapping):
                yield entry


def _quotas(details: tuple[Mapping[str, Any], ...]) -> Iterator[str]:
    for violation in _entries(details, "violations"):
        yield str(violation.get("quotaId"))


def _link(details: tuple[Mapping[str, Any], ...]) -> str | None:
    return next((url for each in _entries(details, "links") if isinstance(url := each.get("url"), str)), None)


def _wait(details: tuple[Mapping[str, Any], ...], message: str) -> float | None:
    """Seconds to wait: of `RetryInfo`, else of what `ErrorInfo` says of the quota, else of the words."""
    for detail in details:
        if (delay := seconds(detail.get("retryDelay"))) is not None:
            return delay
    for detail in details:
        metadata = detail.get("metadata")
        if isinstance(metadata, Mapping) and (delay := seconds(metadata.get("quotaResetDelay"))) is not None:
            return delay
    found = _IN_WORDS.search(message)
    return seconds(found["delay"]) if found is not None else None


def _nested(message: str) -> tuple[str | None, str | None]:
    """The type and message of Anthropic's error, if a message is one."""
    body = _json(message.encode("utf-8", "surrogatepass")) if message.lstrip().startswith("{") else None
    error = body.get("error") if isinstance(body, Mapping) else None
    if not isinstance(error, Mapping):
        return None, None
    kind, text = error.get("type"), error.get("message")
    return (kind if isinstance(kind, str) else None), (text if isinstance(text, str) and text else None)
