"""Every rule of the chat completions API that this dialect knows, with the places that show it.

Azure hands on what OpenAI refuses about the content of a request, as it is (langchain-ai/langchainjs#4153,
Nikunj2003/LLaMa-MCP-Streamlit#1), so these rules hold there, too. What GitHub Models does with a broken conversation
nobody has shown: there the same finding is logged, and the request is accepted. Where only a status is known, the words
of the message are ours. `_schema` is the interface description that OpenAI publishes, as the named wheel carries it.
"""

from __future__ import annotations

from ..base import Source
from ..rulebook import Rulebook, earlier_threads, interface, page, recording, server_code, thread

NAME = "openai-chat"

_PYDANTIC_AI = "https://github.com/pydantic/pydantic-ai/blob"
_OLLAMA = "https://github.com/ollama/ollama/blob/main"
_RUBY_LLM = "https://github.com/crmne/ruby_llm/blob"
_OPENLLMETRY = "https://github.com/traceloop/openllmetry/blob/93429cfb9767/packages"
_ZAI_CODES = page("https://docs.bigmodel.cn/cn/api/api-code")

_BOOK = Rulebook(NAME)
ALL = _BOOK.all
_rule = _BOOK.rule


def _schema(name: str) -> Source:
    return interface("openai_chat", name)


# Address and key
NOT_FOUND = _rule(
    "not-found",
    thread("harry0703/MoneyPrinterTurbo#57", "Invalid URL (POST /v1/…)"),
    *earlier_threads("openai/openai-node#132", "Chanzhaoyu/chatgpt-web#737"),
)
METHOD = _rule(
    "method",
    note="the API takes POST; nobody has shown what it answers to another method, the words are ours",
)
MISSING_KEY = _rule(
    "missing-key",
    thread(
        "openai/openai-python#1434",
        "You didn't provide an API key. You need to provide your API key in an Authorization header using Bearer auth",
    ),
)
BAD_KEY = _rule(
    "bad-key",
    recording(
        f"{_RUBY_LLM}/f770a00648e9/spec/fixtures/vcr_cassettes/"
        "chat_error_handling_with_openai_gpt-4_1-nano_raises_appropriate_auth_error.yml",
        "Incorrect API key provided: …. You can find your API key at",
    ),
)
AZURE_KEY = _rule(
    "azure-key",
    thread("SciSharp/BotSharp#386", "Access denied due to invalid subscription key or wrong API endpoint."),
)
AZURE_VERSION = _rule(
    "azure-version",
    page("https://learn.microsoft.com/azure/ai-services/openai/reference"),
)
GITHUB_KEY = _rule(
    "github-key", thread("github/gh-models#35", "unauthorized"), thread("microsoft/ai-agents-for-beginners#203")
)
COPILOT_KEY = _rule("copilot-key", thread("jenkins-x-plugins/jx-slack#18", "Bad credentials"))
COPILOT_TOKEN = _rule(
    "copilot-token",
    *earlier_threads("anomalyco/opencode#4992", "editor-code-assistant/eca#258"),
)
COPILOT_EDITOR = _rule(
    "copilot-editor",
    thread("stacklok/codegate#335", "bad request: missing Editor-Version header for IDE auth"),
)
ZAI_KEY = _rule(
    "zai-key",
    _ZAI_CODES,
)
ZAI_ROUTE = _rule(
    "zai-route",
    note="a wrong route is answered with status 200 and an error in the body; no thread with it was read",
)

