"""LangGraph's agent as source, for `turnproof reproduce`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from turnproof.reproducer import LibrarySession, SessionCode

from .agent_source import own_options, tool_rows

IMPORTS = (
    "from langchain.agents import create_agent",
    "from langchain_anthropic import ChatAnthropic",
    "from langgraph.checkpoint.memory import InMemorySaver",
)
TURN = ("task = asyncio.ensure_future(answer({'messages': [('user', text)]}))", "reply = str(await task)")
HELD = "[str(one.text) for one in agent.get_state(thread).values.get('messages', ()) if one.type != 'tool']"
_RETURNING = ("        return run(name, arguments)",)
_FAILING = (
    "        try:",
    "            return run(name, arguments)",
    "        except Exception as error:",
    "            raise ToolException(str(error)) from error",
)


class LangGraphAgentCode:
    """A `SessionReproducer` for `create_agent` with a checkpointer, over the Messages API."""

    packages: Sequence[str] = ("langgraph", "langchain", "langchain-core", "langchain-anthropic", "anthropic")

    def code(self, session: LibrarySession) -> SessionCode:
        """The source of a conversation."""
        own = ["from langchain_core.tools import StructuredTool, ToolException"] if session.tools else []
        cancel = "loop.call_soon_threadsafe(task.cancel)"
        return SessionCode([*IMPORTS, *own], list(_opening(session)), TURN, cancel, HELD, text_results=True)


def _opening(session: LibrarySession) -> Iterator[str]:
    own = own_options(session, "max_tokens", "timeout")
    yield (
        f"model = ChatAnthropic(model={session.model!r}, base_url=url, api_key='key', max_retries=0,"
        f" stream_usage=True{own})"
    )
    tools = "[]"
    if session.tools:
        yield "def tool(name, about, schema):"
        yield "    def call(**arguments):"
        yield from _FAILING if session.failing else _RETURNING
        arguments = "name=name, description=about, args_schema=schema, func=call, handle_tool_error=True"
        yield f"    return StructuredTool({arguments})"
        tools = f"[tool(*one) for one in {tool_rows(session)}]"
    yield f"agent = create_agent(model, {tools}, system_prompt={session.system!r}, checkpointer=InMemorySaver())"
    yield "thread = {'configurable': {'thread_id': 'conversation'}, 'recursion_limit': 200}"
    yield "async def answer(given):"
    if session.streamed:
        yield "    async for piece, _ in agent.astream(given, thread, stream_mode='messages'):"
        yield "        if type(piece).__name__ == 'AIMessageChunk' and piece.text:"
        yield "            show(str(piece.text))"
        yield "    return agent.get_state(thread).values['messages'][-1].text"
    else:
        yield "    return (await agent.ainvoke(given, thread))['messages'][-1].text"
