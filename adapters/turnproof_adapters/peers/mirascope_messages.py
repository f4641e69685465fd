"""Conversations in Mirascope's messages, as calls of its classes: they are made, or written as source."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from turnproof import errors, messages

from .result_texts import result_text

PROVIDERS = {"anthropic-messages": "anthropic", "openai-chat": "openai"}
"""The library's names of providers, by dialect."""

PARAMETER_KEYS = ("properties", "required", "additionalProperties", "$defs")


@dataclass(frozen=True)
class ClassCall:
    """A call of a class of `mirascope.llm` with arguments by name, of which some are such calls too."""

    name: str
    arguments: Mapping[str, Any]

    def make(self, llm: Any) -> Any:
        """The object, from the module of the library."""
        return getattr(llm, self.name)(**{name: _make_inner(value, llm) for name, value in self.arguments.items()})

    def __repr__(self) -> str:
        return f"llm.{self.name}({', '.join(f'{name}={value!r}' for name, value in self.arguments.items())})"


def _make_inner(value: Any, llm: Any) -> Any:
    if isinstance(value, ClassCall):
        return value.make(llm)
    return [_make_inner(one, llm) for one in value] if isinstance(value, list) else value


class MirascopeMessages:
    """Reads and writes messages, for the dialect and the model that issue what is signed."""

    def __init__(self, dialect: str, model: str) -> None:
        self._dialect, self._model = dialect, model
        self.model_id = f"{PROVIDERS[dialect]}/{model}" + (":completions" if dialect == "openai-chat" else "")

    def write(self, history: Sequence[messages.Message], system: Any) -> Iterator[ClassCall]:
        """The conversation. The library drops system messages behind the first one, so their texts are added to it."""
        texts = [getattr(system, "text", system), *(message.text for message in history if message.role == "system")]
        if text := "\n\n".join(text for text in texts if text):
            yield ClassCall("SystemMessage", {"content": _text(text)})
        for message in history:
            match message.role:
                case "user":
                    yield ClassCall("UserMessage", {"content": [_content(part) for part in message.parts]})
                case "tool":
                    yield ClassCall("UserMessage", {"content": [_output(result) for result in message.results]})
                case "model":
                    yield self._assistant(message)

    def read(self, message: Any, *, cut: bool) -> Iterator[messages.Part]:
        """The parts of the library's message of the model.

        The message as the API sent it has the signatures, and goes with its first thought. Raises TransportError for
        arguments that are no JSON; where the answer was cut, such a call is one that did not arrive.
        """
        raw = messages.ProviderData(self._dialect, self._model, {"raw": message.raw_message})
        issued = raw if message.raw_message else None
        for part in message.content:
            match part.type:
                case "text":
                    yield messages.Text(part.text)
                case "thought":
                    yield messages.Thought(part.thought, provider_data=issued)
                    issued = None
                case "tool_call":
                    try:
                        arguments = json.loads(part.args or "{}")
                    except ValueError as error:
                        if cut:
                            continue
                        raise errors.TransportError(f"the arguments of {part.name} are no JSON: {error}") from error
                    yield messages.FunctionCall(part.id, part.name, arguments)

    def _assistant(self, message: messages.Message) -> ClassCall:
        content, raw = [], None
        for part in message.parts:
            match part:
                case messages.Text(text=text):
                    content.append(_text(text))
                case messages.Thought(text=text, provider_data=data):
                    content.append(ClassCall("Thought", {"thought": text}))
                    if data and (data.dialect, data.model) == (self._dialect, self._model):
                        raw = messages.thaw(data.data["raw"])
                case messages.FunctionCall(id=id, name=name, args=args):
                    written = json.dumps(messages.thaw(args), ensure_ascii=False)
                    content.append(ClassCall("ToolCall", {"id": id, "name": name, "args": written}))
        issuer = (PROVIDERS[self._dialect], self.model_id, self._model) if raw else (None, None, None)
        names = dict(zip(("provider_id", "model_id", "provider_model_name"), issuer, strict=True))
        return ClassCall("AssistantMessage", {"content": content, **names, "raw_message": raw})


def tool_parameters(tool: messages.ToolSchema) -> dict[str, Any]:
    """The arguments of the library's `ToolParameterSchema`, which has a place for some keys of a schema alone."""
    schema = messages.thaw(tool.parameters)
    return {name: schema[name] for name in PARAMETER_KEYS if name in schema}


def raw_model_and_finish(answer: Any) -> tuple[str | None, str | None]:
    """The model that answered, and the API's own finish word, from the SDK's objects that the library hands on."""
    model = finish = None
    for raw in getattr(answer, "raw_stream_events", None) or (answer.raw,):
        head = getattr(raw, "message", raw)  # Anthropic's first event has the message that it opens
        end = next(iter(getattr(raw, "choices", None) or ()), None) or getattr(raw, "delta", raw)
        model = getattr(head, "model", None) or model
        finish = getattr(end, "finish_reason", None) or getattr(end, "stop_reason", None) or finish
    return model, finish


def token_usage(usage: Any) -> messages.TokenUsage:
    """The tokens of an answer; none where the library reports none."""
    if usage is None:
        return messages.TokenUsage()
    cached = usage.cache_read_tokens, usage.cache_write_tokens
    return messages.TokenUsage(
        usage.input_tokens, usage.output_tokens, usage.total_tokens, *cached, usage.reasoning_tokens
    )


def _text(text: str) -> ClassCall:
    return ClassCall("Text", {"text": text})


def _output(result: messages.ToolResult) -> ClassCall:
    """As the library's tools make it: a tool that failed has the text of its exception as the result."""
    output: dict[str, Any] = {"id": result.call_id, "name": result.name, "result": messages.thaw(result.result)}
    if result.is_error:
        text = result_text(result.result)
        output |= {"result": text, "error": ClassCall("ToolExecutionError", {"tool_exception": text})}
    return ClassCall("ToolOutput", output)


def _content(part: messages.Part) -> ClassCall:
    match part:
        case messages.Text(text=text):
            return _text(text)
        case messages.InlineData(mime_type=kind, data=data):
            source = {"data": base64.b64encode(data).decode()}
            if kind.startswith("image/"):
                return _media("Image", "Base64ImageSource", "base64_image_source", {**source, "mime_type": kind})
            if kind.startswith("text/"):
                plain = {"data": data.decode(), "media_type": kind}
                return _media("Document", "TextDocumentSource", "text_document_source", plain)
            return _media("Document", "Base64DocumentSource", "base64_document_source", {**source, "media_type": kind})
        case messages.FileRef(mime_type=kind, uri=uri):
            if kind.startswith("image/"):
                return _media("Image", "URLImageSource", "url_image_source", {"url": uri})
            return _media("Document", "URLDocumentSource", "url_document_source", {"url": uri})
    raise errors.InvalidRequestError(f"the library's messages have no content for {type(part).__name__}")


def _media(name: str, source: str, kind: str, arguments: Mapping[str, Any]) -> ClassCall:
    return ClassCall(name, {"source": ClassCall(source, {"type": kind, **arguments})})