# Reading the body
MALFORMED_JSON = _rule(
    "malformed-json",
    *earlier_threads("microsoft/graphrag#2286", "ChatGPTNextWeb/NextChat#4064"),
)
MISSING_MODEL = _rule(
    "missing-model",
    _schema("CreateChatCompletionRequest"),
    *earlier_threads("lss233/kirara-ai#800", "chain-ml/council#45"),
)
MISSING_FIELD = _rule(
    "missing-field",
    _schema("CreateChatCompletionRequest"),
    thread("SilasMarvin/lsp-ai#108", "Missing required parameter: 'messages'."),
)
INVALID_TYPE = _rule(
    "invalid-type",
    _schema("CreateChatCompletionRequest"),
    recording(
        f"{_RUBY_LLM}/535c9e1def3b/spec/fixtures/vcr_cassettes/"
        "chat_real_error_scenarios_openai_gpt-4o-mini_handles_invalid_message_format_errors.yml",
        "Invalid type for 'messages[0].content': expected one of a string or array of objects, but got an object",
    ),
)
INVALID_ROLE = _rule(
    "invalid-role",
    _schema("ChatCompletionRequestMessage"),
    *earlier_threads("lss233/kirara-ai#1028"),
    note="the words are those of an older server",
)
UNKNOWN_ARGUMENT = _rule(
    "unknown-argument",
    *earlier_threads("davidmigloz/langchain_dart#712", "CherryHQ/cherry-studio#6155"),
)
ZAI_PARAMETER = _rule(
    "zai-parameter",
    _ZAI_CODES,
)

UNKNOWN_MEMBER = _rule(
    "unknown-member",
    thread("songquanpeng/one-api#1319", "Unknown parameter: 'messages[1].tool_calls[0].index'.", day="2026-11-27"),
    thread("i-am-bee/beeai-framework#980", "Unknown parameter: 'response_format.strict'.", day="2026-11-27"),
    thread("langchain-ai/langchain#20271", day="2026-11-27"),
)
UNKNOWN_TOOL_MEMBER = _rule(
    "unknown-tool-member",
    note="no refusal of a function's member was seen; OpenCoworkAI/open-cowork#232 says that OpenAI ignores them",
)

# What is asked
UNKNOWN_MODEL = _rule(
    "unknown-model",
    recording(
        f"{_PYDANTIC_AI}/4fda38988f29/tests/cassettes/test_model_name_suggestions/"
        "test_model_name_suggestion[openai-chat].yaml",
        "The model `…` does not exist or you do not have access to it.",
    ),
)
WITHDRAWN_MODEL = _rule(
    "withdrawn-model",
    recording(
        f"{_OPENLLMETRY}/opentelemetry-instrumentation-llamaindex/tests/cassettes/test_agents/"
        "test_agents_and_tools.yaml",
        "The model `…` has been deprecated, learn more here:",
    ),
)
AZURE_DEPLOYMENT = _rule(
    "azure-deployment", thread("chatboxai/chatbox#861", "The API deployment for this resource does not exist.")
)
GITHUB_MODEL = _rule(
    "github-model", thread("microsoft/Generative-AI-for-beginners-dotnet#302", "unknown_model … Unknown model: …")
)
COPILOT_MODEL = _rule(
    "copilot-model",
    thread("microsoft/vscode-copilot-release#10115", "model_not_supported … The requested model is not supported."),
)
ZAI_MODEL = _rule(
    "zai-model",
    _ZAI_CODES,
)
OLLAMA_BODY = _rule(
    "ollama-unreadable-body",
    server_code(f"{_OLLAMA}/middleware/openai.go", day="2026-11-27"),
    note="the error of Go's JSON decoder, partly in words of ours",
)
OLLAMA_NO_MODEL = _rule(
    "ollama-missing-model",
    server_code(f"{_OLLAMA}/server/routes.go", "model is required"),
)
OLLAMA_NO_MESSAGES = _rule(
    "ollama-missing-messages",
    server_code(
        f"{_OLLAMA}/middleware/openai.go",
        "[] is too short - 'messages'",
        day="2026-11-27",
    ),
)
OLLAMA_CONTENT = _rule(
    "ollama-content",
    server_code(
        f"{_OLLAMA}/openai/openai.go",
        "invalid message content type: ",
        day="2026-11-27",
    ),
    server_code(f"{_OLLAMA}/openai/openai.go", "invalid message format", day="2026-11-27"),
)
OLLAMA_IMAGE = _rule(
    "ollama-image",
    server_code(f"{_OLLAMA}/openai/openai.go", "invalid image input", day="2026-11-27"),
)
OLLAMA_ARGUMENTS = _rule(
    "ollama-arguments",
    server_code(f"{_OLLAMA}/openai/openai.go", "invalid tool call arguments", day="2026-11-27"),
)
OLLAMA_MODEL = _rule(
    "ollama-model",
    server_code(f"{_OLLAMA}/server/routes.go"),
)

