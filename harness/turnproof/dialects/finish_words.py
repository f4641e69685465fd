"""The word of an API for the reason for which a scripted answer ends."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

from ..errors import HarnessError
from ..messages import FinishReason

Word = TypeVar("Word")


def finish_word_of(words: Mapping[FinishReason, Word], finish: FinishReason, *, dialect: str, member: str) -> Word:
    """The word, which the answer has as its `member`. Raises HarnessError for a reason that the API cannot say."""
    try:
        return words[finish]
    except KeyError:
        raise HarnessError(f"{dialect} has no {member} for {finish!r}; give raw_finish") from None
