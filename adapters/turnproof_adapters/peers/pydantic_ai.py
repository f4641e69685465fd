"""pydantic-ai's model classes, a control of the suites that is not ours: they do the wire work, this translates."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

from pydantic_ai import exceptions, messages, models, tools
from pydantic_ai.models.anthropic import AnthropicModel
from pydantic_ai.providers.anthropic import AnthropicProvider

from turnproof import cancel, errors, provider
from turnproof import messages as ours

CLAIMED = "streaming tools parallel_tools thinking images documents result_images cancel cancel_batch typed_errors"
FINISH = {"tool_call": "tool_use", "length": "max_tokens", "content_filter": "refusal", None: "unknown"}
PRECISE = {"pause_turn": "paused", "model_context_window_exceeded": "context_limit"}
ERRORS: dict[Any, type[errors.ProviderError]] = {  # the first that fits
    exceptions.ModelRateLimitError: errors.RateLimitError,
    exceptions.ModelAuthenticationError: errors.AuthenticationError,
    exceptions.ModelContextWindowExceededError: errors.ContextLimitError,
    (exceptions.ModelUnavailableError, exceptions.ModelServerError): errors.OverloadedError,
    exceptions.ModelHTTPError: errors.InvalidRequestError,
    (exceptions.ModelAPIError, ValueError): errors.TransportError,  # ValueError: arguments that are not JSON
}


class PydanticAI:
    def __init__(self, endpoint: provider.Endpoint) -> None:
        # Without the SDK's retries, as wherever something above the model retries: one call is one request.
        settings: Any = {"max_retries": 0, **endpoint.options}
        if thinking := settings.pop("thinking", None):
            settings["anthropic_thinking"] = {"type": "enabled", **thinking}
        wire = AnthropicProvider(base_url=endpoint.base_url, api_key=endpoint.api_key)
        self._model = AnthropicModel(endpoint.model, provider=wire, settings=settings)
        self.shutdown = wire.client.close

    async def complete(self, history: Any, system: Any, declared: Any, **options: Any) -> ours.ProviderResponse:
        token: cancel.CancelToken = options["cancel_token"] or cancel.CancelToken()
        token.raise_if_cancelled()
        loop, task, stream = asyncio.get_running_loop(), asyncio.current_task(), None
        forget = token.on_cancel(lambda: loop.call_soon_threadsafe(task.cancel))
        parameters = models.ModelRequestParameters(
            [tools.ToolDefinition(tool.name, ours.thaw(tool.parameters), tool.description) for tool in declared or ()],
            instruction_parts=[messages.InstructionPart(getattr(system, "text", system))] if system else None,
        )
        try:
            if not options["on_chunk"]:
                return response(await self._model.request([*map(message, history)], None, parameters))
            async with self._model.request_stream([*map(message, history)], None, parameters) as stream:
                async for event in stream:
                    for listener, news in heard(event, stream):
                        if news and options[listener]:
                            options[listener](news)
            return response(stream.get())
        except asyncio.CancelledError:
            if not token.is_cancelled:
                raise
            return response(stream.get() if stream else messages.ModelResponse([]), cancelled=True)
        except (exceptions.ModelAPIError, ValueError) as error:
            known = {"status": "status_code", "kind": "provider_error_type", "retry_after": "retry_after"}
            typed = next(ours for theirs, ours in ERRORS.items() if isinstance(error, theirs))(str(error))
            vars(typed).update({name: getattr(error, theirs, None) for name, theirs in known.items()})
            raise typed from error
        finally:
            forget()


def message(item: ours.Message) -> messages.ModelMessage:
    parts = [part(piece) for piece in item.parts]
    if item.role == "model":
        return messages.ModelResponse(parts, provider_name="anthropic")
    return messages.ModelRequest(parts if item.role == "tool" else [messages.UserPromptPart(parts)])


def part(piece: Any) -> Any:
    match piece:
        case ours.Thought():
            return messages.ThinkingPart(piece.text, **piece.provider_data.data, provider_name="anthropic")
        case ours.FunctionCall():
            return messages.ToolCallPart(piece.name, ours.thaw(piece.args), piece.id)
        case ours.ToolResult():
            content = [ours.thaw(piece.result), *map(part, piece.attachments)]
            outcome: Any = "failed" if piece.is_error else "success"
            return messages.ToolReturnPart(piece.name, content, piece.call_id, outcome=outcome)
        case ours.InlineData():
            return messages.BinaryContent(piece.data, media_type=piece.mime_type)
        case ours.FileRef():
            return messages.ImageUrl(piece.uri, media_type=piece.mime_type)
    return messages.TextPart(piece.text)


def heard(event: Any, stream: models.StreamedResponse) -> Iterator[tuple[str, Any]]:
    yield "on_usage_update", response(stream.get(), cancelled=True).usage
    match event:
        case messages.PartStartEvent(_, messages.TextPart(text)) | messages.PartDeltaEvent(
            _, messages.TextPartDelta(text)
        ):
            yield "on_chunk", text
