"""The words that may stand beside what a tool has attached, where an API has no place for it in a result."""

from __future__ import annotations

import re
from collections.abc import Sequence

_FEW = 64
"""Characters of a text that is a label as it is."""

_IN_TAGS = 100
"""Characters for each thing that is shown, and once more for what is around all of them, where tags are around the
labels: nobody takes these for the user's words."""

_TAGGED = re.compile(r"\s*<([\w-]+)>.*</\1>\s*", re.DOTALL)


def are_labels(texts: Sequence[str], shown: int) -> bool:
    """Whether texts are few words beside so many attachments: what each of them is, and which result it is from."""
    whole = "".join(texts)
    is_tagged = _TAGGED.fullmatch(whole) is not None and len(whole) <= _IN_TAGS * (shown + 1)
    return is_tagged or all(len(text) <= _FEW for text in texts)
