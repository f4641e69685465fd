"""pydantic-ai's model classes, a control of the suites that is not ours: they do the wire work, this translates."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from typing import Any

from pydantic_ai import exceptions as failed
from pydantic_ai import messages as theirs
from pydantic_ai.models import ModelRequestParameters, StreamedResponse
from pydantic_ai.models.anthropic import AnthropicModel
from pydantic_ai.providers.anthropic import AnthropicProvider
from pydantic_ai.tools import ToolDefinition

from turnproof import errors
from turnproof import messages as ours
from turnproof.cancel import CancelToken
from turnproof.provider import Binding, Capabilities, Endpoint

OUT: dict[type, Callable[[Any], Any]] = {
    ours.Text: lambda part: part.text,
    ours.InlineData: lambda part: theirs.BinaryContent(part.data, media_type=part.mime_type),
    ours.FileRef: lambda part: theirs.ImageUrl(part.uri, media_type=part.mime_type),
    ours.Thought: lambda part: theirs.ThinkingPart(part.text, **part.provider_data.data, provider_name="anthropic"),
    ours.FunctionCall: lambda part: theirs.ToolCallPart(part.name, ours.thaw(part.args), part.id),
    ours.ToolResult: lambda part: theirs.ToolReturnPart(
        part.name,
        [ours.thaw(part.result), *(OUT[type(item)](item) for item in part.attachments)],
        part.call_id,
        outcome="failed" if part.is_error else "success",
    ),
}
FINISH = {"stop": "stop", "tool_call": "tool_use", "length": "max_tokens", "content_filter": "refusal"}
FINISH |= {"pause_turn": "paused", "model_context_window_exceeded": "context_limit"}  # only the API's own word tells
ERRORS: dict[Any, type[errors.ProviderError]] = {  # the first that fits
    failed.ModelRateLimitError: errors.RateLimitError,
    failed.ModelAuthenticationError: errors.AuthenticationError,
    failed.ModelContextWindowExceededError: errors.ContextLimitError,
    (failed.ModelUnavailableError, failed.ModelServerError): errors.OverloadedError,
    failed.ModelHTTPError: errors.InvalidRequestError,
    failed.ModelAPIError: errors.TransportError,
}


class PydanticAI:
    def __init__(self, endpoint: Endpoint) -> None:
        # Without the SDK's retries, as wherever something above the model retries: one call is one request.
        settings: Any = {"max_retries": 0, **endpoint.options}
        if thinking := settings.pop("thinking", None):
            settings["anthropic_thinking"] = {"type": "enabled", **thinking}
        wire = AnthropicProvider(base_url=endpoint.base_url, api_key=endpoint.api_key)
        self._model = AnthropicModel(endpoint.model, provider=wire, settings=settings)
        self.shutdown = wire.client.close

    async def complete(self, history: Any, system: Any, tools: Any, **options: Any) -> ours.ProviderResponse:
        token: CancelToken = options["cancel_token"] or CancelToken()
        token.raise_if_cancelled()
        loop, task, stream = asyncio.get_running_loop(), asyncio.current_task(), None
        forget = token.on_cancel(lambda: loop.call_soon_threadsafe(task.cancel))
        parameters = ModelRequestParameters(
            function_tools=[self.tool(tool) for tool in tools or ()],
            instruction_parts=[theirs.InstructionPart(getattr(system, "text", system))] if system else None,
        )
        request = [self.message(message) for message in history], None, parameters
        try:
            if not options["on_chunk"]:
                return self.response(await self._model.request(*request))
            async with self._model.request_stream(*request) as stream:
                async for event in stream:
                    for listener, news in self.news(event, stream):
                        if news and options[listener]:
                            options[listener](news)
            return self.response(stream.get())
        except asyncio.CancelledError:
            if not token.is_cancelled:
                raise
            return self.response(stream.get() if stream else theirs.ModelResponse([]), cancelled=True)
        except failed.ModelAPIError as error:
            kind = next(kind for known, kind in ERRORS.items() if isinstance(error, known))
            typed = kind(str(error), status=getattr(error, "status_code", None), kind=error.provider_error_type)
            typed.retry_after = error.retry_after
            raise typed from error
        finally:
            forget()

    def message(self, message: ours.Message) -> theirs.ModelMessage:
        parts = [OUT[type(part)](part) for part in message.parts]
        if message.role == "model":
            parts = [theirs.TextPart(part) if isinstance(part, str) else part for part in parts]
            return theirs.ModelResponse(parts, provider_name="anthropic")
        return theirs.ModelRequest(parts if message.role == "tool" else [theirs.UserPromptPart(parts)])

    def news(self, event: Any, stream: StreamedResponse) -> Iterator[tuple[str, Any]]:
        yield "on_usage_update", self.usage(stream.usage)
        match event:
            case theirs.PartEndEvent(part=theirs.ToolCallPart() as call) if stream.finish_reason != "length":
                yield "on_function_call", self.part(call)
            case theirs.PartStartEvent(part=part) | theirs.PartDeltaEvent(delta=part):
                thinks = isinstance(part, theirs.ThinkingPart | theirs.ThinkingPartDelta)
                text = getattr(part, "content", None) or getattr(part, "content_delta", None)
                yield "on_thinking" if thinks else "on_chunk", text
