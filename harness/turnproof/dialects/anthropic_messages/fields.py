"""Names that the API knows, as data: body fields, block fields, beta values.

Read from the parameter types of the `anthropic` package 2.12 (stable and beta together), with the older values
that recordings carry. A field in no list is refused (`Extra inputs are not permitted`); blocks of a type that is
not listed are not judged at all.
"""

from __future__ import annotations


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


DATE = "2026-11-20"
"""The day of these lists. What they lack is only logged: it may be newer."""

MESSAGE_BODY = _words(
    """
    billing_policy cache_control compaction container context_management diagnostics fallback_credit_token fallbacks
    inference_geo max_tokens mcp_servers messages metadata model output_config output_format service_tier speed
    stop_sequences stream system temperature thinking thread tool_choice tools top_k top_p user_profile_id
    """
)

COUNT_BODY = MESSAGE_BODY - _words(
    "container max_tokens metadata service_tier stop_sequences stream temperature top_k top_p"
)
"""count_tokens refuses nine fields of the message call itself (public issues)."""

REMOVED_SAMPLING = ("temperature", "top_p", "top_k")
"""Gone with API version 2026-10-21, even with their default values."""

MESSAGE = frozenset({"role", "content"})
SYSTEM_MESSAGE = MESSAGE | {"clear_at", "output_config"}

BLOCKS: dict[str, frozenset[str]] = {
    kind: _words(names)
    for kind, names in {
        "text": "type text cache_control citations",
        "image": "type source cache_control transformations",
        "document": "type source cache_control citations context title",
        "tool_use": "type id name input cache_control caller toolset_name",
        "tool_result": "type tool_use_id content is_error cache_control toolset_name",
        "thinking": "type thinking signature",
        "redacted_thinking": "type data",
    }.items()
}

REQUIRED: dict[str, tuple[str, ...]] = {
    "text": ("text",),
    "image": ("source",),
    "document": ("source",),
    "tool_use": ("id", "name", "input"),
    "tool_result": ("tool_use_id",),
    "thinking": ("thinking",),
    "redacted_thinking": ("data",),
}
"""The signature of a thinking block is judged with the other thinking rules."""

CUSTOM_TOOL = _words(
    """
    type name description input_schema cache_control allowed_callers defer_loading eager_input_streaming
    input_examples strict
    """
)

SOURCE_TAGS: dict[str, tuple[str, ...]] = {
    "image": ("base64", "url"),
    "document": ("base64", "content", "text", "url"),
}
"""Source types of API version 2023-06-01. `file` came with a beta, and is stable from 2026-10-21 on."""

SOURCES: dict[str, frozenset[str]] = {
    "base64": _words("type media_type data"),
    "content": _words("type content"),
    "text": _words("type media_type data"),
    "url": _words("type url"),
}

IMAGE_TYPES = ("image/jpeg", "image/png", "image/gif", "image/webp")

TOOL_CHOICES: dict[str, frozenset[str]] = {
    "auto": _words("type disable_parallel_tool_use"),
    "any": _words("type disable_parallel_tool_use"),
    "tool": _words("type name disable_parallel_tool_use"),
    "none": _words("type"),
}

THINKING: dict[str, frozenset[str]] = {
    "enabled": _words("type budget_tokens display block_binding"),
    "disabled": _words("type"),
    "adaptive": _words("type display block_binding"),
}
"""Members by the type of thinking. A type that stands here not is not judged."""

OBJECT_SETTINGS: dict[str, frozenset[str]] = {
    "metadata": _words("user_id"),
    "output_config": _words("effort format task_budget"),
}
"""Members of the settings that are objects of one kind."""

FILES_BETA = "files-api-2025-04-14"
LONG_CONTEXT_BETA = "context-1m-2025-08-07"

BETAS = _words(
    """
    advanced-tool-use-2025-11-20 advisor-tool-2026-03-01 agent-memory-2026-07-22 cache-diagnosis-2026-04-07
    claude-code-20250219 code-execution-2025-05-22 code-execution-2025-08-25 compact-2026-01-12 compact-2026-09-04
    computer-use-2024-10-22 computer-use-2025-01-24 computer-use-2025-11-24 context-1m-2025-08-07
    context-management-2025-06-27 dev-full-thinking-2025-05-14 effort-2025-11-24 extended-cache-ttl-2025-04-11
    fallback-credit-2026-06-01 fallback-credit-2026-07-01 fast-mode-2026-02-01 files-api-2025-04-14
    fine-grained-tool-streaming-2025-05-14 inline-tools-2026-09-15 interleaved-thinking-2025-05-14
    managed-agents-2026-04-01 max-tokens-3-5-sonnet-2024-07-15 mcp-client-2025-04-04 mcp-client-2025-11-20
    mcp-client-2026-09-15 mcp-tunnels-2026-06-22 message-batches-2024-09-24 message-threads-2026-08-12
    mid-conversation-output-config-2026-07-01 mid-conversation-system-clear-at-2026-08-21
    mid-conversation-tool-changes-2026-07-01 model-context-window-exceeded-2025-08-26 oauth-2025-04-20
    output-128k-2025-02-19 output-300k-2026-03-24 pdfs-2024-09-25 prompt-caching-2024-07-31
    prompt-caching-scope-2026-01-05 search-results-2025-06-09 server-side-fallback-2026-06-01
    server-side-fallback-2026-07-01 skills-2025-10-02 structured-outputs-2025-11-13 task-budgets-2026-03-13
    thinking-binding-controls-2026-08-01 thinking-display-updates-2026-08-18 thinking-token-count-2026-05-13
    token-counting-2024-11-01 token-efficient-tools-2025-02-19 tool-examples-2025-10-29
    tool-search-tool-2025-10-19 tools-2024-04-04 tools-2024-05-16 user-profiles-2026-03-24
    user-profiles-2026-08-18 user-profiles-2026-09-04 user-profiles-billing-2026-10-01 web-fetch-2025-09-10
    web-search-2025-03-05 ce-plugins-2026-09-01 ce-user-management-2026-07-13
    ce-claude-code-managed-settings-2026-10-06 spend-limit-reads-2026-09-26 telemetry-destinations-2026-08-11
    webhooks-2026-10-07 admin-user-sign-out-2026-10-08 analytics-usage-cost-2026-08-24
    experimental-claude-tag-2026-10-21 dreaming-2026-04-21
    """
)
