"""Claude's agent over the protocol: `@agentclientprotocol/claude-agent-acp`, around Claude Code.

Seen with 0.49.0 and 0.101.0. Older ones of `@zed-industries` answer every prompt after a cancelled one with the answer
before it; they are started again after a cancel.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from turnproof.agents import AgentSetup
from turnproof.sessions import SessionCapabilities

from .binding import agent_binding
from .program import Prepared, Program

_QUIET = {
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    "CLAUDE_CODE_DISABLE_EXPERIMENTAL_BETAS": "1",
    "CLAUDE_CODE_DISABLE_NONSTREAMING_FALLBACK": "1",
    "CLAUDE_CODE_ENABLE_PROMPT_SUGGESTION": "0",  # else the model is asked what the user may say next
    "CLAUDE_CODE_EAGER_FLUSH": "1",  # what was said is stored before the turn ends, and not a moment later
    "CLAUDE_CODE_MAX_RETRIES": "0",  # whoever drives the agent tries again
    "DISABLE_AUTOUPDATER": "1",
    "DISABLE_COMPACT": "1",
    "DISABLE_ERROR_REPORTING": "1",
    "DISABLE_TELEMETRY": "1",
}


def prepare(setup: AgentSetup) -> Prepared:
    """The endpoint goes into the environment, the system text and the choice of tools (none of its own) into `_meta`.

    Thinking is off, unless the endpoint's option `thinking_tokens` says how much of it there may be.
    """
    home, at = Path(setup.home).absolute(), setup.endpoint
    options: dict[str, Any] = {
        "model": at.model,
        "tools": [],
        "settingSources": [],
        "extraArgs": {"bare": None, "strict-mcp-config": None},
    }
    system = {"systemPrompt": setup.system} if setup.system else {}
    if not system:
        options["systemPrompt"] = ""  # else the program would use a text of its own
    return Prepared(
        environment={
            **_QUIET,
            "ANTHROPIC_API_KEY": at.api_key,
            "ANTHROPIC_BASE_URL": at.base_url,
            "ANTHROPIC_MODEL": at.model,
            "CLAUDE_CONFIG_DIR": str(home / ".claude"),
            "MAX_THINKING_TOKENS": str(int(at.options.get("thinking_tokens", 0))),
        },
        meta={**system, "claudeCode": {"options": options}},
        instructed=True,
    )


CLAUDE = Program(
    name="claude_acp",
    command=("claude-agent-acp",),
    install="npm install -g @agentclientprotocol/claude-agent-acp",
    prepare=prepare,
    retells=True,
    off_by_one="@zed-industries/claude-agent-acp",
    apology=re.compile(
        r"API Error|Failed to authenticate|There's an issue with the selected model|Prompt is too long|Not logged in"
        r"|Invalid API key|Credit balance is too low|Request too large|You've hit your"
    ),
)


AGENT = agent_binding(
    CLAUDE,
    dialect="anthropic-messages@claude-cli",
    model="claude-haiku-4-5",
    sessions=SessionCapabilities(can_list=True, can_load=True, can_continue_last=True, can_delete=True, can_fork=True),
)
