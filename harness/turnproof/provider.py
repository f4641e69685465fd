"""What an adapter offers (two paths), what it claims, and the few lines that bind one.

A *stateless* path gets the whole conversation in every call and keeps none of it. A *legacy* path owns the
history itself. A `Binding` says how to open each for one endpoint. The error tree lives in `turnproof.errors`
and is re-exported here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias, TypedDict, Unpack, runtime_checkable

from .cancel import CancelToken
from .errors import (
    AuthenticationError,
    BindingError,
    CacheExpiredError,
    Cancelled,
    ChainLostError,
    ContentFilterError,
    ContextLimitError,
    HarnessError,
    InvalidRequestError,
    OverloadedError,
    ProviderError,
    RateLimitError,
    TransportError,
    TurnproofError,
)
from .messages import FunctionCall, Message, Part, ProviderResponse, Text, TokenUsage, ToolResult, ToolSchema
from .reproducer import Reproducer

if TYPE_CHECKING:
    from ssl import SSLContext

__all__ = [
    "ASSUMED",
    "LEGACY_METHODS",
    "OPTIONS",
    "PATHS",
    "RETAINED",
    "AuthenticationError",
    "Binding",
    "BindingError",
    "CacheExpiredError",
    "CallOptions",
    "Cancelled",
    "Capabilities",
    "ChainLostError",
    "ContentFilterError",
    "ContextLimitError",
    "Conversation",
    "Difference",
    "Endpoint",
    "HarnessError",
    "InvalidRequestError",
    "LegacyProvider",
    "OnChunk",
    "OnFunctionCall",
    "OnThinking",
    "OnUsage",
    "Outcome",
    "OverloadedError",
    "Path",
    "PlainCall",
    "PlainConversation",
    "ProviderBase",
    "ProviderError",
    "RateLimitError",
    "StatelessProvider",
    "StreamOptions",
    "SystemInstruction",
    "TransportError",
    "TurnproofError",
    "system_text",
    "tools_by_name",
]

Path: TypeAlias = Literal["stateless", "legacy"]

PATHS: tuple[Path, Path] = ("stateless", "legacy")
"""Both, in the order in which they are run and reported."""

SystemInstruction: TypeAlias = str | Text | None
"""System text; a `Text` where it carries a cache mark."""


def system_text(instruction: SystemInstruction) -> str:
    """The system text itself; empty where there is none."""
    return instruction.text if isinstance(instruction, Text) else instruction or ""


def tools_by_name(tools: Iterable[ToolSchema] | None) -> list[ToolSchema]:
    """The tools in the order in which they are sent: the same ones in another order would miss the prefix cache."""
    return sorted(tools or (), key=lambda tool: tool.name)


JSONSchema: TypeAlias = Mapping[str, Any]
OnChunk: TypeAlias = Callable[[str], None]
OnUsage: TypeAlias = Callable[[TokenUsage], None]
OnFunctionCall: TypeAlias = Callable[[FunctionCall], None]
OnThinking: TypeAlias = Callable[[str], None]


class StreamOptions(TypedDict, total=False):
    """The keyword arguments of a call that streams: each may be left out, and None counts as left out."""

    cancel_token: CancelToken | None
    on_usage_update: OnUsage | None
    on_function_call: OnFunctionCall | None
    on_thinking: OnThinking | None
    response_schema: JSONSchema | None


class CallOptions(StreamOptions, total=False):
    """The keyword arguments of a call that streams if it gets `on_chunk`."""

    on_chunk: OnChunk | None


@runtime_checkable
class StatelessProvider(Protocol):
    """The session owns the history. `complete()` may be a plain or a coroutine function.

    It changes none of its arguments and keeps nothing of the conversation. With `on_chunk` it streams, without
    it answers in one piece; both give the same result. Callbacks run before the call returns, never after.
    Raises `Cancelled` if the token was set before the request was written; a later cancel returns what had
    arrived with `finish_reason=cancelled`. Every failure is a `ProviderError`.
    """

    def complete(
        self,
        messages: Sequence[Message],
        system_instruction: SystemInstruction = None,
        tools: Sequence[ToolSchema] | None = None,
        *,
        response_schema: JSONSchema | None = None,
        cancel_token: CancelToken | None = None,
        on_chunk: OnChunk | None = None,
        on_usage_update: OnUsage | None = None,
        on_function_call: OnFunctionCall | None = None,
        on_thinking: OnThinking | None = None,
    ) -> ProviderResponse: ...


@runtime_checkable
class LegacyProvider(Protocol):
    """The provider owns the history, as frameworks did before the session took it over.

    A failed call leaves the history as it was before the call. A cancelled streaming call records the user's
    side and the partial answer, like the stateless path's session does.
    """

    def create_session(
        self,
        system_instruction: SystemInstruction = None,
        tools: Sequence[ToolSchema] | None = None,
        history: Sequence[Message] | None = None,
    ) -> None: ...

    def get_history(self) -> list[Message]: ...

    def send_message(self, message: str, response_schema: JSONSchema | None = None) -> ProviderResponse: ...

    def send_message_with_parts(
        self, parts: Sequence[Part], response_schema: JSONSchema | None = None
    ) -> ProviderResponse: ...

    def send_tool_results(
        self, results: Sequence[ToolResult], response_schema: JSONSchema | None = None
    ) -> ProviderResponse: ...

    def send_message_streaming(
        self, message: str, on_chunk: OnChunk, **options: Unpack[StreamOptions]
    ) -> ProviderResponse: ...

    def send_tool_results_streaming(
        self, results: Sequence[ToolResult], on_chunk: OnChunk, **options: Unpack[StreamOptions]
    ) -> ProviderResponse: ...


LEGACY_METHODS = tuple(name for name in vars(LegacyProvider) if not name.startswith("_"))
"""The methods of `LegacyProvider`: those by which a provider owns a history."""


class ProviderBase:
    """Lifecycle of a reference adapter, with "not claimed" answers for what an adapter leaves out.

    Subclasses set `name`, and implement what they claim in their binding's `Capabilities`.
    """

    name = "provider"

    @property
    def telemetry_name(self) -> str:
        """What spans call the provider: its `gen_ai.provider.name` of OpenTelemetry's conventions."""
        return self.name

    def __init__(self) -> None:
        self._model: str | None = None

    def initialize(self, config: Mapping[str, Any]) -> None:
        """Take settings (`api_key`, `base_url`, ...). Opens no connection."""

    def connect(self, model: str) -> None:
        """Choose the model that later calls use."""
        self._model = model

    @property
    def is_connected(self) -> bool:
        """Whether `connect()` has chosen a model."""
        return self._model is not None

    @property
    def model_name(self) -> str | None:
        """The model in use, or None."""
        return self._model

    def list_models(self) -> list[str]:
        """Ids of the models the key may use; empty where the provider does not say."""
        return []

    def verify_auth(self) -> bool:
        """Whether the key is accepted. Costs one cheap request."""
        return False

    def shutdown(self) -> None:
        """Release connections. Calling it twice is harmless."""

    def count_tokens(
        self,
        messages: Sequence[Message],
        system_instruction: SystemInstruction = None,
        tools: Sequence[ToolSchema] | None = None,
    ) -> int:
        """Tokens of the prompt as the provider counts them; an estimate (characters / 4) where it has no count."""
        from .messages import dump_messages

        return len(dump_messages(messages)) // 4

    def get_context_limit(self) -> int:
        """The model's window in tokens."""
        return 0

    def supports_structured_output(self) -> bool:
        """Whether `response_schema` is honoured."""
        return False

    def supports_streaming(self) -> bool:
        """Whether `on_chunk` streams."""
        return False

    def supports_stop(self) -> bool:
        """Whether a cancel token stops a running call."""
        return False

    def supports_thinking(self) -> bool:
        """Whether thinking can be switched on."""
        return False

    def set_thinking_config(self, config: Mapping[str, Any] | None) -> None:
        """Switch thinking on (`{"budget_tokens": n}`) or off (None)."""

    def classify_error(self, error: BaseException) -> dict[str, bool]:
        """`{"transient": ..., "rate_limit": ..., "infra": ...}` for an error of this provider."""
        return {
            "transient": isinstance(error, ProviderError) and error.retryable,
            "rate_limit": isinstance(error, RateLimitError),
            "infra": isinstance(error, OverloadedError | TransportError),
        }

    def get_retry_after(self, error: BaseException) -> float | None:
        """Seconds the provider asked us to wait, or None."""
        return error.retry_after if isinstance(error, ProviderError) else None

    def serialize_history(self, history: Sequence[Message]) -> str:
        """History as text; `deserialize_history` is its exact inverse."""
        from .messages import dump_messages

        return dump_messages(history).decode()

    def deserialize_history(self, data: str) -> list[Message]:
        """The inverse of `serialize_history`."""
        from .messages import load_messages

        return load_messages(data)


