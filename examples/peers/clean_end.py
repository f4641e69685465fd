"""pydantic-ai takes a stream that ends cleanly in mid-sentence for a whole answer.

The emulator sends two of three pieces of a text and then ends the response as HTTP wants it: no reset, no missing
chunk. What does not come is the answer's own end (`message_delta` with the stop reason, and `message_stop`), which the
API sent last in every recorded stream. A proxy in between that gives up does just this.

Exits with 1 if the half answer comes back as a complete one, with 0 if that shows in any way. Confirms the known
violation of `errors/a-stream-without-its-end-is-no-answer`.
"""

from __future__ import annotations

import asyncio
from pathlib import Path

from pydantic_ai import Agent
from pydantic_ai.exceptions import ModelAPIError
from pydantic_ai.models.anthropic import AnthropicModel
from pydantic_ai.providers.anthropic import AnthropicProvider

from turnproof.certify.fixtures import ScriptedEndpoint, endpoints


async def answer(endpoint: ScriptedEndpoint) -> int:
    """What an agent makes of the stream; 1 if it makes a complete answer of it."""
    provider = AnthropicProvider(base_url=endpoint.base_url, api_key=endpoint.api_key)
    agent = Agent(AnthropicModel(endpoint.model, provider=provider))
    try:
        async with agent.run_stream("Which beds need water?") as run:
            output, response = await run.get_output(), run.response
    except ModelAPIError as error:
        print(f"raised {type(error).__name__}: {error}")
        return 0
    print(f"output {output!r}, state {response.state!r}, finish reason {response.finish_reason!r}")
    return int(response.state == "complete")


def main() -> int:
    """The exit code."""
    with endpoints() as opened:
        endpoint = opened(Path(__file__).with_suffix(".yaml"))
        code = asyncio.run(answer(endpoint))
    print("half an answer was taken for a whole one" if code else "the missing end was noticed")
    return code


if __name__ == "__main__":
    raise SystemExit(main())
