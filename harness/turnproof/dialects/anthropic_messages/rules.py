"""Every rule of the Messages API that this dialect knows, with where it is known from.

`SHEET` is the wire sheet of the API (`anthropic.md`, sections as cited), condensed from recordings, documentation
and public issues. Rules the sheet calls weak, or that nobody was seen enforcing, are `INFERRED`: they are logged
and the request is accepted. Where only the status is documented, the words of the message are ours.
"""

from __future__ import annotations

from ..rulebook import Rulebook

NAME = "anthropic-messages"
_ISSUES = "anthropic.md §5, pasted in public issues"

_BOOK = Rulebook(NAME)
ALL = _BOOK.all
_documented, _inferred, _issue, _recorded = _BOOK.documented, _BOOK.inferred, _BOOK.issue, _BOOK.recorded


# Headers and address
MISSING_KEY = _inferred("missing-key", "anthropic.md §5, marked weak")
BAD_KEY = _recorded(
    "bad-key", "RL chat_error_handling_with_anthropic_claude-haiku-4-5_raises_appropriate_auth_error.yml"
)
BAD_BEARER = _issue("bad-bearer")
MISSING_VERSION = _issue("missing-version")
UNKNOWN_BETA = _issue("unknown-beta")
CONTENT_TYPE = _inferred("content-type", "anthropic.md §1 requires it; no refusal was seen")
NOT_FOUND = _documented("not-found", "anthropic.md §4, error table")
METHOD_NOT_ALLOWED = _documented("method-not-allowed", "anthropic.md §4, error table")

# The body's shape
MALFORMED_JSON = _documented("malformed-json", "anthropic.md §4, error table: invalid_request_error")
MALFORMED_BODY = _documented("malformed-body", "anthropic.md §4, error table: invalid_request_error")
MISSING_FIELD = _issue("missing-field")
EXTRA_FIELD = _issue("extra-field")
COUNT_FIELD = _issue("count-tokens-field", "anthropic.md §5, last paragraph")
SOURCE_TAG = _recorded("source-tag", "PA test_multimodal_tool_returns, uploaded_file variants")
CALL_ID_PATTERN = _issue("call-id-pattern")
TOOL_NAME_PATTERN = _inferred("tool-name-pattern", "SDK and framework code; no refusal on the sheet")
TOO_MANY_MESSAGES = _documented("too-many-messages", "anthropic.md §1: limit 100,000 messages")
REMOVED_SAMPLING = _documented("removed-sampling", "anthropic.md §1: API version 2026-10-21")
ASSISTANT_DOCUMENT = _documented("assistant-document", "anthropic.md §1: API version 2026-10-21")
USER_CITATIONS = _documented("user-citations", "anthropic.md §1: API version 2026-10-21")
UNKNOWN_MODEL = _recorded("unknown-model", "PA test_model_name_suggestions, test_anthropic_count_tokens_error.yaml")

# Settings
BLANK_STOP_SEQUENCE = _recorded("blank-stop-sequence", "MIS stop/whitespace_stop.error.json")
EFFORT_UNSUPPORTED = _recorded(
    "effort-unsupported", "PA test_anthropic_explicit_effort_xhigh_unsupported_model_errors.yaml"
)
OUTPUT_FORMAT = _documented("output-format", "platform.claude.com, structured outputs: `json_schema` is the one format")
OPEN_SCHEMA = _issue("open-schema", "veryfront/veryfront-code#3918, future-agi/future-agi#411")
MAX_TOKENS_CAP = _issue("max-tokens-cap")
WARM_UP = _documented("warm-up", "anthropic.md §3: max_tokens 0")
BUDGET_UNSUPPORTED = _issue("budget-unsupported")
BUDGET_MINIMUM = _issue("budget-minimum")
BUDGET_OVER_MAX = _issue("budget-over-max")
THINKING_TEMPERATURE = _issue("thinking-temperature")
TEMPERATURE_AND_TOP_P = _issue("temperature-and-top-p")
TEMPERATURE_DEPRECATED = _issue("temperature-deprecated")
THINKING_FORCED_TOOL = _issue("thinking-forced-tool")
DUPLICATE_TOOL_NAMES = _inferred("duplicate-tool-names", "anthropic.md §5, marked weak")

# Prompt caching
TOO_MANY_BREAKPOINTS = _issue("too-many-breakpoints")
BREAKPOINT_ON_EMPTY_TEXT = _issue("breakpoint-on-empty-text")
BREAKPOINT_ON_THINKING = _issue("breakpoint-on-thinking")
BREAKPOINT_TTL_ORDER = _issue("breakpoint-ttl-order")
BREAKPOINT_FORM = _documented("breakpoint-form", "anthropic.md §7")
AUTOMATIC_BREAKPOINT_TTL = _documented("automatic-breakpoint-ttl", "anthropic.md §7")

# The conversation
NO_MESSAGES = _issue("no-messages")
EMPTY_CONTENT = _issue("empty-content")
EMPTY_TEXT = _issue("empty-text")
BLANK_TEXT = _issue("blank-text")
SYSTEM_ROLE_UNSUPPORTED = _issue("system-role-unsupported")
SYSTEM_ROLE_FOLLOWS = _issue("system-role-follows")
SYSTEM_ROLE_PRECEDES = _issue("system-role-precedes")
DUPLICATE_CALL_ID = _issue("duplicate-call-id")
DANGLING_CALL = _recorded("dangling-call", "OC rejects-malformed-assistant-tool-order-without-patch.json")
TEXT_AFTER_CALL = _recorded("text-after-call", "OC rejects-malformed-assistant-tool-order-without-patch.json")
TEXT_BEFORE_RESULT = _issue("text-before-result")
DANGLING_LAST_WITHOUT_TOOLS = _inferred("dangling-last-without-tools", "wire sheets' README: listed as not known")
ORPHAN_RESULT = _issue("orphan-result")
DUPLICATE_RESULT = _issue("duplicate-result")
SERVER_TOOL_UNANSWERED = _issue("server-tool-unanswered")
PREFILL_UNSUPPORTED = _issue("prefill-unsupported")
PREFILL_WHITESPACE = _issue("prefill-whitespace")

# Thinking sent back
UNSIGNED_THINKING = _issue("unsigned-thinking")
UNSIGNED_WHILE_OFF = _inferred("unsigned-while-off", "anthropic.md §8.4: absence is accepted when thinking is off")
INVALID_SIGNATURE = _issue("invalid-signature")
INVALID_REDACTED = _issue("invalid-redacted")
MODIFIED_THINKING = _issue("modified-thinking")
FOREIGN_MODEL_SIGNATURE = _inferred("foreign-model-signature", "not on the sheet: the same service, another model")
THINKING_REQUIRED = _issue("thinking-required")

# Size, and the world outside
PROMPT_TOO_LONG = _recorded(
    "prompt-too-long", "RL chat_real_error_scenarios_..._handles_context_length_exceeded_errors.yml"
)
WINDOW_OVERFLOW = _issue("window-overflow")
UNREACHABLE_URL = _issue("unreachable-url", "public issues; the world says which URLs cannot be fetched")
RATE_LIMIT = _issue("rate-limit")
OVERLOADED = _issue("overloaded")
