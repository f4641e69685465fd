"""Calls of LangChain's chat models as source: what `turnproof reproduce` puts into a file of its own."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from turnproof import messages as ours
from turnproof.reproducer import LibraryCall, LibraryCode, source_of

MEMBERS = {
    "text": "str(answer.text)",
    "chunks": "[str(chunk.text) for chunk in chunks]",
    "thoughts": "''.join(block.get('reasoning', '') for block in answer.content_blocks)",
    "calls": "[[call['name'], call['args']] for call in answer.tool_calls]",
    "finish": "next((answer.response_metadata[name] for name in ('finish_reason', 'stop_reason', 'status')"
    " if answer.response_metadata.get(name)), None)",
    "usage": "{'prompt_tokens': answer.usage_metadata['input_tokens'],"
    " 'output_tokens': answer.usage_metadata['output_tokens'], 'total_tokens': answer.usage_metadata['total_tokens'],"
    " 'cache_read_tokens': answer.usage_metadata.get('input_token_details', {}).get('cache_read', 0),"
    " 'cache_creation_tokens': answer.usage_metadata.get('input_token_details', {}).get('cache_creation', 0)}",
}


@dataclass(frozen=True)
class LangChainCalls:
    """A `Reproducer` for a chat model: its module and class, and the names under which it takes address and key.

    `settings` are further arguments of the class. `thinking` makes arguments of the options for thinking. `dialect` is
    that of the adapter, whose signatures go back.
    """

    module: str
    model_class: str
    dialect: str
    packages: Sequence[str]
    address: str = "base_url"
    settings: Mapping[str, Any] = field(default_factory=dict)

    def code(self, call: LibraryCall) -> LibraryCode:
        """The source of one call. Raises ValueError for what the library has no message for."""
        if call.wanted == "chunks" and not call.streamed:
            raise ValueError("an answer in one piece has no chunks")
        messages = [f"SystemMessage({call.system!r})"] if call.system else []
        messages += [source for message in call.messages for source in self._messages(message)]
        imports = ("from langchain_core.messages import *", f"from {self.module} import {self.model_class}")
        return LibraryCode(imports, messages, list(self._body(call)))

    def _body(self, call: LibraryCall) -> Iterator[str]:
        arguments: dict[str, Any] = {"max_retries": 0, **self.settings, **call.options}
        given = "".join(f", {name}={source_of(value)}" for name, value in arguments.items())
        yield f"model = {self.model_class}(model={call.model!r}, {self.address}=url, api_key='key'{given})"
        if call.tools:
            yield f"model = model.bind_tools([{', '.join(map(_tool, call.tools))}])"
        if call.streamed:
            yield "chunks = [chunk async for chunk in model.astream(messages)]"
            yield "answer = sum(chunks[1:], chunks[0])"
        else:
            yield "answer = await model.ainvoke(messages)"
        yield f"return {{{call.wanted!r}: {MEMBERS[call.wanted]}}}"

    def _messages(self, message: ours.Message) -> Iterator[str]:
        match message.role:
            case "model":
                calls = [
                    f"{{'name': {call.name!r}, 'args': {source_of(call.args)}, 'id': {call.id!r}}}"
                    for call in message.calls
                ]
                told = f", tool_calls=[{', '.join(calls)}]" if calls else ""
                yield f"AIMessage({self._content(message)}{told})"
            case "tool":
                yield from map(_result, message.results)
                return
            case "system":
                yield f"SystemMessage({message.text!r})"
            case "user":
                yield f"HumanMessage({self._content(message)})"

    def _content(self, message: ours.Message) -> str:
        """Text alone where there is nothing else, otherwise blocks."""
        parts = [part for part in message.parts if not isinstance(part, ours.FunctionCall)]
        if all(isinstance(part, ours.Text) for part in parts) and len(parts) < 2:
            return repr(message.text)
        return repr([block for part in parts for block in self._blocks(part)])

    def _blocks(self, part: ours.Part) -> Iterator[dict[str, Any]]:
        match part:
            case ours.Text(text=text):
                yield {"type": "text", "text": text}
            case ours.Thought(text=text, provider_data=data):
                if data is not None and data.dialect == self.dialect:
                    yield {"type": "thinking", "thinking": text, **ours.thaw(data.data)}
            case ours.InlineData(data=data, mime_type=kind):
                block = "image" if kind.startswith("image/") else "file"
                yield {"type": block, "base64": b64encode(data).decode(), "mime_type": kind}
            case ours.FileRef(uri=uri, mime_type=kind):
                yield {"type": "image" if kind.startswith("image/") else "file", "url": uri, "mime_type": kind}
            case _:
                raise ValueError(f"it has no block for {type(part).__name__}")


def _tool(tool: ours.ToolSchema) -> str:
    return source_of({"name": tool.name, "description": tool.description, "parameters": tool.parameters})


def _result(result: ours.ToolResult) -> str:
    if result.attachments:
        raise ValueError("results with attachments differ from model to model")
    text = result.result if isinstance(result.result, str) else ours.to_builtins(result.result)
    status = ", status='error'" if result.is_error else ""
    content = repr(text) if isinstance(text, str) else f"json.dumps({source_of(text)})"
    return f"ToolMessage({content}, tool_call_id={result.call_id!r}, name={result.name!r}{status})"
