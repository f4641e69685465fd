"""Bindings that say something that is not so, in one way each. The adapters are the reference adapters, changed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import msgspec

from turnproof import messages as m
from turnproof.errors import InvalidRequestError, ProviderError, TransportError
from turnproof.provider import Binding, Capabilities, Endpoint, Outcome
from turnproof_adapters.anthropic.binding import BINDING as ANTHROPIC
from turnproof_adapters.google_genai.binding import BINDING as GOOGLE
from turnproof_adapters.openai.binding import BINDING as OPENAI
from turnproof_adapters.openai_responses import binding as responses

Complete = Callable[..., Any]


class Wrapped:
    """The adapter, called through something else."""

    def __init__(self, inner: Any, complete: Complete) -> None:
        self._inner, self._complete = inner, complete

    def complete(self, *args: Any, **kwargs: Any) -> Any:
        return self._complete(self._inner, *args, **kwargs)

    def shutdown(self) -> None:
        self._inner.shutdown()


def opened(endpoint: Endpoint, of: Binding = ANTHROPIC) -> Any:
    assert of.open_stateless is not None
    return of.open_stateless(endpoint)


def binding(name: str, opener: Callable[[Endpoint], Any] = opened, **fields: Any) -> Binding:
    """The Anthropic adapter's stateless path with every claim that it makes, opened in another way."""
    usual: dict[str, Any] = {"declared": (), "retained": {}, "cache_plugin": None, "open_legacy": None}
    usual["capabilities"] = replace(ANTHROPIC.claims(), cache="none", lifecycle=False)
    return replace(ANTHROPIC, name=name, open_stateless=opener, **usual | fields)


def lie(complete: Complete, **claims: Any) -> Binding:
    """A binding whose adapter is called through `complete`, with other claims."""
    usual: dict[str, Any] = {"cache": "none", "lifecycle": False}
    capabilities = replace(ANTHROPIC.claims(), **usual | claims)
    return binding("lie", lambda endpoint: Wrapped(opened(endpoint), complete), capabilities=capabilities)


def as_it_is(inner: Any, *args: Any, **kwargs: Any) -> Any:
    return inner.complete(*args, **kwargs)


def returning(change: Callable[[m.ProviderResponse], Any]) -> Complete:
    return lambda inner, *args, **kwargs: change(inner.complete(*args, **kwargs))


def with_parts(change: Callable[[tuple[m.Part, ...]], tuple[m.Part, ...]]) -> Complete:
    return returning(lambda response: msgspec.structs.replace(response, parts=change(response.parts)))


def with_fields(**fields: Any) -> Complete:
    return returning(lambda response: msgspec.structs.replace(response, **fields))


def without(**options: Any) -> Complete:
    """Called with these options in place of what it was given, as by a library that has no such option."""
    return lambda inner, *args, **kwargs: inner.complete(*args, **kwargs | options)


def sending(change: Callable[[m.Part], m.Part | None]) -> Complete:
    """With each part of the conversation changed before it is sent; None leaves it out."""

    def complete(inner: Any, messages: Any, *args: Any, **kwargs: Any) -> Any:
        new_messages = []
        for message in messages:
            parts = tuple(new for part in message.parts if (new := change(part)) is not None)
            new_messages.append(msgspec.structs.replace(message, parts=parts))
        return inner.complete(new_messages, *args, **kwargs)

    return complete


def _drops_mime(kind: str) -> Callable[[m.Part], m.Part | None]:
    return lambda part: None if getattr(part, "mime_type", "").startswith(kind) else part


def _drops_attachments(part: m.Part) -> m.Part:
    return msgspec.structs.replace(part, attachments=()) if isinstance(part, m.ToolResult) else part


def _first_call_only(parts: tuple[m.Part, ...]) -> tuple[m.Part, ...]:
    calls = [part for part in parts if isinstance(part, m.FunctionCall)]
    return tuple(part for part in parts if part not in calls[1:])


def _no_calls(parts: tuple[m.Part, ...]) -> tuple[m.Part, ...]:
    return tuple(part for part in parts if not isinstance(part, m.FunctionCall))


def _thoughts_as_text(parts: tuple[m.Part, ...]) -> tuple[m.Part, ...]:
    return tuple(m.Text(part.text) if isinstance(part, m.Thought) else part for part in parts)


