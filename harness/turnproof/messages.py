"""Neutral conversation types: what a session holds and what adapters turn into one provider's API.

Everything here is frozen. A `Message` compares and hashes by identity, so that an adapter may keep
encodings in a weak map keyed by it; `same()` compares by value. Parts compare by value. Payloads are JSON
values only, frozen to any depth when the part is made; anything else is refused there, with its path.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterable, Mapping, Sequence
from enum import StrEnum
from functools import cache
from types import NoneType
from typing import Any, Final, Literal, TypeAlias, TypeVar, get_args

import msgspec
from msgspec.structs import astuple, force_setattr, replace

from ._base.frozen import JSON as JSON
from ._base.frozen import freeze as freeze
from ._base.frozen import shown
from ._base.frozen import thaw as thaw
from ._base.lossless import Reader, encode
from .errors import PayloadError

Role: TypeAlias = Literal["user", "model", "tool", "system"]


def _expect(thing: msgspec.Struct, **kinds: type | tuple[type, ...]) -> None:
    """Refuse fields of another type: an adapter would only trip over them, far from where they came from."""
    for name, kind in kinds.items():
        value = getattr(thing, name)
        if type(value) is kind:
            continue
        if not isinstance(value, kind):
            raise _unexpected(f"$.{name}", kind if isinstance(kind, tuple) else (kind,), value)
        if kind is str:
            force_setattr(thing, name, str.__str__(value))


def _unexpected(path: str, kinds: tuple[type, ...], value: object) -> PayloadError:
    several = kinds == _PARTS
    expected = "a part" if several else " or ".join("None" if kind is NoneType else kind.__name__ for kind in kinds)
    advice = ""
    if several:
        advice = "; text goes into Text(text)" if isinstance(value, str) else "; see the parts of turnproof.messages"
    return PayloadError(path, f"expected {expected}, got {type(value).__name__}: {shown(value)}{advice}")


class CacheMark(msgspec.Struct, frozen=True, gc=False):
    """A prefix breakpoint as data: everything up to and including the marked thing should be cached.

    `name` is set where the provider keeps the prefix under a name that was given to the caller (a managed cache):
    the request then names it and does not carry the prefix again.
    """

    ttl: Literal["5m", "1h"] = "5m"
    name: str | None = None


class ProviderData(msgspec.Struct, frozen=True, gc=False):
    """What only the issuing dialect and model understand: signatures, encrypted content, native ids.

    Sent back only to the dialect (and, for signatures, the model) that issued it.
    """

    dialect: str
    model: str
    data: dict[str, Any]

    def __post_init__(self) -> None:
        _expect(self, dialect=str, model=str, data=Mapping)
        force_setattr(self, "data", freeze(self.data, "$.provider_data"))


_PLAIN: Final = {"str": str, "bytes": bytes, "bool": bool}


@cache
def _plain_fields(part: type[_Part]) -> dict[str, type]:
    """The fields of a part that are checked by their declared type alone."""
    return {name: _PLAIN[kind] for name, kind in part.__annotations__.items() if kind in _PLAIN}


class _Part(msgspec.Struct, frozen=True, gc=False, kw_only=True, omit_defaults=True, tag_field="part"):
    provider_data: ProviderData | None = None
    cache: CacheMark | None = None

    def __post_init__(self) -> None:
        _expect(self, **_plain_fields(type(self)))
        if self.provider_data is not None or self.cache is not None:
            _expect(self, provider_data=(ProviderData, NoneType), cache=(CacheMark, NoneType))


class Text(_Part, frozen=True, tag="text"):
    """Visible text. `Text("hi")`."""

    text: str


class Thought(_Part, frozen=True, tag="thought"):
    """The model's thinking. Its signature or encrypted form lives in `provider_data`; the text may be empty."""

    text: str = ""


class FunctionCall(_Part, frozen=True, tag="call"):
    """The model asks for a tool. `args` is a frozen JSON object; `name` is the tool's own, unrewritten name."""

    id: str
    name: str
    args: dict[str, Any] = {}

    def __post_init__(self) -> None:
        if not isinstance(self.args, Mapping):
            found = type(self.args).__name__
            advice = ": decode the JSON text with json.loads()" if isinstance(self.args, str | bytes) else ""
            raise PayloadError("$.args", f"the arguments of a FunctionCall are a JSON object, got {found}{advice}")
        _Part.__post_init__(self)
        force_setattr(self, "args", freeze(self.args, "$.args"))


class InlineData(_Part, frozen=True, tag="inline"):
    """Bytes of an image or document."""

    mime_type: str
    data: bytes


class FileRef(_Part, frozen=True, tag="file"):
    """A file the provider fetches itself, by URI."""

    mime_type: str
    uri: str


