"""strands' `Agent` as source, for `turnproof reproduce`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from turnproof.reproducer import LibrarySession, SessionCode

from .strands_calls import model_arguments
from .strands_messages import tool_spec

IMPORTS = (
    "from strands import Agent",
    "from strands.agent.conversation_manager import NullConversationManager",
    "from strands.models.anthropic import AnthropicModel",
)
TURN = (
    "result = await agent.invoke_async(text)",
    "reply = ''.join(block.get('text', '') for block in result.message['content'])",
)
HELD = "[''.join(block.get('text', '') for block in message['content']) for message in agent.messages]"

_RETURNING = ("        status, text = 'success', run(spec['name'], use['input'])",)
_FAILING = (
    "        try:",
    "            status, text = 'success', run(spec['name'], use['input'])",
    "        except Exception as error:",
    "            status, text = 'error', str(error)",
)


class StrandsAgentCode:
    """A `SessionReproducer` for the agent over the Messages API."""

    packages: Sequence[str] = ("strands-agents", "anthropic")

    def code(self, session: LibrarySession) -> SessionCode:
        """The source of a conversation."""
        own = ["from strands.tools.tools import PythonAgentTool"] if session.tools else []
        return SessionCode([*IMPORTS, *own], list(_opening(session)), TURN, "agent.cancel()", HELD, text_results=True)


def _opening(session: LibrarySession) -> Iterator[str]:
    where = {"base_url": "URL", "api_key": "key"}
    arguments = model_arguments("anthropic", session.model, session.options, where)
    yield f"model = AnthropicModel(**{arguments!r})".replace("'URL'", "url")
    tools = ""
    if session.tools:
        yield "def tool(spec):"
        yield "    def call(use, **_):"
        yield from _FAILING if session.failing else _RETURNING
        yield "        return {'toolUseId': use['toolUseId'], 'status': status, 'content': [{'text': text}]}"
        yield "    return PythonAgentTool(spec['name'], spec, call)"
        tools = f", tools=[tool(spec) for spec in {[tool_spec(tool) for tool in session.tools]!r}]"
    show = "lambda **event: event.get('data') and show(event['data'])" if session.streamed else "None"
    plain = "conversation_manager=NullConversationManager(), retry_strategy=None"
    yield f"agent = Agent(model, system_prompt={session.system!r}, callback_handler={show}{tools}, {plain})"