@dataclass(frozen=True, slots=True)
class Capabilities:
    """What an adapter claims for a model. Claimed but absent is a violation; unclaimed is reported as such.

    `opaque_thinking` is thinking that comes as blocks without readable text, encrypted or only signed; `service_tools`
    are searches, code and the like that the service runs by itself, whose parts go back as they came. `serialisers` are
    `serialize_history()` and `deserialize_history()`. `error_details` are the fields of an error beside its status and
    wait: `kind`, `partial`, and `limit` and `requested` of a prompt that is too long; `thinking_tokens` says that the
    usage tells how many tokens were thinking. `chain` says that the legacy path goes on from what the service has
    stored, by its id, and sends what is new; `websocket` that requests go over WebSockets, where the memory of one
    connection holds the chain; `chain_deletion` that such a path deletes at the service what its conversation left,
    where its policy says so (`turnproof.chains.ChainedProvider`). `wire` is no claim: it holds the traits of the wire
    API (`Dialect.traits`), which turnproof fills in.

    The fields from `usage` on (`ASSUMED`) are claimed unless they are set to False:

    usage:             the library reports token counts.
    finish_reasons:    a response says why the answer ended.
    part_order:        parts and callbacks have the model's order of text and calls. Without it, return texts first.
    separate_thoughts: each thought of the model is a part; without it all thoughts may be one text.
    native_calls:      with `tools`: the calls and results of a conversation go out as such, and not as texts.
    image_urls:        with `images`: an image by reference (`FileRef`) stays a reference and is accepted.
    retries:           a session or an agent repeats a call that failed for a moment.
    result_cutting:    a session cuts tool results that do not fit into the context.
    given_texts:       a session or an agent sends what it was given in the user's name and as instructions, and no
                       texts of its own beside or around it. Without it, what it was given has still to be there, whole.
    chain_expiry:      with `chain`: what the path goes on from ends after a time. A conversation object does not.
    """

    streaming: bool = False
    tools: bool = False
    parallel_tools: bool = False
    thinking: bool = False
    opaque_thinking: bool = False
    structured: bool = False
    images: bool = False
    documents: bool = False
    result_images: bool = False
    service_tools: bool = False
    mid_system: bool = False
    cancel: bool = False
    cancel_batch: bool = False
    count_tokens: bool = False
    serialisers: bool = False
    typed_errors: bool = False
    error_details: bool = False
    thinking_tokens: bool = False
    lifecycle: bool = False
    cache: Literal["none", "explicit", "managed", "implicit"] = "none"
    chain: bool = False
    websocket: bool = False
    chain_deletion: bool = False
    wire: frozenset[str] = frozenset()
    usage: bool = True
    finish_reasons: bool = True
    part_order: bool = True
    separate_thoughts: bool = True
    native_calls: bool = True
    image_urls: bool = True
    retries: bool = True
    result_cutting: bool = True
    given_texts: bool = True
    chain_expiry: bool = True

    def claims(self, name: str) -> bool:
        """Whether the named capability is claimed; `cache:explicit` asks for that kind of cache, `wire:refusals`
        whether the wire API has that trait."""
        if ":" in name:
            key, _, kind = name.partition(":")
            found = getattr(self, key)
            return kind in found if isinstance(found, frozenset) else bool(found == kind)
        return getattr(self, name) not in (False, "none")


