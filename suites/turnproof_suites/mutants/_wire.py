"""Where a wire API keeps what mutants break. One implementation a dialect; mutants know this protocol alone."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, ClassVar, Literal, Protocol, TypeAlias

from turnproof.dialects.base import HttpRequest, Rendered, WireEvent
from turnproof.messages import FinishReason

Json: TypeAlias = dict[str, Any]

BlockKind: TypeAlias = Literal["text", "thinking", "redacted", "call", "result", "image", "document", "other"]


class Wire(Protocol):
    """Access to one dialect's JSON. All of it works in place on parsed bodies.

    Methods for requests take a body in the form of `to_messages`: its messages hold blocks, whatever the dialect has in
    their place. `system_key` is the name of the system text, where a service remembers what it was told.
    """

    system_key: ClassVar[str] = ""

    def is_request_for(self, request: HttpRequest) -> bool:
        """Whether this is a request for an answer in this dialect."""

    # Requests

    def to_messages(self, body: Json) -> Json:
        """The body with its conversation as messages of blocks. The argument is not used any more.

        The body itself, where the API has blocks anyway.
        """
        return body

    def from_messages(self, body: Json) -> Json:
        """A body in the form of `to_messages` as it goes over the wire: the body from before, if it was not changed."""
        return body

    def messages(self, body: Json) -> list[Json]:
        """The conversation: the body's own list, to be changed in place."""

    def spoken_by_model(self, message: Json) -> bool:
        """Whether a wire message is the model's."""

    def blocks(self, message: Json) -> list[Json]:
        """A message's blocks: its own list, to be changed in place."""

    def kind(self, block: Json) -> BlockKind:
        """What a block is."""

    def text_block(self, text: str) -> Json:
        """A text block."""

    def blank_block(self) -> Json:
        """A block that says nothing, in the form that the API refuses."""

    def user_message(self, text: str) -> Json:
        """A whole message of the user."""

    def model_message(self, text: str) -> Json:
        """A whole message of the model."""

    def attachments(self, body: Json) -> Iterator[list[Json]]:
        """Every list of blocks in which attachments of tool results stand, to be changed in place."""

    def set_mark(self, block: Json) -> None:
        """Put a cache breakpoint on a block."""

    def clear_mark(self, block: Json) -> None:
        """Take the cache breakpoint away, if there is one."""

    def is_error(self, result: Json) -> bool:
        """Whether a tool result says that the tool failed, in its words where there is no flag."""

    def call_ids(self, body: Json) -> Iterator[tuple[Json, str]]:
        """Every place in a request where a call has its id, as an object and its key."""

    def result_ids(self, body: Json) -> Iterator[tuple[Json, str]]:
        """Every place in a request where a result names its call, as an object and its key."""

    def strip_signature(self, block: Json) -> None:
        """Take the signature of what the model thought away, from whichever block carries it."""

    def drop_thinking(self, message: Json) -> None:
        """Take all that the model thought out of a message, signatures included; encrypted thinking stays."""

    def edit_thinking(self, block: Json, edit: Callable[[str], str]) -> None:
        """Change the text of a thinking block and leave its signature."""

    def tools(self, body: Json) -> list[Json]:
        """The declared tools: the body's own list; empty where there are none."""

    def declared_names(self, body: Json) -> Iterator[tuple[Json, str]]:
        """Every place where a declaration names its tool, as an object and its key."""

    def replayed_names(self, body: Json) -> Iterator[tuple[Json, str]]:
        """Every place in the conversation where a tool's name stands, as an object and its key."""

    def drop_system(self, body: Json) -> None:
        """Take the system text away."""

    def drop_tools(self, body: Json) -> None:
        """Take all tools, and what chooses among them, away."""

    def drop_thinking_setting(self, body: Json) -> None:
        """Take the demand for thinking away."""

    def has_schema(self, body: Json) -> bool:
        """Whether the request demands structured output."""

    def for_other_model(self, request: HttpRequest) -> HttpRequest:
        """The same request to another model of the service."""

    # What the service stores, where it stores anything

    def head(self, body: Json) -> str | None:
        """The id of the answer that a request goes on from, or None."""
        return None

    def set_head(self, body: Json, name: str | None) -> None:
        """Go on from another answer, or from nothing."""
        return

    def let_store(self, body: Json) -> None:
        """Leave it to the service whether it stores the answer, which it then does."""
        return

    def without_what_is_gone(self, refused: Rendered) -> Rendered:
        """A refusal without what tells that the service does not keep the answer which a request goes on from."""
        return refused

    def answer_id(self, document: Json) -> str | None:
        """The id of an answer, where this part of it has one."""
        return None

    def answer_message(self, document: Json) -> Json | None:
        """The whole of what was answered as a message of blocks, where this part of it has all of it."""
        return None

    # Answers

    def document(self, event: WireEvent) -> Json | None:
        """The JSON object that an event or a whole body carries; None where there is none."""

    def with_document(self, event: WireEvent, document: Json) -> WireEvent:
        """The event with another object in it."""

    def calls(self, document: Json) -> Iterator[tuple[Json, str]]:
        """Every place in a part of an answer where a call's id stands, as an object and its key."""

    def final_usage(self, document: Json) -> Json | None:
        """The figures that close an answer, where this part of it has them."""

    def clear_cache_figures(self, usage: Json) -> None:
        """Set the cache counts of a usage object to zero."""

    def finish(self, document: Json) -> FinishReason | None:
        """Why the answer ended, where this part of it says so in a word that mutants use."""

    def set_finish(self, document: Json, reason: FinishReason) -> None:
        """Say that the answer ended for another reason, where this part of it says why."""

    def set_text(self, document: Json, text: str) -> None:
        """Put other words into a part of a stream that adds to a text."""
