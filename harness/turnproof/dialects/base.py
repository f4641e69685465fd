"""The values that a dialect takes and returns, the same for every wire API: requests and calls, rules and refusals,
scripted replies and written answers.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from enum import StrEnum
from itertools import islice
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, Self, TypeAlias, get_args

from .._base.moved import refuse_moved_name
from ..messages import (
    JSON,
    FinishReason,
    FunctionCall,
    Message,
    Opaque,
    Part,
    Text,
    Thought,
    TokenUsage,
    ToolSchema,
    thaw,
)
from ..tokens import json_tokens, text_tokens


class Evidence(StrEnum):
    """Where a wire rule is known from, strongest first (the marks of the fact sheets)."""

    RECORDED = "REC"
    DOCUMENTED = "DOC"
    CLIENT = "SDK"
    SERVER = "SRC"
    ISSUE = "ISSUE"
    INFERRED = "INF"


NO_HEADERS: Mapping[str, str] = MappingProxyType({})


SOCKET_METHOD = "WEBSOCKET"
"""What a message on a WebSocket has in place of a method."""


@dataclass(frozen=True, slots=True)
class HttpRequest:
    """A request as it arrived, its path relative to the provider's host. Header names are lower case.

    The path has single slashes: a base URL that ends in one, and a path that begins with one, are no other address.

    A message on a WebSocket is a request too: its method is `SOCKET_METHOD`, path, query and headers are those of the
    handshake, and `connection` is the number of the connection. None means that nobody counted.
    """

    method: str
    path: str
    query: Mapping[str, str]
    headers: Mapping[str, str]
    body: bytes
    connection: int | None = None

    def __post_init__(self) -> None:
        if "//" in self.path:
            object.__setattr__(self, "path", re.sub("/{2,}", "/", self.path))


@dataclass(frozen=True, slots=True)
class Source:
    """A public place that shows a rule: `day` is when it was read (`2026-11-26`).

    `quote` has the service's own words as a thread pastes them, `…` where the request's own values stand. Of an issue
    it is the proof: without it one thread is one person's opinion.
    """

    kind: Evidence
    address: str
    day: str
    quote: str = ""

    @property
    def shows_refusal(self) -> bool:
        """Whether this place alone shows that the service refuses."""
        return self.kind is not Evidence.ISSUE or bool(self.quote)

    @property
    def repository(self) -> str:
        """The project whose thread or file it is, or the site of a page."""
        return "/".join(self.address.split("/")[: 5 if "//github.com/" in self.address else 3])


@dataclass(frozen=True, slots=True)
class Rule:
    """One thing the API insists on. `id` is stable (`anthropic-messages/orphan-result`).

    `sources` show it, and decide whether it is enforced; `note` says what they leave open. A `silent` rule is no
    refusal: the API does something about such a request that it does not tell. A `denied` one was seen not to hold at
    the vendor's own service.
    """

    id: str
    sources: tuple[Source, ...] = ()
    note: str = ""
    silent: bool = False
    denied: bool = False

    @property
    def evidence(self) -> Evidence:
        """The strongest kind of its sources: a rule without any is a guess."""
        return min((each.kind for each in self.sources), key=list(Evidence).index, default=Evidence.INFERRED)

    @property
    def is_shown(self) -> bool:
        """Whether a third party can confirm it: one place that shows the refusal, or threads of two projects."""
        return any(each.shows_refusal for each in self.sources) or len({each.repository for each in self.sources}) > 1

    @property
    def enforced(self) -> bool:
        """Whether the emulator refuses for it. Any other rule is logged, and the request is accepted."""
        return self.is_shown and not self.silent and not self.denied


@dataclass(frozen=True, slots=True)
class Refusal:
    """The API says no. `retry_after` is in seconds; each dialect says it in its own way (a header, a body field).

    `outdated` says that time alone made it so: a session token that was issued here has ended. Nobody is at fault, and
    a client asks for another one. `unlisted` says that what is refused stands in no list of ours: it may be newer
    than them, so the refusal is only logged. `unseen` says that this surface of the API was not seen refusing it, where
    another one was: it is only logged, too.
    """

    rule: Rule
    status: int
    kind: str
    message: str
    path: str = "$"
    retry_after: float | None = None
    outdated: bool = False
    unlisted: bool = False
    unseen: bool = False

    @property
    def enforced(self) -> bool:
        """Whether the service's refusal of just this is shown: else it is logged and the request is accepted."""
        return self.rule.enforced and not (self.unlisted or self.unseen)


