"""pydantic-ai's model classes, a control of the suites that is not ours: they do the wire work, this translates."""

from __future__ import annotations

import asyncio
from typing import Any

from pydantic_ai import exceptions, messages, models, tools
from pydantic_ai.models.anthropic import AnthropicModel
from pydantic_ai.providers.anthropic import AnthropicProvider

from turnproof import cancel, errors, provider
from turnproof import messages as ours

DIALECT, MODEL = "anthropic-messages", "claude-sonnet-4-5"
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
        token, task, stream = options["cancel_token"] or cancel.CancelToken(), asyncio.current_task(), None
        token.raise_if_cancelled()
        forget = token.on_cancel(lambda: task.get_loop().call_soon_threadsafe(task.cancel))
        parameters = models.ModelRequestParameters(
            function_tools=[theirs(tool) for tool in declared or ()],
            instruction_parts=[messages.InstructionPart(getattr(system, "text", system))] if system else None,
        )
        try:
            if not options["on_chunk"]:
                return response(await self._model.request([*map(message, history)], None, parameters))
            async with self._model.request_stream([*map(message, history)], None, parameters) as stream:
                async for event in stream:
                    tell(event, stream, options)
            return response(stream.get())
        except asyncio.CancelledError:
            if not token.is_cancelled:
                raise
            return response(stream.get() if stream else messages.ModelResponse([]), cancelled=True)
        except exceptions.ModelAPIError as error:
            kind = next(kind for known, kind in ERRORS.items() if isinstance(error, known))
            typed = kind(str(error), status=getattr(error, "status_code", None), kind=error.provider_error_type)
            typed.retry_after = error.retry_after
            raise typed from error
        finally:
            forget()


def message(said: ours.Message) -> messages.ModelMessage:
    parts = [theirs(part) for part in said.parts]
    if said.role == "model":
        return messages.ModelResponse(parts, provider_name="anthropic")
    return messages.ModelRequest(parts if said.role == "tool" else [messages.UserPromptPart(parts)])


def theirs(thing: Any) -> Any:
    match thing:
        case ours.Text(text=text):
            return 
        case ours.Thought(text=text, provider_data=ours.ProviderData(data=data)):
            return messages.ThinkingPart(text, **data, provider_name="anthropic")
        case ours.FunctionCall(id=id, name=name, args=args):
            return messages.ToolCallPart(name, ours.thaw(args), id)
        case ours.ToolResult():
            content = [ours.thaw(thing.result), *map(theirs, thing.attachments)]
            outcome = "failed" if thing.is_error else "success"
            return messages.ToolReturnPart(thing.name, content, thing.call_id, outcome=outcome)
        case ours.ToolSchema():
            schema = ours.thaw(thing.parameters)
            return tools.ToolDefinition(name=thing.name, description=thing.description, parameters_json_schema=schema)
        case ours.InlineData():
            return messages.BinaryContent(thing.data, media_type=thing.mime_type)
        case ours.FileRef():
            return messages.ImageUrl(thing.uri, media_type=thing.mime_type)
