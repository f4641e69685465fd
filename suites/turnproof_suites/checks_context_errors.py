"""Errors of prompts that are too long: they are told from every other refusal, for only then does collecting help."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import combinations

from turnproof.errors import ContextLimitError
from turnproof.judge.finding import Compared, Side
from turnproof.judge.requirements import Findings, check, finding
from turnproof.judge.view import View
from turnproof.run.transcript import Failed

from .context_room import too_long
from .raised_errors import at_error_answer, is_one_of, refused_calls

_LIMIT_NOT_RECOGNISED = finding(
    "errors/context-limit-is-recognised/wrong-class",
    "The error is not a context limit error, although the API reports that the prompt is too long.",
    "{expected:words}, because the API reports {words}",
    "{observed:words}: {message}",
)
_NUMBER_INVENTED = finding(
    "errors/context-limit-is-recognised/invented-number",
    "The error has a number that the API did not give.",
    "a number from the API's words {words}",
    "{observed} as `{field:words}`",
)


@check("errors/context-limit-is-recognised")
def context_limit_is_recognised(view: View) -> Findings:
    """A prompt that does not fit is told from every other refusal: only then does collecting history help."""
    for call, failed, answer in refused_calls(view):
        if not too_long(call.last):
            continue
        words = answer.error_message or ""
        if not is_one_of(failed, ContextLimitError):
            yield _LIMIT_NOT_RECOGNISED.of_error(
                call.at(Side.ERROR, "error"),
                failed,
                expected=ContextLimitError.__name__,
                related=at_error_answer(call),
                words=words,
            )
            continue
        invented = list(_invented_numbers(failed, words))
        for field, number in invented:
            yield _NUMBER_INVENTED(
                call.at(Side.ERROR, field), observed=number, related=at_error_answer(call), field=field, words=words
            )
        if not invented:
            yield Compared("prompts that were too long")


def _invented_numbers(failed: Failed, words: str) -> Iterator[tuple[str, int]]:
    """The numbers of the error that the API's words do not have; what is asked for may be a sum of two of them."""
    stated = [int(number.replace(",", "")) for number in _NUMBER.findall(words)]
    sums = {*stated, *(one + other for one, other in combinations(stated, 2))}
    if failed.limit is not None and failed.limit not in stated:
        yield "limit", failed.limit
    if failed.requested is not None and failed.requested not in sums:
        yield "requested", failed.requested


_NUMBER = re.compile(r"\d[\d,]*")


_NO_CONTEXT_LIMIT = finding(
    "errors/other-refusals-are-no-context-limit/wrong-class",
    "The error is a context limit error, although the API does not report that the prompt is too long.",
    "another class of error, because the API reports {words}",
    "{observed:words}: {message}",
)


@check("errors/other-refusals-are-no-context-limit")
def other_refusals_are_no_context_limit(view: View) -> Findings:
    """Words like "maximum" or "tokens" stand in other refusals too; collecting history would destroy it for nothing."""
    for call, failed, answer in refused_calls(view):
        if answer.status != 400 or too_long(call.last):
            continue
        if is_one_of(failed, ContextLimitError):
            yield _NO_CONTEXT_LIMIT.of_error(
                call.at(Side.ERROR, "error"), failed, related=at_error_answer(call), words=answer.error_message or ""
            )
        else:
            yield Compared("other refusals")