def _thoughts_joined(parts: tuple[m.Part, ...]) -> tuple[m.Part, ...]:
    thoughts = [part for part in parts if isinstance(part, m.Thought)]
    if not thoughts:
        return parts
    whole = m.Thought("".join(part.text for part in thoughts))
    return (whole, *(part for part in parts if not isinstance(part, m.Thought)))


def _refuses_urls(inner: Any, messages: Any, *args: Any, **kwargs: Any) -> Any:
    if any(isinstance(part, m.FileRef) for message in messages for part in message.parts):
        raise InvalidRequestError("images are sent as bytes")
    return inner.complete(messages, *args, **kwargs)


def _no_tools(inner: Any, messages: Any, system: Any = None, tools: Any = None, **kwargs: Any) -> Any:
    return inner.complete(messages, system, None, **kwargs)


def _text_twice(inner: Any, *args: Any, on_chunk: Any = None, **kwargs: Any) -> Any:
    def twice(text: str) -> None:
        on_chunk(text)
        on_chunk(text)

    return inner.complete(*args, on_chunk=on_chunk and twice, **kwargs)


def _text_at_the_end(inner: Any, *args: Any, on_chunk: Any = None, **kwargs: Any) -> Any:
    chunks: list[str] = []
    response = inner.complete(*args, on_chunk=on_chunk and chunks.append, **kwargs)
    for chunk in chunks:
        on_chunk(chunk)
    return response


def _one_piece_too_many(inner: Any, *args: Any, on_chunk: Any = None, cancel_token: Any = None, **kwargs: Any) -> Any:
    def pass_on(text: str) -> None:
        on_chunk(text)
        if cancel_token is not None and cancel_token.is_cancelled:
            on_chunk("more")

    return inner.complete(*args, on_chunk=on_chunk and pass_on, cancel_token=cancel_token, **kwargs)


def _needs_a_piece(inner: Any, *args: Any, on_chunk: Any = None, **kwargs: Any) -> Any:
    pieces: list[str] = []

    def pass_on(text: str) -> None:
        pieces.append(text)
        on_chunk(text)

    response = inner.complete(*args, on_chunk=on_chunk and pass_on, **kwargs)
    if on_chunk and not pieces and response.finish_reason is m.FinishReason.CANCELLED:
        raise TypeError("'async for' requires an object with __aiter__ method")
    return response


def _cancelled_texts(response: m.ProviderResponse) -> m.ProviderResponse:
    if response.finish_reason is not m.FinishReason.CANCELLED:
        return response
    return msgspec.structs.replace(response, parts=tuple(one for one in response.parts if isinstance(one, m.Text)))


def _refuses_instructions(inner: Any, messages: Any, *args: Any, **kwargs: Any) -> Any:
    if any(message.role == "system" for message in messages):
        raise ValueError("only one system message is allowed")
    return inner.complete(messages, *args, **kwargs)


def _usage_at_the_end(inner: Any, *args: Any, on_usage_update: Any = None, **kwargs: Any) -> Any:
    response = inner.complete(*args, **kwargs)
    if response.finish_reason is m.FinishReason.CANCELLED:
        return msgspec.structs.replace(response, usage=m.TokenUsage())
    if on_usage_update:
        on_usage_update(response.usage)
    return response


def _cancelled_by_the_next_piece(
    inner: Any, *args: Any, cancel_token: Any = None, on_chunk: Any = None, **kwargs: Any
) -> Any:
    """As of a library that nothing interrupts: its caller looks at the token when a piece comes."""
    if on_chunk is None:
        return inner.complete(*args, cancel_token=cancel_token, **kwargs)
    texts: list[str] = []

    def watch(text: str) -> None:
        if cancel_token.is_cancelled:
            raise KeyboardInterrupt
        texts.append(text)
        on_chunk(text)

    try:
        return inner.complete(*args, on_chunk=watch, **kwargs)
    except KeyboardInterrupt:
        return m.ProviderResponse((m.Text("".join(texts)),), finish_reason=m.FinishReason.CANCELLED)


def _stores(endpoint: Endpoint) -> Any:
    """As of a library that leaves it to the API whether an answer is stored."""
    inner = opened(endpoint, responses.BINDING)
    fields = inner._fields
    inner._fields = lambda prompt: {**fields(prompt), "store": True}
    return inner