ErrorMeaning: TypeAlias = Literal[
    "authentication",
    "cache-expired",
    "content-filter",
    "context-limit",
    "invalid-request",
    "overloaded",
    "oversized",
    "rate-limit",
]
"""What an error answer means where its status does not tell. `oversized` is a request that is over a limit by itself:
it is refused in the words of a rate limit, but waiting does not help."""

Trait: TypeAlias = Literal[
    "blocked-prompts",
    "call-id-form",
    "calls-in-pieces",
    "early-usage",
    "error-flags",
    "held-history",
    "items-by-id",
    "key-checks",
    "limited-cache-marks",
    "malformed-arguments",
    "named-limits",
    "numbered-blocks",
    "refusals",
    "refuses-blanks",
    "refuses-broken-pairs",
    "refuses-long-prompts",
    "repeated-usage",
    "results-first",
    "seals-on-request",
    "server-tools",
    "signed-thinking",
    "summarised-reasoning",
    "text-blocks",
]
"""What not every wire API has, and some scenarios, requirements and mutants are about: prompts that are blocked under
status 200, and calls that the service itself finds malformed; that ids of calls have a form that is insisted on; calls
that stream in fragments and can be cut in two; that a stream tells what the prompt took while it goes on; a mark for a
tool that failed; that the service can hold the conversation, so that a request names the answer that it goes on from;
that a request can name a part of a stored answer by its id; that a key is asked for; that the marks of a prompt cache
may be only so many, and each has a life, also on tools; that a call may come with arguments which are no JSON; that an
answer which its limit of tokens cut says so; that each event of a stream names its block or its call, so that these may
overlap; that an answer says when it is a refusal; that a block which says nothing is refused; that a call without its
result, or a result without its call, is refused; that a prompt which does not fit is refused, not cut without a word;
that a stream has figures of usage in more than one place; that nothing may stand before the results in their message;
that thoughts which are not stored come sealed only where the request asks for it; tools that the service runs by
itself, within an answer; that what was thought is signed or sealed, and wanted back like that; that reasoning goes back
with a summary, even if it is empty; that texts of one answer keep their borders."""

TRAITS: tuple[Trait, ...] = get_args(Trait)

Operation: TypeAlias = Literal[
    "generate", "count_tokens", "list_models", "get_model", "cache", "stored", "authenticate", "connect", "other"
]
"""`connect` opens a WebSocket.
`stored` is about a conversation or an answer that the service keeps: read, deleted, cancelled, made shorter.
`authenticate` is the exchange of one credential for another: what it says, in either direction, is kept nowhere."""


Action: TypeAlias = Literal["", "create", "get", "list", "update", "delete", "cancel", "compact"]


@dataclass(frozen=True, slots=True)
class Call:
    """A request in neutral form, read by the dialect on its own.

    `messages` carry the names and ids that stood on the wire; results come as their own `tool` message, in front
    of the text that shared their wire message. `system` lists the system texts in order. `body` is the parsed
    JSON (None for a GET). `settings` are the sampling and output settings that stood beside the conversation.

    For an operation on a managed cache, or on a conversation or answer that the service stores, `action` is the
    operation (`create`, `get`, `list`, `update`, `delete`, `cancel`, `compact`) and `resource` the name of its object.
    A generating call that names a managed cache has it as `resource`; `system`, `tools` and `messages` then begin with
    what the cache holds, and `managed_messages` says how many of the messages that is; the same goes for one that names
    a stored answer or conversation. `in_conversation` says that `resource` is a conversation, which takes in what the
    request has and its answer. `kept_answer` says that the service stores the answer, so that a later request can
    name it; `connection_holds` that the connection by which the request came has it in its memory, so that a later one
    on this connection can. `looked_up` has what the request only names of single items that the service is to look up.
    """

    operation: Operation
    model: str | None = None
    stream: bool = False
    system: tuple[Part, ...] = ()
    tools: tuple[ToolSchema, ...] = ()
    messages: tuple[Message, ...] = ()
    body: JSON = None
    settings: Mapping[str, Any] = field(default_factory=dict)
    action: Action = ""
    resource: str | None = None
    managed_messages: int = 0
    in_conversation: bool = False
    kept_answer: bool = False
    connection_holds: bool = False
    looked_up: tuple[str, ...] = ()

    @classmethod
    def from_call(cls, call: Call) -> Self:
        """A call as one of the dialect whose class this is; a plain one has defaults for the fields that it lacks."""
        if isinstance(call, cls):
            return call
        return cls(**{each.name: getattr(call, each.name) for each in fields(Call)})


