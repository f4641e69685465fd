"""The legacy path: the service owns the history, as a chain of stored interactions (`_chain`).

System text, tools and settings do not carry over from one interaction to the next; they are sent each time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any, TypeVar

from google import genai
from google.genai import _interactions as sdk

from turnproof.cancel import CancelToken
from turnproof.errors import UsageError
from turnproof.messages import ProviderResponse, thaw

from .._answers import Listeners
from .._calling import Prompt, Source
from .._chain import Chain, Head
from .._encoded_messages import encode
from .._names import tool_names
from .._resumed_stream import Position
from ..google_genai.names import restorer
from .background import BackgroundInteractions, is_not_kept, read_typed
from .convert import Step
from .steps import Arrangement, row
from .wire import Event, Interaction

T = TypeVar("T")

_ENDED = ("completed", "requires_action")


class InteractionsChain(Chain, BackgroundInteractions):
    """A conversation that the service keeps. One object holds one conversation and serves one thread at a time."""

    def _call(self, prompt: Prompt, listeners: Listeners, token: CancelToken | None) -> ProviderResponse:
        client = self._require_client()
        if token is not None:
            token.raise_if_cancelled()
        if self._is_in_background and not self._stores:
            raise UsageError("an answer in the background has to be stored, and ChainPolicy(store=False) forbids that")
        restore = restorer(partial(tool_names, prompt.messages, prompt.tools))
        return self._request_answer(
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
        return self._continuing(lambda: send(client, self._request(prompt)), partial(_is_about_what_is_gone, client))

    def _request(self, prompt: Prompt) -> dict[str, Any]:
        """A request for the SDK's own call, without the messages that the service holds for the head."""
        settings = self._settings()
        head = self._head_for(settings.model)
        arrangement: Arrangement[Step] = Arrangement(_as_it_is)
        known = 0
        for place, message in enumerate(prompt.messages, 1):
            arrangement.add(row(message, _as_it_is, settings.model))
            if head is not None and place == head.messages:
                known = arrangement.pass_answer()
        fields = settings.fields(prompt, store=self._stores)
        if head is not None:
            fields["previous_interaction_id"] = head.id
        if self._is_in_background:
            fields["background"] = True
        request: dict[str, Any] = thaw({"model": settings.model, "input": arrangement.finish()[known:], **fields})
        # The SDK would escape what is no text, and the service would get another one.
        encode(request)
        # It would go on by itself where a service stops: every request is the session's affair.
        # The SDK refuses to be told so of one in the background, which it never continues.
        return request if self._is_in_background else request | {"automatic_continuation": False}

    def _delete_stored(self, name: str) -> None:
        client = self._require_client()

        def delete() -> None:
            try:
                client.interactions.delete(id=name)
            except sdk.APIStatusError as error:
                if not is_not_kept(error):
                    raise

        self._caller.simple(delete)

    def _ask(self, client: genai.Client, request: Mapping[str, Any]) -> Interaction:
        interaction = read_typed(client.interactions.create(**request), Interaction)
        self._note(interaction)
        return interaction

    def _open(self, client: genai.Client, request: Mapping[str, Any]) -> Source[Event]:
        stream = client.interactions.create(**request, stream=True)
        return Source(self._note_ids(read_typed(event, Event) for event in stream), stream.close)

    def _retrieve(self, name: str) -> Interaction:
        interaction = super()._retrieve(name)
        self._note(interaction)
        return interaction

    def _follow(self, name: str, last: Position | None = None) -> Source[Event]:
        source = super()._follow(name, last)
        return Source(self._note_ids(source.events), source.close)

    def _note_ids(self, events: Iterator[Event]) -> Iterator[Event]:
        for event in events:
            if event.interaction is not None:
                self._note_id(event.interaction.id)
                if event.event_type == "interaction.completed":
                    self._note(event.interaction)
            yield event

    def _note(self, interaction: Interaction) -> None:
        """Remember the id of an interaction that came to its end."""
        self._note_id(interaction.id)
        self._completed_id = interaction.id if interaction.status in _ENDED else None


def _as_it_is(step: Step) -> Step:
    """The form that the SDK's own call takes."""
    return step


def _is_about_what_is_gone(client: genai.Client, error: Exception, head: Head) -> bool:
    """Whether a refusal is about the head of the chain: under the same statuses the service refuses other things, so it
    is asked whether it still has the interaction."""
    return is_not_kept(error) and not _is_kept(client, head.id)


def _is_kept(client: genai.Client, name: str) -> bool:
    try:
        client.interactions.get(id=name)
    except sdk.APIStatusError as error:
        return not is_not_kept(error)
    return True
