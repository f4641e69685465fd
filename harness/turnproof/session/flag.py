"""The migration flag: which path a session takes where nobody else says so."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence

from .._base.suggestions import did_you_mean
from ..errors import UsageError
from ..provider import Path
from ..subject import Flag

_WORDS = {"1": True, "true": True, "yes": True, "on": True, "0": False, "false": False, "no": False, "off": False}


def is_on(flag: Flag, environ: Mapping[str, str] = os.environ) -> bool:
    """What the environment says, else the flag's default. Raises UsageError for a word that is neither yes nor no."""
    setting = environ.get(flag.variable, "").strip().lower()
    if not setting:
        return flag.default
    if setting not in _WORDS:
        hint = did_you_mean(setting, _WORDS) or f"; one of {', '.join(_WORDS)}"
        raise UsageError(f"{flag.variable}={environ[flag.variable]!r} is neither on nor off{hint}")
    return _WORDS[setting]


def path_by_flag(flag: Flag, available: Sequence[Path], environ: Mapping[str, str] = os.environ) -> Path:
    """The stateless path where the flag is on, else the legacy one; of a provider that has only one path, that one.

    Raises UsageError when there is none at all.
    """
    path: Path = "stateless" if is_on(flag, environ) else "legacy"
    if not available:
        raise UsageError("the provider has neither complete() nor create_session(): no path can be taken")
    return path if path in available else available[0]
