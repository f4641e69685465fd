"""pydantic-ai sends a tool's name as it is, also with characters that the Messages API does not take.

The API's reference allows letters, digits, underscore and hyphen. Users report a refusal, mostly for tools of MCP
servers: `tools.0.custom.name: String should match pattern '^[a-zA-Z0-9_-]{1,128}$'`. The emulator refuses it as well.

Exits with 1 if an illegal name is on the wire, with 0 if not. Confirms the known violation of `tools/names-are-legal`,
which is a SHOULD: a library may leave names to its users.
"""

from __future__ import annotations

import json
import re
from contextlib import suppress
from pathlib import Path

from pydantic_ai import Agent, Tool
from pydantic_ai.exceptions import AgentRunError
from pydantic_ai.models.anthropic import AnthropicModel
from pydantic_ai.providers.anthropic import AnthropicProvider

from turnproof.certify.fixtures import endpoints

LEGAL = re.compile(r"[a-zA-Z0-9_-]{1,128}")


def read(bed: str) -> str:
    """How moist a bed is."""
    return f"bed {bed}: 41 %"


def main() -> int:
    """The exit code."""
    with endpoints() as opened:
        endpoint = opened(Path(__file__).with_suffix(".yaml"))
        provider = AnthropicProvider(base_url=endpoint.base_url, api_key=endpoint.api_key)
        agent = Agent(AnthropicModel(endpoint.model, provider=provider), tools=[Tool(read, name="garden.read")])
        with suppress(AgentRunError):
            agent.run_sync("How moist is bed 3?")
        names = [tool["name"] for tool in json.loads(endpoint.requests[0].body)["tools"]]
    illegal = [name for name in names if not LEGAL.fullmatch(name)]
    print(f"on the wire: {names}; not legal: {illegal}")
    return int(bool(illegal))


if __name__ == "__main__":
    raise SystemExit(main())
