"""The arguments of a request, as data of November 2026 (`CompletionCreateParams` of openai 3.54)."""

from __future__ import annotations

_ARGUMENTS = """
    audio data_sources frequency_penalty function_call functions logit_bias logprobs max_completion_tokens max_tokens
    messages metadata modalities model moderation n parallel_tool_calls prediction presence_penalty prompt_cache_key
    prompt_cache_options prompt_cache_retention reasoning_effort response_format safety_identifier seed service_tier
    stop store stream stream_options temperature tool_choice tools top_logprobs top_p user verbosity web_search_options
"""
ARGUMENTS = frozenset(_ARGUMENTS.split())
"""`data_sources` is Azure's."""

CONVERSATION = frozenset({"messages", "model", "tools", "functions", "stream"})
"""What a call holds in neutral form; everything else is a setting."""

ROLES = ("system", "assistant", "user", "function", "tool", "developer")
MAXIMUM_TOOLS = 128
