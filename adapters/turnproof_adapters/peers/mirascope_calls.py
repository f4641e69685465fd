"""The arguments of a call of Mirascope's providers, and the same call as source, for `turnproof reproduce`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from turnproof.reproducer import LibraryCall, LibraryCode

from .mirascope_messages import MirascopeMessages, tool_parameters

IMPORTS = (
    "import json",
    "from mirascope import llm",
    "from mirascope.llm.tools import AsyncTool, AsyncToolkit",
    "from mirascope.llm.tools.tool_schema import ToolParameterSchema",
)
PROVIDERS = {
    "anthropic-messages": ("anthropic", "AnthropicProvider"),
    "openai-chat": ("openai.completions.provider", "OpenAICompletionsProvider"),
}
"""The modules below `mirascope.llm.providers`, and the classes."""
OPENING = ("provider = Provider(base_url=url, api_key='key')", "provider.async_client.max_retries = 0")
MEMBERS = {
    "text": "''.join(text.text for text in answer.texts)",
    "thoughts": "''.join(thought.thought for thought in answer.thoughts)",
    "calls": "[[call.name, json.loads(call.args)] for call in answer.tool_calls]",
    "finish": "answer.finish_reason and answer.finish_reason.value",
    "chunks": "[chunk.delta for chunk in chunks if chunk.type == 'text_chunk']",
    "whole": "repr(answer)",
    "usage": "{'prompt_tokens': answer.usage.input_tokens, 'output_tokens': answer.usage.output_tokens,"
    " 'total_tokens': answer.usage.total_tokens}",
}


def model_parameters(options: Mapping[str, Any]) -> dict[str, Any]:
    """The library's parameters. Its thinking has levels and no budget."""
    limit = {"max_tokens": options["max_tokens"]} if "max_tokens" in options else {}
    return limit | ({"thinking": {"level": "low", "include_thoughts": True}} if options.get("thinking") else {})


class MirascopeCalls:
    """A `Reproducer` for a provider."""

    def __init__(self, dialect: str) -> None:
        self._dialect = dialect
        self.packages: Sequence[str] = ("mirascope", "anthropic" if dialect == "anthropic-messages" else "openai")

    def code(self, call: LibraryCall) -> LibraryCode:
        """The source of one call."""
        written = MirascopeMessages(self._dialect, call.model)
        messages = [repr(message) for message in written.write(call.messages, call.system)]
        module, provider = PROVIDERS[self._dialect]
        imports = (*IMPORTS, f"from mirascope.llm.providers.{module} import {provider} as Provider")
        return LibraryCode(imports, messages, list(self._body(call, written.model_id)), opening=OPENING)

    def _body(self, call: LibraryCall, model_id: str) -> Iterator[str]:
        tools = [(tool.name, tool.description, tool_parameters(tool)) for tool in call.tools]
        yield f"tools = {tools!r}"
        yield "schemas = [(name, text, ToolParameterSchema(**schema)) for name, text, schema in tools]"
        yield "toolkit = AsyncToolkit([AsyncTool(print, *schema, strict=False) for schema in schemas])"
        rest = f"model_id={model_id!r}, messages=messages, toolkit=toolkit, **{model_parameters(call.options)!r}"
        yield f"answer = await provider.{'stream' if call.streamed else 'call'}_async({rest})"
        if call.streamed:
            yield "chunks = [chunk async for chunk in answer.chunk_stream()]"
        yield f"return {{{call.wanted!r}: {MEMBERS[call.wanted]}}}"
