"""Tool names that the API accepts, and ids of calls that came without one.

A name begins with a letter or `_` and goes on with letters, digits, `_`, `.`, `:` and `-`
(https://ai.google.dev/api/caching#FunctionDeclaration). Ids of calls may be anything; the older models give none.
"""

from __future__ import annotations

from .._names import Naming
from .._names import is_made_up as is_made_up
from .._names import made_up_id as made_up_id

NAME_LIMIT = 64
"""Every model accepts names of this length; some accept more."""

_NAMING = Naming("[a-zA-Z_]", "[a-zA-Z0-9_.:-]", NAME_LIMIT)
_ANTHROPIC = Naming("[a-zA-Z0-9_-]", "[a-zA-Z0-9_-]", NAME_LIMIT)

wire_name = _NAMING.name
"""The name under which a tool goes on the wire."""

anthropic_id = _ANTHROPIC.unbounded
"""The id under which a call goes to a model of Anthropic's, which takes letters, digits, `_` and `-`."""

restorer = _NAMING.restorer
"""A function from wire names back to tools' own, made from their own names."""
