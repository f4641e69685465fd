"""Why no reproducer can be made."""

from __future__ import annotations

from ...errors import TurnproofError


class UnreproducibleError(TurnproofError):
    """No file can show this finding with the library alone. The text is the reason."""
