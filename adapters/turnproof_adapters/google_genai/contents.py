"""What a `Chat` of the SDK is given to hold, and what it holds read back: `types.Content` and neutral messages.

Out and back keeps the meaning: texts, thoughts, files, code, calls under their ids, results with their attachments, and
every signature in its part. Message ids and cache marks have no place there, nor has what belongs to another dialect.
A streamed answer, which the SDK keeps as one content for each piece, comes back as the one message that it was.
"""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby, takewhile

from google.genai import types
from msgspec.structs import replace
from pydantic import PrivateAttr, ValidationError

from turnproof.errors import InvalidRequestError
from turnproof.messages import FileRef, FunctionCall, InlineData, Message, Opaque, Part, Text, Thought, ToolResult

from .._encoded_messages import encode
from .answers import issued_data, other_part
from .arrange import contents as arranged
from .assemble import Restore
from .convert import NO_SIGNATURE_NEEDED
from .models import target
from .names import is_made_up, made_up_id
from .request import sdk_contents

_STAND_IN = b64decode(NO_SIGNATURE_NEEDED)


class _UnnamedCall(types.FunctionCall):
    """A call that the service gave no id, with the one made up for it: a private attribute is never sent."""

    _own_id: str = PrivateAttr()


def history_to_sdk(messages: Sequence[Message], model: str) -> list[types.Content]:
    """The contents for a history, arranged as the API insists on it. Calls at its very end are left open.

    Raises InvalidRequestError for a part that the SDK's types refuse. Of parts that no neutral part names, those that
    the SDK does not know either are left out, as it leaves them out of every answer.
    """
    known_messages = [_without_unknown(message) for message in messages]
    sent = arranged(known_messages, target(model))
    if any(message.calls for message in takewhile(_is_model, reversed(known_messages))):
        # The arrangement closes with responses that say the calls were not carried out: they may still be.
        sent.pop()
    contents = _validated(sent)
    keep_ids(contents, [call for message in known_messages for call in message.calls])
    return contents


def history_from_sdk(
    contents: Iterable[types.Content], model: str, restore: Restore = lambda name: name
) -> list[Message]:
    """The messages that contents stand for, under new message ids.

    `model` is the one that signed what is signed; `restore` gives tools their own names back.
    """
    reader = _Reader(model, restore)
    messages: list[Message] = []
    for by_model, run in groupby(contents, key=lambda content: content.role == "model"):
        read = reader.read_answer if by_model else reader.read_user_side
        messages += read(run)
    return [message for message in messages if message.parts]


def keep_ids(contents: Iterable[types.Content], calls: Sequence[FunctionCall]) -> None:
    """Let calls that came without an id keep the one made up for them.

    `calls` are those in `contents`, in order; of a cancelled answer, which loses its calls, there are none.
    """
    holders = [part for content in contents for part in content.parts or () if part.function_call is not None]
    for holder, call in zip(holders, calls, strict=False):
        if is_made_up(call.id) and holder.function_call is not None:
            unnamed = _UnnamedCall(name=holder.function_call.name, args=holder.function_call.args)
            unnamed._own_id = call.id
            holder.function_call = unnamed


