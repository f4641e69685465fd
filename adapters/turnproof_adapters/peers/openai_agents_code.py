"""openai-agents' `Runner` as source, for `turnproof reproduce`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal

from turnproof.reproducer import LibrarySession, SessionCode

from .agent_source import own_options, tool_rows

Memory = Literal["items", "last items", "conversations", "chain"]
"""Who keeps the conversation: a session of the library's own, of which a run may have the last six items alone, a
conversation at the service, or the last response."""

_SESSIONS = {
    "items": ("SQLiteSession", "SQLiteSession('conversation')"),
    "last items": (
        "SQLiteSession, SessionSettings",
        "SQLiteSession('conversation', session_settings=SessionSettings(limit=6))",
    ),
    "conversations": ("OpenAIConversationsSession", "OpenAIConversationsSession(openai_client=client)"),
}
_TEXT = (
    "item['content'] if isinstance(item['content'], str) else ''.join(one.get('text', '') for one in item['content'])"
)
_RETURNING = ("        return await asyncio.to_thread(run, name, json.loads(arguments or '{}'))",)
_FAILING = (
    "        try:",
    "            return await asyncio.to_thread(run, name, json.loads(arguments or '{}'))",
    "        except Exception as error:",
    "            return f'An error occurred while running the tool. Please try again. Error: {error}'",
)


class OpenAIAgentsCode:
    """A `SessionReproducer` for the runner over the Responses API."""

    packages: Sequence[str] = ("openai-agents", "openai")

    def __init__(self, memory: Memory) -> None:
        self._memory = memory

    def code(self, session: LibrarySession) -> SessionCode:
        """The source of a conversation."""
        names = ["Agent", "ModelSettings", "OpenAIResponsesModel", "RunConfig", "Runner"]
        names += ["FunctionTool"] if session.tools else []
        names += [_SESSIONS[self._memory][0]] if self._memory in _SESSIONS else []
        imports = [f"from agents import {', '.join(sorted(names))}", "from openai import AsyncOpenAI"]
        running = "result" if session.streamed else "task"
        cancel = f"loop.call_soon_threadsafe({running}.cancel)"
        items = "items" if self._memory == "chain" else "await memory.get_items(1000)"
        held = f"[{_TEXT} for item in {items} if item.get('role') in ('user', 'assistant')]"
        opening, turn = list(self._opening(session)), list(self._turn(session))
        return SessionCode(imports, opening, turn, cancel, held, text_results=True)

    def _opening(self, session: LibrarySession) -> Iterator[str]:
        settings = [*(["store=False"] if self._memory.endswith("items") else [])]
        settings += [f"max_tokens={session.options['max_tokens']!r}"] if "max_tokens" in session.options else []
        own = own_options(session, "timeout")
        yield f"client = AsyncOpenAI(base_url=url, api_key='key', max_retries=0{own})"
        tools = ""
        if session.tools:
            yield "def tool(name, about, schema):"
            yield "    async def call(_, arguments):"
            yield from _FAILING if session.failing else _RETURNING
            yield "    return FunctionTool(name, about, schema, call, strict_json_schema=False)"
            tools = f", tools=[tool(*one) for one in {tool_rows(session)}]"
        model = f"OpenAIResponsesModel({session.model!r}, client)"
        arguments = f"model={model}, model_settings=ModelSettings({', '.join(settings)}){tools}"
        yield f"agent = Agent(name='assistant', instructions={session.system!r}, {arguments})"
        config = "RunConfig(tracing_disabled=True, tool_not_found_behavior='return_error_to_model')"
        if self._memory == "chain":
            yield f"options, last, items = {{'run_config': {config}, 'max_turns': 50}}, None, []"
        else:
            yield f"memory = {_SESSIONS[self._memory][1]}"
            yield f"options = {{'run_config': {config}, 'max_turns': 50, 'session': memory}}"

    def _turn(self, session: LibrarySession) -> Iterator[str]:
        if self._memory == "chain":
            yield "options |= {'previous_response_id': last, 'auto_previous_response_id': True}"
        if session.streamed:
            yield "result = Runner.run_streamed(agent, text, **options)"
            yield "async for event in result.stream_events():"
            yield "    if event.type == 'raw_response_event' and event.data.type == 'response.output_text.delta':"
            yield "        show(event.data.delta)"
        else:
            yield "task = asyncio.ensure_future(Runner.run(agent, text, **options))"
            yield "result = await task"
        if self._memory == "chain":
            yield "if result.last_response_id and result.final_output is not None:"
            yield "    last, items = result.last_response_id, items + result.to_input_list()"
        yield "reply = str(result.final_output)"
