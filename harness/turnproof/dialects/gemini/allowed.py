"""The differences between what a session holds and what goes over this wire that are right, with their evidence."""

from __future__ import annotations

from ..base import AllowedDifference, Evidence

_REC, _DOC, _ISSUE, _SDK = Evidence.RECORDED, Evidence.DOCUMENTED, Evidence.ISSUE, Evidence.CLIENT

ALLOWED: tuple[AllowedDifference, ...] = (
    AllowedDifference(
        "merged-roles", "Neighbouring contents of one role may be sent as one: the service merges them itself.",
        _REC, "gemini.md §6: accepted 89 times for user, several times for model",
    ),
    AllowedDifference(
        "results-first", "Function responses stand in front of what the user says in the same turn.",
        _REC, "gemini.md §6: function responses mixed with text in one content",
    ),
    AllowedDifference(
        "joined-text", "Neighbouring texts of one turn may be joined, with white space between them, or split.",
        _REC, "gemini.md §3: a stream brings a text in chunks; google-genai 3.4 chats.py sends them back apart",
    ),
    AllowedDifference(
        "blank-text", "Empty and blank texts may be left out, or sent.",
        _REC, "gemini.md §6: empty text parts are accepted, of the user and of the model",
    ),
    AllowedDifference(
        "legal-tool-names", "A tool whose name the API does not take stands under any legal name of its own.",
        _SDK, "google-genai 3.4 types.py FunctionDeclaration.name; one-to-one is checked",
    ),
    AllowedDifference(
        "absent-call-ids", "Calls and responses may go without ids: place and count pair them.",
        _REC, "gemini.md §3 (ids by model), §6: pairing is by position and count on models without ids",
    ),
    AllowedDifference(
        "made-up-call-ids", "An id of the client's own may be sent, alike in call and response.",
        _REC, "gemini.md §3: accepted 232 times",
    ),
    AllowedDifference(
        "tool-order", "Tools may stand in another order (sorted for a stable cache prefix).",
        _DOC, "gemini.md §7: put the stable part first",
    ),
    AllowedDifference(
        "empty-schema-filled", "A tool without parameters is sent without a schema, or with an empty object schema.",
        _SDK, "google-genai 3.4 types.py FunctionDeclaration.parameters: can be left unset",
    ),
    AllowedDifference(
        "openapi-schema", "A schema is sent in the API's own spelling: `parameters` with types in either case.",
        _REC, "gemini.md §1; `parameters` in 50 and `parametersJsonSchema` in 71 recorded declarations",
    ),
    AllowedDifference(
        "thinking-left-out", "Thoughts, as far as they are text, need not be sent back.",
        _DOC, "gemini.md §5: what must come back is the signature, which stands on calls and texts",
    ),
    AllowedDifference(
        "thinking-in-pieces", "Thoughts may be sent in the pieces in which a stream brought them.",
        _SDK, "google-genai 3.4 chats.py: each chunk's content is kept",
    ),
    AllowedDifference(
        "foreign-thinking", "Thinking of another API is left out or sent as tagged text.",
        _DOC, "gemini.md §5: a signature means something to the model that issued it",
    ),
    AllowedDifference(
        "text-signatures", "The signature of a text may be left out, or stand on another text.",
        _DOC, "gemini.md §5: text-part signatures are never checked",
    ),
    AllowedDifference(
        "old-call-signatures", "Signatures of calls before the last words of the user may be left out.",
        _DOC, "gemini.md §5: checked for the current turn only",
    ),
    AllowedDifference(
        "unchecked-call-signatures", "Models before Gemini 3 go on without the signatures that they gave.",
        _DOC, "gemini.md §5: Gemini 2.5 never checked, quality only",
    ),
    AllowedDifference(
        "signature-alphabet", "Signatures may be sent in the url-safe alphabet.",
        _REC, "gemini.md §5: the server writes standard base64, the Python SDK sends the other",
    ),
    AllowedDifference(
        "sentinel-signatures", "A call without a signature of this model may carry a stand-in that the API accepts.",
        _REC, "gemini.md §5: skip_thought_signature_validator seen 19 times, accepted",
    ),
    AllowedDifference(
        "foreign-opaque", "Blocks of another API are left out.", _DOC, "a block goes back only to its own API",
    ),
    AllowedDifference(
        "foreign-code-as-text", "Code that another API executed and its output are sent as text.",
        _DOC, "gemini.md §1: executableCode is what this API ran",
    ),
    AllowedDifference(
        "result-in-an-object", "A result that is no object stands under a member of one; an object may, too.",
        _SDK, "google-genai 3.4 types.py FunctionResponse.response: use output and error, else all of it is output",
    ),
    AllowedDifference(
        "attachments-beside-results", "Images and documents of a result may stand beside the response, in its content.",
        _REC, "gemini.md §6: function responses mixed with inlineData in one content",
    ),
    AllowedDifference(
        "served-by-managed-cache", "What a named cache holds (system text, tools, contents) is not sent again.",
        _REC, "gemini.md §7; ruby_llm cachedcontent_explicit_caching_round-trip",
    ),
    AllowedDifference(
        "cache-marks", "Breakpoints are no content: this API has none.", _DOC, "gemini.md §7",
    ),
    AllowedDifference(
        "repaired-dangling-call",
        "A held call without a result is left out or answered with an error; a result without a call is left out.",
        _ISSUE, "gemini.md §6: counts of calls and responses must agree",
    ),
    AllowedDifference(
        "system-in-conversation",
        "An instruction in mid-conversation is sent in the system field, or as tagged user text.",
        _DOC, "gemini.md §1: roles are user and model only",
    ),
    AllowedDifference(
        "model-alias", "A model may be asked by its alias, its full name, or the id that it answers with.",
        _REC, "llm-gemini resolved_model: gemini-flash-latest",
    ),
)  # fmt: skip
