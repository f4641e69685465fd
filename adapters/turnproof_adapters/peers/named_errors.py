"""The classes of a library's errors by their names, for a reproducer: its file imports none of turnproof's."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from turnproof.errors import ProviderError


def named_errors(table: Iterable[tuple[Any, type[ProviderError]]]) -> dict[str, type[ProviderError]]:
    """What each class is, of a table whose rows have a class, or several, and the error of the contract."""
    named: dict[str, type[ProviderError]] = {}
    for known, kind in table:
        for one in known if isinstance(known, tuple) else (known,):
            named.setdefault(one.__name__, kind)
    return named