ASSUMED = tuple(one.name for one in fields(Capabilities) if one.default is True)
"""What is claimed unless a binding sets it to False."""


@dataclass(frozen=True, slots=True)
class Difference:
    """An intended difference between the paths: a name from the list of differences, and why it is right."""

    name: str
    reason: str


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where an adapter should send its requests, and as whom. The key never shows in a repr.

    options:     settings of the scenario and of the binding (`OPTIONS`), and no others: they may go to a constructor.
    ssl_context: a TLS context that was made once for the process, for adapters that can take one. Loopback has no TLS.
    """

    base_url: str
    api_key: str = field(repr=False)
    model: str
    options: Mapping[str, Any] = field(default_factory=dict)
    ssl_context: SSLContext | None = field(default=None, repr=False, compare=False)


OPTIONS = ("thinking", "max_tokens", "timeout")
"""What a scenario may set in `Endpoint.options`; a binding's own `options` are there as well."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """The other published way to end a call: returned instead of raised.

    `error` is None for an answer. `response` may be set beside an error (what had arrived).
    """

    response: ProviderResponse | None = None
    error: BaseException | None = None


@dataclass(frozen=True, slots=True)
class Conversation:
    """A whole conversation, ready to be sent: its last message is the user's, which is to be answered."""

    messages: tuple[Message, ...]
    system: str
    tools: tuple[ToolSchema, ...]


