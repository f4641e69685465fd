"""The arguments of chatlas' chats, and the same call as source, for `turnproof reproduce`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from turnproof.errors import ProviderError
from turnproof.reproducer import LibraryCall, LibraryCode

from .chatlas_messages import ChatlasMessages, is_content, tool_arguments
from .left_streams import collected

MEMBERS = {
    "text": "turn.text",
    "thoughts": "''.join(one.thinking for one in turn.contents if one.content_type == 'thinking')",
    "calls": "[[one.name, one.arguments] for one in turn.contents if one.content_type == 'tool_request']",
    "finish": "turn.finish_reason",
    "whole": "repr(turn.completion) + repr(turn.contents)",
    "usage": "(lambda fresh, output, read: {'prompt_tokens': fresh + read, 'output_tokens': output,"
    " 'total_tokens': fresh + read + output, 'cache_read_tokens': read, 'cache_creation_tokens': 0})"
    "(*provider.value_tokens(turn.completion))",
    "chunks": "[one.text for one in shown if one.content_type == 'text']",
}


@dataclass(frozen=True, slots=True)
class ChatFunction:
    """A function of the library that opens a chat: the API that it speaks, and its distributions."""

    name: str
    dialect: str
    packages: Sequence[str]

    def arguments(self, model: str, options: Mapping[str, Any]) -> dict[str, Any]:
        """All but address and key."""
        thinking = options.get("thinking")
        reasoning = {"reasoning": thinking.get("budget_tokens", "medium")} if thinking else {}
        limit = {"max_tokens": options["max_tokens"]} if self._has_limit and "max_tokens" in options else {}
        return {"model": model, **reasoning, **limit}

    def client(self, url: str, options: Mapping[str, Any]) -> dict[str, Any]:
        """The arguments of the SDK's client, without retries: a failed call is for the session to repeat."""
        wait = options.get("timeout")
        if self.dialect == "gemini":
            return {"http_options": {"base_url": url} | ({"timeout": int(wait * 1000)} if wait else {})}
        return {"base_url": url, "max_retries": 0} | ({"timeout": wait} if wait else {})

    def parameters(self, options: Mapping[str, Any]) -> dict[str, Any]:
        """The library's own parameters of a model."""
        return {"max_tokens": options["max_tokens"]} if not self._has_limit and "max_tokens" in options else {}

    @property
    def _has_limit(self) -> bool:
        return self.dialect == "anthropic-messages"


class ChatlasCalls:
    """A `Reproducer` for one of the library's providers."""

    errors: Mapping[str, type[ProviderError]] = {}

    def __init__(self, function: ChatFunction) -> None:
        self._function, self.packages = function, function.packages

    def code(self, call: LibraryCall) -> LibraryCode:
        """The source of one call."""
        written = ChatlasMessages(self._function.dialect, call.model).write(call.messages, call.system)
        turns = [f"{name}([{', '.join(map(_source, contents))}])" for name, contents in written]
        imports = (
            f"from chatlas import {self._function.name}, Tool",
            "from chatlas._turn import *",
            "from chatlas._turn import normalize_turns_for_provider as normalized",
            "from chatlas._content import *",
        )
        return LibraryCode(imports, turns, list(self._body(call)), opening=list(self._opening(call)))

    def _opening(self, call: LibraryCall) -> Iterator[str]:
        client = repr(self._function.client("URL", call.options)).replace("'URL'", "url")
        arguments = self._function.arguments(call.model, call.options).items()
        rest = "".join(f", {key}={value!r}" for key, value in arguments)
        yield f"chat = {self._function.name}(api_key='key', kwargs={client}{rest})"
        yield f"chat.set_model_params(**{self._function.parameters(call.options)!r})"
        yield "provider = chat.provider"
        yield f"tools = {{one['name']: Tool(func=print, **one) for one in {list(map(tool_arguments, call.tools))!r}}}"

    def _body(self, call: LibraryCall) -> Iterator[str]:
        yield "rest = {'data_model': None, 'kwargs': chat._collect_all_kwargs({})}"
        yield "turns = normalized(messages)"
        yield (f"answer = await provider.chat_perform_async(stream={call.streamed}, turns=turns, tools=tools, **rest)")
        if call.streamed:
            yield from collected("chunks", "answer", "provider.stream_content(one, None)", call)
            yield "whole, shown = None, []"
            yield "for one in chunks:"
            yield "    whole = provider.stream_merge_chunks(whole, one)"
            yield "    shown += provider.stream_content(one, whole)"
            if call.wanted != "chunks":
                yield "turn = provider.stream_turn(whole, has_data_model=False)"
        else:
            yield "turn = provider.value_turn(answer, has_data_model=False)"
        yield f"return {{{call.wanted!r}: {MEMBERS[call.wanted]}}}"


def _source(written: Any) -> str:
    """A content, or what stands in one, as source."""
    if is_content(written):
        name, arguments = written
        return f"{name}({', '.join(f'{key}={_source(value)}' for key, value in arguments.items())})"
    return f"[{', '.join(map(_source, written))}]" if isinstance(written, list) else repr(written)
