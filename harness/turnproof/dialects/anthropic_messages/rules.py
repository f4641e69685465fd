"""Every rule of the Messages API that this dialect knows, with the places that show it.

A rule that nothing here shows is logged, and the request is accepted. Where only the status is documented, the words
of the message are ours. `_schema` is the interface description that Anthropic publishes, as the named wheel carries it.
"""

from __future__ import annotations

from ..base import Source
from ..rulebook import Rulebook, client_code, interface, page, recording, report, thread

NAME = "anthropic-messages"

_DOCS = "https://platform.claude.com/docs/en"
_ERRORS = page(f"{_DOCS}/api/errors")
_CACHING = page(f"{_DOCS}/build-with-claude/prompt-caching")
_TOOL_RESULTS = page(f"{_DOCS}/agents-and-tools/tool-use/handle-tool-calls")
_MIGRATION = page(f"{_DOCS}/api/migration-2026-10-21")
_REQUEST = client_code("https://pypi.org/project/anthropic/2.14.0/#anthropic/types/message_create_params.py")
_PYDANTIC_AI = "https://github.com/pydantic/pydantic-ai/blob"
_RUBY_LLM = "https://github.com/crmne/ruby_llm/blob"
_OPENCODE = (
    "https://github.com/anomalyco/opencode/blob/678c40589f4c/packages/llm/test/fixtures/recordings/anthropic-messages"
)
_MALFORMED_ORDER = recording(
    f"{_OPENCODE}/rejects-malformed-assistant-tool-order-without-patch.json",
    "`tool_use` ids were found without `tool_result` blocks immediately after: …. "
    "Each `tool_use` block must have a corresponding `tool_result` block in the next message.",
)

_BOOK = Rulebook(NAME)
ALL = _BOOK.all
_rule = _BOOK.rule


def _schema(name: str) -> Source:
    return interface("anthropic", name)


# Headers and address
MISSING_KEY = _rule("missing-key", thread("n8n-io/n8n#37930", "x-api-key header is required"))
BAD_KEY = _rule(
    "bad-key",
    recording(
        "https://github.com/DataDog/dd-trace-py/blob/3bb9ecda2283/tests/cassettes/anthropic/"
        "anthropic_v1_messages_post_d65e09ee.yaml",
        "invalid x-api-key",
    ),
)
BAD_BEARER = _rule("bad-bearer", thread("Jeffser/Alpaca#727", "Invalid bearer token"))
MISSING_VERSION = _rule(
    "missing-version",
    thread("PipedreamHQ/pipedream#9697", "anthropic-version: header is required"),
)
UNKNOWN_BETA = _rule(
    "unknown-beta",
    thread(
        "pacifio/cersei#20",
        "Unexpected value(s) … for the `anthropic-beta` header. Please consult our documentation at",
    ),
    note="a value that no list has is only logged: it may be newer than the lists, or a gateway's",
)
CONTENT_TYPE = _rule("content-type", note="the documentation requires it; no refusal was seen")
NOT_FOUND = _rule("not-found", _ERRORS)
METHOD_NOT_ALLOWED = _rule(
    "method-not-allowed",
    _ERRORS,
    note="of other 4xx it says that they may come as `invalid_request_error`",
)

