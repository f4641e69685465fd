"""Answers that are lists of typed items, whole or growing event by event: the Responses and the Interactions API."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Generic, Protocol, TypeAlias, TypeVar

from turnproof.errors import PayloadError, ProviderError, TransportError
from turnproof.messages import Part

from ._answers import Listeners, stands_alone
from ._calling import Caller, ConversationCaller
from ._characters import Joiner

Restore: TypeAlias = Callable[[str], str]
"""From a tool's wire name to its own."""

Failure = TypeVar("Failure")
Failure_contra = TypeVar("Failure_contra", contravariant=True)
Answer = TypeVar("Answer")
Event = TypeVar("Event")


class ErrorMapper(Protocol[Failure_contra]):
    """Turns failures into errors of the contract: exceptions of the SDK, and failures that an answer reports."""

    def exception(self, error: Exception, /) -> ProviderError: ...

    def failure(self, wire_failure: Failure_contra, /) -> ProviderError: ...


class ItemsCaller(ConversationCaller[Answer, Event, Restore], Generic[Answer, Event, Failure]):
    """Makes calls for one provider. `error_mapper` gives the errors for its failures; `failures` are its exceptions."""

    failures: ClassVar[tuple[type[Exception], ...]]

    def __init__(self, error_mapper: ErrorMapper[Failure]) -> None:
        super().__init__(Caller(self.failures, error_mapper.exception, stands_alone))
        self._failed = error_mapper.failure


@dataclass(slots=True)
class OpenItem:
    """An item that is still growing: its shell from the opening event, and the pieces that came since."""

    spoken_kinds: ClassVar[tuple[str, ...]] = ()

    shell: dict[str, Any]
    arguments: list[str] = field(default_factory=list)
    joiner: Joiner = field(default_factory=Joiner)

    @property
    def kind(self) -> str:
        """Its type, as far as it says one."""
        kind = self.shell.get("type")
        return kind if isinstance(kind, str) else ""

    @property
    def is_words(self) -> bool:
        """Whether it is shown as it grows, and makes sense without its end."""
        return self.kind in self.spoken_kinds


class ItemsAssembler(Generic[Failure]):
    """What reading a streamed answer begins with. `complete` turns true with the event that ends the answer, `failure`
    is set by one that breaks it.

    `failed` makes the error for a failure as the API words it.
    """

    def __init__(self, restore: Restore, listeners: Listeners, failed: Callable[[Failure], ProviderError]) -> None:
        self.complete = False
        self.failure: ProviderError | None = None
        self._failed = failed
        self._restore = restore
        self._listeners = listeners
        self._model = ""
        self._malformed: list[str] = []


def parts_of_item(found: Iterable[Part]) -> tuple[Part, ...]:
    """The parts that a finished item is, read to their end.

    Raises ValueError for a call whose arguments are not an object, and for anything in an item that JSON cannot carry:
    it must not be run, and cannot be sent back.
    """
    try:
        return tuple(found)
    except PayloadError:
        raise ValueError("it holds what JSON cannot carry") from None


def parts_of_answer(
    items: Iterable[Mapping[str, Any]],
    parts: Callable[[Mapping[str, Any]], Iterable[Part]],
    unreadable: Callable[[Mapping[str, Any]], str],
    *,
    cut_off: bool,
) -> list[Part]:
    """The parts of an answer that came whole. An item that `parts` raises ValueError for is left out where the answer
    was cut off; otherwise a TransportError says what is wrong with it."""
    found: list[Part] = []
    for item in items:
        try:
            found += parts(item)
        except ValueError:
            if not cut_off:
                raise TransportError(f"the service sent {unreadable(item)}") from None
    return found


def refuse_unfinished(
    malformed: Iterable[str], items: Mapping[int, OpenItem | tuple[Part, ...]], noun: str = "item"
) -> None:
    """Raises TransportError for an answer with an item that no part can be made of, or that nothing ended: words may
    stop anywhere, a call may not. `noun` is what the API calls an item."""
    for fault in malformed:
        raise TransportError(f"the service sent {fault}")
    for place, item in items.items():
        if isinstance(item, OpenItem) and not item.is_words:
            raise TransportError(f"the service did not end {noun} {place!r:.40} of its answer")


def unreadable(item: Mapping[str, Any], noun: str = "an item") -> str:
    """What is wrong with an item that no part can be made of, for an error."""
    if item.get("type") == "function_call":
        return f"malformed arguments for a call of {item.get('name')!r:.80}"
    return f"{noun} of type {item.get('type')!r:.80} that cannot be kept"
