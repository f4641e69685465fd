"""Every rule of Ollama's server that this dialect knows, with the places that show it.

The native API's unknown model is recorded; the other rules are read in the server's source. No recording of
`/v1/messages` was found. Nothing is checked of pairing, order, roles, ids, signatures or breakpoints, on any surface.
"""

from __future__ import annotations

from ..base import Source
from ..rulebook import EARLIER, Rulebook, recording, server_code, thread

NAME = "ollama"

_OPENINFERENCE = (
    "https://github.com/Arize-ai/openinference/blob/1fe497f1d9f4/python/instrumentation/"
    "openinference-instrumentation-ollama/tests/openinference/instrumentation/ollama/cassettes/test_instrumentor"
)

_BOOK = Rulebook(NAME)
ALL = _BOOK.all
_rule = _BOOK.rule


def _code(path: str, quote: str = "", *, day: str = "2026-11-26") -> Source:
    return server_code(f"https://github.com/ollama/ollama/blob/main/{path}", quote, day=day)


_ROUTES = _code("server/routes.go", day=EARLIER)


NOT_FOUND = _rule("not-found", _ROUTES, note="no route: the answer of its web framework")

# Bodies
MISSING_BODY = _rule("missing-body", _code("server/routes.go", "missing request body", day=EARLIER))
UNREADABLE_BODY = _rule("unreadable-body", _ROUTES, note="the error of its JSON decoder, partly in words of ours")
ARGUMENTS_NOT_AN_OBJECT = _rule(
    "arguments-not-an-object", _code("api/types.go", "api.ToolCallFunctionArgument", day=EARLIER)
)
MISSING_MODEL = _rule("missing-model", _code("middleware/anthropic.go", "model is required", day=EARLIER), _ROUTES)
MISSING_LIMIT = _rule("missing-max-tokens", _code("middleware/anthropic.go", "required and must be positive"))
MISSING_MESSAGES = _rule("missing-messages", _code("middleware/anthropic.go", "messages is required"))
CALL_WITHOUT_ID = _rule(
    "call-without-id", _code("anthropic/anthropic.go", "tool_use block missing required 'id' field")
)
CALL_WITHOUT_NAME = _rule(
    "call-without-name", _code("anthropic/anthropic.go", "tool_use block missing required 'name' field")
)
IMAGE_SOURCE = _rule("image-source", _code("anthropic/anthropic.go", "invalid image source"))
INPUT_SCHEMA = _rule("input-schema", _code("anthropic/anthropic.go", "invalid input_schema for tool "))

# The model
UNKNOWN_MODEL = _rule(
    "unknown-model",
    recording(f"{_OPENINFERENCE}/test_chat_error_records_model_name.yaml", "model '…' not found"),
    _code("server/routes.go", "model '…' not found"),
)
UNKNOWN_MODEL_IN_MESSAGES = _rule("messages-unknown-model", _code("server/routes.go", "model '…' not found"))
NO_THINKING = _rule(
    "no-thinking",
    _code("server/routes.go", "does not support thinking"),
    note="the Anthropic-compatible route drops the wish",
)
THINK_VALUE = _rule("think-value", _code("api/types.go", "invalid think value: ", day=EARLIER))
NO_TOOLS = _rule(
    "no-tools",
    thread("ollama/ollama#14795", "does not support tools"),
    thread("ollama/ollama#13578", day=EARLIER),
    _ROUTES,
)

# The window
CONTEXT_EXCEEDED = _rule(
    "context-exceeded",
    thread(
        "ollama/ollama#16800", "request (… tokens) exceeds the available context size (… tokens), try increasing it"
    ),
    note="with `truncate: false`, the words of the runner",
)
PROMPT_TRUNCATED = _rule("prompt-truncated", _code("server/prompt.go"), note="drops the oldest messages", silent=True)

# The words are in llm/server.go; under which status they come depends on the runner.
FORMAT = _rule("format", note="ollama.md §3: `json` or a schema")
BUSY = _rule("busy", _code("server/routes.go"))
