"""pydantic-ai sends the id of a tool call as it is, also one that the Messages API does not take.

Another provider's model made the call, in a conversation that now goes on with this one. The API answers 400:
`tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'`. The same was reported for ids of OpenAI's Responses:
https://github.com/pydantic/pydantic-ai/issues/3136

Exits with 1 if the request is refused, with 0 if not. Confirms the violation of `handoff/foreign-ids-stay-linked`,
and of what else a refused request violates.
"""

from __future__ import annotations

from pathlib import Path

from pydantic_ai import Agent
from pydantic_ai.exceptions import ModelHTTPError
from pydantic_ai.messages import ModelMessage, ModelRequest, ModelResponse, TextPart, ToolCallPart, ToolReturnPart
from pydantic_ai.messages import UserPromptPart as Prompt
from pydantic_ai.models.anthropic import AnthropicModel
from pydantic_ai.providers.anthropic import AnthropicProvider

from turnproof.certify.fixtures import endpoints

ID = "functions.read_sensor:0"
ELSEWHERE: list[ModelMessage] = [
    ModelRequest([Prompt("How moist is bed 3?")]),
    ModelResponse([ToolCallPart("read_sensor", {"bed": "3"}, ID)], model_name="kimi-k2", provider_name="moonshotai"),
    ModelRequest([ToolReturnPart("read_sensor", "41 %", ID)]),
    ModelResponse([TextPart("At 41 %.")], model_name="kimi-k2", provider_name="moonshotai"),
]


def read_sensor(bed: str) -> str:
    """How moist a bed is."""
    return f"bed {bed}: 41 %"


def main() -> int:
    """The exit code."""
    with endpoints() as opened:
        endpoint = opened(Path(__file__).with_suffix(".yaml"))
        provider = AnthropicProvider(base_url=endpoint.base_url, api_key=endpoint.api_key)
        agent = Agent(AnthropicModel(endpoint.model, provider=provider), tools=[read_sensor])
        try:
            agent.run_sync("And bed 4?", message_history=ELSEWHERE)
        except ModelHTTPError as error:
            print(f"refused: {error}")
            return 1
    print("the id was made legal")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
