"""What a file looks at where a call failed rightly, and the library's error is wrong: its class, or what it lacks.

Which error of the contract stands for a class of the library is the binding's translation, so the binding says it
(`ErrorReproducer`). A file shows a finding only where the library raised the class that this table has for the error
of the run.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from ...errors import ProviderError
from ...judge.finding import Finding
from ...run.transcript import Failed
from .run_findings import UnreproducibleError

Kinds = Mapping[str, type[ProviderError]]
"""The errors of the contract by the names of the library's classes."""


def raised_class(finding: Finding, failed: Failed, names: Sequence[str], kinds: Kinds) -> str:
    """The class that the library raises, as far as it is the library's doing that the error has the wrong class.

    `names` are the classes of the run's exception and of what it came from, without those of turnproof.
    """
    if not names:
        raise UnreproducibleError("the adapter raised it itself: the library raised nothing")
    if finding.code.endswith("/untyped"):
        return names[0]
    named = next((name for name in names if name in kinds), None)
    if named is None:
        raise UnreproducibleError(
            f"the binding does not say which error the library's {names[0]} is (`errors` of its reproducer)"
        )
    if kinds[named].__name__ != failed.error.rpartition(".")[2]:
        raise UnreproducibleError(
            f"the library's {named} is {kinds[named].__name__} by the binding's own table: look at the adapter"
        )
    return names[0]


def lacking_pattern(finding: Finding) -> str | None:
    """A pattern of what the API said and the error has to hold somewhere; None for a finding about something else."""
    match finding.code.rpartition("/")[2], finding.expected:
        case "wrong-wait", int() | float() as seconds:
            return rf"(?<![\w.]){seconds:g}(\.0)?s?(?!\w)"
        case "missing", str() as words:
            return re.escape(words)
    return None
