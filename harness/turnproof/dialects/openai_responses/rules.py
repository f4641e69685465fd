"""Every rule of the Responses API that this dialect knows, with the places that show it.

Recorded traffic judges what the dialect decides (`tests/recordings`), but few recordings are refusals. Some rules rest
on recordings that others have published; most on the words of the service as public threads paste them. `_schema` is
the interface description that OpenAI publishes, as the named wheel carries it.
"""

from __future__ import annotations

from ..base import Source
from ..rulebook import Rulebook, client_code, earlier_threads, interface, page, recording, server_code, thread, threads

NAME = "openai-responses"

_TODAY = "2026-11-28"
_READ = "2026-11-29"
_CLIENT = "https://github.com/openai/openai-python/blob/main/src/openai"
_PYDANTIC_AI = "https://github.com/pydantic/pydantic-ai/blob"
_RUBY_LLM = "https://github.com/crmne/ruby_llm/blob/fb5a49bf04da/spec/fixtures/vcr_cassettes"

_BOOK = Rulebook(NAME)
ALL = _BOOK.all
_rule = _BOOK.rule


def _schema(name: str) -> Source:
    return interface("openai_chat", name)


# Headers and address
MISSING_KEY = _rule(
    "missing-key", thread("openai/openai-cookbook#2347", "Missing bearer or basic authentication in header")
)
BAD_KEY = _rule(
    "bad-key",
    recording(f"{_RUBY_LLM}/error_handles_invalid_api_keys_gracefully.yml", "Incorrect API key provided: "),
)
BAD_TOKEN = _rule("bad-copilot-token", *earlier_threads("anomalyco/opencode#4992", "editor-code-assistant/eca#258"))
BAD_GITHUB_TOKEN = _rule("bad-github-token", thread("jenkins-x-plugins/jx-slack#18", "Bad credentials"))
MISSING_EDITOR = _rule(
    "missing-editor-version",
    thread("stacklok/codegate#335", "bad request: missing Editor-Version header for IDE auth"),
)
NOT_FOUND = _rule(
    "not-found",
    thread("harry0703/MoneyPrinterTurbo#57", "Invalid URL (POST /v1/…)"),
    *earlier_threads("openai/openai-python#250"),
)
METHOD_NOT_ALLOWED = _rule("method-not-allowed", note="openai 3.54 sends each path with one method only")

# Surfaces with words of their own
_LLAMACPP = "https://github.com/ggml-org/llama.cpp/blob/master/tools/server"
AZURE_KEY = _rule(
    "azure-key",
    thread("SciSharp/BotSharp#386", "Access denied due to invalid subscription key or wrong API endpoint.", day=_READ),
)
AZURE_VERSION = _rule(
    "azure-version", page("https://learn.microsoft.com/azure/ai-services/openai/reference", day=_READ)
)
AZURE_DEPLOYMENT = _rule(
    "azure-deployment",
    thread("chatboxai/chatbox#861", "The API deployment for this resource does not exist.", day=_READ),
)
XAI_KEY = _rule(
    "xai-key",
    thread(
        "openai/codex#1352",
        "Incorrect API key provided: … You can obtain an API key from https://console.x.ai.",
        day=_READ,
    ),
    thread("continuedev/continue#10778", day=_READ),
)
XAI_INSTRUCTIONS = _rule(
    "xai-instructions",
    thread("10-X-eng/vibecad#4", "Argument not supported: instructions and previous_response_id together", day=_READ),
)
OPENROUTER_KEY = _rule(
    "openrouter-key",
    page("https://openrouter.ai/docs/api/api-reference/responses/create-responses", day=_READ),
    note="the words are ours; the page has 401 for invalid credentials",
)
OPENROUTER_STATE = _rule(
    "openrouter-state",
    page("https://openrouter.ai/docs/api/reference/responses/overview", day=_READ),
    thread("langchain-ai/langchain#38898", day=_READ),
    note="the words are ours; the page says that the API is stateless, the thread that both fields are rejected",
)
LLAMACPP_PREVIOUS = _rule("llamacpp-previous-response", server_code(f"{_LLAMACPP}/server-chat.cpp", day=_READ))
LLAMACPP_INPUT = _rule("llamacpp-input", server_code(f"{_LLAMACPP}/server-chat.cpp", day=_READ))
LLAMACPP_ITEM = _rule(
    "llamacpp-item",
    server_code(f"{_LLAMACPP}/server-chat.cpp", day=_READ),
    thread("ggml-org/llama.cpp#26394", "Cannot determine type of 'item'", day=_READ),
)
LLAMACPP_REASONING = _rule("llamacpp-reasoning", server_code(f"{_LLAMACPP}/server-chat.cpp", day=_READ))
LLAMACPP_FILE = _rule("llamacpp-file", server_code(f"{_LLAMACPP}/server-chat.cpp", day=_READ))
LLAMACPP_WINDOW = _rule("llamacpp-window", server_code(f"{_LLAMACPP}/server-context.cpp", day=_READ))

