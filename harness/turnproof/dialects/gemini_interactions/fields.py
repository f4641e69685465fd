"""Names that the API knows, as data: fields of a request, types of steps, words of settings (google-genai 3.6)."""

from __future__ import annotations

from collections.abc import Mapping


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


BODY = _words(
    """
    agent agent_config background cached_content continuation_token environment generation_config input labels model
    previous_interaction_id response_format response_mime_type response_modalities safety_settings service_tier store
    stream system_instruction tools webhook_config
    """
)

GENERATION_CONFIG = _words(
    """
    image_config max_output_tokens seed speech_config stop_sequences temperature thinking_level thinking_summaries
    tool_choice top_p transcription_config video_config
    """
)

STEPS = _words(
    """
    code_execution_call code_execution_result file_search_call file_search_result function_call function_result
    google_maps_call google_maps_result google_search_call google_search_result mcp_server_tool_call
    mcp_server_tool_result model_output processing_call processing_result retrieval_call retrieval_result thought
    tool_search_call tool_search_result url_context_call url_context_result user_input
    """
)

CHOICES: Mapping[str, tuple[str, ...]] = {
    "thinking_level": ("minimal", "low", "medium", "high"),
    "thinking_summaries": ("auto", "none"),
    "tool_choice": ("auto", "any", "none", "validated"),
}
"""Words that a setting of `generation_config` may be, where it is a word."""
