"""The differences between what a session holds and what goes over this wire that are right, with their evidence."""

from __future__ import annotations

from ..base import AllowedDifference, Evidence

_REC, _DOC, _ISSUE, _SDK = Evidence.RECORDED, Evidence.DOCUMENTED, Evidence.ISSUE, Evidence.CLIENT

ALLOWED: tuple[AllowedDifference, ...] = (
    AllowedDifference(
        "instructions-role", "Instructions are sent with role system or developer, in front of the conversation.",
        _REC, "openai-chat.md §1; openllmetry agent recordings: developer",
    ),
    AllowedDifference(
        "merged-roles", "Neighbouring messages of one role may be sent as one, or as several.",
        _REC, "openai-chat.md §4: consecutive user messages are accepted",
    ),
    AllowedDifference(
        "results-first", "Results stand in front of what the user says in the same turn.",
        _ISSUE, "openai-chat.md §4: tool_calls must be followed by tool messages",
    ),
    AllowedDifference(
        "joined-text", "Neighbouring texts of one message may be joined, with white space between them, or split.",
        _DOC, "openai-chat.md §1: content is a string or a list of blocks",
    ),
    AllowedDifference(
        "text-before-calls", "What the model said stands in front of the calls of the same message.",
        _DOC, "openai-chat.md §1: a message has a content and tool_calls, without an order between them",
    ),
    AllowedDifference(
        "blank-text", "Empty and blank texts may be left out: content is null or empty beside calls.",
        _REC, "openai-chat.md §4: content null or empty beside tool_calls",
    ),
    AllowedDifference(
        "legal-tool-names", "A tool whose name the API does not take stands under any legal name of its own.",
        _ISSUE, "mcp-use/mcp-use#90: string does not match pattern; one-to-one is checked",
    ),
    AllowedDifference(
        "short-call-ids", "An id may be rewritten, alike in call and result: it links the two and means nothing else.",
        _ISSUE, "openai-chat.md §4: string too long, maximum length 40",
    ),
    AllowedDifference(
        "tool-order", "Tools may stand in another order (sorted for a stable cache prefix).",
        _DOC, "openai-chat.md §5: anything that changes the start of the prompt misses",
    ),
    AllowedDifference(
        "empty-schema-filled", "A tool without parameters is sent with an empty object schema, or without one.",
        _SDK, "openai 3.54 FunctionDefinition.parameters: omitting defines an empty parameter list",
    ),
    AllowedDifference(
        "strict-schema", "A schema may be closed as strict tools want it: no further properties, all of them required.",
        _SDK, "openai 3.54 lib/_pydantic.py",
    ),
    AllowedDifference(
        "thinking-left-out", "Thinking need not be sent back.",
        _REC, "openai-chat.md: has no field for it; wire sheets' README: must not come back to Ollama and Z.ai",
    ),
    AllowedDifference(
        "thinking-joined", "Thoughts of one message are sent as one: there is one field for them.",
        _REC, "zai.md §3: reasoning_content of the assistant message",
    ),
    AllowedDifference(
        "foreign-thinking", "Thinking of another API is left out or sent as tagged text.",
        _DOC, "openai-chat.md §1: roles and content have no place for it",
    ),
    AllowedDifference(
        "foreign-opaque", "Blocks of another API are left out.", _DOC, "a block goes back only to its own API",
    ),
    AllowedDifference(
        "foreign-code-as-text", "Code that another API executed and its output are sent as text.",
        _DOC, "openai-chat.md §1: messages hold texts, images, files and sounds",
    ),
    AllowedDifference(
        "result-as-json-text", "A JSON value as a tool's result is sent as JSON text; an empty one as an empty text.",
        _REC, "openai-chat.md §4: content in tool messages is text only",
    ),
    AllowedDifference(
        "error-in-words", "A result has no flag for failure: it is told in the text, with or without words around it.",
        _SDK, "openai 3.54 ChatCompletionToolMessageParam: content, role, tool_call_id",
    ),
    AllowedDifference(
        "attachments-beside-results", "Images and files of a result stand in a user message behind it, with few words.",
        _REC, "pydantic-ai test_multimodal_tool_returns: tool_return_content variants",
    ),
    AllowedDifference(
        "cache-marks", "Breakpoints are no content.", _REC, "openai-chat.md §5: prompt_cache_breakpoint",
    ),
    AllowedDifference(
        "repaired-dangling-call",
        "A held call without a result is left out or answered with an error; a result without a call is left out.",
        _ISSUE, "openai-chat.md §4: tool_call_ids did not have response messages",
    ),
    AllowedDifference(
        "system-in-conversation",
        "An instruction in mid-conversation is sent with role system or developer, in front, or as tagged user text.",
        _DOC, "openai-chat.md §1: the roles of messages",
    ),
    AllowedDifference(
        "dated-model", "A model may be asked by its alias or its dated id.", _REC, "openai-chat.md §1",
    ),
)  # fmt: skip
