"""The arguments of LangChain's chat models, and the same call as source, for `turnproof reproduce`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from turnproof.errors import ProviderError
from turnproof.reproducer import LibraryCall, LibraryCode

from .langchain_messages import LangChainMessages, library_tool
from .left_streams import collected

FINISH_KEYS = ("finish_reason", "stop_reason", "status")
"""The names that the API's finish word has in `response_metadata`."""

MEMBERS = {
    "text": "str(answer.text)",
    "chunks": "[str(chunk.text) for chunk in chunks]",
    "thoughts": "''.join(block.get('reasoning', '') for block in answer.content_blocks)",
    "calls": "[[call['name'], call['args']] for call in answer.tool_calls]",
    "finish": f"next((answer.response_metadata[name] for name in {FINISH_KEYS!r}"
    " if answer.response_metadata.get(name)), None)",
    "whole": "repr(answer)",
    "usage": "{'prompt_tokens': used.get('input_tokens', 0), 'output_tokens': used.get('output_tokens', 0),"
    " 'total_tokens': used.get('total_tokens', 0),"
    " 'cache_read_tokens': used.get('input_token_details', {}).get('cache_read', 0)}",
}


@dataclass(frozen=True, slots=True)
class ChatModel:
    """A chat model of LangChain: where its class is, its distributions, and its settings beside those of the caller.

    `without_retries` is what its `max_retries` means by one request: 0, or 1 for Google.
    """

    module: str
    name: str
    packages: Sequence[str]
    settings: Mapping[str, Any]
    without_retries: int = 0

    def arguments(self, model: str, options: Mapping[str, Any]) -> dict[str, Any]:
        """The arguments of the class, without retries of the SDK: a failed call is for the session to repeat."""
        thinking = options.get("thinking")
        arguments: dict[str, Any] = {"model": model, "max_retries": self.without_retries, **self.settings}
        arguments |= {name: options[name] for name in ("max_tokens", "timeout") if name in options}
        if thinking and self.name == "ChatAnthropic":
            arguments["thinking"] = {"type": "enabled", **thinking}
        elif thinking and self.name == "ChatGoogleGenerativeAI":
            arguments |= {"thinking_budget": thinking["budget_tokens"], "include_thoughts": True}
        elif thinking:
            arguments["reasoning"] = {"summary": "auto"}
        return arguments


class LangChainCalls:
    """A `Reproducer` for a chat model. `dialect` is that of the adapter, whose signatures go back."""

    def __init__(self, chat_model: ChatModel, dialect: str, errors: Mapping[str, type[ProviderError]]) -> None:
        self.errors = errors
        self.packages, self._chat_model, self._dialect = chat_model.packages, chat_model, dialect

    def code(self, call: LibraryCall) -> LibraryCode:
        """The source of one call."""
        written = LangChainMessages(self._dialect, call.model).write(call.messages, call.system)
        messages = [f"{name}({', '.join(f'{key}={value!r}' for key, value in rest.items())})" for name, rest in written]
        imports = (
            "from langchain_core.messages import *",
            f"from {self._chat_model.module} import {self._chat_model.name}",
        )
        return LibraryCode(imports, messages, list(self._body(call)), opening=list(self._opening(call)))

    def _opening(self, call: LibraryCall) -> Iterator[str]:
        arguments = self._chat_model.arguments(call.model, call.options)
        rest = "".join(f", {name}={value!r}" for name, value in arguments.items())
        yield f"model = {self._chat_model.name}(base_url=url, api_key='key'{rest})"
        if call.tools:
            yield f"model = model.bind_tools({list(map(library_tool, call.tools))!r})"

    def _body(self, call: LibraryCall) -> Iterator[str]:
        if call.streamed:
            yield from collected("chunks", "model.astream(messages)", "one.text", call)
            yield "answer = sum(chunks[1:], chunks[0])"
        else:
            yield "answer = await model.ainvoke(messages)"
        if call.wanted == "usage":
            yield "used = answer.usage_metadata or {}"
        yield f"return {{{call.wanted!r}: {MEMBERS[call.wanted]}}}"
