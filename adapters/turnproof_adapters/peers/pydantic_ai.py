"""pydantic-ai's model classes, a control of the suites that is not ours: they do the wire work, this translates."""

from __future__ import annotations

from typing import Any

from pydantic_ai import exceptions, models, tools, usage
from pydantic_ai import messages as m
from pydantic_ai.models.anthropic import AnthropicModel
from pydantic_ai.providers.anthropic import AnthropicProvider

from turnproof import cancel, errors, provider
from turnproof import messages as ours

from .callbacks import notify
from .pydantic_ai_calls import PydanticAICalls, model_settings

DIALECT, MODEL = "anthropic-messages", "claude-sonnet-4-6"
CLAIMS = "streaming tools parallel_tools thinking images documents result_images cancel cancel_batch typed_errors"
FINISH = {"stop": "stop", "tool_call": "tool_use", "length": "max_tokens", "content_filter": "refusal"}
FINISH |= {"pause_turn": "paused", "model_context_window_exceeded": "context_limit"}  # told by the API's own word only
ERRORS: dict[Any, type[errors.ProviderError]] = {  # the first that fits
    exceptions.ModelRateLimitError: errors.RateLimitError,
    exceptions.ModelAuthenticationError: errors.AuthenticationError,
    exceptions.ModelContextWindowExceededError: errors.ContextLimitError,
    (exceptions.ModelUnavailableError, exceptions.ModelServerError): errors.OverloadedError,
    exceptions.ModelHTTPError: errors.InvalidRequestError,
    exceptions.ModelAPIError: errors.TransportError,
}
OUTCOMES: Any = "success", "failed"
OTHER: dict[type, Any] = {  # what one side says, in the other's words
    ours.Text: lambda it: m.TextPart(it.text),
    ours.InlineData: lambda it: m.BinaryContent(it.data, media_type=it.mime_type),
    ours.FileRef: lambda it: (m.DocumentUrl, m.ImageUrl)["image/" in it.mime_type](it.uri, media_type=it.mime_type),
    ours.Thought: lambda it: thinking(it.text, it.provider_data),
    ours.FunctionCall: lambda it: m.ToolCallPart(it.name, ours.thaw(it.args), it.id),
    ours.ToolResult: lambda it: m.ToolReturnPart(
        it.name, [ours.thaw(it.result), *map(other, it.attachments)], it.call_id, outcome=OUTCOMES[it.is_error]
    ),
    ours.ToolSchema: lambda it: tools.ToolDefinition(
        name=it.name, description=it.description, parameters_json_schema=ours.thaw(it.parameters)
    ),
    m.TextPart: lambda it: ours.Text(it.content),
    m.ThinkingPart: lambda it: ours.Thought(
        it.content, provider_data=ours.ProviderData(DIALECT, MODEL, {"id": it.id, "signature": it.signature})
    ),
    m.ToolCallPart: lambda it: ours.FunctionCall(it.tool_call_id, it.tool_name, it.args_as_dict(raise_if_invalid=True)),
    usage.RequestUsage: lambda it: ours.TokenUsage(
        it.input_tokens, it.output_tokens, it.total_tokens, it.cache_read_tokens, it.cache_write_tokens
    ),
}


def other(it: Any) -> Any:
    return OTHER[type(it)](it)


def thinking(text: str, data: ours.ProviderData | None) -> m.ThinkingPart:
    own = {"provider_name": "anthropic", **data.data} if data and data.dialect == DIALECT else {}
    return m.ThinkingPart(text, **own)


def message(one: ours.Message) -> m.ModelMessage:
    parts = [other(part) for part in one.parts]
    if one.role == "system":
        parts = [m.SystemPromptPart(part.content) for part in parts]
    if one.role == "user":
        parts = [m.UserPromptPart([getattr(part, "content", part) for part in parts])]
    return m.ModelResponse(parts, provider_name="anthropic") if one.role == "model" else m.ModelRequest(parts)


def response(answer: m.ModelResponse, cancelled: bool = False) -> ours.ProviderResponse:
    cut = cancelled or answer.finish_reason == "length"  # then without calls, and thoughts that are not signed
    parts = [part for part in answer.parts if not cut or part.part_kind == "text" or vars(part).get("signature")]
    raw = (answer.provider_details or {}).get("finish_reason") or None
    word: Any = "cancelled" if cancelled else FINISH.get(raw or "") or FINISH.get(answer.finish_reason or "", "unknown")
    return ours.ProviderResponse(tuple(map(other, parts)), other(answer.usage), word, raw, model=answer.model_name)


def news(event: Any, stream: models.StreamedResponse) -> tuple[str, Any]:
    match event:
        case m.PartStartEvent(part=part) | m.PartDeltaEvent(delta=part):
            text = getattr(part, "content", None) or getattr(part, "content_delta", None)
            return "on_thinking" if isinstance(part, m.ThinkingPart | m.ThinkingPartDelta) else "on_chunk", text
    return "on_usage_update", other(stream.usage)


def typed(error: exceptions.ModelAPIError) -> errors.ProviderError:
    kind = next(kind for known, kind in ERRORS.items() if isinstance(error, known))
    status = getattr(error, "status_code", None)
    kind = errors.TransportError if status == 408 else kind  # a time limit, which has no class of its own
    typed_error = kind(str(error), status=status, kind=error.provider_error_type)
    typed_error.retry_after = error.retry_after
    return typed_error


def open_model(endpoint: provider.Endpoint) -> tuple[AnthropicModel, Any]:
    """The model class of an endpoint, and what closes its client."""
    settings: Any = model_settings(endpoint.options)
    wire = AnthropicProvider(base_url=endpoint.base_url, api_key=endpoint.api_key)
    return AnthropicModel(endpoint.model, provider=wire, settings=settings), wire.client.close


class PydanticAI:
    def __init__(self, endpoint: provider.Endpoint) -> None:
        self._model, self.shutdown = open_model(endpoint)

    async def complete(self, history: Any, system: Any = None, offer: Any = None, **options: Any) -> Any:
        rules = [m.InstructionPart(getattr(system, "text", system))] if system else None
        extra = models.ModelRequestParameters(function_tools=list(map(other, offer or ())), instruction_parts=rules)
        request = [message(neutral_message) for neutral_message in history], None, extra
        stream: Any = None
        try:
            with (options.get("cancel_token") or cancel.CancelToken()).interrupting():
                if not options.get("on_chunk"):
                    return response(await self._model.request(*request))
                async with self._model.request_stream(*request) as stream:
                    async for event in stream:
                        listener, value = news(event, stream)
                        if value and options.get(listener):
                            options[listener](value)
                whole = response(stream.get())
                for call in whole.calls:  # a `PartEndEvent` may come while its arguments still arrive
                    notify(options, "on_function_call", call)
                return whole
            return response(stream.get() if stream else m.ModelResponse([]), cancelled=True)
        except exceptions.ModelAPIError as error:
            raise typed(error) from error
        except ValueError as error:  # arguments of a call that are not JSON
            raise errors.TransportError(str(error)) from error


claimed: Any = dict.fromkeys(CLAIMS.split(), True)
CAPABILITIES = provider.Capabilities(**claimed, pair_repair=False)
BINDING = provider.Binding(
    "pydantic-ai", DIALECT, MODEL, CAPABILITIES, PydanticAI, package="pydantic-ai-slim", reproducer=PydanticAICalls()
)
