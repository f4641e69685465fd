"""Every rule of the Gemini API that this dialect knows, with the places that show it.

What is not on the API's wire sheet (`gemini.md`) is in the places named here. `_CODES` says which status each kind of
failure has, where nobody has shown more than that there is one; the words of such a message are ours. `JSON_READER` is
the library that reads the JSON of Google's services: they refuse what they cannot read in its words. That two contents
of one role must alternate was a rule of models that are gone: today they are merged.
"""

from __future__ import annotations

from ..rulebook import EARLIER, Rulebook, earlier_threads, page, recording, report, server_code, thread, threads

NAME = "gemini"

_RUBY_LLM = "https://github.com/crmne/ruby_llm/blob/fb5a49bf04da/spec/fixtures/vcr_cassettes"
_PYDANTIC_AI = "https://github.com/pydantic/pydantic-ai/blob/4fda38988f29/tests"
_OPENTELEMETRY = "https://github.com/open-telemetry/opentelemetry-python-contrib/blob"
_VERTEX_CASSETTES = "instrumentation-genai/opentelemetry-instrumentation-vertexai/tests/cassettes"
_CODES = page("https://github.com/googleapis/googleapis/blob/16b971c46e2f/google/rpc/code.proto")
JSON_READER = (
    "https://github.com/protocolbuffers/protobuf/blob/0400cca3236d/src/google/protobuf/util/internal/proto_writer.cc"
)

_BOOK = Rulebook(NAME)
ALL = _BOOK.all
_rule = _BOOK.rule


# Address and key
NOT_FOUND = _rule("not-found", _CODES)
MISSING_KEY = _rule(
    "missing-key",
    thread(
        "PublicAffairs/openai-gemini#92",
        "Method doesn't allow unregistered callers (callers without established identity).",
    ),
)
BAD_KEY = _rule(
    "bad-key",
    recording(
        f"{_RUBY_LLM}/chat_error_handling_with_gemini_gemini-2_5-flash_raises_appropriate_auth_error.yml",
        "API key not valid. Please pass a valid API key.",
    ),
)
MISSING_TOKEN = _rule(
    "missing-token",
    thread("heshengtao/super-agent-party#279", "Request is missing required authentication credential."),
    thread("google-github-actions/run-gemini-cli#123"),
)
BAD_TOKEN = _rule("bad-token", _CODES, thread("spring-projects/spring-ai#635", day=EARLIER))
KEY_FOR_TOKEN = _rule(
    "key-for-token",
    thread(
        "neuron-core/neuron-ai#437",
        "API keys are not supported by this API. Expected OAuth2 access token or other authentication credentials",
    ),
    *earlier_threads("googleapis/python-genai#1404", "google-gemini/gemini-cli#1463"),
)

# Reading the body
MALFORMED_JSON = _rule("malformed-json", server_code(JSON_READER, "Root element must be a message."), _CODES)
UNKNOWN_NAME = _rule(
    "unknown-name",
    thread("zed-industries/zed#44875", "Invalid JSON payload received. Unknown name … Cannot find field."),
    thread("fishjar/kiss-translator#256"),
)
NOT_REPEATING = _rule(
    "not-repeating", thread("zed-industries/zed#53919", "Proto field is not repeating, cannot start list.")
)
WRONG_TYPE = _rule(
    "wrong-type",
    thread("microsoft/azure-devops-mcp#139", "Invalid value at … (TYPE_STRING), "),
    thread("decolua/9router#2489"),
)
ONEOF = _rule("oneof", server_code(JSON_READER, "oneof field '…' is already set. Cannot set"))
BROKEN_BASE64 = _rule("broken-base64", *earlier_threads("crmne/ruby_llm#521", "google-gemini/gemini-cli#14368"))