def _unreadable(inner: Any, *args: Any, **kwargs: Any) -> Any:
    """As of an SDK that lets the error of the JSON parser through."""
    try:
        return inner.complete(*args, **kwargs)
    except TransportError as error:
        if error.partial:
            raise ValueError("Expecting value: line 1 column 1 (char 0)") from error
        raise


def _refuses_an_empty_history(inner: Any, messages: Any, *args: Any, **kwargs: Any) -> Any:
    if not messages:
        raise InvalidRequestError("contents are required")
    return inner.complete(messages, *args, **kwargs)


def _of_another_version(inner: Any, *args: Any, **kwargs: Any) -> Any:
    raise TypeError("Messages.create() got an unexpected keyword argument 'temperature'")


def _in_small_letters(parts: tuple[m.Part, ...]) -> tuple[m.Part, ...]:
    """As of a library that writes the names of tools in its own way."""
    return tuple(
        msgspec.structs.replace(part, name=part.name.lower()) if isinstance(part, m.FunctionCall) else part
        for part in parts
    )


def _with_a_new_id(part: m.Part) -> m.Part:
    """As of a library that puts each result into an object with an id."""
    if isinstance(part, m.ToolResult):
        return msgspec.structs.replace(part, result={"id": m.new_message_id(), "value": m.thaw(part.result)})
    return part


def _cancelled_in_texts_alone(inner: Any, *args: Any, cancel_token: Any = None, **kwargs: Any) -> Any:
    has_tools = bool(kwargs.get("tools") or args[2:])
    return inner.complete(*args, cancel_token=None if has_tools else cancel_token, **kwargs)


def _other_error(kind: type[Exception]) -> Complete:
    def complete(inner: Any, *args: Any, **kwargs: Any) -> Any:
        try:
            return inner.complete(*args, **kwargs)
        except ProviderError as error:
            raise kind(str(error)) from None

    return complete


def _nothing_thought(endpoint: Endpoint) -> Any:
    options = {key: value for key, value in endpoint.options.items() if key != "thinking"}
    return opened(replace(endpoint, options=options))


def _own_model(endpoint: Endpoint) -> Any:
    return opened(replace(endpoint, model="claude-haiku-4-5"))


def _refuses_to_open(endpoint: Endpoint) -> Any:
    raise TypeError("Client() got an unexpected keyword argument 'ssl_context'")


def _bytes(inner: Any, *args: Any, on_chunk: Any = None, **kwargs: Any) -> Any:
    return inner.complete(*args, on_chunk=on_chunk and (lambda text: on_chunk(text.encode())), **kwargs)


def _usage_as_dict(inner: Any, *args: Any, on_usage_update: Any = None, **kwargs: Any) -> Any:
    callback = on_usage_update and (lambda usage: on_usage_update({"total": usage.total_tokens}))
    return inner.complete(*args, on_usage_update=callback, **kwargs)


def _speaks(of: Binding) -> Callable[[Endpoint], Any]:
    return lambda endpoint: opened(endpoint, of)


def _generator(inner: Any, *args: Any, **kwargs: Any) -> Any:
    response = inner.complete(*args, **kwargs)
    return (part for part in response.parts)


NO_TOOL_CLAIMS = {"tools": False, "parallel_tools": False, "result_images": False, "service_tools": False}
PLAIN = Capabilities(streaming=True, cancel=True, typed_errors=True)

