"""Every rule of the gateway that this dialect knows, with where it is known from.

Nothing recorded judges this API. Its rules rest on error answers that were pasted in public issues (`ISSUE`, the issue
named), on the sources and notes of its clients (`SDK`), or on Google's documentation of what all its services share.
A rule of the Gemini API or of Anthropic's is enforced here only where an answer of the *gateway* shows it; else it is
`INFERRED`, however well it is known there: logged, and the request is accepted.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from ..anthropic_messages import rules as anthropic
from ..base import Refusal, Rule
from ..gemini import rules as gemini
from ..rulebook import Rulebook

NAME = "antigravity"
_NOTES = "antigravity.md §4, notes of a client's authors (NoeFabris/opencode-antigravity-auth, 2025-12)"

_BOOK = Rulebook(NAME)
ALL = _BOOK.all
_issue, _documented, _inferred, _client = _BOOK.issue, _BOOK.documented, _BOOK.inferred, _BOOK.client


# The token endpoint
GRANT_TYPE = _documented("grant-type", "RFC 6749, section 5.2: unsupported_grant_type")
MISSING_PARAMETER = _documented("missing-parameter", "RFC 6749, section 5.2: invalid_request")
CLIENT_SECRET = _issue("client-secret", "xiufengsun/TokenTracker#610: client_secret is missing")
INVALID_GRANT = _issue("invalid-grant", "apache/opendal#3901: Token has been expired or revoked")

# Address and caller
NOT_FOUND = _documented("not-found", "googleapis answer an address that they do not have with 404")
HOST_DOWN = _client("host-down", "antigravity.md §6: clients leave a host on 403, 404, 429 and 5xx")
MISSING_TOKEN = _documented("missing-token", "google.rpc.Code: UNAUTHENTICATED")
BAD_TOKEN = _issue("bad-token", "cita-777/metapi#402, googlecodelabs/feedback#2230")
UNLICENSED = _issue("unlicensed", "router-for-me/CLIProxyAPI#907")
UNVERIFIED = _issue("unverified", "lbjlaq/Antigravity-Manager#2362")
OTHERS_PROJECT = _issue("others-project", "cline/cline#4526: Permission denied on resource project")

# Reading the body
MALFORMED_JSON = _documented("malformed-json", "google.rpc.Code: INVALID_ARGUMENT")
UNKNOWN_NAME = _issue("unknown-name", "decolua/9router#2199, lbjlaq/Antigravity-Manager#868; antigravity.md §4")
NOT_REPEATING = _issue("not-repeating", "badrisnarayanan/antigravity-claude-proxy#6")
WRONG_TYPE = _issue("wrong-type", "decolua/9router#2595")
ONEOF = _inferred("oneof", "gemini.md §6; not seen from the gateway")
BROKEN_BASE64 = _inferred("broken-base64", "gemini.md §5; not seen from the gateway")

# What is asked
UNKNOWN_MODEL = _issue("unknown-model", "antigravity.md §4; Wei-Shaw/sub2api#3707")
MISSING_PROJECT = _inferred("missing-project", "antigravity.md §2: the clients of Antigravity send it")
QUOTA = _issue("quota", "liuw1535/antigravity2api-nodejs#44, decolua/9router#789")
NO_CONTENTS = _inferred("no-contents", "antigravity.md §2: mandatory, by inference")
EMPTY_CONTENT = _issue("empty-content", "antigravity.md §4: an emptied turn")
EMPTY_PART = _issue("empty-part", "antigravity.md §4: required oneof field 'data'")
INVALID_ROLE = _inferred("invalid-role", "gemini.md §6; not seen from the gateway")
TOOL_NAME = _client("tool-name")
DUPLICATE_TOOL = _inferred("duplicate-tool", "gemini.md §6; not seen from the gateway")
SEARCH_WITH_FUNCTIONS = _client("search-with-functions")
TEMPERATURE = _inferred("temperature", "gemini.md §6; not seen from the gateway")
JSON_WITH_TOOLS = _inferred("json-with-tools", "googleapis/python-genai#867; not seen from the gateway")
UNREACHABLE_FILE = _inferred("unreachable-file", "gemini.md §6; not seen from the gateway")

# Conversations with Gemini
CALL_TURN = _issue("call-turn", "antigravity.md §4: turn order as in gemini.md §6")
RESPONSE_TURN = _issue("response-turn", "antigravity.md §4: turn order as in gemini.md §6")
RESPONSE_COUNT = _issue("response-count", "antigravity.md §4: counts as in gemini.md §6")
LAST_IS_MODEL = _issue("last-is-model", "antigravity.md §4: turn order as in gemini.md §6")
DANGLING_CALL = _inferred("dangling-call", "gemini.md §6: 2.5 and 3 often accept it")
RESPONSE_PAIRING = _inferred("response-pairing", "gemini.md §6: no refusal was seen")
MISSING_SIGNATURE = _issue("missing-signature", "lbjlaq/Antigravity-Manager#3272")
INVALID_SIGNATURE = _issue("invalid-signature", "NoeFabris/opencode-antigravity-auth#368")
FOREIGN_MODEL_SIGNATURE = _inferred("foreign-model-signature", "not on the sheet: the same service, another model")
MOVED_SIGNATURE = _inferred("moved-signature", "gemini.md §5: do not move it; no refusal was seen")
TOO_MANY_TOKENS = _issue("too-many-tokens", "antigravity.md §4: prompt too long, Gemini")

# Conversations with Claude: Anthropic's error as a JSON string inside the message
CLAUDE_BUDGET = _issue("claude-budget", "liuw1535/antigravity2api-nodejs#149, router-for-me/CLIProxyAPI#348")
CLAUDE_DANGLING_CALL = _issue("claude-dangling-call", "lbjlaq/Antigravity-Manager#654")
CLAUDE_TEXT_BEFORE_RESULT = _issue("claude-text-before-result", "antigravity.md §4: responses first")
CLAUDE_TEXT_AFTER_CALL = _inferred("claude-text-after-call", "anthropic.md §5; not seen from the gateway")
CLAUDE_DANGLING_LAST = _inferred("claude-dangling-last-without-tools", "listed as not known for Anthropic, too")
CLAUDE_ORPHAN_RESULT = _issue("claude-orphan-result", "antigravity.md §4: orphan result")
CLAUDE_DUPLICATE_CALL_ID = _inferred("claude-duplicate-call-id", "anthropic.md §5; not seen from the gateway")
CLAUDE_DUPLICATE_RESULT = _inferred("claude-duplicate-result", "anthropic.md §5; not seen from the gateway")
CLAUDE_UNSIGNED = _issue("claude-unsigned-thinking", "router-for-me/CLIProxyAPI#1535, lbjlaq/Antigravity-Manager#270")
CLAUDE_SIGNATURE = _issue("claude-invalid-signature", "lbjlaq/Antigravity-Manager#547, router-for-me/CLIProxyAPI#570")
CLAUDE_MODIFIED = _inferred("claude-modified-thinking", "anthropic.md §8; not seen from the gateway")
CLAUDE_FOREIGN_SIGNATURE = _inferred("claude-foreign-model-signature", "antigravity.md §5: bound to the model family")
CLAUDE_TOO_LONG = _issue("claude-prompt-too-long", "NoeFabris/opencode-antigravity-auth#411")

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