class PlainCall(Protocol):
    """A call of the provider's official SDK for one conversation, with no adapter around it.

    `turnproof bench` holds an adapter's turns against it. It is opened once and called many times, and sends the whole
    conversation each time. What can be done beforehand (converting the history to the SDK's own types) belongs where
    it is opened, or into `ready`: neither is measured.
    """

    def ready(self) -> None:
        """Stand where the last message of the conversation is still to be sent. Comes before each call."""

    def ask(self) -> str:
        """Have the conversation answered in one piece; the visible text of the answer."""

    def stream(self, on_chunk: OnChunk) -> None:
        """Have it answered in pieces, each told as it arrives."""

    def close(self) -> None:
        """Release the connections."""


@runtime_checkable
class PlainConversation(PlainCall, Protocol):
    """A plain call that can also hold a conversation, as a user of the SDK does it: by a history that grows.

    What `say` takes is measured, with the growing. `history` is looked at for what it holds in memory, after the call
    was opened: the messages of its conversation in the SDK's own types.
    """

    history: Any

    def begin(self) -> None:
        """Start anew, with the system text and the tools of the conversation and no message."""

    def say(self, text: str) -> str:
        """Take a turn: the user's words, and the answer, which is put into the history."""


class Translator(Protocol):
    """For a framework with message types of its own: neutral types to theirs and back."""

    def messages_out(self, messages: Sequence[Message]) -> Any: ...

    def tools_out(self, tools: Sequence[ToolSchema]) -> Any: ...

    def response_in(self, response: Any) -> ProviderResponse: ...


RETAINED = (
    "initialize",
    "connect",
    "verify_auth",
    "count_tokens",
    "context limit",
    "usage",
    "serialisers",
    "agent context",
    "thinking",
    "error classification",
    "shutdown",
)
"""What a provider does beside answering. It stays when the history moves to the session."""