TOOLS_NOT_SENT = lie(_no_tools)
CALLS_NOT_RETURNED = lie(with_parts(_no_calls))
ID_FOR_EACH_RESULT = lie(sending(_with_a_new_id))
EMPTY_HISTORY_REFUSED = lie(_refuses_an_empty_history, streaming=False)
ANSWERS_STORED = binding(
    "lie",
    _stores,
    dialect="openai-responses",
    model="gpt-5-mini",
    capabilities=replace(responses.BINDING.claims(), cache="none", lifecycle=False, chain=False, background=False),
)
UNREADABLE_STREAM = lie(_unreadable)
SDK_OF_ANOTHER_VERSION = lie(_of_another_version)
NAMES_IN_SMALL_LETTERS = lie(with_parts(_in_small_letters))
PARALLEL_CALLS_LOST = lie(with_parts(_first_call_only))
NOTHING_STREAMED = lie(without(on_chunk=None))
STREAMED_TWICE = lie(_text_twice)
THINKING_NOT_SWITCHED_ON = binding("lie", _nothing_thought)
THINKING_AS_TEXT = lie(with_parts(_thoughts_as_text))
THOUGHTS_IN_ONE = lie(with_parts(_thoughts_joined))
SCHEMA_NOT_SENT = lie(without(response_schema=None))
OUTPUT_NOT_PARSED = lie(with_fields(structured_output=None))
IMAGES_DROPPED = lie(sending(_drops_mime("image/")))
URLS_REFUSED = lie(_refuses_urls)
DOCUMENTS_DROPPED = lie(sending(_drops_mime("application/")))
ATTACHMENTS_DROPPED = lie(sending(_drops_attachments))
CANCEL_IGNORED = lie(without(cancel_token=None))
CANCEL_SEEN_AT_THE_NEXT_PIECE = lie(_cancelled_by_the_next_piece)
CANCEL_BEFORE_THE_STREAM = lie(_needs_a_piece)
CANCEL_SEEN_IN_TEXTS_ALONE = lie(_cancelled_in_texts_alone)
OWN_ERRORS = lie(_other_error(RuntimeError))
ONE_CLASS_OF_ERRORS = lie(_other_error(ProviderError))
NO_USAGE = lie(with_fields(usage=m.TokenUsage()), usage=True)
NO_FINISH = lie(with_fields(finish_reason=m.FinishReason.UNKNOWN))
NO_FINISH_WORD = lie(with_fields(raw_finish=None))
NO_EARLY_USAGE = lie(_usage_at_the_end)
TEXT_AFTER_CALLS = lie(_text_at_the_end)
NO_MARKS = lie(as_it_is, cache="explicit")

TOOLS_NOT_CLAIMED = lie(as_it_is, **NO_TOOL_CLAIMS)
IMAGES_NOT_CLAIMED = lie(as_it_is, images=False)
ERRORS_NOT_CLAIMED = lie(as_it_is, typed_errors=False)
STREAMING_NOT_CLAIMED = lie(as_it_is, streaming=False)
CANCEL_NOT_CLAIMED = lie(as_it_is, cancel=False, cancel_batch=False)

PIECE_AFTER_CANCEL = lie(_one_piece_too_many)
THINKING_LOST_IN_CANCEL = lie(returning(_cancelled_texts))
OWN_REFUSAL = lie(_refuses_instructions)

CHAT_FOR_ANTHROPIC = binding("lie", _speaks(OPENAI), capabilities=PLAIN)
ANTHROPIC_FOR_CHAT = binding("lie", dialect="openai-chat", model="gpt-5-mini", capabilities=PLAIN)
GOOGLE_FOR_ANTHROPIC = binding("lie", _speaks(GOOGLE), dialect="anthropic-messages", capabilities=PLAIN)
OTHER_APIS_MODEL = binding("lie", model="gpt-5-mini")
OWN_MODEL = binding("lie", _own_model)

RETURNS_NONE = lie(returning(lambda response: None))
RETURNS_DICT = lie(returning(lambda response: {"text": response.text}))
RETURNS_PARTS = lie(returning(lambda response: response.parts))
RETURNS_MESSAGE = lie(returning(lambda response: m.Message("model", response.parts)))
RETURNS_GENERATOR = lie(_generator)
RETURNS_OUTCOME = lie(returning(lambda response: Outcome(response)))
EMPTY_OUTCOME = replace(lie(returning(lambda response: Outcome())), errors="returned")
PARTS_OF_DICTS = lie(returning(lambda response: m.ProviderResponse(({"text": response.text},))))  # type: ignore[arg-type]
NO_SUCH_FINISH = lie(returning(lambda response: m.ProviderResponse(response.parts, finish_reason="end_turn")))  # type: ignore[arg-type]
CHUNKS_OF_BYTES = lie(_bytes)
USAGE_AS_DICT = lie(_usage_as_dict)
SDK_OPTION = binding("lie", _refuses_to_open)
OPENS_NONE = binding("lie", lambda endpoint: None)
OPENS_A_CLASS = binding("lie", lambda endpoint: Wrapped)
SHORT_SIGNATURE = binding("lie", signature="short")