# The body's shape
MALFORMED_JSON = _rule(
    "malformed-json",
    _ERRORS,
    thread("anthropics/claude-code#77525", "The request body is not valid JSON: …"),
)
MALFORMED_BODY = _rule("malformed-body", _ERRORS, _schema("CreateMessageParams"))
MISSING_FIELD = _rule(
    "missing-field",
    _schema("CreateMessageParams"),
    thread("openclaw/openclaw#8664", ": Field required"),
)
EXTRA_FIELD = _rule(
    "extra-field",
    _schema("CreateMessageParams"),
    thread("RooCodeInc/Roo-Code#11429", ": Extra inputs are not permitted"),
)
COUNT_FIELD = _rule(
    "count-tokens-field",
    _schema("CountMessageTokensParams"),
    thread("Wei-Shaw/sub2api#4913", "Extra inputs are not permitted"),
)
SOURCE_TAG = _rule(
    "source-tag",
    recording(
        f"{_PYDANTIC_AI}/3b474b2f9c72/tests/models/cassettes/test_multimodal_tool_returns/"
        "test_multimodal_tool_return_matrix[direct-uploaded_file-image-anthropic].yaml",
        ".source: Input tag 'file' found using 'type' does not match any of the expected tags: 'base64', 'url'",
    ),
)
CALL_ID_PATTERN = _rule(
    "call-id-pattern",
    _schema("RequestToolUseBlock"),
    thread("maximhq/bifrost#5097", ".tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'"),
)
TOOL_NAME_PATTERN = _rule(
    "tool-name-pattern",
    _schema("Tool"),
    thread("home-assistant/core#147760", ".custom.name: String should match pattern '^[a-zA-Z0-9_-]{1,128}$'"),
)
TOO_MANY_MESSAGES = _rule("too-many-messages", _REQUEST)
REMOVED_SAMPLING = _rule("removed-sampling", _MIGRATION)
ASSISTANT_DOCUMENT = _rule("assistant-document", _MIGRATION)
USER_CITATIONS = _rule("user-citations", _MIGRATION)
UNKNOWN_MODEL = _rule(
    "unknown-model",
    recording(
        f"{_PYDANTIC_AI}/4fda38988f29/tests/cassettes/test_model_name_suggestions/"
        "test_model_name_suggestion[anthropic].yaml",
        "model: …",
    ),
)

# Images
IMAGE_DATA = _rule(
    "image-data",
    thread("felixarntz/ai-services#19", ".image.source.base64: invalid base64 data", day="2026-11-27"),
    thread("Yeachan-Heo/gajae-code#2813", ".image.source.base64: invalid base64 data", day="2026-11-27"),
    thread("anthropics/claude-code#12750", ".image.source.base64: image cannot be empty", day="2026-11-27"),
)
IMAGE_MEDIA_TYPE = _rule(
    "image-media-type",
    _schema("Base64ImageSource"),
    thread(
        "anthropics/claude-code#2438",
        ".image.source.base64.media_type: Input should be 'image/jpeg', 'image/png', 'image/gif' or 'image/webp'",
        day="2026-11-27",
    ),
)
IMAGE_TYPE = _rule(
    "image-type",
    note="refused in 2025 (anthropics/claude-code#6300, #15746), accepted of claude-3-5-sonnet in a recording "
    "(Arize-ai/openinference, test_anthropic_instrumentation_image_input_messages)",
)

# Settings
SETTING_RANGE = _rule(
    "setting-range",
    _schema("CreateMessageParams"),
    thread("anthropics/anthropic-sdk-python#893", day="2026-11-27"),
    note="older models took -1 for `temperature` and `top_p` until August 2026",
)
TOOL_CHOICE = _rule("tool-choice", _schema("ToolChoice"))
BLANK_STOP_SEQUENCE = _rule(
    "blank-stop-sequence",
    recording(
        "https://github.com/mdegans/misanthropic/blob/14d4805b9750/misanthropic/test/data/stop/"
        "whitespace_stop.error.json",
        "stop_sequences: each stop sequence must contain non-whitespace",
    ),
)
EFFORT_UNSUPPORTED = _rule(
    "effort-unsupported",
    recording(
        "https://github.com/sejori/pydantic-ai/blob/362244dd74b6/tests/models/cassettes/"
        "test_anthropic/test_anthropic_explicit_effort_xhigh_unsupported_model_errors.yaml",
        "This model does not support effort level '…'. Supported levels: …",
    ),
)
OUTPUT_FORMAT = _rule("output-format", _schema("JsonOutputFormat"))
OPEN_SCHEMA = _rule(
    "open-schema",
    thread(
        "future-agi/future-agi#412",
        ".schema: For 'object' type, 'additionalProperties' must be explicitly set to false",
    ),
    thread("veryfront/veryfront-code#3918"),
)
MAX_TOKENS_CAP = _rule(
    "max-tokens-cap",
    _schema("CreateMessageParams"),
    thread("OpenHands/OpenHands#11090", "max_tokens: … > …, which is the maximum allowed number of output tokens"),
)
WARM_UP = _rule("warm-up", _CACHING)
BUDGET_UNSUPPORTED = _rule(
    "budget-unsupported",
    thread("anthropics/claude-code#49219", "… is not supported for this model. Use … to control thinking behavior."),
)
BUDGET_MINIMUM = _rule(
    "budget-minimum",
    _schema("ThinkingConfigEnabled"),
    thread("themaximalist/llm.js#30", ": Input should be greater than or equal to 1024"),
)
BUDGET_OVER_MAX = _rule("budget-over-max", _schema("ThinkingConfigEnabled"))
THINKING_TEMPERATURE = _rule(
    "thinking-temperature",
    thread("MartialBE/one-hub#529", "`temperature` may only be set to 1 when thinking is enabled"),
)
TEMPERATURE_AND_TOP_P = _rule(
    "temperature-and-top-p",
    thread(
        "skydiscover-ai/skydiscover#15",
        "`temperature` and `top_p` cannot both be specified for this model. Please use only one.",
    ),
)
TEMPERATURE_DEPRECATED = _rule("temperature-deprecated", _schema("CreateMessageParams"))
THINKING_FORCED_TOOL = _rule(
    "thinking-forced-tool",
    thread("mastra-ai/mastra#7507", "Thinking may not be enabled when tool_choice forces tool use."),
)
DUPLICATE_TOOL_NAMES = _rule(
    "duplicate-tool-names",
    thread("danny-avila/LibreChat#13162", "tools: Tool names must be unique."),
)

