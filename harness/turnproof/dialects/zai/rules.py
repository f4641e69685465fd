"""Every rule of Z.ai's Anthropic-compatible endpoint that is known, with the places that show it.

No recording of this endpoint was found: nothing here is better founded than the list of codes and public threads, and
no rule of Anthropic's about pairing, order, signatures or breakpoints is known to hold. A refusal's `kind` is the
service's own code, a string of digits.
"""

from __future__ import annotations

from ..rulebook import Rulebook, page, thread

NAME = "zai"
_CODES = page("https://docs.bigmodel.cn/cn/api/api-code")

_BOOK = Rulebook(NAME)
ALL = _BOOK.all
_rule = _BOOK.rule


WRONG_ROUTE = _rule("wrong-route", note="zai.md §4, third shape; no thread that shows it was found again")
MISSING_KEY = _rule("missing-key", _CODES, note="1001")
BAD_KEY = _rule("bad-key", _CODES, note="1000 to 1004; the words are those of the sheet")

UNREADABLE_BODY = _rule("unreadable-body", _CODES, note="1210")
MISSING_PARAMETER = _rule("missing-parameter", _CODES, note="1213")
ILLEGAL_PARAMETER = _rule("illegal-parameter", _CODES, note="1214")
UNKNOWN_MODEL = _rule("unknown-model", _CODES, note="1211")
NO_USER_MESSAGE = _rule(
    "no-user-message",
    thread("diegosouzapw/OmniRoute#11209", "The messages parameter is illegal. Please check the documentation."),
    thread("anomalyco/opencode#2557"),
)
FORCED_TOOL = _rule(
    "forced-tool",
    thread("code-yeongyu/oh-my-openagent#6753", "Invalid API parameter, please check the documentation."),
    thread("vectorize-io/hindsight#4246"),
)
PROMPT_TOO_LONG = _rule("prompt-too-long", _CODES, note="1261")
NO_OUTPUT_LIMIT = _rule("no-output-limit", note="zai.md §2: the request is Anthropic's, which needs max_tokens")
IMAGE_FOR_TEXT_MODEL = _rule("image-for-text-model", note="zai.md §2: text models refuse images")

RATE_LIMIT = _rule("rate-limit", _CODES, note="1302")
OVERLOADED = _rule("overloaded", _CODES, note="1305")
BALANCE = _rule("balance", _CODES, note="1113")
USAGE_LIMIT = _rule("usage-limit", _CODES, note="1308")