# The body's shape
MALFORMED_JSON = _rule("malformed-json", note="the status is that of every other bad body; the words are ours")
MALFORMED_BODY = _rule("invalid-type", _schema("CreateResponse"), *earlier_threads("QuantumNous/new-api#4776"))
MISSING_FIELD = _rule(
    "missing-field",
    thread("newo-ether/Agora#126", "Missing required parameter: 'input[…].summary'"),
    thread("fuzhengwei/WaLiAPI#61"),
    *earlier_threads("lidge-jun/opencodex#4673"),
)
MOVED_PARAMETER = _rule("moved-parameter", *earlier_threads("madox2/vim-ai#162", "OpenHands/software-agent-sdk#755"))
UNKNOWN_PARAMETER = _rule("unknown-parameter", *earlier_threads("openai/openai-python#3146", "BerriAI/litellm#13420"))
UNKNOWN_MEMBER = _rule(
    "unknown-member",
    thread("BerriAI/litellm#28431", "Unknown parameter: 'input[0].content[0].cache_control'.", day="2026-11-27"),
)
INVALID_ROLE = _rule("invalid-role", _schema("EasyInputMessage"), *earlier_threads("anomalyco/opencode#10803"))
ASSISTANT_CONTENT = _rule(
    "assistant-content", *earlier_threads("tinyhumansai/openhuman#3624", "jamesrochabrun/SwiftOpenAI#136")
)
OUTPUT_CONTENT = _rule(
    "output-content",
    thread(
        "linanwx/nagobot#27", "Supported values are: 'input_text', 'input_image', 'input_file', and 'scoped_content'."
    ),
)
ID_CHARACTERS = _rule(
    "id-characters",
    thread(
        "langchain-ai/langchainjs#11044",
        "Expected an ID that contains letters, numbers, underscores, or dashes, but this value contained additional",
    ),
    *threads("CopilotKit/CopilotKit#6117", "RooCodeInc/Roo-Code#9839"),
)
ID_PREFIX = _rule("id-prefix", *earlier_threads("BigPizzaV3/CodexPlusPlus#1796", "jlcodes99/cockpit-tools#2090"))
EMPTY_CALL_ID = _rule(
    "empty-call-id",
    thread(
        "BigPizzaV3/CodexPlusPlus#315",
        "empty string. Expected a string with minimum length 1, but got an empty string instead.",
    ),
    _schema("FunctionCallOutputItemParam"),
)
LONG_CALL_ID = _rule(
    "long-call-id",
    _schema("FunctionCallOutputItemParam"),
    *earlier_threads("AnswerDotAI/fastllm#45", "NousResearch/hermes-agent#72006"),
)

