"""The arguments of LlamaIndex's LLM classes, and the same call as source, for `turnproof reproduce`."""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from turnproof.messages import ToolSchema, thaw
from turnproof.reproducer import LibraryCall, LibraryCode

from .chat_messages import chat_tool
from .llama_index_messages import LlamaIndexMessages

CLASSES = {
    "anthropic-messages": ("llama_index.llms.anthropic", "Anthropic"),
    "openai-chat": ("llama_index.llms.openai", "OpenAI"),
    "gemini": ("llama_index.llms.google_genai", "GoogleGenAI"),
}
PACKAGES = {
    "anthropic-messages": ("llama-index-llms-anthropic", "llama-index-core", "anthropic"),
    "openai-chat": ("llama-index-llms-openai", "llama-index-core", "openai"),
    "gemini": ("llama-index-llms-google-genai", "llama-index-core", "google-genai"),
}
MEMBERS = {
    "text": "''.join(b.text for b in answer.message.blocks if b.block_type == 'text')",
    "thoughts": "''.join(b.content or '' for b in answer.message.blocks if b.block_type == 'thinking')",
    "calls": "[[b.tool_name, json.loads(b.tool_kwargs) if isinstance(b.tool_kwargs, str) else b.tool_kwargs]"
    " for b in answer.message.blocks if b.block_type == 'tool_call']",
    "whole": "repr(answer)",
    "chunks": "[one.delta for one in answers if one.delta]",
}
FINISH = {
    "anthropic-messages": "answer.message.additional_kwargs.get('stop_reason') or answer.raw.get('stop_reason')",
    "openai-chat": "next((c.finish_reason for one in answers for c in one.raw.choices if c.finish_reason), None)",
    "gemini": "answer.raw.get('finish_reason')",
}
ADDRESS = {
    "anthropic-messages": "base_url=url",
    "openai-chat": "api_base=url",
    "gemini": "http_options={'base_url': url}",
}


def library_class(dialect: str) -> Any:
    """The class for a dialect."""
    module, name = CLASSES[dialect]
    return getattr(importlib.import_module(module), name)


def class_arguments(dialect: str, model: str, options: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments of the class, without retries of the SDK: a failed call is for the session to repeat."""
    thinking = options.get("thinking")
    arguments: dict[str, Any] = {"model": model, "max_retries": 0}
    arguments |= {name: options[name] for name in ("max_tokens", "timeout") if name in options}
    match dialect:
        case "anthropic-messages":
            arguments.setdefault("max_tokens", 4096)
            if thinking:
                arguments["thinking_dict"] = {"type": "enabled", **thinking}
        case "openai-chat":
            arguments["additional_kwargs"] = {"stream_options": {"include_usage": True}}
        case "gemini":
            seconds = arguments.pop("timeout", None)
            arguments["http_options"] = {"timeout": round(seconds * 1000)} if seconds else {}
            if thinking:
                budget = {"thinking_budget": thinking["budget_tokens"], "include_thoughts": True}
                arguments["generation_config"] = {"thinking_config": budget}
                if "max_tokens" in options:
                    arguments["generation_config"]["max_output_tokens"] = options["max_tokens"]
    return arguments


def library_tools(dialect: str, tools: Sequence[ToolSchema]) -> list[dict[str, Any]]:
    """The tools, in the API's own form, as these classes take them."""
    match dialect:
        case "openai-chat":
            return [chat_tool(tool) for tool in tools]
        case "gemini":
            return [{"function_declarations": [_declared(tool, "parameters_json_schema") for tool in tools]}]
    return [_declared(tool, "input_schema") for tool in tools]


def _declared(tool: ToolSchema, schema: str) -> dict[str, Any]:
    return {"name": tool.name, "description": tool.description, schema: thaw(tool.parameters)}


def finish_word(answer: Any) -> str | None:
    """Why an answer ended, in the API's words, where an object of the library has it."""
    if isinstance(answer.raw, Mapping):
        word = answer.message.additional_kwargs.get("stop_reason") or answer.raw.get("stop_reason")
        word = word or answer.raw.get("finish_reason")
        return getattr(word, "value", word)
    return next((choice.finish_reason for choice in answer.raw.choices if choice.finish_reason), None)


class LlamaIndexCalls:
    """A `Reproducer` for an LLM class."""

    def __init__(self, dialect: str) -> None:
        self._dialect = dialect
        self.packages: Sequence[str] = PACKAGES[dialect]

    def code(self, call: LibraryCall) -> LibraryCode:
        """The source of one call. Raises ValueError for what it does not show."""
        if call.wanted == "usage":
            raise ValueError("the tokens are at another place for each API")
        written = LlamaIndexMessages(self._dialect, call.model).write(call.messages, call.system)
        messages = [f"ChatMessage(**{message!r})" for message in written]
        module, name = CLASSES[self._dialect]
        imports = ("import json", "from llama_index.core.llms import ChatMessage", f"from {module} import {name}")
        return LibraryCode(imports, messages, list(self._body(call)), opening=list(self._opening(call, name)))

    def _opening(self, call: LibraryCall, name: str) -> Iterator[str]:
        arguments = class_arguments(self._dialect, call.model, call.options)
        arguments.pop("http_options", None)
        if settings := arguments.pop("generation_config", None):
            yield "from google.genai.types import GenerateContentConfig"
            yield f"settings = {{'generation_config': GenerateContentConfig(**{settings!r})}}"
        rest = ", ".join(f"{key}={value!r}" for key, value in arguments.items())
        rest += ", **settings" if settings else ""
        yield f"model = {name}(api_key='key', {ADDRESS[self._dialect]}, {rest})"

    def _body(self, call: LibraryCall) -> Iterator[str]:
        tools = f", tools={library_tools(self._dialect, call.tools)!r}" if call.tools else ""
        if call.streamed:
            yield f"answers = [one.model_copy(deep=True) async for one in await model.astream_chat(messages{tools})]"
        else:
            yield f"answers = [await model.achat(messages{tools})]"
        yield "answer = answers[-1]"
        member = FINISH[self._dialect] if call.wanted == "finish" else MEMBERS[call.wanted]
        yield f"return {{{call.wanted!r}: {member}}}"
