"""The differences between what a session holds and what goes over this wire that are right, with their evidence."""

from __future__ import annotations

from ..base import AllowedDifference, Evidence

_DOC, _ISSUE, _SDK, _REC = Evidence.DOCUMENTED, Evidence.ISSUE, Evidence.CLIENT, Evidence.RECORDED

ALLOWED: tuple[AllowedDifference, ...] = (
    AllowedDifference(
        "merged-roles", "Neighbouring messages of one role may be sent as one step, or each in its own.",
        _SDK, "google-genai 3.6 InteractionsInput: a list of steps, each with a list of contents",
    ),
    AllowedDifference(
        "results-first", "Results stand in front of what the user says in the same turn.",
        _SDK, "google-genai 3.6: results are steps of their own",
    ),
    AllowedDifference(
        "joined-text", "Neighbouring texts of one turn may be joined, with white space between them, or split.",
        _SDK, "google-genai 3.6 UserInputStep.content: a list",
    ),
    AllowedDifference(
        "blank-text", "Empty and blank texts may be left out.", _SDK, "google-genai 3.6: content may be left out",
    ),
    AllowedDifference(
        "legal-tool-names", "A tool whose name the models do not take stands under any legal name of its own.",
        _SDK, "google-genai 3.6 types.py FunctionDeclaration.name; one-to-one is checked",
    ),
    AllowedDifference(
        "rewritten-call-ids", "An id may be rewritten, alike in call and result: it links the two.",
        _SDK, "google-genai 3.6 FunctionResultStep.call_id: matches the id of the call",
    ),
    AllowedDifference(
        "tool-order", "Tools may stand in another order (sorted for a stable cache prefix).",
        _DOC, "ai.google.dev, caching: put the stable part first",
    ),
    AllowedDifference(
        "empty-schema-filled", "A tool without parameters is sent without a schema, or with an empty object schema.",
        _SDK, "google-genai 3.6 Function.parameters: may be left out",
    ),
    AllowedDifference(
        "old-thoughts", "Thoughts of turns before the last words of the user may be left out.",
        _DOC, "ai.google.dev, thought signatures: what is checked is the current turn",
    ),
    AllowedDifference(
        "foreign-thoughts", "Thoughts of another model or API are left out or sent as tagged text.",
        _DOC, "ai.google.dev, thought signatures: a signature is validated by the service that issued it",
    ),
    AllowedDifference(
        "summary-left-out", "A thought may be sent without its summary: what counts is signed.",
        _SDK, "google-genai 3.6 ThoughtStep.summary: may be left out",
    ),
    AllowedDifference(
        "held-by-the-service", "What a previous interaction holds is not sent again.",
        _SDK, "google-genai 3.6 CreateModelInteraction.previous_interaction_id",
    ),
    AllowedDifference(
        "foreign-opaque", "Blocks of another API are left out.", _DOC, "a block goes back only to its own API",
    ),
    AllowedDifference(
        "foreign-code-as-text", "Code that another API executed and its output are sent as text.",
        _SDK, "google-genai 3.6: code_execution_call is what this API ran",
    ),
    AllowedDifference(
        "result-as-json", "A JSON value as a tool's result is sent as JSON text, or an object as it is.",
        _SDK, "google-genai 3.6 FunctionResultStep.result: an object, a list of contents, or a text",
    ),
    AllowedDifference("cache-marks", "Breakpoints are no content.", _DOC, "caching is implicit"),
    AllowedDifference(
        "repaired-dangling-call",
        "A held call without a result is left out or answered with an error; a result without a call is left out.",
        _SDK, "google-genai 3.6 FunctionResultStep: a result names its call",
    ),
    AllowedDifference(
        "system-in-conversation",
        "An instruction in mid-conversation is sent in `system_instruction`, or as tagged user text.",
        _SDK, "google-genai 3.6 Step: no step is the system's",
    ),
    AllowedDifference(
        "model-alias", "A model may be asked by its alias or the id that it answers with.",
        _SDK, "google-genai 3.6 Model: gemini-flash-latest",
    ),
)  # fmt: skip
