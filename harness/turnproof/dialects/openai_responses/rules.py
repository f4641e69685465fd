"""Every rule of the Responses API that this dialect knows, with where it is known from.

No recording of this API judges the dialect. Four rules rest on recordings that others have published (PA and RL, as
the wire sheet names them); most are the words of the service as pasted in public issues, each named here. What nobody
was seen to be refused for is `INFERRED`: logged, and accepted.
"""

from __future__ import annotations

from ..rulebook import Rulebook

NAME = "openai-responses"

_BOOK = Rulebook(NAME)
ALL = _BOOK.all
_issue, _inferred, _recorded = _BOOK.issue, _BOOK.inferred, _BOOK.recorded


# Headers and address
MISSING_KEY = _issue("missing-key", "openai/openai-cookbook#2347")
BAD_KEY = _recorded("bad-key", "RL error_handles_invalid_api_keys_gracefully.yml (/responses)")
BAD_TOKEN = _BOOK.client("bad-copilot-token", "openai-chat.md §6: 401 makes the editor fetch a new token")
BAD_GITHUB_TOKEN = _BOOK.client("bad-github-token", "openai-chat.md §6: the token exchange")
MISSING_EDITOR = _issue("missing-editor-version", "openai-chat.md §6")
NOT_FOUND = _issue("not-found", "openai/openai-python#250")
METHOD_NOT_ALLOWED = _inferred("method-not-allowed", "openai 3.54 sends each path with one method only")

# The body's shape
MALFORMED_JSON = _inferred("malformed-json", "the status is that of every other bad body; the words are ours")
MALFORMED_BODY = _issue("invalid-type", "QuantumNous/new-api#4776")
MISSING_FIELD = _issue("missing-field", "lidge-jun/opencodex#4673")
MOVED_PARAMETER = _issue("moved-parameter", "madox2/vim-ai#162, OpenHands/software-agent-sdk#755")
UNKNOWN_PARAMETER = _issue("unknown-parameter", "openai-chat.md §4; openai/openai-python#3146, BerriAI/litellm#13420")
INVALID_ROLE = _issue("invalid-role", "anomalyco/opencode#10803")
ASSISTANT_CONTENT = _issue("assistant-content", "tinyhumansai/openhuman#3624, jamesrochabrun/SwiftOpenAI#136")
OUTPUT_CONTENT = _issue("output-content", "linanwx/nagobot#27")
ID_CHARACTERS = _issue("id-characters", "langchain-ai/langchainjs#11044")
ID_PREFIX = _issue("id-prefix", "BigPizzaV3/CodexPlusPlus#1796, jlcodes99/cockpit-tools#2090")
EMPTY_CALL_ID = _issue("empty-call-id", "BigPizzaV3/CodexPlusPlus#315")
LONG_CALL_ID = _issue("long-call-id", "AnswerDotAI/fastllm#45, NousResearch/hermes-agent#72006")

# The model and the settings
UNKNOWN_MODEL = _recorded("unknown-model", "PA tests/wire/cassettes/test_model_name_suggestions (/responses)")
NO_INPUT = _issue("no-input", "symfony/ai#2303, pydantic/pydantic-ai#3470")
TEMPERATURE = _recorded("temperature-range", "PA test_openai_responses/test_openai_responses_model_http_error.yaml")
NO_SAMPLING = _issue("no-sampling", "CopilotKit/CopilotKit#7191, danny-avila/LibreChat#10737")
OUTPUT_LIMIT = _issue("output-limit", "vectorize-io/hindsight#58, UKGovernmentBEIS/inspect_evals#694")
TOOL_NAME = _issue("tool-name", "justrach/codegraff#930, openai/openai-dotnet#441")
LONG_TOOL_NAME = _inferred("long-tool-name", "64 is the limit of chat completions and of other servers of this API")
STRICT_PARAMETERS = _issue("strict-parameters", "lastmile-ai/openai-agents-mcp#2, SamSaffron/term-llm#180")
STRICT_FORMAT = _issue("strict-format", "mavam/pi-web-providers#14")

# What the service keeps
PREVIOUS_RESPONSE = _issue("previous-response", "maximhq/bifrost#2441, bigduu/Bamboo-agent#513")
ITEM_NOT_FOUND = _issue("item-not-found", "openai/openai-agents-python#1756, vercel/ai#7543, earendil-works/pi#5059")
DUPLICATE_ITEM = _issue("duplicate-item", "OpenRouterTeam/ai-sdk-provider#254, microsoft/vscode#321977")

# Calls and outputs
DANGLING_CALL = _issue("dangling-call", "router-for-me/CLIProxyAPI#2368, openai/codex#620")
ORPHAN_OUTPUT = _issue("orphan-output", "continuedev/continue#10092, microsoft/vscode#320060")
OUTPUT_BEFORE_CALL = _inferred("output-before-call", "nobody was seen sending an output in front of its call")

# Reasoning
ENCRYPTED_CONTENT = _issue("encrypted-content", "openai/codex#8145, smallmain/vscode-unify-chat-provider#178")
LOST_FOLLOWER = _issue("reasoning-without-follower", "openai/openai-agents-js#326, openai/openai-node#1567")
LOST_REASONING = _issue("item-without-reasoning", "continuedev/continue#10018, omnigent-ai/omnigent#5066")
FOREIGN_REASONING = _inferred(
    "foreign-model-reasoning",
    "openai 3.54 Response.input_transformations: removed as model_mismatch; Azure and Bedrock refuse it (codex#17541)",
)
UNSTORED_FOLLOWER = _inferred("unstored-reasoning-without-follower", "the pasted refusals are of stored items")
UNSTORED_REASONING = _inferred("unstored-item-without-reasoning", "the pasted refusals are of stored items")

# Size and load
PROMPT_TOO_LONG = _recorded("prompt-too-long", "RL chat_real_error_scenarios_openai_gpt-5-nano (/responses)")
RATE_LIMIT = _issue("rate-limit", "openai-chat.md §4: 429 rate_limit_exceeded")
OVERLOADED = _BOOK.documented("overloaded", "openai-chat.md §4: 503, 500")