# Prompt caching
TOO_MANY_BREAKPOINTS = _rule(
    "too-many-breakpoints",
    thread("tghamm/Anthropic.SDK#50", "A maximum of 4 blocks with cache_control may be provided. Found 5."),
)
BREAKPOINT_ON_EMPTY_TEXT = _rule(
    "breakpoint-on-empty-text",
    thread("anthropics/claude-code#62379", ".text: cache_control cannot be set for empty text blocks"),
)
BREAKPOINT_ON_THINKING = _rule(
    "breakpoint-on-thinking",
    thread("Wei-Shaw/sub2api#225", ".thinking.cache_control: Extra inputs are not permitted"),
)
BREAKPOINT_TTL_ORDER = _rule(
    "breakpoint-ttl-order",
    thread(
        "cnighswonger/claude-code-cache-fix#44",
        ".cache_control.ttl: a ttl='1h' cache_control block must not come after a ttl='5m' cache_control block",
    ),
)
BREAKPOINT_FORM = _rule(
    "breakpoint-form",
    _schema("CacheControlEphemeral"),
    thread("anthropics/claude-code#25597", "cache_control.ephemeral.… Extra inputs are not permitted"),
)
AUTOMATIC_BREAKPOINT_TTL = _rule("automatic-breakpoint-ttl", _CACHING)

# The conversation
NO_MESSAGES = _rule("no-messages", thread("langchain-ai/langchain#31657", "messages: at least one message is required"))
EMPTY_CONTENT = _rule(
    "empty-content",
    thread(
        "writingmate/chatlabs#35",
        ": all messages must have non-empty content except for the optional final assistant message",
    ),
)
EMPTY_TEXT = _rule("empty-text", thread("miurla/morphic#83", "messages: text content blocks must be non-empty"))
BLANK_TEXT = _rule(
    "blank-text",
    thread("anthropics/claude-code#23440", "messages: text content blocks must contain non-whitespace text"),
)
SYSTEM_ROLE_UNSUPPORTED = _rule(
    "system-role-unsupported",
    thread("anthropics/claude-code#61412", "role 'system' is not supported on this model"),
)
SYSTEM_ROLE_FOLLOWS = _rule(
    "system-role-follows", note="several projects tell of it in their code; no thread with the answer was read"
)
SYSTEM_ROLE_PRECEDES = _rule(
    "system-role-precedes",
    thread("anthropics/claude-code#73821", ": role 'system' must precede an 'assistant' message"),
)
DUPLICATE_CALL_ID = _rule("duplicate-call-id", thread("trycua/cua#524", ": `tool_use` ids must be unique"))
DANGLING_CALL = _rule(
    "dangling-call",
    thread(
        "anthropics/claude-code#1831", "`tool_use` ids were found without `tool_result` blocks immediately after: …"
    ),
    thread("Kilo-Org/kilocode#5163", "`tool_use` ids were found without `tool_result` blocks immediately after: …"),
)
TEXT_AFTER_CALL = _rule("text-after-call", _MALFORMED_ORDER)
TEXT_BEFORE_RESULT = _rule("text-before-result", _TOOL_RESULTS)
DANGLING_LAST_WITHOUT_TOOLS = _rule(
    "dangling-last-without-tools",
    note="nobody has shown what happens where no tools are declared",
)
ORPHAN_RESULT = _rule(
    "orphan-result",
    thread(
        "router-for-me/CLIProxyAPI#497",
        ": unexpected `tool_use_id` found in `tool_result` blocks: …",
    ),
)
DUPLICATE_RESULT = _rule(
    "duplicate-result",
    thread("sipeed/picoclaw#1793", "each tool_use must have a single result. Found multiple … blocks with id"),
)
SERVER_TOOL_UNANSWERED = _rule(
    "server-tool-unanswered", note="several projects tell of it in their code; no thread with the answer was read"
)
PREFILL_UNSUPPORTED = _rule(
    "prefill-unsupported",
    thread(
        "smallmain/vscode-unify-chat-provider#249",
        "This model does not support assistant message prefill. The conversation must end with a user message.",
    ),
)
PREFILL_WHITESPACE = _rule(
    "prefill-whitespace",
    thread("tailcallhq/forgecode#1872", "messages: final assistant content cannot end with trailing whitespace"),
)

