"""The environment of this process with other variables for a while."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Mapping


@contextlib.contextmanager
def environment_with(variables: Mapping[str, str | None]) -> Iterator[None]:
    """The environment with these variables set, or without those whose value is None; restored in the end.

    It is the process's own, so that worker processes that are started meanwhile have it from their first line on: a
    framework may well read its flags while it is imported.
    """
    before = {name: os.environ.get(name) for name in variables}
    _set_variables(variables)
    try:
        yield
    finally:
        _set_variables(before)


def _set_variables(variables: Mapping[str, str | None]) -> None:
    for name, value in variables.items():
        if value is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = value