class ToolResult(_Part, frozen=True, tag="result"):
    """The answer to one `FunctionCall`. A string `result` goes out unquoted, any other JSON value as JSON text."""

    call_id: str
    name: str
    result: JSON = None
    is_error: bool = False
    attachments: tuple[InlineData | FileRef, ...] = ()

    def __post_init__(self) -> None:
        _Part.__post_init__(self)
        force_setattr(self, "result", freeze(self.result, "$.result"))
        if self.attachments != ():
            force_setattr(self, "attachments", _each(self.attachments, (InlineData, FileRef), "$.attachments"))


class ExecutableCode(_Part, frozen=True, tag="code"):
    """Code that the provider ran on its own side."""

    language: str
    code: str


class CodeExecutionResult(_Part, frozen=True, tag="code_result"):
    """What the provider's own run of code gave."""

    outcome: str
    output: str


class Opaque(_Part, frozen=True, tag="opaque"):
    """A block that no part names: kept verbatim and sent back only to its own dialect."""

    dialect: str
    kind: str
    data: dict[str, Any]

    def __post_init__(self) -> None:
        _Part.__post_init__(self)
        _expect(self, data=Mapping)
        force_setattr(self, "data", freeze(self.data, "$.data"))


Part: TypeAlias = (
    Text | Thought | FunctionCall | ToolResult | InlineData | FileRef | ExecutableCode | CodeExecutionResult | Opaque
)


_PARTS: Final = get_args(Part)
_KNOWN: Final = frozenset(_PARTS)
_ROLES: Final = get_args(Role)


def _each(items: object, kinds: tuple[type, ...], path: str) -> tuple[Any, ...]:
    """The items as a tuple, each of one of these kinds."""
    if isinstance(items, str | bytes) or not isinstance(items, Iterable):
        raise _unexpected(path, (tuple, list), items)
    parts = tuple(items)
    for n, item in enumerate(parts):
        if type(item) not in kinds:
            raise _unexpected(f"{path}[{n}]", kinds, item)
    return parts


def new_message_id() -> str:
    """A fresh random message id. Sessions take an id source as an argument; this is its default."""
    return uuid.uuid4().hex


class Message(msgspec.Struct, frozen=True, eq=False, weakref=True):
    """One message of a conversation: a role and its parts in order.

    `message_id` is kept across save, load and collection. Two messages are equal only if they are the same
    object; use `same(a, b)` to compare by value. Raises PayloadError, with the path, for a role or a part that there is
    not; which parts make sense in which role is for those to say who send them.
    """

    role: Role
    parts: tuple[Part, ...]
    message_id: str = msgspec.field(default_factory=new_message_id)

    def __post_init__(self) -> None:
        if self.role not in _ROLES:
            raise PayloadError("$.role", f"expected one of {', '.join(_ROLES)}, got {shown(self.role)}")
        if type(self.message_id) is not str:
            _expect(self, message_id=str)
        if type(self.parts) is not tuple or not _KNOWN.issuperset(map(type, self.parts)):
            force_setattr(self, "parts", _each(self.parts, _PARTS, "$.parts"))

    @classmethod
    def user(cls, *content: str | Part) -> Message:
        """A user message of texts and parts."""
        return cls("user", _parts(content))

    @classmethod
    def model(cls, *content: str | Part) -> Message:
        """A model message of texts and parts."""
        return cls("model", _parts(content))

    @classmethod
    def tool(cls, *results: ToolResult) -> Message:
        """The results of one response, in call order."""
        return cls("tool", results)

    @classmethod
    def system(cls, text: str) -> Message:
        """An instruction in mid-conversation."""
        return cls("system", (Text(text),))

    @property
    def text(self) -> str:
        """All visible text, joined."""
        return "".join(part.text for part in self.parts if isinstance(part, Text))

    @property
    def calls(self) -> tuple[FunctionCall, ...]:
        """The tool calls in order."""
        return tuple(part for part in self.parts if isinstance(part, FunctionCall))

    @property
    def results(self) -> tuple[ToolResult, ...]:
        """The tool results in order."""
        return tuple(part for part in self.parts if isinstance(part, ToolResult))


def _parts(content: Iterable[str | Part]) -> tuple[Part, ...]:
    return tuple(Text(item) if isinstance(item, str) else item for item in content)


def same(a: Message, b: Message, *, ids: bool = True) -> bool:
    """Whether two messages are equal by value; with `ids=False` whatever their message ids are."""
    return a.role == b.role and a.parts == b.parts and (not ids or a.message_id == b.message_id)


def same_history(a: Sequence[Message], b: Sequence[Message], *, ids: bool = True) -> bool:
    """`same()` for whole histories."""
    return len(a) == len(b) and all(same(x, y, ids=ids) for x, y in zip(a, b, strict=True))