# Thinking sent back
UNSIGNED_THINKING = _rule(
    "unsigned-thinking",
    report(
        "https://github.com/sepivip/SeekerClaw/blob/0cef5d498913/tests/live/anthropic/test-thinking-poison.js",
        "each thinking block must contain thinking",
    ),
    thread("agentscope-ai/agentscope#1668"),
)
UNSIGNED_WHILE_OFF = _rule(
    "unsigned-while-off",
    note="absence is accepted when thinking is off; of an empty signature nobody has shown it",
)
INVALID_SIGNATURE = _rule(
    "invalid-signature",
    thread("anthropics/claude-code#10627", ": Invalid `signature` in `thinking` block"),
)
INVALID_REDACTED = _rule("invalid-redacted", thread("microsoft/vscode#320196", "Invalid … in … block"))
MODIFIED_THINKING = _rule(
    "modified-thinking",
    thread(
        "anthropics/claude-code#63432",
        ": `thinking` or `redacted_thinking` blocks in the latest assistant message cannot be modified.",
    ),
)
FOREIGN_MODEL_SIGNATURE = _rule(
    "foreign-model-signature",
    thread("anthropics/anthropic-sdk-python#1598"),
    note="the same service, another model: one maintainer's word, no refusal was seen",
)
THINKING_REQUIRED = _rule(
    "thinking-required",
    thread(
        "deepset-ai/haystack-core-integrations#2146",
        ".type: Expected `thinking` or `redacted_thinking`, but found `tool_use`. When `thinking` is enabled",
    ),
)

# Size, and the world outside
PROMPT_TOO_LONG = _rule(
    "prompt-too-long",
    recording(
        f"{_RUBY_LLM}/fb5a49bf04da/spec/fixtures/vcr_cassettes/"
        "chat_real_error_scenarios_anthropic_claude-haiku-4-5_handles_context_length_exceeded_errors.yml",
        "prompt is too long: … tokens > … maximum",
    ),
)
WINDOW_OVERFLOW = _rule(
    "window-overflow",
    thread(
        "continuedev/continue#6080",
        "input length and `max_tokens` exceed context limit: … + … > …",
    ),
)
UNREACHABLE_URL = _rule(
    "unreachable-url", note="the world says which addresses cannot be fetched; no thread with the answer was read"
)
RATE_LIMIT = _rule(
    "rate-limit",
    recording(
        f"{_RUBY_LLM}/75b5cd5aef9a/spec/fixtures/vcr_cassettes/"
        "chat_real_error_scenarios_anthropic_claude-haiku-4-5_handles_context_length_exceeded_errors.yml",
    ),
)
OVERLOADED = _rule(
    "overloaded",
    recording(
        f"{_RUBY_LLM}/af9cfacf5de7/spec/fixtures/vcr_cassettes/"
        "chat_function_calling_anthropic_claude-3-5-haiku-20241022_can_use_tools.yml",
        "Overloaded",
    ),
)
