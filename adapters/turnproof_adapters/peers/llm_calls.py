"""The models of `llm`, and a call of one as source, for `turnproof reproduce`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from turnproof.messages import thaw
from turnproof.reproducer import LibraryCall, LibraryCode

from .llm_messages import LlmMessages

IMPORTS = {
    "anthropic-messages": (
        "import functools, llm_anthropic",
        "llm_anthropic.AsyncAnthropic = functools.partial(llm_anthropic.AsyncAnthropic, max_retries=0)",
    ),
    "openai-chat": (
        "import functools, openai",
        "openai.AsyncOpenAI = functools.partial(openai.AsyncOpenAI, max_retries=0)",
        "from llm.default_plugins.openai_models import AsyncChat",
    ),
}
PACKAGES = {"anthropic-messages": ("llm", "llm-anthropic", "anthropic"), "openai-chat": ("llm", "openai")}
MEMBERS = {
    "text": "''.join(p.text for p in parts if p.to_dict()['type'] == 'text')",
    "thoughts": "''.join(p.text for p in parts if p.to_dict()['type'] == 'reasoning')",
    "calls": "[[call.name, call.arguments] for call in await answer.tool_calls()]",
    "finish": "raw.get('stop_reason') or (raw.get('choices') or [raw])[0].get('finish_reason')",
    "chunks": "[event.chunk for event in events if event.type == 'text']",
    "whole": "repr([parts, raw])",
    "usage": "{'prompt_tokens': (await answer.usage()).input, 'output_tokens': (await answer.usage()).output}",
}


def model_arguments(dialect: str, model: str) -> dict[str, Any]:
    """The arguments of the library's class, as its own registry of models has them for this one."""
    if dialect == "openai-chat":
        return {"model_id": model, "vision": True, "supports_schema": True, "supports_tools": True}
    claims = ("pdf", "thinking", "thinking_effort", "adaptive_thinking")
    return {"model_id": model, **{f"supports_{claim}": True for claim in claims}, "default_max_tokens": 128000}


def prompt_options(options: Mapping[str, Any]) -> dict[str, Any]:
    """The library's options of a prompt. Its thinking has no budget."""
    limit = {"max_tokens": options["max_tokens"]} if "max_tokens" in options else {}
    return limit | ({"thinking": True} if options.get("thinking") else {})


class LlmCalls:
    """A `Reproducer` for a model."""

    def __init__(self, dialect: str) -> None:
        self._dialect = dialect
        self.packages: Sequence[str] = PACKAGES[dialect]

    def code(self, call: LibraryCall) -> LibraryCode:
        """The source of one call."""
        written = LlmMessages(self._dialect, call.model).write(call.messages, call.system)
        messages = [f"llm.Message.from_dict({message!r})" for message in written]
        return LibraryCode(
            ("import llm", *IMPORTS[self._dialect]), messages, list(self._body(call)), opening=list(self._opening(call))
        )

    def _opening(self, call: LibraryCall) -> Iterator[str]:
        arguments = model_arguments(self._dialect, call.model)
        if self._dialect == "openai-chat":
            yield f"model = AsyncChat(api_base=url, **{arguments!r})"
        else:
            yield f"model = llm_anthropic.AsyncClaudeMessages(base_url=url, **{arguments!r})"

    def _body(self, call: LibraryCall) -> Iterator[str]:
        tools = [(tool.name, tool.description, thaw(tool.parameters)) for tool in call.tools]
        yield f"tools = [llm.Tool(*tool) for tool in {tools!r}]"
        yield f"options = {prompt_options(call.options)!r}"
        rest = f"stream={call.streamed}, key='key'"
        yield f"answer = model.prompt(messages=messages, tools=tools, options=options, {rest})"
        yield "events = [event async for event in answer.astream_events()]"
        yield "parts = [part for message in await answer.messages() for part in message.parts]"
        yield "raw = await answer.json() or {}"
        yield f"return {{{call.wanted!r}: {MEMBERS[call.wanted]}}}"
