"""pydantic-ai's `Agent` as source, for `turnproof reproduce`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from turnproof.messages import thaw
from turnproof.reproducer import LibrarySession, SessionCode

from .agent_source import tool_rows
from .pydantic_ai_calls import model_settings

HELD = (
    "[''.join(one.content for one in message.parts if isinstance(one, m.TextPart | m.UserPromptPart))"
    " for message in history]"
)
_RETURNING = ("        return run(name, arguments)",)
_FAILING = (
    "        try:",
    "            return run(name, arguments)",
    "        except Exception as error:",
    "            raise ModelRetry(str(error)) from error",
)
_HANDLER = (
    "async def handler(_, events):",
    "    async for event in events:",
    "        match event:",
    "            case m.PartStartEvent(part=m.TextPart(content=piece)) if piece:",
    "                show(piece)",
    "            case m.PartDeltaEvent(delta=m.TextPartDelta(content_delta=piece)) if piece:",
    "                show(piece)",
)


class PydanticAIAgentCode:
    """A `SessionReproducer` for the agent with a model class.

    api: the API of the model class, as its modules are named: `anthropic`, or `openai` for that of Responses.
    settings: further settings of the model class.
    """

    def __init__(self, api: str, settings: Mapping[str, Any] | None = None) -> None:
        self._class = "AnthropicModel" if api == "anthropic" else "OpenAIResponsesModel"
        self._provider = "AnthropicProvider" if api == "anthropic" else "OpenAIProvider"
        self._api = api
        self._settings = settings
        self.packages: Sequence[str] = (f"pydantic-ai-slim[{api}]", api)

    def code(self, session: LibrarySession) -> SessionCode:
        """The source of a conversation."""
        names = ["Agent", *(["CancellationToken", "exceptions"] if session.cancelled else [])]
        names += ["ModelRetry", "Tool"] if session.tools else []
        imports = [f"from pydantic_ai import {', '.join(names)}"]
        imports += ["from pydantic_ai import messages as m"] if session.streamed or session.held else []
        imports += [
            f"from pydantic_ai.models.{self._api} import {self._class}",
            f"from pydantic_ai.providers.{self._api} import {self._provider}",
        ]
        return SessionCode(imports, list(self._opening(session)), list(_turn(session)), "token.cancel()", HELD)

    def _opening(self, session: LibrarySession) -> Iterator[str]:
        options = {name: thaw(value) for name, value in session.options.items()}
        settings = (
            model_settings(options) if self._settings is None else {"max_retries": 0, **options, **self._settings}
        )
        yield f"provider = {self._provider}(base_url=url, api_key='key')"
        yield f"model = {self._class}({session.model!r}, provider=provider, settings={settings!r})"
        tools = ""
        if session.tools:
            yield "def tool(name, about, schema):"
            yield "    def call(**arguments):"
            yield from _FAILING if session.failing else _RETURNING
            yield "    return Tool.from_schema(call, name, about, schema)"
            tools = f", tools=[tool(*one) for one in {tool_rows(session)}]"
        yield from _HANDLER if session.streamed else ()
        yield f"agent, history = Agent(model, instructions={session.system!r}, retries=5{tools}), []"


def _turn(session: LibrarySession) -> Iterator[str]:
    handler = ", event_stream_handler=handler" if session.streamed else ""
    if not session.cancelled:
        yield f"result = await agent.run(text, message_history=history{handler})"
    else:
        yield "token = CancellationToken()"
        yield "try:"
        yield f"    result = await agent.run(text, message_history=history, cancellation_token=token{handler})"
        yield "except exceptions.RunCancelled as stopped:"
        yield "    history = list(stopped.all_messages())"
        yield "    raise"
    yield "history, reply = list(result.all_messages()), result.output"