class ToolSchema(msgspec.Struct, frozen=True, omit_defaults=True):
    """A tool as the model sees it: `parameters` is a JSON Schema object, frozen."""

    name: str
    description: str = ""
    parameters: dict[str, Any] = {}
    cache: CacheMark | None = None

    def __post_init__(self) -> None:
        _expect(self, name=str, description=str, parameters=Mapping, cache=(CacheMark, NoneType))
        force_setattr(self, "parameters", freeze(self.parameters, "$.parameters"))


_MOST_TOKENS: Final = 1 << 63
"""More than anybody can have: a figure like that would be lost in the first division."""


class TokenUsage(msgspec.Struct, frozen=True, omit_defaults=True):
    """Tokens of one response, normalised alike for every provider.

    `prompt_tokens` counts all input, including what a cache served (`cache_read_tokens`) or stored
    (`cache_creation_tokens`); `output_tokens` includes `thinking_tokens`; total = prompt + output.
    """

    prompt_tokens: int = 0
    output_tokens: int = 0
    total_tokens: int = 0
    cache_read_tokens: int = 0
    cache_creation_tokens: int = 0
    thinking_tokens: int = 0

    def __post_init__(self) -> None:
        for name, count in zip(self.__struct_fields__, astuple(self), strict=True):
            if type(count) is not int:
                raise _unexpected(f"$.{name}", (int,), count)
            if not -_MOST_TOKENS < count < _MOST_TOKENS:
                raise PayloadError(f"$.{name}", f"a number of {count.bit_length()} bits is no count of tokens")


class FinishReason(StrEnum):
    """Why a response ended, normalised; the provider's own word is `ProviderResponse.raw_finish`."""

    STOP = "stop"
    MAX_TOKENS = "max_tokens"
    TOOL_USE = "tool_use"
    SAFETY = "safety"
    REFUSAL = "refusal"
    PAUSED = "paused"
    CONTEXT_LIMIT = "context_limit"
    ERROR = "error"
    CANCELLED = "cancelled"
    UNKNOWN = "unknown"


def _reason(word: object) -> FinishReason:
    try:
        return FinishReason(word)  # type: ignore[arg-type]
    except ValueError:
        known = ", ".join(FinishReason)
        raise PayloadError("$.finish_reason", f"expected one of {known}, got {shown(word)}") from None


class ProviderResponse(msgspec.Struct, frozen=True, omit_defaults=True):
    """One answer. `parts` are in model order; `structured_output` is the parsed JSON when a schema was given.

    `model` is the model that answered, in the provider's words, where it says so: often a dated version of the one
    that was asked. `raw` is whatever the adapter wants to show for debugging; nothing relies on it. Raises
    PayloadError, with the path, for a field of another type.
    """

    parts: tuple[Part, ...] = ()
    usage: TokenUsage = TokenUsage()
    finish_reason: FinishReason = FinishReason.UNKNOWN
    raw_finish: str | None = None
    structured_output: JSON = None
    raw: Any = None
    model: str | None = None

    def __post_init__(self) -> None:
        if type(self.parts) is not tuple or not _KNOWN.issuperset(map(type, self.parts)):
            force_setattr(self, "parts", _each(self.parts, _PARTS, "$.parts"))
        if type(self.finish_reason) is not FinishReason:
            force_setattr(self, "finish_reason", _reason(self.finish_reason))
        _expect(self, usage=TokenUsage, raw_finish=(str, NoneType), model=(str, NoneType))

    @property
    def text(self) -> str:
        """All visible text, joined."""
        return "".join(part.text for part in self.parts if isinstance(part, Text))

    @property
    def calls(self) -> tuple[FunctionCall, ...]:
        """The tool calls in order."""
        return tuple(part for part in self.parts if isinstance(part, FunctionCall))


_MarkedT = TypeVar("_MarkedT", Text, ToolResult, InlineData, FileRef, FunctionCall, ToolSchema)


def marked(thing: _MarkedT, mark: CacheMark | None) -> _MarkedT:
    """The same part or tool schema with another cache mark (or none)."""
    return replace(thing, cache=mark)


_reader: Reader[list[Message]] = Reader(list[Message])


def dump_messages(messages: Sequence[Message]) -> bytes:
    """Messages as a JSON array; `load_messages` gives them back without loss, ids included."""
    return encode(list(messages))


def load_messages(data: bytes | str) -> list[Message]:
    """The inverse of `dump_messages`. Raises PayloadError, with the path, for anything else."""
    try:
        return _reader.decode(data)
    except PayloadError as error:
        raise PayloadError(error.path, f"not a list of messages: {error.reason}") from error


def to_builtins(value: object) -> JSON:
    """Any of these types as plain JSON values (bytes become base64)."""
    return msgspec.to_builtins(value)


MessageIds: TypeAlias = Callable[[], str]
