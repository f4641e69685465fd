"""autogen's `AssistantAgent` as source, for `turnproof reproduce`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from turnproof.reproducer import LibrarySession, SessionCode

from .agent_source import own_options, tool_rows

IMPORTS = (
    "from autogen_agentchat.agents import AssistantAgent",
    "from autogen_agentchat.messages import TextMessage",
    "from autogen_core import CancellationToken",
    "from autogen_core.model_context import UnboundedChatCompletionContext",
    "from autogen_ext.models.anthropic import AnthropicChatCompletionClient",
)
TOOL_IMPORTS = ("from autogen_core.tools import BaseTool", "from pydantic import BaseModel")
INFO = (
    "{'vision': True, 'function_calling': True, 'json_output': True, 'family': 'claude-4-sonnet',"
    " 'structured_output': False}"
)
TOOL = (
    "class Tool(BaseTool):",
    "    run, schema = None, property(lambda self: self.given)",
    "    def __init__(self, name, about, schema):",
    "        super().__init__(BaseModel, BaseModel, name, about)",
    "        self.given = {'name': name, 'description': about, 'parameters': schema}",
    "    async def run_json(self, args, token, call_id=None):",
    "        return await asyncio.to_thread(run, self.name, dict(args))",
)
HELD = (
    "[one.content if isinstance(one.content, str) else getattr(one, 'thought', None)"
    " for one in await context.get_messages()]"
)


class AutogenAgentCode:
    """A `SessionReproducer` for the agent over the Messages API."""

    packages: Sequence[str] = ("autogen-agentchat", "autogen-ext[anthropic]", "anthropic", "tiktoken")

    def code(self, session: LibrarySession) -> SessionCode:
        """The source of a conversation."""
        imports = [*IMPORTS, *(TOOL_IMPORTS if session.tools else ())]
        cancel = "loop.call_soon_threadsafe(token.cancel)"
        return SessionCode(imports, list(_opening(session)), list(_turn(session)), cancel, HELD, text_results=True)


def _opening(session: LibrarySession) -> Iterator[str]:
    own = own_options(session, "max_tokens", "timeout")
    where = f"model={session.model!r}, base_url=url, api_key='key', max_retries=0{own}"
    yield f"client = AnthropicChatCompletionClient({where}, model_info={INFO})"
    yield from TOOL if session.tools else ()
    tools = f"[Tool(*one) for one in {tool_rows(session)}]" if session.tools else "[]"
    arguments = f"system_message={session.system!r}, model_client_stream={session.streamed}, max_tool_iterations=50"
    yield "context = UnboundedChatCompletionContext()"
    yield f"agent = AssistantAgent('assistant', client, tools={tools}, model_context=context, {arguments})"


def _turn(session: LibrarySession) -> Iterator[str]:
    yield "token = CancellationToken()"
    yield "async for event in agent.on_messages_stream([TextMessage(content=text, source='user')], token):"
    if session.streamed:
        yield "    show(event.content) if type(event).__name__ == 'ModelClientStreamingChunkEvent' else None"
    yield "    reply = str(event.chat_message.content) if type(event).__name__ == 'Response' else None"
