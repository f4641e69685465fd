"""Tool names and call ids that the Messages API accepts: `[a-zA-Z0-9_-]` only. `_names` says how others become such."""

from __future__ import annotations

from .._names import Naming

NAME_LIMIT = 64
"""Every model accepts names of this length; some accept more."""

_NAMING = Naming("[a-zA-Z0-9_-]", "[a-zA-Z0-9_-]", NAME_LIMIT)

wire_name = _NAMING.name
"""The name under which a tool goes on the wire."""

wire_id = _NAMING.unbounded
"""The id under which a call and its result go on the wire. The API sets no limit to its length."""

restorer = _NAMING.restorer
"""A function from wire names back to tools' own, made from their own names."""
