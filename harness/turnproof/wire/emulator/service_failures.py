"""What is wrong with a real service by one of its answers, whether it comes now or was recorded."""

from __future__ import annotations

import re

from ...dialects.base import Rendered
from ...dialects.contract import Dialect

REFUSALS = frozenset({400, 404, 405, 409, 410, 411, 413, 414, 415, 422})
"""Statuses by which a service says that the request itself is wrong."""

_TOO_LONG = re.compile(r"exceed\w* .*context")
_LACKING = ("unsupported", "not supported", "does not support", "not implemented")


def service_failure(dialect: Dialect, answer: Rendered, words: str, *, imitates: bool) -> str:
    """What is wrong with the service by this answer, which says these `words` of itself; empty where nothing is.

    A service that only `imitates` the API may lack a part of it, and says so, which is no mistake of the request.
    """
    read = dialect.read_response(answer.status, answer.headers, _joined(answer))
    if answer.status in REFUSALS and imitates and any(word in words.lower() for word in _LACKING):
        return f"the service does not have what the request asks for ({words})"
    if imitates and _TOO_LONG.search(words):
        meaning = dialect.error_meaning(answer.status, read.error_kind, read.error_message)
        if meaning != "context-limit":
            return f"the service refuses a long prompt in other words than the API has ({words})"
    if answer.status != 200:
        return "" if answer.status in REFUSALS else f"the service failed ({words})"
    if read.error_kind is not None:
        return f"the service failed within its answer ({words})"
    return "" if read.complete else "the service ended its answer without an end"


def answer_in_words(dialect: Dialect, answer: Rendered) -> str:
    """The status of an answer, and of an error its kind and message."""
    read = dialect.read_response(answer.status, answer.headers, _joined(answer))
    kind = f", {read.error_kind}" if read.error_kind else ""
    return f"status {answer.status}{kind}" + (f": {read.error_message}" if read.error_message else "")


def _joined(answer: Rendered) -> bytes:
    return b"".join(event.data for event in answer.events)
