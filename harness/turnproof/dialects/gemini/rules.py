"""Every rule of the Gemini API that this dialect knows, with where it is known from.

Sources name sections of the API's wire sheet (`gemini.md`), which is condensed from recordings, documentation and
public issues; where it is silent, the issue itself. Rules that nobody was seen enforcing are `INFERRED`: they are
logged and the request is accepted. Where only the status is documented, the words of the message are ours. That two
contents of one role must alternate was a rule of models that are gone: today they are merged.
"""

from __future__ import annotations

from ..rulebook import Rulebook

NAME = "gemini"
_ISSUES = "gemini.md §6, pasted in public issues"

_BOOK = Rulebook(NAME)
ALL = _BOOK.all
_documented, _inferred, _issue, _recorded = _BOOK.documented, _BOOK.inferred, _BOOK.issue, _BOOK.recorded


# Address and key
NOT_FOUND = _documented("not-found", "gemini.md §1 lists the addresses; googleapis answer any other with 404")
MISSING_KEY = _issue("missing-key")
BAD_KEY = _recorded("bad-key", "RL chat_error_handling_with_gemini_gemini-2_5-flash_raises_appropriate_auth_error.yml")
MISSING_TOKEN = _issue("missing-token", "public issues of clients of Vertex and other Google APIs")
BAD_TOKEN = _issue("bad-token", "spring-projects/spring-ai#635")
KEY_FOR_TOKEN = _issue("key-for-token", "googleapis/python-genai#1404, google-gemini/gemini-cli#1463")

# Reading the body
MALFORMED_JSON = _documented("malformed-json", "google.rpc.Code: INVALID_ARGUMENT")
UNKNOWN_NAME = _issue("unknown-name")
NOT_REPEATING = _issue("not-repeating", "zed-industries/zed#53919")
WRONG_TYPE = _issue("wrong-type", "public issues: `Invalid value at '…' (TYPE_STRING), 2`")
ONEOF = _issue("oneof", "public issues: `oneof field 'data' is already set`")
BROKEN_BASE64 = _issue("broken-base64", "crmne/ruby_llm#521, google-gemini/gemini-cli#14368")

# What is asked
UNKNOWN_MODEL = _recorded(
    "unknown-model", "PA test_model_name_suggestions, OTEL test_generate_content_missing_model.yaml"
)
NOTHING_TO_COUNT = _issue("nothing-to-count", "zed-industries/zed#17343")
NO_CONTENTS = _issue("no-contents")
EMPTY_CONTENT = _issue("empty-content")
EMPTY_PART = _issue("empty-part")
INVALID_ROLE = _recorded("invalid-role", "OTEL test_generate_content_invalid_role.yaml")
TOOL_NAME = _issue("tool-name", "extensions of google-gemini/gemini-cli: Invalid function name")
DUPLICATE_TOOL = _issue("duplicate-tool", "public issues: Duplicate function declaration found")
TEMPERATURE = _recorded("temperature", "OTEL test_generate_content_invalid_temperature.yaml")
JSON_WITH_TOOLS = _issue("json-with-tools", "googleapis/python-genai#867, symfony/ai#803")

# Managed caches
CACHE_GONE = _issue("cache-gone", "gemini.md §7, pasted in public issues")
CACHE_AND_SETTINGS = _issue("cache-and-settings", "gemini.md §7, pasted in public issues")
CACHE_OF_OTHER_MODEL = _documented("cache-of-other-model", "gemini.md §7")
CACHE_TOO_SMALL = _issue("cache-too-small", "gemini.md §7; Vertex: OpenHands/software-agent-sdk#3480")

# The conversation
CALL_TURN = _issue("call-turn")
RESPONSE_TURN = _issue("response-turn")
RESPONSE_COUNT = _issue("response-count")
LAST_IS_MODEL = _issue("last-is-model")
DANGLING_CALL = _inferred("dangling-call", "gemini.md §6: 2.5 and 3 often accept it")
RESPONSE_PAIRING = _inferred("response-pairing", "gemini.md §6: by id and name where ids exist; no refusal was seen")

# Thought signatures sent back
MISSING_SIGNATURE = _documented("missing-signature", "gemini.md §5; Vertex: GewoonJaap/gemini-cli-openai#156")
INVALID_SIGNATURE = _issue("invalid-signature", "gemini.md §5, pasted in public issues")
FOREIGN_MODEL_SIGNATURE = _inferred("foreign-model-signature", "not on the sheet: the same service, another model")
MOVED_SIGNATURE = _inferred("moved-signature", "gemini.md §5: do not move it; no refusal was seen")

# Size, and the world outside
TOO_MANY_TOKENS = _recorded("too-many-tokens", "RL chat_real_error_scenarios_vertexai_gemini-2_5-flash_handles_...yml")
UNREACHABLE_FILE = _recorded("unreachable-file", "PA test_multimodal_tool_returns, url variants on Vertex")
RATE_LIMIT = _recorded("rate-limit", "RL chat_real_error_scenarios_gemini_...yml")
OVERLOADED = _issue("overloaded")
LOCATION = _issue("location")
