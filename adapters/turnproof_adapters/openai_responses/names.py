"""Tool names and call ids that the Responses API accepts. `_names` says how others become such.

Names are `[a-zA-Z0-9_-]` (justrach/codegraff#930); 64 is their limit on chat completions. Of a `call_id` only the
length is checked: 1 to 64 characters (AnswerDotAI/fastllm#45, BigPizzaV3/CodexPlusPlus#315).
"""

from __future__ import annotations

from .._names import Naming
from ..openai.names import restorer as restorer
from ..openai.names import wire_name as wire_name

ID_LIMIT = 64

_IDS = Naming(r"[\s\S]", r"[\s\S]", ID_LIMIT)

wire_id = _IDS.name
"""The id under which a call and its output go on the wire."""
