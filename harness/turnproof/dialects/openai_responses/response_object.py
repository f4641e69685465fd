"""The object that a response is: what was asked, as the service understood it, around what was answered.

Members and their order are those of a recorded response (PA test_openai_responses_phase_streamed_on_part_start); what
it says of money, penalties and moderation is that of recordings of 2026, and so is that a function is strict unless
the request says otherwise.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ...messages import JSON, Thought
from ..base import PromptUsage, Reply
from .surface_table import SURFACE_TABLE
from .surfaces import STATELESS, Item, ResponsesCall

_REASONING: Mapping[str, JSON] = {"effort": None, "summary": None}
_DEFAULTS: Mapping[str, JSON] = {
    "background": False,
    "frequency_penalty": 0.0,
    "instructions": None,
    "max_output_tokens": None,
    "max_tool_calls": None,
    "metadata": {},
    "moderation": None,
    "parallel_tool_calls": True,
    "presence_penalty": 0.0,
    "previous_response_id": None,
    "prompt_cache_key": None,
    "prompt_cache_retention": "in_memory",
    "reasoning": dict(_REASONING),
    "safety_identifier": None,
    "service_tier": "default",
    "store": True,
    "temperature": 1.0,
    "text": {"format": {"type": "text"}, "verbosity": "medium"},
    "tool_choice": "auto",
    "tools": [],
    "top_logprobs": 0,
    "top_p": 1.0,
    "truncation": "disabled",
    "user": None,
}
_SAFE = {"filtered": False, "severity": "safe"}
_FILTERS: JSON = [
    {
        "blocked": False,
        "source_type": source,
        "content_filter_results": {name: dict(_SAFE) for name in ("hate", "self_harm", "sexual", "violence")},
    }
    for source in ("prompt", "completion")
]
"""What Azure says of prompt and answer (Azure/azure-rest-api-specs#42141, sample response)."""
_ERRORS: Mapping[str, str] = {"failed": "The server had an error while processing your request. Sorry about that!"}


def usage_of(reply: Reply, prompt: PromptUsage) -> dict[str, Any]:
    """The figures of a response: what was cached, read or written, is part of the input, reasoning of the output."""
    figures = reply.usage
    cached = figures.get("cache_read", prompt.cache_read)
    written = figures.get("cache_write", prompt.cache_write_5m + prompt.cache_write_1h)
    fresh = figures.get("fresh", prompt.fresh)
    thought = sum(part.tokens for part in reply.parts if isinstance(part.part, Thought))
    output = figures.get("output", sum(part.tokens for part in reply.parts))
    whole = fresh + cached + written
    return {
        "input_tokens": whole,
        "input_tokens_details": {"cache_write_tokens": written, "cached_tokens": cached},
        "output_tokens": output,
        "output_tokens_details": {"reasoning_tokens": figures.get("thinking", min(thought, output))},
        "total_tokens": whole + output,
    }


def response(
    call: ResponsesCall,
    name: str,
    model: str,
    *,
    created: int,
    status: str,
    output: Sequence[Item] = (),
    reason: str | None = None,
    usage: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """One response under its id, at any stage of its life. Settings stand as they were asked, else by default."""
    body = call.body or {}
    settings = {key: body.get(key) if body.get(key) is not None else default for key, default in _DEFAULTS.items()}
    settings["reasoning"] = {**_REASONING, **(body.get("reasoning") or {})}
    settings["tools"] = [_tool(each) for each in body.get("tools") or ()]
    if call.conversation is not None:
        settings["conversation"] = {"id": call.conversation}
    filters = {"content_filters": _FILTERS} if SURFACE_TABLE[call.surface].filters and usage is not None else {}
    if call.surface in STATELESS:
        settings["store"] = False
    error = {"code": "server_error", "message": _ERRORS[status]} if status in _ERRORS else None
    return {
        "id": name,
        "object": "response",
        "created_at": created,
        "status": status,
        "billing": {"payer": "developer"},
        "completed_at": created if status == "completed" else None,
        "error": error,
        "incomplete_details": {"reason": reason} if reason is not None else None,
        "model": model,
        "output": list(output),
        "usage": usage,
        **filters,
    } | settings


def _tool(tool: Any) -> Any:
    """A tool as the service understood it."""
    is_function = isinstance(tool, dict) and tool.get("type") == "function"
    return {**tool, "strict": True} if is_function and tool.get("strict") is None else tool
