"""The differences between what a session holds and what goes over this wire that are right, with their evidence."""

from __future__ import annotations

from ..base import AllowedDifference, Evidence

_REC, _DOC, _ISSUE = Evidence.RECORDED, Evidence.DOCUMENTED, Evidence.ISSUE

ALLOWED: tuple[AllowedDifference, ...] = (
    AllowedDifference(
        "merged-roles", "Neighbouring messages of one role may be sent as one: the service merges them itself.",
        _REC, "anthropic.md §6, test_tool_search cross_provider_capability_replay",
    ),
    AllowedDifference(
        "results-first", "Results stand in front of what the user says in the same turn.",
        _REC, "anthropic.md §6: in 193 accepted results none had another block before it",
    ),
    AllowedDifference(
        "joined-text", "Neighbouring texts of one turn may be joined, with white space between them, or split.",
        _DOC, "anthropic.md §1: content is a string or a list of blocks",
    ),
    AllowedDifference(
        "text-before-calls", "What the model said behind a call stands in front of the calls of the same message.",
        _REC, "anthropic.md §5, opencode rejects-malformed-assistant-tool-order: a text behind a tool_use is refused",
    ),
    AllowedDifference(
        "blank-text", "Empty and blank texts may be left out.",
        _ISSUE, "anthropic.md §5: text content blocks must be non-empty, must contain non-whitespace text",
    ),
    AllowedDifference(
        "trailing-blanks-of-prefill", "The last message of the model may lose its trailing white space.",
        _ISSUE, "anthropic.md §5: final assistant content cannot end with trailing whitespace",
    ),
    AllowedDifference(
        "legal-tool-names", "A tool whose name the API does not take stands under any legal name of its own.",
        Evidence.CLIENT, "anthropic SDK and framework code; one-to-one is checked",
    ),
    AllowedDifference(
        "legal-call-ids", "An id may be rewritten, alike in call and result: it links the two and means nothing else.",
        _ISSUE, "anthropic.md §5: tool_use.id: String should match pattern",
    ),
    AllowedDifference(
        "tool-order", "Tools may stand in another order (sorted for a stable cache prefix).",
        _DOC, "anthropic.md §7: the order of tools is part of the prefix",
    ),
    AllowedDifference(
        "empty-schema-filled", "A tool without parameters is sent with an empty object schema.",
        Evidence.CLIENT, "anthropic SDK: input_schema is required and has type object",
    ),
    AllowedDifference(
        "old-thinking", "Thinking of turns before the last user text may be left out.",
        _DOC, "anthropic.md §5: only the running tool loop demands it",
    ),
    AllowedDifference(
        "foreign-thinking", "Thinking unsigned, or of another model or API, is left out or sent as tagged text.",
        _ISSUE, "anthropic.md §5: changed or foreign signature is refused",
    ),
    AllowedDifference(
        "thinking-off", "While thinking is off, thinking need not be sent back.",
        _REC, "anthropic.md §6, §8.4",
    ),
    AllowedDifference(
        "foreign-opaque", "Blocks of another API are left out.", _DOC, "a block goes back only to its own API",
    ),
    AllowedDifference(
        "foreign-code-as-text", "Code that another API executed and its output are sent as text.",
        _DOC, "anthropic.md §1: this API has blocks for its own runs only",
    ),
    AllowedDifference(
        "result-as-json-text", "A JSON value as a tool's result is sent as JSON text; an empty one may be left out.",
        _REC, "anthropic.md §6: tool_result content is a string or a list of blocks, or absent",
    ),
    AllowedDifference(
        "cache-marks", "Breakpoints are no content.", _DOC, "anthropic.md §7",
    ),
    AllowedDifference(
        "repaired-dangling-call",
        "A held call without a result is left out or answered with an error; a result without a call is left out.",
        _REC, "anthropic.md §5: tool_use ids were found without tool_result blocks",
    ),
    AllowedDifference(
        "abandoned-service-call",
        "A call of the service's own that nothing came of may be left out once the user goes on.",
        _ISSUE, "anthropic.md §5: web_search tool use was found without a corresponding web_search_tool_result block",
    ),
    AllowedDifference(
        "system-in-conversation",
        "An instruction in mid-conversation is sent with role system, in the system field, or as tagged user text.",
        _ISSUE, "anthropic.md §5: role 'system' is not supported on older models",
    ),
    AllowedDifference(
        "dated-model", "A model may be asked by its alias or its dated id.", _REC, "anthropic.md §1",
    ),
)  # fmt: skip