# What is asked
UNKNOWN_MODEL = _rule(
    "unknown-model",
    recording(
        f"{_PYDANTIC_AI}/cassettes/test_embeddings/TestGoogle.test_count_tokens_error.yaml",
        "is not supported for countTokens.",
    ),
    recording(f"{_OPENTELEMETRY}/ceba850170a7/{_VERTEX_CASSETTES}/test_generate_content_missing_model.yaml"),
)
NOTHING_TO_COUNT = _rule(
    "nothing-to-count",
    thread("zed-industries/zed#17343", "CountTokens requires generate_content_request or contents to be set."),
)
NO_CONTENTS = _rule(
    "no-contents",
    thread("langchain-ai/langchain#33940", "* GenerateContentRequest.contents: contents is not specified"),
)
EMPTY_CONTENT = _rule(
    "empty-content",
    thread("egoist/chatwise-releases#250", "contents.parts must not be empty."),
    thread("vercel/ai#3775", "contents.parts must not be empty"),
)
EMPTY_PART = _rule(
    "empty-part",
    thread("boldsoftware/sketch#68", "required oneof field 'data' must have one initialized field"),
    thread("google-gemini/gemini-cli#5575", "CountTokensRequest.contents"),
)
INVALID_ROLE = _rule(
    "invalid-role",
    recording(
        f"{_OPENTELEMETRY}/02037a99bbda/{_VERTEX_CASSETTES}/test_generate_content_invalid_role.yaml",
        "Please use a valid role: user, model.",
    ),
)
TOOL_NAME = _rule(
    "tool-name",
    thread("google-gemini/gemini-cli#9535", "Invalid function name. Must start with a letter or an underscore."),
)
DUPLICATE_TOOL = _rule("duplicate-tool", thread("googleapis/dotnet-genai#189", "Duplicate function declaration found"))
_BEYOND = "but the supported range is from 1 (inclusive) to … (exclusive). Update the value and try again."
SCHEMA_REQUIRED = _rule(
    "schema-required",
    thread(
        "moltis-org/moltis#849",
        "* GenerateContentRequest.tools[0].function_declarations[0].parameters.required[0]: property is not defined",
        day="2026-11-27",
    ),
)
SCHEMA_ITEMS = _rule("schema-items", thread("decolua/9router#3707", ".items.items: missing field.", day="2026-11-27"))
SCHEMA_ENUM = _rule(
    "schema-enum",
    thread("directus/directus#27100", ".enum: only allowed for STRING type", day="2026-11-27"),
    thread("anomalyco/opencode#28397", ".enum: only allowed for STRING type", day="2026-11-27"),
)
SETTING_RANGE = _rule(
    "setting-range",
    thread(
        "genkit-ai/genkit#1397",
        f"Unable to submit request because it has a topK value of … {_BEYOND}",
        day="2026-11-27",
    ),
    thread(
        "stackblitz-labs/bolt.diy#955",
        f"Unable to submit request because it has a maxOutputTokens value of … {_BEYOND}",
        day="2026-11-27",
    ),
    thread(
        "BerriAI/litellm#10548",
        f"Unable to submit request because it has a maxOutputTokens value of … {_BEYOND}",
        day="2026-11-27",
    ),
    note="the most that `topK` may be differs by model, and is not judged",
)
STOP_SEQUENCES = _rule(
    "stop-sequences",
    page("https://ai.google.dev/api/generate-content", day="2026-11-27"),
    thread(
        "continuedev/continue#7849",
        "Unable to submit request because it has a stopSequences value of 10 but the supported range is from 1 "
        "(inclusive) to 6 (exclusive). Update the value and try again.",
        day="2026-11-27",
    ),
    thread("continuedev/continue#2702", day="2026-11-27"),
)
TEMPERATURE = _rule(
    "temperature",
    recording(
        f"{_OPENTELEMETRY}/bf753ff2df75/{_VERTEX_CASSETTES}/test_generate_content_invalid_temperature.yaml",
        "it has a temperature value of 1000 but the supported range is from 0 (inclusive) to 2.0001 (exclusive).",
    ),
)
JSON_WITH_TOOLS = _rule("json-with-tools", *earlier_threads("googleapis/python-genai#867", "symfony/ai#803"))