@dataclass(frozen=True, slots=True)
class ModelFacts:
    """What the service knows of a model. Ages fast, so it is data with a date (`dialects/models.json`)."""

    id: str
    context_tokens: int
    max_output_tokens: int
    cache_minimum_tokens: int = 1024
    alias_of: str | None = None
    features: frozenset[str] = frozenset()


@dataclass(slots=True)
class World:
    """What the service knows beyond the request: keys, models, what it has issued, and the time.

    `issued` maps a signature (or encrypted block) to the digest of what it signs and the model that issued it.
    `unreachable_urls` are URLs the service cannot fetch. `resources` holds what callers have created and can name
    (managed caches), in the dialect's own form. `clock` returns seconds; tests move it. `owners` numbers the keys by
    which requests came, `owned` says whose a name is, and `owner` is who sees this world (`owners.py`).
    """

    keys: frozenset[str]
    models: Mapping[str, ModelFacts]
    clock: Callable[[], float]
    issued: dict[str, tuple[str, str]] = field(default_factory=dict)
    unreachable_urls: frozenset[str] = frozenset()
    resources: dict[str, Any] = field(default_factory=dict)
    any_key: bool = False
    owners: dict[str, int] = field(default_factory=dict, repr=False)
    owned: dict[str, int] = field(default_factory=dict)
    owner: int = 0

    @classmethod
    def with_any_key(cls, models: Mapping[str, ModelFacts]) -> Self:
        """A new world that takes every key, and whose clock stands still at 0: for what is read outside a run."""
        return cls(keys=frozenset(), models=models, clock=lambda: 0.0, any_key=True)

    def forget_oldest(self, *, names: int, signatures: int) -> None:
        """Keep so many of what was given to an owner under a name, and of what was signed: those that came last."""
        for name in [*islice(self.owned, max(0, len(self.owned) - names))]:
            del self.owned[name]
            self.resources.pop(name, None)
            self.issued.pop(name, None)
        for signature in [*islice(self.issued, max(0, len(self.issued) - signatures))]:
            del self.issued[signature]


CALL_TOKENS = 8
"""What a call costs to say beside its name and its arguments."""


@dataclass(frozen=True, slots=True)
class ReplyPart:
    """One scripted part and the pieces in which a stream delivers it (text pieces, or pieces of argument JSON).

    Empty `pieces` means: the dialect cuts it at deterministic, awkward places. `broken` cuts a call's arguments
    off after its pieces (the output limit was reached inside the call).
    """

    part: Part
    pieces: tuple[str, ...] = ()
    broken: bool = False

    @property
    def tokens(self) -> int:
        """Tokens that the part costs to say; thinking that is not shown has been thought all the same."""
        match self.part:
            case Text(text=text) | Thought(text=text):
                return text_tokens(text) or 1
            case FunctionCall(name=name, args=args):
                return text_tokens(name) + json_tokens(args) + CALL_TOKENS
            case Opaque(data=data):
                return json_tokens(data)
            case _:
                return 1

    def own_block(self, dialect: str) -> dict[str, Any] | None:
        """The part as that dialect spells it, where it is scripted as a block of its own; None for any other part."""
        if not isinstance(self.part, Opaque):
            return None
        block = {dialect: self.part.data} if self.part.dialect == dialect else self.part.data
        return thaw(block[dialect]) if dialect in block else None


FIGURES = ("fresh", "cache_read", "cache_write", "output", "thinking")
"""Figures of usage that a script may set: parts of the prompt, the whole output, and the thinking within it."""


@dataclass(frozen=True, slots=True)
class Reply:
    """What the model answers to one request, in neutral form. `usage` overrides single `FIGURES`."""

    parts: tuple[ReplyPart, ...]
    finish: FinishReason
    raw_finish: str | None = None
    usage: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class WantedAnswer:
    """What a script wants of a model that does not follow it: a call of one `tool`, by its name in the request, or no
    call; and, where the answer has to reach its limit, that limit."""

    tool: str | None = None
    no_call: bool = False
    most_tokens: int | None = None


