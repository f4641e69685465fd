"""The arguments of agno's model classes, and the same call as source, for `turnproof reproduce`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from turnproof.errors import ProviderError
from turnproof.reproducer import LibraryCall, LibraryCode

from .agno_messages import AgnoMessages
from .chat_messages import chat_tool
from .left_streams import collected

CLASSES = {
    "anthropic-messages": "from agno.models.anthropic import Claude as Model",
    "openai-chat": "from agno.models.openai import OpenAIChat as Model",
    "gemini": "from agno.models.google import Gemini as Model",
}
SDKS = {"anthropic-messages": "anthropic", "openai-chat": "openai", "gemini": "google-genai"}
MEMBERS = {
    "text": "answer.content or ''",
    "thoughts": "answer.reasoning_content or ''",
    "calls": "[[c['function']['name'], json.loads(c['function']['arguments'] or '{}')]"
    " for c in answer.tool_calls or ()]",
    "whole": "repr(answer)",
    "chunks": "[event.content for event in events if event.content]",
    "usage": "{'prompt_tokens': answer.metrics.input_tokens, 'cache_read_tokens': answer.metrics.cache_read_tokens,"
    " 'cache_creation_tokens': answer.metrics.cache_write_tokens}",
}


def model_arguments(dialect: str, model: str, options: Mapping[str, Any], where: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments of the model class, without retries: a failed call is for the session to repeat."""
    thinking, own = options.get("thinking"), dict[str, Any]()
    timeout = {"timeout": options["timeout"]} if "timeout" in options else {}
    limit = {"max_tokens": options["max_tokens"]} if "max_tokens" in options else {}
    match dialect:
        case "anthropic-messages":
            own = {"client_params": {"base_url": where["base_url"], "max_retries": 0}, **limit, **timeout}
            own |= {"thinking": {"type": "enabled", **thinking}} if thinking else {}
        case "openai-chat":
            own = {"base_url": where["base_url"], "max_retries": 0, "retries": 0, **timeout}
            own |= {"max_completion_tokens": limit["max_tokens"]} if limit else {}
        case "gemini":
            http = {"base_url": where["base_url"]} | ({"timeout": int(timeout["timeout"] * 1000)} if timeout else {})
            own = {"client_params": {"http_options": http}}
            own |= {"max_output_tokens": limit["max_tokens"]} if limit else {}
            own |= {"thinking_budget": thinking["budget_tokens"], "include_thoughts": True} if thinking else {}
    return {"id": model, "api_key": where["api_key"], **own}


class AgnoCalls:
    """A `Reproducer` for a model class, called as an agent calls it."""

    def __init__(self, dialect: str, errors: Mapping[str, type[ProviderError]]) -> None:
        self._dialect, self.errors = dialect, errors
        self.packages: Sequence[str] = ("agno", SDKS[dialect])

    def code(self, call: LibraryCall) -> LibraryCode:
        """The source of one call. Raises ValueError for what a message of the library has no room for."""
        if call.wanted not in MEMBERS:
            raise ValueError(f"its messages have no {call.wanted}")
        written = AgnoMessages(self._dialect, call.model).write(call.messages, call.system)
        module, name = ("base", "MessageData") if call.streamed else ("response", "ModelResponse")
        imports = [
            *(["import json"] if call.wanted == "calls" else []),
            f"from agno.models.{module} import {name}",
            "from agno.models.message import Message",
            CLASSES[self._dialect],
        ]
        return LibraryCode(
            imports,
            [f"Message(**{message!r})" for message in written],
            list(self._body(call)),
            opening=list(self._opening(call)),
        )

    def _opening(self, call: LibraryCall) -> Iterator[str]:
        arguments = model_arguments(self._dialect, call.model, call.options, {"base_url": "URL", "api_key": "key"})
        yield f"model = Model(**{arguments!r})".replace("'URL'", "url")

    def _body(self, call: LibraryCall) -> Iterator[str]:
        tools = [chat_tool(tool) for tool in call.tools] or None
        yield "answer = Message(role='assistant')"
        yield f"request = {{'messages': messages, 'assistant_message': answer, 'tools': {tools!r}}}"
        if call.streamed:
            stream = "model.aprocess_response_stream(stream_data=MessageData(), **request)"
            yield from collected("events", stream, "one.content", call)
        else:
            yield "await model._aprocess_model_response(model_response=ModelResponse(), **request)"
        yield f"return {{{call.wanted!r}: {MEMBERS[call.wanted]}}}"
