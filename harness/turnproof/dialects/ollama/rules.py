"""Every rule of Ollama's server that this dialect knows, with where it is known from.

The native API's unknown model is recorded; the other rules are read in the server's source (`ollama.md`, 2026-08;
`server/routes.go`, `middleware/anthropic.go`, `anthropic/anthropic.go` of ollama/ollama). No recording of
`/v1/messages` was found. Nothing is checked of pairing, order, roles, ids, signatures or breakpoints, on any surface.
"""

from __future__ import annotations

from ..base import Evidence, Rule
from ..rulebook import Rulebook

NAME = "ollama"

_BOOK = Rulebook(NAME)
ALL = _BOOK.all
_source = _BOOK.server


def _messages(name: str) -> Rule:
    return _source(name, "ollama.md §2, anthropic/anthropic.go")


NOT_FOUND = _source("not-found", "server/routes.go: no route, the answer of its web framework")

# Bodies
MISSING_BODY = _source("missing-body", "ollama.md §3, server/routes.go")
UNREADABLE_BODY = _source("unreadable-body", "server/routes.go: the error of its JSON decoder, in words of ours")
ARGUMENTS_NOT_AN_OBJECT = _source("arguments-not-an-object", "ollama.md §3: an object; api/types.go ToolCall")
MISSING_MODEL = _source("missing-model", "ollama.md §2, §3")
MISSING_LIMIT = _messages("missing-max-tokens")
MISSING_MESSAGES = _messages("missing-messages")
CALL_WITHOUT_ID = _messages("call-without-id")
CALL_WITHOUT_NAME = _messages("call-without-name")
IMAGE_SOURCE = _messages("image-source")
INPUT_SCHEMA = _messages("input-schema")

# The model
UNKNOWN_MODEL = _BOOK.recorded("unknown-model", "OpenInference chat_error_records_model_name")
UNKNOWN_MODEL_IN_MESSAGES = _messages("messages-unknown-model")
NO_THINKING = _source("no-thinking", "ollama.md §3, server/routes.go; the Anthropic-compatible route drops the wish")
THINK_VALUE = _source("think-value", "api/types.go ThinkValue; the words as of 0.35, with `max`")
NO_TOOLS = _BOOK.issue("no-tools", "ollama/ollama#14795, #13578; server/routes.go scheduleRunner")

# The window
CONTEXT_EXCEEDED = _source("context-exceeded", "ollama.md §3: `truncate: false`, the words of the runner")
PROMPT_TRUNCATED = _BOOK.assume(
    "prompt-truncated", Evidence.SERVER, "ollama.md §3, server/prompt.go: the oldest messages are dropped", silent=True
)

# The words are in llm/server.go; under which status they come depends on the runner.
FORMAT = _BOOK.inferred("format", "ollama.md §3: `json` or a schema")
BUSY = _source("busy", "ollama.md §2, §3")
