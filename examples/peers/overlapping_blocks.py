"""pydantic-ai puts a text behind a call where the text's block is the first, and still open when the call begins.

Each event of an answer names its block by a number, and the numbers are the order of the blocks. A server that imitates
the API may begin a block before it has ended the last one.

Exits with 1 if the parts of the response have another order than the blocks, with 0 if they have theirs. Confirms the
known violation of `core/parts-keep-the-models-order`.
"""

from __future__ import annotations

import asyncio
from pathlib import Path

from pydantic_ai.direct import model_request_stream
from pydantic_ai.messages import ModelRequest
from pydantic_ai.models import ModelRequestParameters
from pydantic_ai.models.anthropic import AnthropicModel
from pydantic_ai.providers.anthropic import AnthropicProvider
from pydantic_ai.tools import ToolDefinition

from turnproof.certify.fixtures import ScriptedEndpoint, endpoints

SCHEMA = {"type": "object", "properties": {"bed": {"type": "string"}}}
LABEL = ToolDefinition(name="label_bed", description="Write a label", parameters_json_schema=SCHEMA)


async def kinds_of_parts(endpoint: ScriptedEndpoint) -> list[str]:
    """The kinds of the parts of the response, in its order."""
    provider = AnthropicProvider(base_url=endpoint.base_url, api_key=endpoint.api_key)
    model = AnthropicModel(endpoint.model, provider=provider)
    tools = ModelRequestParameters(function_tools=[LABEL])
    request = ModelRequest.user_text_prompt("Label bed 3.")
    async with model_request_stream(model, [request], model_request_parameters=tools) as stream:
        async for _ in stream:
            pass
        return [part.part_kind for part in stream.get().parts]


def main() -> int:
    """The exit code."""
    with endpoints() as opened:
        endpoint = opened(Path(__file__).with_suffix(".yaml"))
        kinds = asyncio.run(kinds_of_parts(endpoint))
    print(f"blocks: text, tool-call; parts: {', '.join(kinds)}")
    return int(kinds != ["text", "tool-call"])


if __name__ == "__main__":
    raise SystemExit(main())
