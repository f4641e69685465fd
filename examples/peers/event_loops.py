"""pydantic-ai keeps its connections when an event loop ends, and fails once in the next one.

A model that is shared by two calls of `asyncio.run`, as in a test suite or a task queue, has connections of a loop that
is closed. https://github.com/pydantic/pydantic-ai/pull/6850 describes it, and leaves it to whoever owns the model.

Exits with 1 if the second run fails, with 0 if not. Confirms the known violation of `core/event-loops-may-come-and-go`.
"""

from __future__ import annotations

import asyncio
from pathlib import Path

from anthropic import AsyncAnthropic
from pydantic_ai import Agent
from pydantic_ai.exceptions import ModelAPIError
from pydantic_ai.models.anthropic import AnthropicModel
from pydantic_ai.providers.anthropic import AnthropicProvider

from turnproof.certify.fixtures import endpoints


def main() -> int:
    """The exit code."""
    with endpoints() as opened:
        endpoint = opened(Path(__file__).with_suffix(".yaml"))
        # One try: a second one of the SDK's would hide that the first one failed, and ask again what was asked already.
        client = AsyncAnthropic(base_url=endpoint.base_url, api_key=endpoint.api_key, max_retries=0)
        agent = Agent(AnthropicModel(endpoint.model, provider=AnthropicProvider(anthropic_client=client)))
        asyncio.run(agent.run("How moist is bed 3?"))
        try:
            asyncio.run(agent.run("And bed 4?"))
        except ModelAPIError as error:
            print(f"in a second event loop: {error!r}; {len(endpoint.requests)} requests have reached the server")
            return 1
    print("a second event loop makes no difference")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
