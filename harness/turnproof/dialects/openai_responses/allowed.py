"""The differences between what a session holds and what goes over this wire that are right, with their evidence."""

from __future__ import annotations

from ..base import AllowedDifference, Evidence

_DOC, _ISSUE, _SDK, _REC = Evidence.DOCUMENTED, Evidence.ISSUE, Evidence.CLIENT, Evidence.RECORDED

ALLOWED: tuple[AllowedDifference, ...] = (
    AllowedDifference(
        "merged-roles", "Neighbouring messages of one role may be sent as one item, or each in its own.",
        _REC, "openai-chat.md §4: consecutive user messages are accepted",
    ),
    AllowedDifference(
        "results-first", "Outputs stand in front of what the user says in the same turn.",
        _SDK, "openai 3.54: outputs are items of their own",
    ),
    AllowedDifference(
        "joined-text", "Neighbouring texts of one turn may be joined, with white space between them, or split.",
        _SDK, "openai 3.54 EasyInputMessageParam: content is a string or a list",
    ),
    AllowedDifference(
        "blank-text", "Empty and blank texts may be left out.", _SDK, "openai 3.54: content may be an empty list",
    ),
    AllowedDifference(
        "legal-tool-names", "A tool whose name the API does not take stands under any legal name of its own.",
        _ISSUE, "justrach/codegraff#930; one-to-one is checked",
    ),
    AllowedDifference(
        "legal-call-ids", "An id may be rewritten, alike in call and output: it links the two and means nothing else.",
        _ISSUE, "AnswerDotAI/fastllm#45: string too long",
    ),
    AllowedDifference(
        "tool-order", "Tools may stand in another order (sorted for a stable cache prefix).",
        _DOC, "openai-chat.md §5: the start of the prompt decides about the cache",
    ),
    AllowedDifference(
        "empty-schema-filled", "A tool without parameters is sent without a schema, or with an empty object schema.",
        _SDK, "openai 3.54 FunctionToolParam.parameters: may be null",
    ),
    AllowedDifference(
        "strict-schema", "A strict tool closes its objects and requires every property; optional ones may be null.",
        _ISSUE, "lastmile-ai/openai-agents-mcp#2; openai 3.54 lib/_pydantic.py",
    ),
    AllowedDifference(
        "old-reasoning", "Reasoning of turns before the last words of the user may be left out.",
        _SDK, "openai 3.54 Reasoning.context: current_turn; input_transformations: turn_boundary",
    ),
    AllowedDifference(
        "foreign-reasoning", "Reasoning of another model or API is left out or sent as tagged text.",
        _ISSUE, "openai/codex#17541; openai 3.54 input_transformations: model_mismatch",
    ),
    AllowedDifference(
        "summary-left-out", "Reasoning may be sent without its summary: what counts is encrypted.",
        _SDK, "openai 3.54 ResponseReasoningItemParam: summary is a list, which may be empty",
    ),
    AllowedDifference(
        "reasoning-by-id", "Reasoning that the service stores may be sent by its id, without its content.",
        _SDK, "openai 3.54 ResponseReasoningItemParam.encrypted_content: optional",
    ),
    AllowedDifference(
        "item-ids", "Items may be sent with or without their ids.",
        _ISSUE, "laravel/ai#1052: call_id is what pairs; dotnet/extensions#7629",
    ),
    AllowedDifference(
        "held-by-the-service", "What a previous response holds is not sent again.",
        _SDK, "openai 3.54 response_create_params.previous_response_id",
    ),
    AllowedDifference(
        "foreign-opaque", "Blocks of another API are left out.", _DOC, "a block goes back only to its own API",
    ),
    AllowedDifference(
        "foreign-code-as-text", "Code that another API executed and its output are sent as text.",
        _SDK, "openai 3.54: this API has items for its own runs only",
    ),
    AllowedDifference(
        "result-as-json-text", "A JSON value as a tool's result is sent as JSON text.",
        _SDK, "openai 3.54 FunctionCallOutput.output: a string or a list",
    ),
    AllowedDifference(
        "errors-as-text", "The API has no mark for a failed tool: its output says so in words, or just is what it is.",
        _SDK, "openai 3.54 FunctionCallOutput",
    ),
    AllowedDifference("cache-marks", "Breakpoints are no content.", _DOC, "openai-chat.md §5: caching is implicit"),
    AllowedDifference(
        "repaired-dangling-call",
        "A held call without a result is left out or answered with an error; a result without a call is left out.",
        _ISSUE, "openai/codex#620: No tool output found for function call",
    ),
    AllowedDifference(
        "system-in-conversation",
        "Instructions stand in `instructions`, or in the conversation: as system or developer, or tagged as the user.",
        _SDK, "openai 3.54 EasyInputMessageParam.role",
    ),
    AllowedDifference(
        "dated-model", "A model may be asked by its alias or its dated id.", _REC, "PA: gpt-5-2025-08-07 answers",
    ),
)  # fmt: skip
