"""The words that may stand beside what a tool has attached, where an API has no place for it in a result."""

from __future__ import annotations

from collections.abc import Iterable

_MOST = 100
"""Characters for each thing that is shown, and once more for what stands around all of them."""


def are_labels(texts: Iterable[str], shown: int) -> bool:
    """Whether texts are few words beside so many attachments: what each of them is, and which result it is from."""
    return sum(map(len, texts)) <= _MOST * (shown + 1)