EventKind: TypeAlias = Literal[
    "start",
    "block_start",
    "text",
    "thinking",
    "signature",
    "args",
    "block_end",
    "usage",
    "end",
    "ping",
    "error",
    "body",
]


@dataclass(frozen=True, slots=True)
class WireEvent:
    """The unit in which a response is written, cut and held: one event of a stream (an SSE event, a line of JSON), or
    one whole body (`body`).

    `text` is the visible text that this event adds.
    """

    data: bytes
    kind: EventKind
    text: str = ""


@dataclass(frozen=True, slots=True)
class Rendered:
    """An answer ready to be written."""

    status: int
    headers: Mapping[str, str]
    events: tuple[WireEvent, ...]

    @property
    def body(self) -> bytes:
        """The bytes of all events."""
        return b"".join(event.data for event in self.events)


@dataclass(frozen=True, slots=True)
class PromptUsage:
    """How a prompt was counted: `fresh + cache_read + cache_write_5m + cache_write_1h` is the whole of it."""

    fresh: int
    cache_read: int = 0
    cache_write_5m: int = 0
    cache_write_1h: int = 0

    @property
    def whole(self) -> int:
        return self.fresh + self.cache_read + self.cache_write_5m + self.cache_write_1h


@dataclass(frozen=True, slots=True)
class WireAnswer:
    """A response in neutral form, read from its bytes alone.

    `complete` is False where the end marker of a stream is missing. `error` is set for error answers, also for an
    error event under status 200 (its kind is empty where the API has words alone); `parts` then holds what came before
    it. Calls whose arguments never became complete JSON are counted in `broken_calls` and are not among the parts.
    `model` is the model that answered, in the API's words, where the answer names it.
    `finish` is what the whole answer says; `finish_word` is what the API's finish word alone means, if the
    answer has a refusal in another field and the word of an ordinary end; else None. `names` are what a service that
    stores answers knows this one by: its own id first, then those of its items.
    """

    status: int
    parts: tuple[Part, ...] = ()
    usage: TokenUsage | None = None
    finish: FinishReason | None = None
    raw_finish: str | None = None
    finish_word: FinishReason | None = None
    complete: bool = True
    broken_calls: int = 0
    error_kind: str | None = None
    error_message: str | None = None
    retry_after: float | None = None
    names: tuple[str, ...] = field(default=(), compare=False)
    model: str | None = None


@dataclass(frozen=True, slots=True)
class WireDifference:
    """One place where the wire is not what the session holds.

    `what` is a stable word (`lost-text`, `lost-call`, `lost-result`, `order`, `pairing`, `lost-signature`,
    `changed-args`, `lost-attachment`, `lost-error-flag`, `system`, `tools`, `invented`, `unlisted`). `violation` is
    True for losses and inventions; a difference that is neither listed as allowed nor a loss is only unlisted.
    `path` is the place in what is held, or in what was sent where nothing is held (`$.sent.messages[3]`). `sent_path`
    is that of the counterpart on the sent side; of what is missing there the message in which it belongs, or all
    messages where none of its own message was sent.
    """

    what: str
    path: str
    held: JSON
    sent: JSON
    violation: bool
    sent_path: str = ""


@dataclass(frozen=True, slots=True)
class AllowedDifference:
    """An entry of the dialect's list of differences that are right, with its evidence."""

    name: str
    reason: str
    evidence: Evidence
    source: str


@dataclass(frozen=True, slots=True)
class Service:
    """The real service: where the environment says how to reach it, and what of its traffic may be kept.

    Of `key_variables` the first that is set counts. Header and parameter names are lower case and come on top of
    `accept`, `content-type` and `retry-after`, which are kept everywhere; nothing that authenticates belongs here.
    `base_path` is what the official client's base URL has behind the host (`/v1`).
    """

    key_variables: tuple[str, ...]
    base_url_variable: str
    request_headers: frozenset[str] = frozenset()
    response_headers: frozenset[str] = frozenset()
    query_parameters: frozenset[str] = frozenset()
    base_path: str = ""


if not TYPE_CHECKING:

    def __getattr__(name: str) -> object:
        """For one release: the protocols that stand in `contract` now are refused with their new address."""
        refuse_moved_name(__name__, name)
