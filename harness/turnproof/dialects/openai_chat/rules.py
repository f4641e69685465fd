"""Every rule of the chat completions API that this dialect knows, with where it is known from.

Sources name sections of the wire sheets (`openai-chat.md`, `zai.md`, `ollama.md`), which are condensed from recordings,
documentation and public issues; where they are silent, the issue itself. Azure hands on what OpenAI refuses about the
content of a request, as it is (langchain-ai/langchainjs#4153, Nikunj2003/LLaMa-MCP-Streamlit#1), so these rules hold
there, too. What GitHub Models does with a broken conversation nobody has shown: there the same finding is `INFERRED`,
logged, and the request is accepted. Where only a status is known, the words of the message are ours.
"""

from __future__ import annotations

from ..base import Evidence
from ..rulebook import Rulebook

NAME = "openai-chat"
_ISSUES = "openai-chat.md §4, pasted in public issues"

_BOOK = Rulebook(NAME)
ALL = _BOOK.all
_documented, _inferred, _issue, _recorded = _BOOK.documented, _BOOK.inferred, _BOOK.issue, _BOOK.recorded


# Address and key
NOT_FOUND = _issue("not-found", "openai/openai-node#132, Chanzhaoyu/chatgpt-web#737: Invalid URL")
METHOD = _documented("method", "RFC 9110 §15.5.6; the words of the message are ours")
MISSING_KEY = _issue("missing-key", "continuedev/continue#10931")
BAD_KEY = _recorded("bad-key", "ruby_llm and dd-trace-py recordings of wrong keys")
AZURE_KEY = _recorded("azure-key", "RL chat_error_handling_with_azure_...yml")
AZURE_VERSION = _documented("azure-version", "Azure OpenAI REST reference: api-version is required; 404 without")
GITHUB_KEY = _issue("github-key")
COPILOT_KEY = _documented("copilot-key", "openai-chat.md §6: 401, 403 of the published client")
COPILOT_TOKEN = _issue("copilot-token", "anomalyco/opencode#4992, editor-code-assistant/eca#258: token expired")
COPILOT_EDITOR = _issue("copilot-editor", "openai-chat.md §6, pasted in public issues")
ZAI_KEY = _issue("zai-key", "zai.md §4: 401 with 1000 to 1002, or 401")
ZAI_ROUTE = _issue("zai-route", "zai.md §1, §4: a wrong route is answered with status 200")

# Reading the body
MALFORMED_JSON = _issue("malformed-json", "microsoft/graphrag#2286, ChatGPTNextWeb/NextChat#4064")
MISSING_MODEL = _issue("missing-model", "lss233/kirara-ai#800, chain-ml/council#45")
MISSING_FIELD = _issue("missing-field", "SilasMarvin/lsp-ai#108: missing_required_parameter")
INVALID_TYPE = _recorded("invalid-type", "RL ..._handles_invalid_message_format_errors.yml")
INVALID_ROLE = _issue("invalid-role", "lss233/kirara-ai#1028, in the words of an older server")
UNKNOWN_ARGUMENT = _issue("unknown-argument", "davidmigloz/langchain_dart#712, CherryHQ/cherry-studio#6155")
ZAI_PARAMETER = _issue("zai-parameter", "zai.md §4: 1210, 1213, 1214")

# What is asked
UNKNOWN_MODEL = _recorded("unknown-model", "PA test_model_name_suggestions")
WITHDRAWN_MODEL = _recorded("withdrawn-model", "OLLM test_agents_and_tools: has been deprecated")
AZURE_DEPLOYMENT = _issue("azure-deployment", "chatboxai/chatbox#646, #861: DeploymentNotFound")
GITHUB_MODEL = _issue("github-model", "openai-chat.md §4, marked weak: unknown_model, 400 or 404")
COPILOT_MODEL = _documented("copilot-model", "openai-chat.md §6: 404 of the published client")
ZAI_MODEL = _documented("zai-model", "zai.md §4: 1211")
OLLAMA_MODEL = _BOOK.server("ollama-model", "ollama.md §5")

# Settings
EMPTY_LIST = _issue("empty-list", "CopilotKit/CopilotKit#529, home-assistant/core#118577: empty_array")
TOO_MANY_TOOLS = _issue("too-many-tools", "vishalmysore/Tools4AI#16: array_above_max_length")
TOOL_NAME = _issue("tool-name", "mcp-use/mcp-use#90, xinnan-tech/xiaozhi-esp32-server#1466")
TOOL_NAME_LENGTH = _issue("tool-name-length", f"{_ISSUES}: string_above_max_length")
ONLY_WITH_TOOLS = _issue("only-with-tools", "openai/swarm#30")
STREAM_OPTIONS = _issue("stream-options", "BerriAI/litellm#5803, lobehub/lobehub#6735")
TEMPERATURE = _recorded("temperature", "PA test_openai_responses/ (of /responses)")
FIXED_TEMPERATURE = _issue("fixed-temperature", "diffbot/code-gpt-docs#445, johny-b/llmcomp#69")
MAX_TOKENS_UNSUPPORTED = _issue(
    "max-tokens-unsupported", "ITSpecialist111/ai_automation_suggester#38, fish2018/YPrompt#26"
)
MAX_TOKENS_CAP = _issue("max-tokens-cap", "tailcallhq/forgecode#1185, opencode-ai/opencode#140")
JSON_WORD = _issue("json-word", "ultimatejimmy/xray.koplugin#33")
STRICT_FORMAT = _issue("strict-format", "dottxt-ai/outlines#844, moeru-ai/xsai#202")
STRICT_FUNCTION = _issue("strict-function", "openai/codex#7758: invalid_function_parameters")
ZAI_TOOL_CHOICE = _inferred("zai-tool-choice", "zai.md §2: the Anthropic-compatible endpoint refuses a forced tool")

# The conversation
SYSTEM_UNSUPPORTED = _recorded("system-unsupported", "PA test_openai_o1_mini_system_role[system].yaml")
NULL_CONTENT = _issue("null-content", "langchain-ai/langchainjs#4153, songquanpeng/one-api#784")
TOOL_CONTENT = _recorded("tool-content", "PA test_multimodal_tool_returns/: text or image_url")
CALL_ID_LENGTH = _issue("call-id-length")
DANGLING_CALL = _issue("dangling-call")
ORPHAN_RESULT = _issue("orphan-result")
UNKNOWN_CALL = _issue("unknown-call")
GITHUB_PAIRING = _inferred("github-pairing", "nobody has shown what GitHub Models does; OpenAI refuses it")
COPILOT_PAIRING = _inferred("copilot-pairing", "openai-chat.md §6: Claude, 400 without a body; of other models unknown")

# Size, and the world outside
CONTEXT_LENGTH = _issue("context-length")
GITHUB_SIZE = _issue("github-size", "openai-chat.md §4: tokens_limit_reached")
COPILOT_SIZE = _issue("copilot-size", "openai-chat.md §6: model_max_prompt_tokens_exceeded")
ZAI_SIZE = _issue("zai-size", "zai.md §4: 1261")
OLLAMA_TRUNCATES = _BOOK.assume("ollama-truncates", Evidence.SERVER, "ollama.md §3", silent=True)
UNREACHABLE_IMAGE = _recorded("unreachable-image", "OLLM test_vision.yaml, openinference TestInputValueImageHiding")
RATE_LIMIT = _recorded("rate-limit", "RL chat_real_error_scenarios_openai_gpt-5-nano_...yml")
CONTENT_FILTER = _documented("content-filter", "openai-chat.md §4: Azure content policy, innererror")
