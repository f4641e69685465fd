"""Names of fields that some dialect has facts on: a request is refused for no other.

A service refuses a field that it does not have. Which fields it has is known up to the day of each dialect's list,
and a name that stands in no list at all may be newer than all of them: it is logged, and accuses nobody. A name that
stands in another API's list, or that answers carry, is one that clients send by mistake.
"""

from __future__ import annotations

from dataclasses import replace

from .base import Refusal


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


FIELD_NAMES = _words(
    """
    $anchor $comment $defs $dynamicAnchor $dynamicRef $id $ref $schema $vocabulary access_programs
    additional_properties additionalItems additionalProperties allOf allowed_callers allowed_function_names
    allowedFunctionNames annotations anthropic_beta anthropic_version any_of anyOf args arguments async audio
    audio_metadata audio_timestamp audio_transcription audio_transcription_config audioMetadata audioTimestamp
    audioTranscription audioTranscriptionConfig automatic_continuation automaticContinuation background
    background_options behavior billing_policy block_binding budget_tokens cache_control cached_content
    cachedContent call_id caller candidate_count candidateCount chat_template_kwargs citations clear_at
    client_metadata code code_execution code_execution_result codeExecution codeExecutionResult compaction
    computer_use computerUse const container contains content contentEncoding contentMediaType contents
    contentSchema context context_management continuation_token continuationToken conversation create_time
    createTime custom data data_sources default defer_loading definitions defs dependencies dependentRequired
    dependentSchemas deprecated description detail diagnostics disable_parallel_tool_use discriminator display
    display_name displayName document_metadata documentMetadata eager_input_streaming effort else
    enable_affective_dialog enable_enhanced_civic_answers enable_thinking enableAffectiveDialog
    enabled_credit_types enabledCreditTypes enableEnhancedCivicAnswers encrypted_content encryption_spec
    encryptionSpec enterprise_web_search enterpriseWebSearch enum exa_ai_search exaAiSearch example examples
    exclusiveMaximum exclusiveMinimum executable_code executableCode expire_time expireTime extra_body
    extra_headers fallback_credit_token fallbacks file file_data file_id file_search file_uri file_url fileData
    filename fileSearch fileUri finish_reason format frequency_penalty frequencyPenalty function function_call
    function_calling_config function_declarations function_response functionCall functionCallingConfig
    functionDeclarations functionResponse functions generate_content_request generateContentRequest
    generation_config generation_output_config generationConfig generationOutputConfig google_maps google_search
    google_search_retrieval googleMaps googleSearch googleSearchRetrieval id if image image_config image_url
    imageConfig include include_server_side_tool_invocations include_thoughts includeServerSideToolInvocations
    includeThoughts index inference_geo inline_data inlineData input input_audio input_examples input_schema
    instances instructions is_error items json_schema keep_alive kms_key_name kmsKeyName labels language
    logit_bias logprobs max_completion_tokens max_items max_length max_output_tokens max_properties max_tokens
    max_tool_calls maxContains maximum maxItems maxLength maxOutputTokens maxProperties mcp_servers mcpServers
    media_processing media_resolution media_type mediaProcessing mediaResolution messages metadata mime_type
    mimeType min_items min_length min_p min_properties minContains minimum minItems minLength minProperties
    modalities mode model model_armor_config model_config model_selection_config modelArmorConfig modelConfig
    modelSelectionConfig moderation multipleOf n name namespace not nullable num_ctx num_predict oneOf outcome
    output output_config output_format parallel_ai_search parallel_tool_calls parallelAiSearch parameters
    parameters_json_schema parametersJsonSchema parsed parsed_arguments parsed_output part_metadata partial_args
    partialArgs partMetadata parts pattern patternProperties personality phase prediction prefixItems
    presence_penalty presencePenalty previous_response_id project prompt prompt_cache_breakpoint
    prompt_cache_key prompt_cache_options prompt_cache_retention properties property_ordering propertyNames
    propertyOrdering quality raw readOnly reasoning reasoning_content reasoning_effort ref refusal
    repetition_penalty request request_id request_type requestId requestType required response response_format
    response_json_schema response_logprobs response_mime_type response_modalities response_schema responseFormat
    responseJsonSchema responseLogprobs responseMimeType responseModalities responseSchema retrieval
    retrieval_config retrievalConfig role routing_config routingConfig safety_identifier safety_settings
    safetySettings scheduling schema seed service_tier serviceTier session_id sessionId signature source
    speech_config speech_metadata speechConfig speechMetadata speed spreadsheet_metadata spreadsheetMetadata
    status stop stop_reason stop_sequence stop_sequences stopSequences store stream
    stream_function_call_arguments stream_options streamFunctionCallArguments strict summary system
    system_instruction systemInstruction task_budget temperature text then thinking thinking_budget
    thinking_config thinking_level thinkingBudget thinkingConfig thinkingLevel thought thought_signature
    thoughtSignature thread title tool_call tool_choice tool_config tool_response tool_use_id toolCall
    toolConfig toolResponse tools toolset_name top_a top_k top_logprobs top_p topK topP transformations
    translation_config translationConfig truncation ttl type unevaluatedItems unevaluatedProperties uniqueItems
    update_time updateTime url url_context urlContext usage_metadata usageMetadata user user_agent user_id
    user_profile_id user_prompt_id userAgent userPromptId verbosity video_metadata videoMetadata
    web_search_options will_continue willContinue writeOnly xml
    """
)
"""Fields of the bodies, messages, blocks and tools of all dialects; keywords of JSON Schema; fields of servers that run
models locally; and fields of answers that clients send back. A test holds it against the dialects' lists."""


def is_listed(name: str) -> bool:
    """Whether any list has the name."""
    return name in FIELD_NAMES


def logged_if_unlisted(refusal: Refusal, name: str) -> Refusal:
    """The refusal of a field, only logged where no list has its name."""
    return refusal if is_listed(name) else replace(refusal, unlisted=True)