@dataclass(frozen=True, slots=True)
class Binding:
    """How turnproof opens one adapter.

    `open_stateless` and `open_legacy` take an `Endpoint` and return a ready provider; None means that the
    adapter has no such path. `signature` is the published form of `complete()` it has: `full` (keyword-only
    options, `on_function_call`), or `short` (the same options by position, without `on_function_call`).
    `errors` says whether failures are raised or come back as an `Outcome`-shaped object. `cache_plugin` makes the
    plugin that goes with an opened provider (which a managed cache needs, to create caches through it).
    `plain_calls` are the official SDK's own calls, by name, that benchmarks hold the adapter against.
    `delegated` says that one `complete()` is a whole run of an agent, which calls its tools itself: whoever calls it
    gets no tool calls to answer. `retained` has, for those of `RETAINED` that are not called as the contract has them,
    a function of the object that the opener returned. It calls the thing in the adapter's own way, and raises, or
    returns False, if it does not work. `reproducer` writes calls of the library behind the adapter in the library's own
    API, for `turnproof reproduce`; None where the adapter itself is the library. `migrated` is the adapter as it is
    when its migration is over, where a package ships both forms: `NAME.migrated` names it. From phase 4 on, gates take
    it for the reference session.
    """

    name: str
    dialect: str
    model: str
    capabilities: Capabilities | Callable[[str], Capabilities]
    open_stateless: Callable[[Endpoint], Any] | None = None
    open_legacy: Callable[[Endpoint], Any] | None = None
    declared: Sequence[Difference] = ()
    signature: Literal["full", "short"] = "full"
    errors: Literal["raised", "returned"] = "raised"
    cache_plugin: Callable[[Any], Any] | None = None
    plain_calls: Mapping[str, Callable[[Endpoint, Conversation], PlainCall]] = field(default_factory=dict)
    delegated: bool = False
    retained: Mapping[str, Callable[[Any], object]] = field(default_factory=dict)
    options: Mapping[str, Any] = field(default_factory=dict)
    package: str | None = None
    reproducer: Reproducer | None = None
    migrated: Binding | None = None

    def __post_init__(self) -> None:
        """Raise BindingError for a field that is not what it is for: where it is written, and not where it is used."""
        for name in ("name", "dialect", "model"):
            self._demand(name, isinstance(getattr(self, name), str) and bool(getattr(self, name)), "a word")
        known = isinstance(self.capabilities, Capabilities) or callable(self.capabilities)
        self._demand("capabilities", known, "Capabilities, nor a function of the model that gives some")
        for name in ("open_stateless", "open_legacy", "cache_plugin"):
            value = getattr(self, name)
            self._demand(name, value is None or callable(value), "a function")
        listed = isinstance(self.declared, Sequence) and all(isinstance(one, Difference) for one in self.declared)
        self._demand("declared", listed, "a list of Difference")
        self._demand("signature", self.signature in ("full", "short"), "'full' or 'short'")
        self._demand("errors", self.errors in ("raised", "returned"), "'raised' or 'returned'")
        for name in ("plain_calls", "options", "retained"):
            self._demand(name, isinstance(getattr(self, name), Mapping), "a mapping")
        known = self.reproducer is None or isinstance(self.reproducer, Reproducer)
        self._demand("reproducer", known, "a Reproducer, which has `packages` and `code()`")
        bound = self.migrated is None or isinstance(self.migrated, Binding)
        self._demand("migrated", bound, "another Binding")
        known_names = f"a mapping with some of {', '.join(RETAINED)}"
        self._demand("retained", set(self.retained) <= set(RETAINED), known_names)

    def _demand(self, name: str, holds: bool, what: str) -> None:
        if not holds:
            raise BindingError(f"binding {self.name!r}: {name} is {getattr(self, name)!r:.80}, not {what}")

    def claims(self, model: str | None = None) -> Capabilities:
        """The capabilities claimed for a model (the binding's own by default)."""
        if callable(self.capabilities):
            return self.capabilities(model or self.model)
        return self.capabilities

    def opener(self, path: Path) -> Callable[[Endpoint], Any] | None:
        """The function that opens a path, or None where the adapter lacks it."""
        return self.open_stateless if path == "stateless" else self.open_legacy
