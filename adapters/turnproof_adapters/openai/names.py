"""Tool names and call ids that the API accepts. `_names` says how others become such.

Names are up to 64 letters, digits, `_` and `-` (public reference of `FunctionDefinition.name`). Of a call's id only the
length is judged (a refusal seen in public issues: "Expected a string with maximum length 40").
"""

from __future__ import annotations

from .._names import Naming

NAME_LIMIT = 64
ID_LIMIT = 40

_NAMING = Naming("[a-zA-Z0-9_-]", "[a-zA-Z0-9_-]", NAME_LIMIT)
_IDS = Naming(r"[\s\S]", r"[\s\S]", ID_LIMIT)

wire_name = _NAMING.name
"""The name under which a tool goes on the wire."""

wire_id = _IDS.name
"""The id under which a call and its result go on the wire."""

restorer = _NAMING.restorer
"""A function from wire names back to tools' own, made from their own names."""
