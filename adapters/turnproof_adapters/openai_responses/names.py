"""Tool names and call ids that the Responses API accepts. `_names` says how others become such.

Names are `[a-zA-Z0-9_-]` (justrach/codegraff#930); 64 is their limit on chat completions. Of a `call_id` only the
length is checked: 1 to 64 characters (AnswerDotAI/fastllm#45, BigPizzaV3/CodexPlusPlus#315).
"""

from __future__ import annotations

from .._names import Naming

NAME_LIMIT = 64
ID_LIMIT = 64

_NAMING = Naming("[a-zA-Z0-9_-]", "[a-zA-Z0-9_-]", NAME_LIMIT)
_IDS = Naming(r"[\s\S]", r"[\s\S]", ID_LIMIT)

wire_name = _NAMING.name
"""The name under which a tool goes on the wire."""

wire_id = _IDS.name
"""The id under which a call and its output go on the wire."""

restorer = _NAMING.restorer
"""A function from wire names back to tools' own, made from their own names."""
