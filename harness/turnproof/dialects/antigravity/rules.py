"""Every rule of the gateway that this dialect knows, with the places that show it.

Nothing recorded judges this API. Its rules rest on error answers that public threads paste, on what Google documents
for all its services (`_CODES`, `_OAUTH`), and on the notes of a client's authors, who sent the requests (`_NOTES`). A
rule of the Gemini API or of Anthropic's is enforced here only where an answer of the *gateway* shows it, however well
it is known there; gemini-cli, too, asks this gateway when a user has logged in.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from ..anthropic_messages import rules as anthropic
from ..base import Refusal, Rule
from ..gemini import rules as gemini
from ..rulebook import EARLIER, Rulebook, earlier_threads, page, report, server_code, thread, threads

NAME = "antigravity"

_CODES = page("https://github.com/googleapis/googleapis/blob/16b971c46e2f/google/rpc/code.proto")
_OAUTH = "https://www.rfc-editor.org/rfc/rfc6749#section-5.2"
_NOTES = report("https://github.com/NoeFabris/opencode-antigravity-auth/blob/0f4490a691c9/docs/ANTIGRAVITY_API_SPEC.md")
_NOT_SEEN = "gemini.md §6; not seen from the gateway"

_BOOK = Rulebook(NAME)
ALL = _BOOK.all
_rule = _BOOK.rule


def _as_in_the_gemini_api(rule: Rule) -> Rule:
    """A rule whose evidence is that of the API behind the gateway."""
    return _rule(rule.id.partition("/")[2], *rule.sources, note=rule.note)


# The token endpoint
GRANT_TYPE = _rule("grant-type", page(_OAUTH, "unsupported_grant_type"))
MISSING_PARAMETER = _rule("missing-parameter", page(_OAUTH, "invalid_request"))
CLIENT_SECRET = _rule("client-secret", thread("xiufengsun/TokenTracker#610", "client_secret is missing", day=EARLIER))
INVALID_GRANT = _rule(
    "invalid-grant",
    thread("apache/opendal#3901", "Token has been expired or revoked", day=EARLIER),
    page(_OAUTH, "invalid_grant"),
)

# Address and caller
NOT_FOUND = _rule("not-found", _CODES)
HOST_DOWN = _rule("host-down", _CODES, note="antigravity.md §6: clients leave a host on 403, 404, 429 and 5xx")
MISSING_TOKEN = _rule("missing-token", _CODES)
BAD_TOKEN = _rule("bad-token", *earlier_threads("cita-777/metapi#402", "googlecodelabs/feedback#2230"))
UNLICENSED = _rule(
    "unlicensed", thread("justlovemaki/AIClient2API#316"), *earlier_threads("router-for-me/CLIProxyAPI#907")
)
UNVERIFIED = _rule("unverified", thread("su-kaka/gcli2api#382"), *earlier_threads("lbjlaq/Antigravity-Manager#2362"))
OTHERS_PROJECT = _rule(
    "others-project",
    thread("Kilo-Org/kilocode#2838", "Permission denied on resource project "),
    *earlier_threads("cline/cline#4526"),
)

# Reading the body
MALFORMED_JSON = _rule("malformed-json", _CODES)
UNKNOWN_NAME = _rule(
    "unknown-name",
    thread("decolua/9router#2199", "Invalid JSON payload received. Unknown name … Cannot find field."),
    thread("nhatbien/copilot-helper#8", 'Unknown name "const" at \'request.tools[0].function_declarations['),
    _NOTES,
)
NOT_REPEATING = _rule(
    "not-repeating",
    *earlier_threads("badrisnarayanan/antigravity-claude-proxy#6"),
    server_code(gemini.JSON_READER, "Proto field is not repeating, cannot start list."),
)
WRONG_TYPE = _rule(
    "wrong-type",
    thread("decolua/9router#2489", "Invalid value at 'request.tools[0].function_declarations["),
    *earlier_threads("decolua/9router#2595"),
)
ONEOF = _rule("oneof", note=_NOT_SEEN)
BROKEN_BASE64 = _rule("broken-base64", note="gemini.md §5; not seen from the gateway")

# What is asked
UNKNOWN_MODEL = _rule("unknown-model", _CODES, _NOTES, *earlier_threads("Wei-Shaw/sub2api#3707"))
MISSING_PROJECT = _rule("missing-project", note="antigravity.md §2: the clients of Antigravity send it")
QUOTA = _rule("quota", *earlier_threads("liuw1535/antigravity2api-nodejs#44", "decolua/9router#789"))
NO_CONTENTS = _rule("no-contents", note="antigravity.md §2: mandatory, by inference")
EMPTY_CONTENT = _rule("empty-content", note="antigravity.md §4: an emptied turn; no thread of the gateway was found")
EMPTY_PART = _rule(
    "empty-part",
    thread("router-for-me/CLIProxyAPI#1292", "required oneof field 'data' must have one initialized field"),
)
INVALID_ROLE = _rule("invalid-role", note=_NOT_SEEN)
TOOL_NAME = _rule(
    "tool-name",
    _NOTES,
    thread("google-gemini/gemini-cli#9535", "Invalid function name. Must start with a letter or an underscore."),
)
DUPLICATE_TOOL = _rule("duplicate-tool", note=_NOT_SEEN)
SEARCH_WITH_FUNCTIONS = _rule("search-with-functions", _NOTES, note="the notes alone say it, without the answer")
TEMPERATURE = _rule("temperature", note=_NOT_SEEN)
JSON_WITH_TOOLS = _rule("json-with-tools", note="googleapis/python-genai#867; not seen from the gateway")
UNREACHABLE_FILE = _rule("unreachable-file", note=_NOT_SEEN)

# Conversations with Gemini
CALL_TURN = _rule(
    "call-turn",
    thread(
        "Rahularya01/pi-antigravity#46",
        "Please ensure that function call turn comes immediately after a user turn or after a function response turn.",
    ),
)
SCHEMA_REQUIRED = _rule("schema-required", note="Gemini's own API refuses it; not seen from the gateway")
SCHEMA_ITEMS = _rule("schema-items", thread("decolua/9router#3707", ".items.items: missing field.", day="2026-11-27"))
SCHEMA_ENUM = _rule("schema-enum", note="Gemini's own API refuses it; not seen from the gateway")
SETTING_RANGE = _rule(
    "setting-range",
    note="Gemini's own API refuses it; of the gateway lbjlaq/Antigravity-Manager#527 says so, in other words",
)
STOP_SEQUENCES = _rule("stop-sequences", note="Gemini's own API refuses it; not seen from the gateway")
RESPONSE_TURN = _rule("response-turn", note="gemini.md §6; no thread of the gateway was found")
RESPONSE_COUNT = _rule(
    "response-count",
    thread(
        "google-gemini/gemini-cli#16415",
        "number of function response parts is equal to the number of function call parts of the function call turn.",
    ),
    thread("gemini-cli-extensions/conductor#62"),
)
LAST_IS_MODEL = _rule("last-is-model", *threads("decolua/9router#3816", "ssfun/CLIProxyAPI-Pro#46"))
DANGLING_CALL = _as_in_the_gemini_api(gemini.DANGLING_CALL)
RESPONSE_PAIRING = _rule("response-pairing", note="gemini.md §6: no refusal was seen")
MISSING_SIGNATURE = _rule(
    "missing-signature",
    thread("lbjlaq/Antigravity-Manager#139", "Function call is missing a thought_signature in functionCall parts."),
    *earlier_threads("lbjlaq/Antigravity-Manager#3272"),
)
INVALID_SIGNATURE = _as_in_the_gemini_api(gemini.INVALID_SIGNATURE)
FOREIGN_MODEL_SIGNATURE = _as_in_the_gemini_api(gemini.FOREIGN_MODEL_SIGNATURE)
MOVED_SIGNATURE = _as_in_the_gemini_api(gemini.MOVED_SIGNATURE)
TOO_MANY_TOKENS = _rule(
    "too-many-tokens",
    thread(
        "google-gemini/gemini-cli#14766",
        "The input token count (…) exceeds the maximum number of tokens allowed (1048576).",
    ),
    thread("lbjlaq/Antigravity-Manager#3325"),
)

# Conversations with Claude: Anthropic's error as a JSON string inside the message
CLAUDE_BUDGET = _rule(
    "claude-budget", *earlier_threads("liuw1535/antigravity2api-nodejs#149", "router-for-me/CLIProxyAPI#348"), _NOTES
)
CLAUDE_DANGLING_CALL = _rule(
    "claude-dangling-call",
    thread(
        "lbjlaq/Antigravity-Manager#654", "`tool_use` ids were found without `tool_result` blocks immediately after: "
    ),
    thread("diegosouzapw/OmniRoute#7822"),
)
CLAUDE_TEXT_BEFORE_RESULT = _rule(
    "claude-text-before-result", note="antigravity.md §4: responses first; no thread of the gateway was found"
)
CLAUDE_TEXT_AFTER_CALL = _rule("claude-text-after-call", note="anthropic.md §5; not seen from the gateway")
CLAUDE_DANGLING_LAST = _rule("claude-dangling-last-without-tools", note="listed as not known for Anthropic, too")
CLAUDE_ORPHAN_RESULT = _rule(
    "claude-orphan-result", thread("diegosouzapw/OmniRoute#6055", "unexpected … found in … blocks: toolu_vrtx_")
)
CLAUDE_DUPLICATE_CALL_ID = _rule("claude-duplicate-call-id", note="anthropic.md §5; not seen from the gateway")
CLAUDE_DUPLICATE_RESULT = _rule("claude-duplicate-result", note="anthropic.md §5; not seen from the gateway")
CLAUDE_UNSIGNED = _rule(
    "claude-unsigned-thinking",
    thread("lbjlaq/Antigravity-Manager#270", "thinking.signature: Field required"),
    *earlier_threads("router-for-me/CLIProxyAPI#1535"),
)
CLAUDE_SIGNATURE = _rule(
    "claude-invalid-signature",
    thread("lbjlaq/Antigravity-Manager#498", "Invalid `signature` in `thinking` block"),
    *earlier_threads("lbjlaq/Antigravity-Manager#547", "router-for-me/CLIProxyAPI#570"),
)
CLAUDE_MODIFIED = _rule("claude-modified-thinking", note="anthropic.md §8; not seen from the gateway")
CLAUDE_FOREIGN_SIGNATURE = _rule("claude-foreign-model-signature", note="antigravity.md §5: bound to the model family")
CLAUDE_TOO_LONG = _rule(
    "claude-prompt-too-long",
    *earlier_threads("NoeFabris/opencode-antigravity-auth#411"),
    note="one thread, whose answer could not be read again",
)

_BY_NAME = {rule.id.partition("/")[2]: rule for rule in ALL}
_INHERITED: Mapping[Rule, Rule] = {
    **{rule: _BY_NAME[name] for rule in gemini.ALL if (name := rule.id.partition("/")[2]) in _BY_NAME},
    anthropic.DANGLING_CALL: CLAUDE_DANGLING_CALL,
    anthropic.TEXT_BEFORE_RESULT: CLAUDE_TEXT_BEFORE_RESULT,
    anthropic.TEXT_AFTER_CALL: CLAUDE_TEXT_AFTER_CALL,
    anthropic.DANGLING_LAST_WITHOUT_TOOLS: CLAUDE_DANGLING_LAST,
    anthropic.ORPHAN_RESULT: CLAUDE_ORPHAN_RESULT,
    anthropic.DUPLICATE_CALL_ID: CLAUDE_DUPLICATE_CALL_ID,
    anthropic.DUPLICATE_RESULT: CLAUDE_DUPLICATE_RESULT,
    anthropic.MISSING_FIELD: CLAUDE_UNSIGNED,
    anthropic.INVALID_SIGNATURE: CLAUDE_SIGNATURE,
    anthropic.MODIFIED_THINKING: CLAUDE_MODIFIED,
    anthropic.FOREIGN_MODEL_SIGNATURE: CLAUDE_FOREIGN_SIGNATURE,
}


def gateway_rule(rule: Rule) -> Rule:
    """The gateway's rule for one of the API behind it: for Gemini's the one of the same name."""
    return _INHERITED[rule]


def gateway_refusal(refusal: Refusal) -> Refusal:
    """A refusal of the API behind the gateway, as what is known of the gateway makes it."""
    return replace(refusal, rule=gateway_rule(refusal.rule))
