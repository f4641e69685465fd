"""Every rule of Z.ai's Anthropic-compatible endpoint that is known, with where it is known from.

No recording of this endpoint was found: nothing here is better founded than documentation and public issues, and no
rule of Anthropic's about pairing, order, signatures or breakpoints is known to hold. `zai.md` is the wire sheet. A
refusal's `kind` is the service's own code, a string of digits.
"""

from __future__ import annotations

from ..rulebook import Rulebook

NAME = "zai"
_CODES = "docs.z.ai/api-reference/api-code"

_BOOK = Rulebook(NAME)
ALL = _BOOK.all
_inferred, _issue, _documented = _BOOK.inferred, _BOOK.issue, _BOOK.documented


WRONG_ROUTE = _issue("wrong-route", "§4, third shape")
MISSING_KEY = _documented("missing-key", "1001")
BAD_KEY = _issue("bad-key", "§4")

UNREADABLE_BODY = _documented("unreadable-body", "1210")
MISSING_PARAMETER = _documented("missing-parameter", "1213")
ILLEGAL_PARAMETER = _documented("illegal-parameter", "1214")
UNKNOWN_MODEL = _documented("unknown-model", "1211")
NO_USER_MESSAGE = _issue("no-user-message", "§2, 1214")
FORCED_TOOL = _issue("forced-tool", "§2, 1210")
PROMPT_TOO_LONG = _issue("prompt-too-long", "§4, 1261")
NO_OUTPUT_LIMIT = _inferred("no-output-limit", "zai.md §2: the request is Anthropic's, which needs max_tokens")
IMAGE_FOR_TEXT_MODEL = _inferred("image-for-text-model", "zai.md §2: text models refuse images")

RATE_LIMIT = _issue("rate-limit", "§4, 1302")
OVERLOADED = _issue("overloaded", "§4, 1305")
BALANCE = _issue("balance", "§4, 1113")
USAGE_LIMIT = _issue("usage-limit", "§4, 1308")
