"""The arguments of smolagents' model, and the same call as source, for `turnproof reproduce`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from types import SimpleNamespace
from typing import Any

from turnproof.messages import ToolSchema
from turnproof.reproducer import LibraryCall, LibraryCode

from .smolagents_messages import tool_inputs, written_messages

IMPORTS = (
    "import json",
    "from types import SimpleNamespace",
    "from smolagents.models import ChatMessage, OpenAIModel, agglomerate_stream_deltas",
)
MEMBERS = {
    "text": "answer.content or ''",
    "calls": "[[c.function.name, json.loads(c.function.arguments or '{}')] for c in answer.tool_calls or ()]",
    "chunks": "[delta.content for delta in deltas if delta.content]",
    "whole": "repr(answer)",
    "usage": "{'prompt_tokens': answer.token_usage.input_tokens, 'output_tokens': answer.token_usage.output_tokens}",
}


def model_arguments(model: str, options: Mapping[str, Any]) -> dict[str, Any]:
    """All but address and key. Without retries: a failed call is for the session to repeat."""
    limit = {"max_completion_tokens": options["max_tokens"]} if "max_tokens" in options else {}
    return {"model_id": model, "retry": False, **limit}


def tool_arguments(tools: Sequence[ToolSchema] | None) -> dict[str, Any]:
    """The tools, which the model may leave alone: the library's default demands a call."""
    if not tools:
        return {}
    return {"tools_to_call_from": [SimpleNamespace(**_tool(tool)) for tool in tools], "tool_choice": "auto"}


class SmolCalls:
    """A `Reproducer` for the model."""

    packages: Sequence[str] = ("smolagents", "openai")

    def code(self, call: LibraryCall) -> LibraryCode:
        """The source of one call. Raises ValueError for images, and for what the library's answers have not."""
        written = list(written_messages(call.messages, call.system))
        if any(one["type"] == "image" for message in written for one in message["content"]):
            raise ValueError("an image is an object of another library")
        if call.wanted not in MEMBERS:
            raise ValueError(f"its answers have no {call.wanted}")
        return LibraryCode(
            IMPORTS,
            [f"ChatMessage.from_dict({one!r})" for one in written],
            list(self._body(call)),
            opening=list(self._opening(call)),
        )

    def _opening(self, call: LibraryCall) -> Iterator[str]:
        client = "api_base=url, api_key='key', client_kwargs={'max_retries': 0}"
        yield f"model = OpenAIModel({client}, **{model_arguments(call.model, call.options)!r})"

    def _body(self, call: LibraryCall) -> Iterator[str]:
        options = ""
        if call.tools:
            yield f"tools = [SimpleNamespace(**tool) for tool in {[_tool(tool) for tool in call.tools]!r}]"
            options = ", tools_to_call_from=tools, tool_choice='auto'"
        if call.streamed:
            yield f"deltas = list(model.generate_stream(messages{options}))"
            yield "answer = agglomerate_stream_deltas(deltas)"
        else:
            yield f"answer = model.generate(messages{options})"
        yield f"return {{{call.wanted!r}: {MEMBERS[call.wanted]}}}"


def _tool(tool: ToolSchema) -> dict[str, Any]:
    return {"name": tool.name, "description": tool.description, "inputs": tool_inputs(tool)}
