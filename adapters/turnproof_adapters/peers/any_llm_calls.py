"""Messages and arguments of any-llm, and the same call as source, for `turnproof reproduce`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from turnproof.errors import ProviderError
from turnproof.messages import FunctionCall, Message, Part, Text, Thought, ToolSchema
from turnproof.reproducer import LibraryCall, LibraryCode

from .chat_messages import calls_of, chat_call, chat_messages, chat_tool
from .issued_data import IssuedData
from .left_streams import collected

SDKS = {"anthropic": "anthropic", "openai": "openai", "gemini": "google-genai"}
MEMBERS = {
    "text": "answer.choices[0].message.content or ''",
    "thoughts": "getattr(answer.choices[0].message.reasoning, 'content', '')",
    "calls": "[[call.function.name, json.loads(call.function.arguments)]"
    " for call in answer.choices[0].message.tool_calls or ()]",
    "finish": "answer.choices[0].finish_reason",
    "whole": "repr(answer)",
    "usage": "{'prompt_tokens': answer.usage.prompt_tokens, 'output_tokens': answer.usage.completion_tokens,"
    " 'total_tokens': answer.usage.total_tokens}",
}
STREAMED = {
    "text": "''.join(d.content or '' for d in deltas)",
    "chunks": "[d.content for d in deltas if d.content]",
    "thoughts": "''.join(d.reasoning.content for d in deltas if d.reasoning)",
    "whole": "repr(chunks)",
    "usage": "{'prompt_tokens': max((chunk.usage.prompt_tokens for chunk in chunks if chunk.usage), default=0)}",
    "finish": "next((c.finish_reason for chunk in chunks for c in chunk.choices if c.finish_reason), None)",
}


class AnyLLMMessages(IssuedData):
    """Reads and writes messages of the model. All thinking is one text with one signature, in `extra_content`."""

    def parts(self, message: Any, *, cut: bool) -> Iterator[Part]:
        """The parts of a message of the library. A message has no order of its own: thinking, text, calls."""
        thinking = getattr(message.reasoning, "content", message.reasoning) or ""
        extra = message.extra_content if "signature" in str(message.extra_content) else None
        if thinking or extra:
            yield Thought(thinking, provider_data=self._issued(extra))
        if text := message.content or message.refusal:
            yield Text(text, provider_data=self._issued({"refusal": True} if message.refusal else None))
        for call, own in calls_of(message, cut=cut):
            issued = self._issued(getattr(own, "extra_content", None))
            yield FunctionCall(call.id, call.name, call.args, provider_data=issued)

    def additions(self, message: Message) -> dict[str, Any]:
        """What the library reads of a message of the model beyond its text and calls."""
        added: dict[str, Any] = {}
        for part in message.parts:
            if isinstance(part, Thought) and (own := self._own(part)):
                added |= {"reasoning": part.text, "extra_content": own}
        calls = [chat_call(call) | self._extra(call) for call in message.calls]
        return added | ({"tool_calls": calls} if calls else {})

    def _extra(self, call: FunctionCall) -> dict[str, Any]:
        own = self._own(call)
        return {"extra_content": own} if own else {}


def call_arguments(
    model: str, options: Mapping[str, Any], tools: Sequence[ToolSchema] | None, *, streamed: bool
) -> dict[str, Any]:
    """The arguments of `acompletion()` but messages. Thinking is switched on by an effort, as the library has it."""
    arguments: dict[str, Any] = {"model": model}
    arguments |= {name: options[name] for name in ("max_tokens", "timeout") if name in options}
    if "thinking" in options:
        arguments["reasoning_effort"] = "low"
    if tools:
        arguments["tools"] = [chat_tool(tool) for tool in tools]
    return arguments | ({"stream": True, "stream_options": {"include_usage": True}} if streamed else {})


class AnyLLMCalls:
    """A `Reproducer` for `acompletion` of one of the library's providers."""

    def __init__(self, provider: str, dialect: str, errors: Mapping[str, type[ProviderError]]) -> None:
        self._provider, self._dialect, self.errors = provider, dialect, errors
        self.packages: Sequence[str] = (f"any-llm-sdk[{provider}]", SDKS[provider])

    def code(self, call: LibraryCall) -> LibraryCode:
        """The source of one call. Raises ValueError for what the library leaves to the caller to add up."""
        members = STREAMED if call.streamed else MEMBERS
        if call.wanted not in members:
            raise ValueError(f"the {call.wanted} of a streamed answer come in pieces that the caller adds up")
        additions = AnyLLMMessages(self._dialect, call.model).additions
        messages = [repr(message) for message in chat_messages(call.messages, call.system, additions)]
        return LibraryCode(
            ("import json", "from any_llm import AnyLLM"),
            messages,
            list(self._body(call, members)),
            opening=list(self._opening()),
        )

    def _opening(self) -> Iterator[str]:
        own = "api_key='key', api_base=url, unified_exceptions=True, max_retries=0"
        yield f"llm = AnyLLM.create({self._provider!r}, {own})"

    def _body(self, call: LibraryCall, members: Mapping[str, str]) -> Iterator[str]:
        arguments = call_arguments(call.model, call.options, call.tools, streamed=call.streamed)
        yield f"answer = await llm.acompletion(messages=messages, **{arguments!r})"
        if call.streamed:
            yield from collected("chunks", "answer", "any(each.delta.content for each in one.choices)", call)
            yield "deltas = [choice.delta for chunk in chunks for choice in chunk.choices]"
        yield f"return {{{call.wanted!r}: {members[call.wanted]}}}"
