"""What an error holds beside its class, status and wait: the service's own type, its figures, and what had arrived."""

from __future__ import annotations

import re

import msgspec
from msgspec import UNSET

from turnproof.judge.finding import Compared, Side
from turnproof.judge.requirements import Findings, check, finding
from turnproof.judge.view import Exchange, View
from turnproof.messages import Text

from .context_room import too_long
from .raised_errors import at_error_answer, failures, refused_calls

_OTHER_TYPE = finding(
    "errors/providers-own-type-is-kept/other-type",
    "The error does not have the error type of the API's answer.",
    "the `kind` {expected}",
)


@check("errors/providers-own-type-is-kept", needs="calls")
def providers_own_type_is_kept(view: View) -> Findings:
    """In `kind`, as the API spells it. Where an API has several (a type, a code), any of them."""
    for call, failed in failures(view):
        answer = call.last.answer if call.last is not None else None
        if answer is None or not answer.error_kind or not failed.typed:  # an API may leave it blank
            continue
        if failed.kind == answer.error_kind or (call.last is not None and _says(call.last, failed.kind)):
            yield Compared("error types")
        else:
            yield _OTHER_TYPE(
                call.at(Side.ERROR, "kind"),
                expected=answer.error_kind,
                observed=UNSET if failed.kind is None else failed.kind,
                related=at_error_answer(call),
            )


def _says(exchange: Exchange, kind: str | None) -> bool:
    """Whether an answer has this word as a value of its own, and not as the message for people. A code may be a number
    on the wire (llama.cpp's is the status)."""
    if not kind or exchange.response is None or (exchange.answer and exchange.answer.error_message == kind):
        return False
    data = exchange.response.data
    number = kind.isdecimal() and re.search(rb"[:\[,]\s*%s\s*[,}\]]" % kind.encode(), data)
    return bool(number) or msgspec.json.encode(kind) in data


_NOT_WHAT_ARRIVED = finding(
    "errors/partial-answer-is-kept/other-text",
    "The error of a stream that failed does not have the text that had arrived.",
    "the text {expected} in `partial`, as the user was shown",
)


@check("errors/partial-answer-is-kept", needs="calls")
def partial_answer_is_kept(view: View) -> Findings:
    """In `partial`, so that a caller can show or keep it without mistaking it for an answer."""
    for call, failed in failures(view):
        shown = "".join(call.chunks)
        if not shown or not failed.typed:
            continue
        text = "".join(part.text for part in failed.partial if isinstance(part, Text))
        if text == shown:
            yield Compared("answers that broke off")
        else:
            yield _NOT_WHAT_ARRIVED(
                call.at(Side.ERROR, "partial"),
                expected=shown,
                observed=text if failed.partial else UNSET,
                related=at_error_answer(call),
            )


_FIGURE = re.compile(r"(?<![\w.-])\d[\d,]*(?![\w-]|\.\d)")
"""A number by itself, and not within the name of a model."""

_NO_FIGURE = finding(
    "errors/context-figures-are-kept/missing",
    "The error of a prompt that is too long lacks a number that the API gave.",
    "`{field:words}` from the API's words {words}",
)
_SWAPPED = finding(
    "errors/context-figures-are-kept/swapped",
    "The error of a prompt that is too long says that less was requested than the limit allows.",
    "`requested` above `limit`, from the API's words {words}",
    "{observed} requested of {limit}",
)


@check("errors/context-figures-are-kept", needs="calls")
def context_figures_are_kept(view: View) -> Findings:
    """`limit` and `requested`, where the API's words have both: so it is known how much has to go."""
    for call, failed, answer in refused_calls(view):
        words = answer.error_message or ""
        if not too_long(call.last) or not failed.typed or len(_FIGURE.findall(words)) < 2:
            continue
        missing = [name for name in ("limit", "requested") if getattr(failed, name) is None]
        for name in missing:
            yield _NO_FIGURE(
                call.at(Side.ERROR, name), observed=UNSET, related=at_error_answer(call), field=name, words=words
            )
        if missing or failed.limit is None or failed.requested is None:
            continue
        if failed.requested < failed.limit:
            yield _SWAPPED(
                call.at(Side.ERROR, "requested"),
                observed=failed.requested,
                related=at_error_answer(call),
                limit=failed.limit,
                words=words,
            )
        else:
            yield Compared("prompts that were too long")
