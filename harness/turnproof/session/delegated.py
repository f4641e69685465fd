"""An agent as a subject: the session that is spoken to is the agent itself, and so is whoever asks the model."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from ..agents import Agent, AgentBinding, AgentSetup
from ..messages import FinishReason, FunctionCall, Part, TokenUsage
from ..provider import Binding
from ..sessions import SessionInfo, every_session
from ..subject import SessionBinding, SessionReply, SessionSetup, SessionTurn


class AgentConversation:
    """An agent, and the figures of its last turn."""

    def __init__(self, agent: Agent) -> None:
        self.agent = agent
        self.usage = TokenUsage()


def session_of(binding: AgentBinding) -> SessionBinding:
    """The agent as a session. What is not claimed of its sessions is lacking."""
    can = binding.sessions
    return SessionBinding(
        name=binding.name,
        open=partial(_open, binding),
        send=_send,
        send_parts=_send,
        history=lambda conversation: conversation.agent.history,
        adapter=adapter_of(binding),
        usage=lambda conversation: conversation.usage,
        session_id=lambda conversation: conversation.agent.session_id,
        session_capabilities=lambda conversation: conversation.agent.session_capabilities,
        new_session=lambda conversation: conversation.agent.new_session(),
        list_sessions=_every if can.can_list else None,
        resume_session=(lambda conversation, session_id: conversation.agent.resume_session(session_id))
        if can.can_load
        else None,
        continue_last=(lambda conversation, cwd: conversation.agent.continue_last(cwd))
        if can.can_continue_last
        else None,
        fork_session=(lambda conversation: conversation.agent.fork_session()) if can.can_fork else None,
        delete_session=(lambda conversation, session_id: conversation.agent.delete_session(session_id))
        if can.can_delete
        else None,
        close=lambda conversation: conversation.agent.shutdown(),
        paths=("legacy",),
        message_ids=False,
        capabilities=binding.capabilities,
        package=binding.package,
        program=partial(_program, binding.program) if binding.program is not None else None,
    )


def adapter_of(binding: AgentBinding) -> Binding:
    """Which model the agent asks, and how; it opens nothing."""
    return Binding(
        name=binding.name,
        dialect=binding.dialect,
        model=binding.model,
        capabilities=binding.capabilities,
        delegated=True,
        options=binding.options,
        package=binding.package,
    )


def _open(binding: AgentBinding, setup: SessionSetup) -> AgentConversation:
    return AgentConversation(
        binding.open(
            AgentSetup(
                endpoint=setup.endpoint,
                home=setup.home,
                cwd=setup.cwd,
                system=setup.system,
                tools=tuple(setup.tools),
                session=setup.session,
                continue_last=setup.continue_last,
                permits=setup.permits,
            )
        )
    )


def _send(conversation: AgentConversation, content: str | Sequence[Part], turn: SessionTurn) -> SessionReply:
    streamed = turn.on_chunk is not None
    response = conversation.agent.send(
        content,
        cancel_token=turn.cancel_token,
        on_chunk=turn.on_chunk,
        on_function_call=_unheard if streamed else None,
        response_schema=turn.response_schema,
    )
    conversation.usage = response.usage
    cancelled = response.finish_reason is FinishReason.CANCELLED
    return SessionReply(response.text, "cancelled" if cancelled else "answer")


def _program(find_program: Callable[[Any], str | None], conversation: AgentConversation) -> str | None:
    return find_program(conversation.agent)


def _unheard(call: FunctionCall) -> None:
    pass


def _every(conversation: AgentConversation, cwd: str | None) -> Sequence[SessionInfo]:
    return list(every_session(conversation.agent, cwd))