# Settings
_LONG_DESCRIPTION = (
    "function.description': string too long. Expected a string with maximum length 1024, but got a string with"
)
EMPTY_LIST = _rule(
    "empty-list",
    *earlier_threads("CopilotKit/CopilotKit#529", "home-assistant/core#118577"),
)
EMPTY_TOOLS = _rule(
    "empty-tools",
    note="refused in 2024 (CopilotKit/CopilotKit#529), accepted in 2026 (local-inference-lab/vllm#193)",
)
TOO_MANY_TOOLS = _rule(
    "too-many-tools",
    _schema("CreateChatCompletionRequest"),
    *earlier_threads("vishalmysore/Tools4AI#16"),
)
TOOL_NAME = _rule(
    "tool-name",
    _schema("FunctionObject"),
    *earlier_threads("mcp-use/mcp-use#90", "xinnan-tech/xiaozhi-esp32-server#1466"),
)
TOOL_NAME_LENGTH = _rule(
    "tool-name-length",
    _schema("FunctionObject"),
)
TOOL_DESCRIPTION_LENGTH = _rule(
    "tool-description-length",
    thread("getsentry/sentry-mcp#106", _LONG_DESCRIPTION, day="2026-11-27"),
    thread("microsoft/genaiscript#1381", _LONG_DESCRIPTION, day="2026-11-27"),
    thread("langchain-ai/open_deep_research#80", _LONG_DESCRIPTION, day="2026-11-27"),
)
ONLY_WITH_TOOLS = _rule(
    "only-with-tools",
    thread(
        "openai/swarm#30",
        "Invalid value for 'parallel_tool_calls': 'parallel_tool_calls' is only allowed when 'tools' are specified.",
    ),
)
STREAM_OPTIONS = _rule(
    "stream-options",
    _schema("ChatCompletionStreamOptions"),
    *earlier_threads("BerriAI/litellm#5803", "lobehub/lobehub#6735"),
)
OUTPUT_MINIMUM = _rule(
    "output-minimum",
    thread(
        "it-at-m/mucgpt#608",
        "Invalid 'max_tokens': integer below minimum value. Expected a value >= 1, but got 0 instead.",
        day="2026-11-27",
    ),
    thread("OpenBMB/ChatDev#446", "integer below minimum value. Expected a value >= 1, but got -", day="2026-11-27"),
    thread("YSocialTwin/YClient#6", day="2026-11-27"),
)
SETTING_RANGE = _rule(
    "setting-range",
    _schema("CreateChatCompletionRequest"),
    _schema("ModelResponseProperties"),
)
SETTING_CHOICE = _rule(
    "setting-choice",
    _schema("ChatCompletionToolChoiceOption"),
    _schema("ResponseFormatJsonSchema"),
)
STOP_SEQUENCES = _rule("stop-sequences", _schema("StopConfiguration"))
TEMPERATURE = _rule(
    "temperature",
    _schema("ModelResponseProperties"),
    recording(
        f"{_PYDANTIC_AI}/f077d56ce09d/tests/models/cassettes/test_openai_responses/"
        "test_openai_responses_model_http_error.yaml"
    ),
)
FIXED_TEMPERATURE = _rule(
    "fixed-temperature",
    *earlier_threads("diffbot/code-gpt-docs#445", "johny-b/llmcomp#69"),
)
MAX_TOKENS_UNSUPPORTED = _rule(
    "max-tokens-unsupported",
    _schema("CreateChatCompletionRequest"),
    *earlier_threads("ITSpecialist111/ai_automation_suggester#38", "fish2018/YPrompt#26"),
)
MAX_TOKENS_CAP = _rule(
    "max-tokens-cap",
    *earlier_threads("tailcallhq/forgecode#1185", "opencode-ai/opencode#140"),
)
JSON_WORD = _rule(
    "json-word",
    thread(
        "ultimatejimmy/xray.koplugin#33",
        "'messages' must contain the word 'json' in some form, to use 'response_format' of type 'json_object'.",
    ),
)
STRICT_FORMAT = _rule(
    "strict-format",
    *earlier_threads("dottxt-ai/outlines#844", "moeru-ai/xsai#202"),
)
STRICT_FUNCTION = _rule(
    "strict-function",
    _schema("FunctionObject"),
    *earlier_threads("openai/codex#7758"),
)
ZAI_TOOL_CHOICE = _rule(
    "zai-tool-choice",
    note="the Anthropic-compatible endpoint refuses a forced tool; of this one nobody has shown it",
)