# The model and the settings
UNKNOWN_MODEL = _rule(
    "unknown-model",
    recording(
        f"{_PYDANTIC_AI}/4fda38988f29/tests/cassettes/test_model_name_suggestions/"
        "test_model_name_suggestion[openai-responses].yaml",
        "The requested model '…' does not exist.",
    ),
)
EMPTY_COMPACTION = _rule("empty-compaction", note="nobody was seen compacting an empty text")
NO_INPUT = _rule("no-input", *earlier_threads("symfony/ai#2303", "pydantic/pydantic-ai#3470"))
TEMPERATURE = _rule(
    "temperature-range",
    recording(
        f"{_PYDANTIC_AI}/f077d56ce09d/tests/models/cassettes/test_openai_responses/"
        "test_openai_responses_model_http_error.yaml"
    ),
    _schema("ModelResponseProperties"),
)
SETTING_RANGE = _rule("setting-range", _schema("ModelResponseProperties"))
SETTING_CHOICE = _rule("setting-choice", _schema("ToolChoiceOptions"))
IMAGE_DATA = _rule(
    "image-data",
    thread(
        "anomalyco/opencode#23983",
        "Invalid 'input[…].content[…].image_url'. Expected a base64-encoded data URL with an image MIME type (e.g. "
        "'data:image/png;base64,aW1nIGJ5dGVzIGhlcmU='), but got empty base64-encoded bytes.",
        day="2026-11-27",
    ),
    thread("openai/codex#22886", "but got empty base64-encoded bytes.", day="2026-11-27"),
    thread("openai/codex#5346", "but got unsupported MIME type 'image'.", day="2026-11-27"),
)
NO_SAMPLING = _rule("no-sampling", *earlier_threads("CopilotKit/CopilotKit#7191", "danny-avila/LibreChat#10737"))
OUTPUT_LIMIT = _rule(
    "output-limit", *earlier_threads("vectorize-io/hindsight#58", "UKGovernmentBEIS/inspect_evals#694")
)
TOOL_NAME = _rule("tool-name", *earlier_threads("justrach/codegraff#930", "openai/openai-dotnet#441"))
LONG_TOOL_NAME = _rule(
    "long-tool-name",
    note="64 is the limit of chat completions and of the Open Responses schema; a report names 128 for this service",
)
STRICT_PARAMETERS = _rule(
    "strict-parameters", *earlier_threads("lastmile-ai/openai-agents-mcp#2", "SamSaffron/term-llm#180")
)
STRICT_FORMAT = _rule(
    "strict-format",
    thread(
        "dottxt-ai/outlines#1666",
        "In context=(), 'additionalProperties' is required to be supplied and to be false.",
    ),
    *earlier_threads("mavam/pi-web-providers#14"),
)

CACHE_OF_MODEL = _rule(
    "cache-of-the-model",
    thread("Kilo-Org/kilocode#13052", "prompt_cache_breakpoint is not supported on this model", day=_READ),
    thread("anomalyco/opencode#36315", "prompt_cache_retention is not supported on this model", day=_READ),
    page("https://developers.openai.com/api/docs/guides/prompt-caching", day=_READ),
    note="one thread saw it at a model of 5.6, too; the page has it of all before 5.6",
)
CACHE_OPTIONS = _rule("cache-options", client_code(f"{_CLIENT}/types/responses/response_create_params.py", day=_READ))

# What the service keeps
PREVIOUS_RESPONSE = _rule(
    "previous-response",
    *earlier_threads("maximhq/bifrost#2441", "bigduu/Bamboo-agent#513"),
    thread("Soju06/codex-lb#782", "Previous response with id '…' not found.", day=_TODAY),
)
CONVERSATION_NOT_FOUND = _rule(
    "conversation-not-found", note="seen only as a probe's expectation: 404, Conversation with id '…' not found."
)
RESPONSE_NOT_FOUND = _rule("response-not-found", note="what is not kept cannot be answered with; the words are vLLM's")
TWO_HISTORIES = _rule(
    "conversation-and-previous-response",
    client_code(f"{_CLIENT}/types/responses/response_create_params.py", day=_TODAY),
    note="the words are ours; the client's type says: cannot be used in conjunction with `conversation`",
)
BACKGROUND_UNSTORED = _rule(
    "background-unstored",
    page("https://developers.openai.com/api/docs/guides/background", day=_TODAY),
    note="the words are ours; the page says: background sampling requires store=true; stateless requests are rejected",
)
NOT_IN_BACKGROUND = _rule(
    "cancel-of-foreground",
    client_code(f"{_CLIENT}/resources/responses/responses.py", day=_TODAY),
    note="the words are vLLM's; the client says: only responses created with `background` set can be cancelled",
)
UNFINISHED_PREVIOUS = _rule(
    "unfinished-previous-response", note="nobody was seen going on from a response that failed or is not finished"
)
RESUMED_ELSEWHERE = _rule(
    "resume-position", note="nobody was seen taking up a stream behind an event that the stream does not have"
)
ITEM_NOT_FOUND = _rule(
    "item-not-found", *earlier_threads("openai/openai-agents-python#1756", "vercel/ai#7543", "earendil-works/pi#5059")
)
DUPLICATE_ITEM = _rule(
    "duplicate-item", *earlier_threads("OpenRouterTeam/ai-sdk-provider#254", "microsoft/vscode#321977")
)

