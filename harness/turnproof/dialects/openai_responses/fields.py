"""Names that the API knows, as data: body fields, item fields, what they must hold.

Read from the parameter types of the `openai` package 3.54. An unknown field of the body, of a call, an output or a
reasoning item is refused (`Unknown parameter`); items of other types are not judged.
"""

from __future__ import annotations

from collections.abc import Mapping


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


COUNT_BODY = _words(
    """
    conversation input instructions model parallel_tool_calls personality previous_response_id reasoning text
    tool_choice tools truncation
    """
)

COMPACT_BODY = _words(
    """
    image input instructions model previous_response_id prompt_cache_key prompt_cache_options prompt_cache_retention
    service_tier
    """
)

BODY = (COUNT_BODY - {"personality"}) | _words(
    """
    access_programs background background_options client_metadata context_management image include max_output_tokens
    max_tool_calls metadata moderation prompt prompt_cache_key prompt_cache_options prompt_cache_retention
    safety_identifier service_tier store stream stream_options temperature top_logprobs top_p user
    """
)
"""`client_metadata` is none of the client's parameters; the Codex CLI sends it (`agent-clis.md` §4.2)."""

ON_SOCKETS = _words("generate stream_id type")
"""What a message on a WebSocket has as well (openai 3.57, `ResponseCreate` of the client's events)."""

OF_HTTP = ("stream", "stream_options", "background")
"""What belongs to HTTP, and not into a message on a WebSocket."""

MOVED: Mapping[str, str] = {
    "messages": "input",
    "max_tokens": "max_output_tokens",
    "max_completion_tokens": "max_output_tokens",
    "reasoning_effort": "reasoning.effort",
    "response_format": "text.format",
}
"""Fields of chat completions, and where the service says that they have gone."""

ITEMS: Mapping[str, frozenset[str]] = {
    "function_call": _words("type id call_id name arguments status caller namespace async"),
    "function_call_output": _words("type id call_id output status caller name namespace"),
    "reasoning": _words("type id summary content encrypted_content status"),
}

REQUIRED: Mapping[str, tuple[str, ...]] = {
    "message": ("content",),
    "function_call": ("call_id", "name", "arguments"),
    "function_call_output": ("call_id", "output"),
    "reasoning": ("summary",),
}
"""The id of a reasoning item is required by the types, and not by the service (dotnet/extensions#7629)."""

BLOCKS: Mapping[str, frozenset[str]] = {
    "input_text": _words("type text prompt_cache_breakpoint"),
    "input_image": _words("type detail file_id image_url prompt_cache_breakpoint"),
    "input_file": _words("type detail file_data file_id file_url filename prompt_cache_breakpoint"),
    "output_text": _words("type text annotations logprobs"),
    "refusal": _words("type refusal"),
}
"""Members of the blocks of a message or an output, by their type. Other types are not judged."""

PREFIXES: Mapping[str, str] = {"reasoning": "rs", "function_call": "fc", "message": "msg"}

ROLES = ("assistant", "system", "developer", "user")
FROM_ASSISTANT = ("output_text", "refusal")
IN_OUTPUT = ("input_text", "input_image", "input_file", "scoped_content")
LEAST_OUTPUT = 16
MOST_CALL_ID = 64


def value_list(values: tuple[str, ...]) -> str:
    """Values as the service lists them in a sentence."""
    quoted = [f"'{value}'" for value in values]
    return " and ".join(quoted) if len(quoted) == 2 else f"{', '.join(quoted[:-1])}, and {quoted[-1]}"
