"""A call of semantic-kernel as source, for `turnproof reproduce`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from turnproof.errors import ProviderError
from turnproof.reproducer import LibraryCall, LibraryCode

from .left_streams import collected
from .semantic_kernel_messages import call_settings, written_messages

IMPORTS = (
    "import json, openai",
    "from functools import reduce",
    "from operator import add",
    "from semantic_kernel.connectors.ai.open_ai import *",
    "from semantic_kernel.contents import *",
)
MEMBERS = {
    "text": "answer.content",
    "chunks": "[one.content for one in chunks]",
    "calls": "[[one.name, json.loads(one.arguments or '{}')] for one in answer.items"
    " if isinstance(one, FunctionCallContent)]",
    "finish": "answer.finish_reason and answer.finish_reason.value",
    "whole": "repr(answer)",
    "usage": "{'prompt_tokens': answer.metadata['usage'].prompt_tokens,"
    " 'output_tokens': answer.metadata['usage'].completion_tokens}",
}


class SemanticKernelCalls:
    """A `Reproducer` for `OpenAIChatCompletion`."""

    packages: Sequence[str] = ("semantic-kernel", "openai")
    errors: Mapping[str, type[ProviderError]] = {}

    def code(self, call: LibraryCall) -> LibraryCode:
        """The source of one call. Raises ValueError for thoughts, which the library does not read."""
        if call.wanted not in MEMBERS:
            raise ValueError(f"the library has no {call.wanted}")
        messages = [
            f"ChatMessageContent(role={role!r}, items=[{', '.join(map(_source, items))}])"
            for role, items in written_messages(call.messages, call.system)
        ]
        return LibraryCode(IMPORTS, messages, list(self._body(call)), opening=list(self._opening(call)))

    def _opening(self, call: LibraryCall) -> Iterator[str]:
        wait = f", timeout={call.options['timeout']!r}" if "timeout" in call.options else ""
        yield f"client = openai.AsyncOpenAI(base_url=url, api_key='key', max_retries=0{wait})"
        yield f"service = OpenAIChatCompletion(ai_model_id={call.model!r}, async_client=client)"

    def _body(self, call: LibraryCall) -> Iterator[str]:
        settings = call_settings(call.options, call.tools)
        yield f"settings = OpenAIChatPromptExecutionSettings(**{settings!r})"
        yield "history = ChatHistory(messages=messages)"
        if call.streamed:
            stream = "service.get_streaming_chat_message_contents(history, settings)"
            yield from collected("found", stream, "one[0].content", call)
            yield "chunks = [one for some in found for one in some]"
            yield "answer = reduce(add, chunks)"
        else:
            yield "(answer,) = await service.get_chat_message_contents(history, settings)"
        yield f"return {{{call.wanted!r}: {MEMBERS[call.wanted]}}}"


def _source(item: tuple[str, Mapping[str, object]]) -> str:
    name, arguments = item
    return f"{name}({', '.join(f'{key}={value!r}' for key, value in arguments.items())})"