# WebSockets: nothing of a real one was recorded
_SOCKETS = page("https://developers.openai.com/api/docs/guides/websocket-mode", day=_TODAY)
SOCKET_LIFE = _rule("socket-life", _SOCKETS)
LANE_NAME = _rule("lane-name", _SOCKETS)
LANE_LIMIT = _rule("lane-limit", _SOCKETS)
SOCKET_MESSAGE = _rule(
    "socket-message",
    note="the page and openai 3.57 know text messages of two types; what the service makes of others was not seen",
)
HTTP_FIELD = _rule(
    "http-field-on-a-socket",
    note="Open Responses 2026-04-24: MUST NOT be sent; openai 3.57: should not; yet the Codex CLI sends `stream`",
)

# Calls and outputs
DANGLING_CALL = _rule("dangling-call", *earlier_threads("router-for-me/CLIProxyAPI#2368", "openai/codex#620"))
ORPHAN_OUTPUT = _rule("orphan-output", *earlier_threads("continuedev/continue#10092", "microsoft/vscode#320060"))
OUTPUT_BEFORE_CALL = _rule("output-before-call", note="nobody was seen sending an output in front of its call")

# Reasoning
ENCRYPTED_CONTENT = _rule(
    "encrypted-content",
    *earlier_threads("openai/codex#8145", "smallmain/vscode-unify-chat-provider#178"),
    thread("openai/codex#13724", "Encrypted content organization_id did not match the target organization.", day=_READ),
)
LOST_FOLLOWER = _rule(
    "reasoning-without-follower",
    recording(
        f"{_PYDANTIC_AI}/4fda38988f29/tests/models/cassettes/test_openai_responses/"
        "test_openai_responses_thinking_with_modified_history.yaml",
        "of type 'reasoning' was provided without its required following item.",
    ),
    *earlier_threads("openai/openai-agents-js#326", "openai/openai-node#1567"),
)
LOST_REASONING = _rule(
    "item-without-reasoning", *earlier_threads("continuedev/continue#10018", "omnigent-ai/omnigent#5066")
)
FOREIGN_REASONING = _rule(
    "foreign-model-reasoning",
    note="openai 3.54 Response.input_transformations: removed as model_mismatch; Azure refuses it (openai/codex#17541)",
)
UNSTORED_FOLLOWER = _rule("unstored-reasoning-without-follower", note="the pasted refusals are of stored items")
UNSTORED_REASONING = _rule("unstored-item-without-reasoning", note="the pasted refusals are of stored items")

# Size and load
PROMPT_TOO_LONG = _rule(
    "prompt-too-long",
    recording(
        f"{_RUBY_LLM}/chat_real_error_scenarios_openai_gpt-5-nano_handles_context_length_exceeded_errors.yml",
        "Your input exceeds the context window of this model.",
    ),
)
RATE_LIMIT = _rule("rate-limit", _schema("ResponseErrorCode"))
OVERLOADED = _rule("overloaded", _schema("ResponseErrorCode"), *earlier_threads("EasyMetaAu/helm-api#842"))
