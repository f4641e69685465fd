"""The legacy path: the service owns the history, as a chain of stored interactions.

A request names the interaction that it goes on from and has only what is new since. A list mirrors what the service
holds, and `get_history()` returns it; where the chain cannot be gone on with, the conversation is sent again from that
list. The head of the chain is the last interaction that came to its end: never one that failed, was blank, cut off or
cancelled. It is dropped when another model is used, when a new conversation begins, and when the service has forgotten
it. System text, tools and settings do not carry over from one interaction to the next; they are sent each time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

from google import genai
from google.genai import _interactions as sdk

from turnproof.cancel import CancelToken
from turnproof.errors import TransportError
from turnproof.messages import FinishReason, Message, ProviderResponse, Text, ToolSchema, thaw

from .._answers import Listeners
from .._calling import Prompt, Source
from .._decoding import convert_to
from .._encoded_messages import encode
from .._legacy import OwnHistory, Schema
from .._names import tool_names
from ..google_genai.names import restorer
from .convert import Step
from .lifecycle import InteractionsProvider
from .steps import Arrangement, row
from .wire import Event, Interaction

T = TypeVar("T")

FORGOTTEN = (403, 404)
"""Statuses under which an interaction is not, or no longer, kept: 403 was seen (googleapis/js-genai#1389)."""

_ENDED = ("completed", "requires_action")


@dataclass(frozen=True, slots=True)
class Head:
    """The interaction that the chain ends in. The service holds the first `messages` of the conversation for it."""

    id: str
    model: str
    messages: int


class InteractionsChain(OwnHistory, InteractionsProvider):
    """A conversation that the service keeps. One object holds one conversation and serves one thread at a time."""

    def __init__(self) -> None:
        super().__init__()
        self._head: Head | None = None
        self._ended_id: str | None = None

    def _begin(self, history: list[Message], tools: tuple[ToolSchema, ...]) -> None:
        super()._begin(history, tools)
        self._head = None

    def _turn(
        self, said: Message, response_schema: Schema | None, listeners: Listeners, token: CancelToken | None
    ) -> ProviderResponse:
        self._ended_id = None
        response = super()._turn(said, response_schema, listeners, token)
        if self._ended_id is not None and _can_be_continued(response):
            self._head = Head(self._ended_id, self._require_model(), len(self._history))
        return response

    def _call(self, prompt: Prompt, listeners: Listeners, token: CancelToken | None) -> ProviderResponse:
        client = self._require_client()
        if token is not None:
            token.raise_if_cancelled()
        restore = restorer(partial(tool_names, prompt.messages, prompt.tools))
        return self._caller.call(
            partial(self._continuing_chain, client, prompt, self._ask),
            partial(self._continuing_chain, client, prompt, self._open),
            restore,
            listeners,
            token,
        )

    def _continuing_chain(
        self, client: genai.Client, prompt: Prompt, send: Callable[[genai.Client, Mapping[str, Any]], T]
    ) -> T:
        """A request that goes on from the head; where the service has forgotten that, one with the whole
        conversation."""
        try:
            return send(client, self._request(prompt))
        except sdk.APIStatusError as error:
            if self._head is None or error.status_code not in FORGOTTEN or _is_kept(client, self._head.id):
                raise
        self._head = None
        return send(client, self._request(prompt))

    def _request(self, prompt: Prompt) -> dict[str, Any]:
        """A request for the SDK's own call, without the messages that the service holds for the head."""
        settings = self._settings()
        if self._head is not None and self._head.model != settings.model:
            self._head = None
        head = self._head
        arrangement: Arrangement[Step] = Arrangement(_as_it_is)
        known = 0
        for place, message in enumerate(prompt.messages, 1):
            arrangement.add(row(message, _as_it_is, settings.model))
            if head is not None and place == head.messages:
                known = arrangement.pass_answer()
        fields = settings.fields(prompt, store=True)
        if head is not None:
            fields["previous_interaction_id"] = head.id
        request: dict[str, Any] = thaw({"model": settings.model, "input": arrangement.finish()[known:], **fields})
        # The SDK would escape what is no text, and the service would get another one.
        encode(request)
        # It would go on by itself where a service stops: every request is the session's affair.
        return request | {"automatic_continuation": False}

    def _ask(self, client: genai.Client, request: Mapping[str, Any]) -> Interaction:
        told = _read(client.interactions.create(**request), Interaction)
        self._note(told)
        return told

    def _open(self, client: genai.Client, request: Mapping[str, Any]) -> Source[Event]:
        stream = client.interactions.create(**request, stream=True)
        return Source(self._noted(_read(event, Event) for event in stream), stream.close)

    def _noted(self, events: Iterator[Event]) -> Iterator[Event]:
        for event in events:
            if event.event_type == "interaction.completed" and event.interaction is not None:
                self._note(event.interaction)
            yield event

    def _note(self, told: Interaction) -> None:
        """Remember the id of an interaction that came to its end."""
        self._ended_id = told.id if told.status in _ENDED else None


def _as_it_is(step: Step) -> Step:
    """The form that the SDK's own call takes."""
    return step


def _read(answer: Any, kind: type[T]) -> T:
    """An answer of the SDK's as one of ours. Raises TransportError for what is none."""
    try:
        if hasattr(answer, "model_dump"):
            return convert_to(answer.model_dump(mode="json", exclude_none=True), kind)
        why = f"{type(answer).__name__} where an object belongs"
    except (ValueError, RecursionError) as error:
        why = f"{type(error).__name__}: {error}"
    # Raised out here: what the error may quote is not attached.
    raise TransportError(f"the SDK read what is no answer ({why:.200})", status=200)


def _is_kept(client: genai.Client, name: str) -> bool:
    """Whether the service still has an interaction: what it refuses under these statuses may be something else."""
    try:
        client.interactions.get(id=name)
    except sdk.APIStatusError as error:
        return error.status_code not in FORGOTTEN
    return True


def _can_be_continued(response: ProviderResponse) -> bool:
    """Whether the service holds of an answer what a later request would send of it, and all its calls can be answered.

    A blank answer is never sent again, and two calls under one id cannot be told apart.
    """
    ids = [call.id for call in response.calls]
    is_blank = any(isinstance(part, Text) and not part.text.strip() for part in response.parts)
    was_cancelled = response.finish_reason is FinishReason.CANCELLED
    return bool(response.parts) and not is_blank and not was_cancelled and len(set(ids)) == len(ids)