# The conversation
SYSTEM_UNSUPPORTED = _rule(
    "system-unsupported",
    recording(
        f"{_PYDANTIC_AI}/b18b03291085/tests/models/cassettes/test_openai/test_openai_o1_mini_system_role[system].yaml"
    ),
    thread(
        "tailcallhq/forgecode#1177", "Unsupported value: 'messages[0].role' does not support 'system' with this model."
    ),
)
NULL_CONTENT = _rule(
    "null-content",
    *earlier_threads("langchain-ai/langchainjs#4153", "songquanpeng/one-api#784"),
)
TOOL_CONTENT = _rule(
    "tool-content",
    _schema("ChatCompletionRequestToolMessage"),
)
CALL_ID_LENGTH = _rule(
    "call-id-length",
    thread(
        "agno-agi/agno#5382", "string too long. Expected a string with maximum length 40, but got a string with length"
    ),
)
DANGLING_CALL = _rule(
    "dangling-call",
    thread(
        "farhan0167/otto-m8#30",
        "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'.",
    ),
)
ORPHAN_RESULT = _rule(
    "orphan-result",
    thread(
        "smarter-sh/smarter#264",
        "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.",
    ),
)
UNKNOWN_CALL = _rule(
    "unknown-call",
    thread(
        "dapr/dapr-agents#145",
        "Invalid parameter: 'tool_call_id' of '…' not found in 'tool_calls' of previous message.",
    ),
)
GITHUB_PAIRING = _rule(
    "github-pairing",
    note="nobody has shown what GitHub Models does; OpenAI refuses it",
)
COPILOT_PAIRING = _rule(
    "copilot-pairing",
    note="Claude there answers 400 without a body; of other models unknown",
)

# Size, and the world outside
CONTEXT_LENGTH = _rule(
    "context-length",
    thread(
        "crewAIInc/crewAI-examples#121",
        "This model's maximum context length is … tokens. However, your messages resulted in … tokens.",
    ),
)
GITHUB_SIZE = _rule(
    "github-size",
    thread("eslint/tsc-meetings#593", "Request body too large for gpt-4o model. Max size: 8000 tokens."),
)
COPILOT_SIZE = _rule(
    "copilot-size",
    thread("microsoft/vscode#289514", "prompt token count of … exceeds the limit of …"),
)
ZAI_SIZE = _rule(
    "zai-size",
    _ZAI_CODES,
)
OLLAMA_TRUNCATES = _rule(
    "ollama-truncates",
    server_code(f"{_OLLAMA}/server/prompt.go"),
    silent=True,
)
UNREACHABLE_IMAGE = _rule(
    "unreachable-image",
    recording(
        f"{_OPENLLMETRY}/opentelemetry-instrumentation-openai/tests/traces/cassettes/test_vision/test_vision.yaml",
        "Error while downloading …",
    ),
)
IMAGE_DATA = _rule(
    "image-data",
    thread(
        "Alibaba-NLP/OmniSearch#3",
        "Invalid image URL: 'messages[…].content[…].image_url.url'. Expected a base64-encoded data URL with an image "
        "MIME type (e.g. 'data:image/png;base64,aW1nIGJ5dGVzIGhlcmU='), but got a value without the 'data:' prefix.",
        day="2026-11-27",
    ),
    thread("vercel/ai#7266", "but got an invalid base64-encoded value.", day="2026-11-27"),
    note="the second is of a file; empty data is refused by Responses (openai-responses/image-data)",
)
RATE_LIMIT = _rule(
    "rate-limit",
    recording(
        f"{_RUBY_LLM}/75b5cd5aef9a/spec/fixtures/vcr_cassettes/"
        "chat_real_error_scenarios_openai_gpt-5-nano_handles_context_length_exceeded_errors.yml"
    ),
)
CONTENT_FILTER = _rule(
    "content-filter",
    page("https://learn.microsoft.com/azure/ai-services/openai/concepts/content-filter"),
)