# Managed caches
CACHE_GONE = _rule(
    "cache-gone",
    page("https://docs.cloud.google.com/vertex-ai/generative-ai/docs/context-cache/context-cache-create"),
    note="the page says that it cannot be used any more; status and words are those of the sheet, without an address",
)
CACHE_AND_SETTINGS = _rule(
    "cache-and-settings",
    thread(
        "langchain-ai/langchain-google#978",
        "CachedContent can not be used with GenerateContent request setting system_instruction, tools or tool_config.",
    ),
)
CACHE_OF_OTHER_MODEL = _rule(
    "cache-of-other-model",
    page("https://ai.google.dev/api/python/google/generativeai/protos/CachedContent"),
)
CACHE_TOO_SMALL = _rule(
    "cache-too-small",
    thread("zyddnys/manga-image-translator#929", "Cached content is too small. total_token_count="),
    report(
        "https://discuss.ai.google.dev/t/real-explicit-cache-limit/134499",
        "The minimum token count to start caching is 1024.",
    ),
)

# The conversation
CALL_TURN = _rule(
    "call-turn",
    thread(
        "continuedev/continue#11164",
        "Please ensure that function call turn comes immediately after a user turn or after a function response turn.",
    ),
    thread("google-gemini/gemini-cli#11814"),
)
RESPONSE_TURN = _rule(
    "response-turn",
    thread(
        "GoogleCloudPlatform/generative-ai#368",
        "Please ensure that function response turn comes immediately after a function call turn.",
    ),
    thread("BerriAI/litellm#26755"),
)
RESPONSE_COUNT = _rule(
    "response-count",
    thread(
        "google-gemini/gemini-cli#16415",
        "number of function response parts is equal to the number of function call parts of the function call turn.",
    ),
)
LAST_IS_MODEL = _rule("last-is-model", *threads("microsoft/semantic-kernel#13288", "crewAIInc/crewAI#6973"))
DANGLING_CALL = _rule("dangling-call", note="gemini.md §6: 2.5 and 3 often accept it")
RESPONSE_PAIRING = _rule("response-pairing", note="gemini.md §6: by id and name where ids exist; no refusal was seen")

# Thought signatures sent back
MISSING_SIGNATURE = _rule(
    "missing-signature",
    page("https://ai.google.dev/gemini-api/docs/thought-signatures"),
    thread("GewoonJaap/gemini-cli-openai#156"),
)
INVALID_SIGNATURE = _rule(
    "invalid-signature",
    thread(
        "NoeFabris/opencode-antigravity-auth#368", "Unable to submit request because Thought signature is not valid"
    ),
)
FOREIGN_MODEL_SIGNATURE = _rule("foreign-model-signature", note="not on the sheet: the same service, another model")
MOVED_SIGNATURE = _rule("moved-signature", note="gemini.md §5: do not move it; no refusal was seen")

# Size, and the world outside
TOO_MANY_TOKENS = _rule(
    "too-many-tokens",
    thread(
        "google-gemini/gemini-cli#4692",
        "The input token count (…) exceeds the maximum number of tokens allowed (1048576).",
    ),
)
UNREACHABLE_FILE = _rule(
    "unreachable-file",
    recording(
        f"{_PYDANTIC_AI}/models/cassettes/test_multimodal_tool_returns/"
        "test_multimodal_tool_return_matrix[direct-url-image-google_vertex].yaml",
        "Cannot fetch content from the provided URL.",
    ),
)
RATE_LIMIT = _rule(
    "rate-limit",
    recording(
        f"{_RUBY_LLM}/chat_real_error_scenarios_gemini_gemini-2_5-flash_handles_context_length_exceeded_errors.yml"
    ),
)
OVERLOADED = _rule(
    "overloaded", thread("google-gemini/gemini-cli#5191", "The model is overloaded. Please try again later.")
)
LOCATION = _rule("location", thread("poenl/gemini-api#4", "User location is not supported for the API use."))
