"""agno's `Agent` as source, for `turnproof reproduce`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from turnproof.reproducer import LibrarySession, SessionCode

from .agent_source import own_options, tool_rows

IMPORTS = (
    "from agno.agent import Agent",
    "from agno.db.in_memory import InMemoryDb",
    "from agno.models.anthropic import Claude",
)
HELD = (
    "[str(one.content or '') for one in agent.get_session(session_id='conversation').get_messages()"
    " if one.role in ('user', 'assistant')]"
)


class AgnoAgentCode:
    """A `SessionReproducer` for the agent over the Messages API."""

    packages: Sequence[str] = ("agno", "anthropic")

    def code(self, session: LibrarySession) -> SessionCode:
        """The source of a conversation."""
        imports = [*IMPORTS, *(["from agno.tools.function import Function"] if session.tools else [])]
        imports += ["from uuid import uuid4"] if session.cancelled else []
        opening, turn = list(_opening(session)), list(_turn(session))
        return SessionCode(imports, opening, turn, "Agent.cancel_run(run_id)", HELD, text_results=True)


def _opening(session: LibrarySession) -> Iterator[str]:
    own = own_options(session, "max_tokens", "timeout")
    client = "client_params={'base_url': url, 'max_retries': 0}"
    yield f"model = Claude(id={session.model!r}, api_key='key', {client}{own})"
    tools = ""
    if session.tools:
        yield "def tool(name, about, schema):"
        yield "    own = {'entrypoint': lambda **arguments: run(name, arguments), 'skip_entrypoint_processing': True}"
        yield "    return Function(name=name, description=about, parameters=schema, **own)"
        tools = f", tools=[tool(*one) for one in {tool_rows(session)}]"
    arguments = "session_id='conversation', add_history_to_context=True, num_history_runs=10000, telemetry=False"
    yield f"agent = Agent(model=model, db=InMemoryDb(), system_message={session.system!r}, {arguments}{tools})"


def _turn(session: LibrarySession) -> Iterator[str]:
    own = ", run_id=run_id" if session.cancelled else ""
    if session.cancelled:
        yield "run_id = str(uuid4())"
    if session.streamed:
        yield f"for output in agent.run(text, stream=True, yield_run_output=True{own}):"
        yield "    if type(output).__name__ == 'RunContentEvent' and output.content:"
        yield "        show(output.content)"
    else:
        yield f"output = agent.run(text{own})"
    yield "if getattr(output, 'status', 'ERROR') == 'ERROR':  # the event of an error has none"
    yield "    raise RuntimeError(output.content)"
    yield "reply = str(output.content or '')"
