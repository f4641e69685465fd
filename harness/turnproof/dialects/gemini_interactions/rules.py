"""Every rule of the Interactions API that this dialect knows, with the places that show it.

The four recordings that there are hold no refusal. Enforced is what threads quote in the service's own words, and what
recordings show of the same host, models and keys at `generateContent`; what only the documentation says is logged, and
its note names the page.
"""

from __future__ import annotations

from ..base import Rule
from ..rulebook import Rulebook, recording, thread

NAME = "gemini-interactions"

_TODAY = "2026-11-28"
_REFERENCE = "https://ai.google.dev/api/interactions-api"
_OVERVIEW = "https://ai.google.dev/gemini-api/docs/interactions-overview.md.txt"
_RUBY_LLM = "https://github.com/crmne/ruby_llm/blob/fb5a49bf04da/spec/fixtures/vcr_cassettes"
_PYDANTIC_AI = "https://github.com/pydantic/pydantic-ai/blob/4fda38988f29/tests"
_SAME_HOST = "seen at generateContent of the same host; the form of the body is that of this API"

_BOOK = Rulebook(NAME)
ALL = _BOOK.all
_rule = _BOOK.rule


def _documented(name: str, what: str, page: str = _REFERENCE) -> Rule:
    """A rule that the documentation alone tells: no refusal was seen."""
    return _rule(name, note=f"{what} ({page}); no refusal was seen")


# Who asks, and where
MISSING_KEY = _rule(
    "missing-key",
    thread(
        "PublicAffairs/openai-gemini#92",
        "Method doesn't allow unregistered callers (callers without established identity).",
    ),
    note=_SAME_HOST,
)
BAD_KEY = _rule(
    "bad-key",
    recording(
        f"{_RUBY_LLM}/chat_error_handling_with_gemini_gemini-2_5-flash_raises_appropriate_auth_error.yml",
        "API key not valid. Please pass a valid API key.",
    ),
    note=_SAME_HOST,
)
NOT_FOUND = _rule("not-found", note="an address that the interface description does not have")
METHOD_NOT_ALLOWED = _rule("method-not-allowed", note="the interface description has each address with its methods")

# The body
MALFORMED_JSON = _rule("malformed-json", note="the status is that of every other bad body; the words are ours")
MALFORMED_BODY = _rule("wrong-type", note="the interface description has a type for each field; the words are ours")
MISSING_MODEL = _documented("missing-model", "a model or an agent has to be named")
UNKNOWN_MODEL = _rule(
    "unknown-model",
    recording(
        f"{_PYDANTIC_AI}/cassettes/test_embeddings/TestGoogle.test_count_tokens_error.yaml",
        "is not found for API version v1beta",
    ),
    note=_SAME_HOST,
)
MISSING_INPUT = _documented("missing-input", "`input` is required")
UNKNOWN_FIELD = _documented("unknown-field", "the request has no such field")
UNKNOWN_STEP = _documented("unknown-step", "a step has one of the documented types")
SETTING_CHOICE = _documented("setting-choice", "a setting has one of the documented words")

# What the service keeps
UNKNOWN_INTERACTION = _rule(
    "unknown-interaction",
    thread("googleapis/js-genai#1389", "permission_denied", day=_TODAY),
    note="seen where one was asked for by its id; that a request which goes on from it falls alike is inferred",
)
UNFINISHED_PREVIOUS = _documented("unfinished-previous", "an interaction goes on from a completed one", _OVERVIEW)
BACKGROUND_UNSTORED = _documented(
    "background-unstored",
    "`store=false` is incompatible with `background=true`, and the vendor's skill says that it disables that",
    _OVERVIEW,
)
NOT_IN_BACKGROUND = _documented("cancel-of-foreground", "only an interaction in the background can be cancelled")
RESUMED_WITHOUT_STREAM = _documented("resume-without-stream", "`last_event_id` can only be used with `stream`")
RESUMED_ELSEWHERE = _rule(
    "resume-position", note="nobody was seen taking up a stream behind an event that the stream does not have"
)

# The conversation
UNSIGNED_THOUGHT = _rule(
    "unsigned-thought",
    thread("googleapis/js-genai#1735", "invalid_request Request contains an invalid argument.", day=_TODAY),
    note="seen at a thought with an empty signature in front of a call, with two models",
)
LOST_THOUGHT = _rule(
    "call-without-its-thought",
    thread("allenhutchison/obsidian-gemini#1269", day=_TODAY),
    thread("AidenAI-IO/aiden-firmware#699", day=_TODAY),
    note="a call comes without a signature of its own: that of the thought in front of it goes back",
)
FOREIGN_SIGNATURE = _rule("foreign-signature", note="a signature of another model; no refusal was seen")
INVALID_SIGNATURE = _rule("invalid-signature", note="a signature that was issued nowhere; no refusal was seen")
DANGLING_CALL = _rule("call-without-result", note="generateContent often accepts it; of this API nothing was seen")
ORPHAN_RESULT = _rule("result-without-call", note="`call_id` is documented to match a call; no refusal was seen")

# Size and load
TOO_MANY_TOKENS = _rule(
    "too-many-tokens",
    thread(
        "google-gemini/gemini-cli#4692",
        "The input token count (…) exceeds the maximum number of tokens allowed (1048576).",
    ),
    note=_SAME_HOST,
)
RATE_LIMIT = _rule(
    "rate-limit",
    thread(
        "allenhutchison/gemini-cli-deep-research#30",
        "too_many_requests You do not have enough quota to make this request.",
        day=_TODAY,
    ),
)