class _Reader:
    """Goes through a history once, in order: a response without an id answers the next call that has none."""

    def __init__(self, model: str, restore: Restore) -> None:
        self._to = target(model)
        self._restore = restore
        self._unnamed = 0
        self._waiting: list[str] = []

    def read_answer(self, run: Iterable[types.Content]) -> Iterator[Message]:
        """All that the model said in one go: one message."""
        self._waiting = []
        parts: list[Part] = []
        more: list[str] = []
        for content in run:
            pieces: list[Part] = []
            for wire in content.parts or ():
                if wire.function_call is not None:
                    pieces.append(self._call(wire, wire.function_call))
                elif (part := self._other(wire)) is not None:
                    pieces.append(part)
            if parts and pieces and (text := _continuation(parts[-1], pieces[0])) is not None:
                more.append(text)
                del pieces[0]
            if pieces:
                _extend_last(parts, more)
                parts += pieces
        _extend_last(parts, more)
        yield Message("model", tuple(parts))

    def read_user_side(self, run: Iterable[types.Content]) -> Iterator[Message]:
        """The user's side: a content holds results of tools, or what was said, or first the one and then the other."""
        for content in run:
            results, words = self._divided(content)
            yield Message.tool(*results)
            yield Message("user", tuple(words))

    def _divided(self, content: types.Content) -> tuple[list[ToolResult], list[Part]]:
        results: list[ToolResult] = []
        words: list[Part] = []
        for wire in content.parts or ():
            if wire.function_response is not None:
                results.append(self._result(wire.function_response))
                continue
            part = self._other(wire)
            if results and not words and isinstance(part, InlineData | FileRef):
                # An attachment that a response cannot hold itself stands behind it.
                results[-1] = _with_attachment(results[-1], part)
            elif part is not None:
                words.append(part)
        return results, words

    def _call(self, wire: types.Part, call: types.FunctionCall) -> FunctionCall:
        own_id = call.id
        if not own_id:
            own_id = call._own_id if isinstance(call, _UnnamedCall) else made_up_id("", self._unnamed)
            self._unnamed += 1
            self._waiting.append(own_id)
        data = None if wire.thought_signature == _STAND_IN else issued_data(wire, self._to)
        return FunctionCall(own_id, self._restore(call.name or ""), call.args or {}, provider_data=data)

    def _result(self, response: types.FunctionResponse) -> ToolResult:
        own_id = response.id or (self._waiting.pop(0) if self._waiting else "")
        answer = response.response or {}
        failed = answer.get("error") is not None or answer.keys() == {"error"}
        only = answer.keys() == {"output"} or answer.keys() == {"error"}
        return ToolResult(
            own_id,
            self._restore(response.name or ""),
            next(iter(answer.values())) if only else answer,
            failed,
            tuple(found for part in response.parts or () if (found := _attachment(part)) is not None),
        )

    def _other(self, wire: types.Part) -> Part | None:
        if wire.text is None and (part := other_part(wire, self._to)) is not None:
            return part
        data = issued_data(wire, self._to)
        if not wire.text and data is None:
            return None
        if wire.thought:
            return Thought(wire.text or "", provider_data=data or self._to.mark)
        return Text(wire.text or "", provider_data=data)


def _attachment(part: types.FunctionResponsePart) -> InlineData | FileRef | None:
    if (blob := part.inline_data) is not None:
        return InlineData(blob.mime_type or "", blob.data or b"")
    if (file := part.file_data) is not None:
        return FileRef(file.mime_type or "", file.file_uri or "")
    return None


def _with_attachment(result: ToolResult, item: InlineData | FileRef) -> ToolResult:
    attachments = (*result.attachments, item)
    return ToolResult(result.call_id, result.name, result.result, result.is_error, attachments)


def _continuation(last: Part, first: Part) -> str | None:
    """The text of a part that goes on with the one before; a part with a signature stays as it came."""
    if _is_sealed(last) or _is_sealed(first):
        return None
    match last, first:
        case (Text(), Text(text=text)) | (Thought(), Thought(text=text)):
            return text
    return None


def _is_sealed(part: Part) -> bool:
    return part.provider_data is not None and bool(part.provider_data.data)


def _extend_last(parts: list[Part], more: list[str]) -> None:
    """Join what goes on with the last part to it, once: an answer may have come in a hundred thousand pieces."""
    if more and isinstance(last := parts[-1], Text | Thought):
        parts[-1] = replace(last, text="".join([last.text, *more]))
        more.clear()


def _is_model(message: Message) -> bool:
    return message.role == "model"


def _without_unknown(message: Message) -> Message:
    known = (part for part in message.parts if not isinstance(part, Opaque) or _sdk_knows(part))
    return Message(message.role, tuple(known), message.message_id)


def _sdk_knows(part: Opaque) -> bool:
    try:
        types.Part.model_validate_json(encode(part.data))
    except ValidationError:
        return False
    return True


def _validated(contents: Sequence[dict[str, object]]) -> list[types.Content]:
    try:
        return sdk_contents(contents)
    except ValidationError as error:
        first = error.errors()[0]
        where = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in first["loc"])
        reason = f"the history cannot be held in the SDK's types: content{where}: {first['msg']}"
    raise InvalidRequestError(reason)
