"""pydantic-ai's model classes, a control of the suites that is not ours: they do the wire work, this translates."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from typing import Any

from anthropic import AsyncAnthropic
from pydantic_ai import exceptions, models, tools
from pydantic_ai import messages as theirs
from pydantic_ai.models.anthropic import AnthropicModel
from pydantic_ai.providers.anthropic import AnthropicProvider

from turnproof import cancel, errors, provider
from turnproof import messages as ours

FINISH = {"tool_call": "tool_use", "length": "max_tokens", "content_filter": "refusal", "pause_turn": "paused"}
ERRORS: dict[Any, type[errors.ProviderError]] = {  # the first that fits
    exceptions.ModelRateLimitError: errors.RateLimitError,
    exceptions.ModelAuthenticationError: errors.AuthenticationError,
    exceptions.ModelContextWindowExceededError: errors.ContextLimitError,
    (exceptions.ModelUnavailableError, exceptions.ModelServerError): errors.OverloadedError,
    exceptions.ModelHTTPError: errors.InvalidRequestError,
    exceptions.ModelAPIError: errors.TransportError,
}


class PydanticAI:
    def __init__(self, endpoint: provider.Endpoint) -> None:
        settings: Any = {key: endpoint.options[key] for key in ("max_tokens", "timeout") if key in endpoint.options}
        if thinking := endpoint.options.get("thinking"):
            settings["anthropic_thinking"] = {"type": "enabled", **thinking}
        # Without the SDK's retries, as wherever something above the model retries: one call is one request.
        client = AsyncAnthropic(base_url=endpoint.base_url, api_key=endpoint.api_key, max_retries=0)
        self._model = AnthropicModel(endpoint.model, provider=AnthropicProvider(anthropic_client=client), settings=settings)

    async def complete(
        self, messages: Sequence[ours.Message], system: Any = None, declared: Any = None, **options: Any
    ) -> ours.ProviderResponse:
        token = options["cancel_token"] or cancel.CancelToken()
        token.raise_if_cancelled()
        loop, task, stream = asyncio.get_running_loop(), asyncio.current_task(), None
        forget = token.on_cancel(lambda: loop.call_soon_threadsafe(task.cancel))
        request = [message(item) for item in messages], None, parameters(system, declared)
        try:
            if not options["on_chunk"]:
                return response(await self._model.request(*request))
            async with self._model.request_stream(*request) as stream:
                async for event in stream:
                    for listener, news in heard(event, stream):
                        if news and options[listener]:
                            options[listener](news)
            return response(stream.get())
        except asyncio.CancelledError:
            if not token.is_cancelled:
                raise
            return response(stream.get() if stream else theirs.ModelResponse([]), cancelled=True)
        except exceptions.ModelAPIError as error:
            kind = next(kind for known, kind in ERRORS.items() if isinstance(error, known))
            typed = kind(str(error), status=getattr(error, "status_code", None), kind=error.provider_error_type)
            typed.retry_after = error.retry_after
            raise typed from error
        finally:
            forget()

    async def shutdown(self) -> None:
        await self._model.client.close()


def heard(event: Any, stream: models.StreamedResponse) -> Iterator[tuple[str, Any]]:
    yield "on_usage_update", tokens(stream.usage)
    match event:
        case theirs.PartStartEvent(_, theirs.TextPart(text)) | theirs.PartDeltaEvent(_, theirs.TextPartDelta(text)):
            yield "on_chunk", text
        case theirs.PartStartEvent(_, theirs.ThinkingPart(text)) | theirs.PartDeltaEvent(_, theirs.ThinkingPartDelta(text)):
            yield "on_thinking", text
        case theirs.PartEndEvent(_, theirs.ToolCallPart() as part) if stream.finish_reason != "length":
            yield "on_function_call", call(part)


def request(system, declared):
    return models.ModelRequestParameters(
        function_tools=[tools.ToolDefinition(t.name, ours.thaw(t.parameters), t.description) for t in declared or ()],
        instruction_parts=[theirs.InstructionPart(getattr(system, "text", system))] if system else None,
    )


def message(item: ours.Message) -> theirs.ModelMessage:
    parts = [part(piece) for piece in item.parts]
    if item.role == "model":
        return theirs.ModelResponse(parts, provider_name="anthropic")
    return theirs.ModelRequest(parts if item.role == "tool" else [theirs.UserPromptPart(parts)])


def part(piece: ours.Part) -> Any:
    match piece:
        case ours.Text(text):
            return theirs.TextPart(text)  # TextContent for user
        case ours.Thought(text, provider_data=data):
            return theirs.ThinkingPart(text, **(data.data if data else {}), provider_name="anthropic")
        case ours.FunctionCall(call_id, name, args):
            return theirs.ToolCallPart(name, ours.thaw(args), call_id)
        case ours.ToolResult(call_id, name, result, failed, files):
            content = [ours.thaw(result), *map(part, files)]
            return theirs.ToolReturnPart(name, content, call_id, outcome="failed" if failed else "success")
        case ours.InlineData(kind, data):
            return theirs.BinaryContent(data, media_type=kind)
        case ours.FileRef(kind, uri):
            return (theirs.ImageUrl if kind.startswith("image/") else theirs.DocumentUrl)(uri, media_type=kind)
    raise errors.InvalidRequestError(f"pydantic-ai has no part for {type(piece).__name__}")


def response(answer: theirs.ModelResponse, cancelled: bool = False) -> ours.ProviderResponse:
    parts: list[ours.Part] = []
    for part in answer.parts:
        match part:
            case theirs.TextPart(text) if text:
                parts.append(ours.Text(text))
            case theirs.ThinkingPart(text, signature=signature) if signature or not cancelled:
                data = ours.ProviderData("anthropic-messages", answer.model_name or "", {"id": part.id, "signature": signature})
                parts.append(ours.Thought(text, provider_data=data))
            case theirs.ToolCallPart() if not cancelled and not (answer.finish_reason == "length" and part is answer.parts[-1]):
                parts.append(call(part))
    raw = (answer.provider_details or {}).get("finish_reason")
    word = "cancelled" if cancelled else raw if raw in FINISH else answer.finish_reason or "unknown"
    return ours.ProviderResponse(tuple(parts), tokens(answer.usage), ours.FinishReason(FINISH.get(word, word)), raw)


def call(part: theirs.ToolCallPart) -> ours.FunctionCall:
    args = part.args_as_dict()
    if theirs.INVALID_JSON_KEY in args:
        raise errors.TransportError(f"malformed arguments for {part.tool_name!r}: {args!r}")
    return ours.FunctionCall(part.tool_call_id, part.tool_name, args)


def tokens(usage: Any) -> ours.TokenUsage:
    counts = usage.input_tokens, usage.output_tokens, usage.total_tokens
    return ours.TokenUsage(*counts, usage.cache_read_tokens, usage.cache_write_tokens, usage.output_reasoning_tokens)


BINDING = provider.Binding(
    name="pydantic-ai",
    dialect="anthropic-messages",
    model="claude-sonnet-4-5",
    capabilities=provider.Capabilities(),
    open_stateless=PydanticAI,
    package="pydantic-ai-slim",
)
