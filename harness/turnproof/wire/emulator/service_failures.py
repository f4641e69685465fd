"""What is wrong with a real service by one of its answers, whether it comes now or was recorded."""

from __future__ import annotations

import re

from ...dialects.base import Call, Rendered, WireAnswer
from ...dialects.contract import Dialect
from .incoming import comes_in_pieces

REFUSALS = frozenset({400, 404, 405, 409, 410, 411, 413, 414, 415, 422})
"""Statuses by which a service says that the request itself is wrong."""

_TOO_LONG = re.compile(r"exceed\w* .*context")
_LACKING = ("unsupported", "not supported", "does not support", "not implemented")


def service_failure(
    dialect: Dialect, call: Call, rendered: Rendered, answer: WireAnswer, words: str, *, imitates: bool
) -> str:
    """What is wrong with the service by this answer, as a sentence with these `words` about it; empty where nothing is.

    `rendered` is the answer to the `call` as it came, `answer` what was read of it. `words` are those of
    `answer_in_words`, without secrets. A service that only `imitates` the API may lack a part of it, and says so, which
    is no mistake of the request.
    """
    status = rendered.status
    if status in REFUSALS and imitates and any(word in words.lower() for word in _LACKING):
        return f"the service does not have what the request asks for ({words})"
    if imitates and _TOO_LONG.search(words):
        meaning = dialect.error_meaning(status, answer.error_kind, answer.error_message)
        if meaning != "context-limit":
            return f"the service refuses a long prompt in other words than the API has ({words})"
    if status != 200:
        return "" if status in REFUSALS else f"the service failed ({words})"
    if comes_in_pieces(rendered.headers) and not call.stream:
        return "the service streamed its answer, and the request does not ask for a stream"
    if answer.error_kind is not None:
        return f"the service failed within its answer ({words})"
    return "" if answer.complete else "the service ended its answer without an end"


def answer_in_words(status: int, answer: WireAnswer) -> str:
    """The status of an answer, and of an error its kind and message."""
    kind = f", {answer.error_kind}" if answer.error_kind else ""
    return f"status {status}{kind}" + (f": {answer.error_message}" if answer.error_message else "")
