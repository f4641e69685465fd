"""Rewriting proxies for requests as each API has them, where freedoms are not the same on every API."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from dataclasses import replace

import msgspec

from turnproof.dialects.base import HttpRequest

from ..mutants import Rewriting, Wire
from ..mutants._wire import Json


class OfEachAPI(Rewriting):
    """A method for each API changes the body in place, in the form in which it goes over the wire."""

    def change_messages(self, body: Json) -> None:
        """Change a request to Anthropic's Messages API."""

    def change_chat(self, body: Json) -> None:
        """Change a request to the chat completions API."""

    def change_responses(self, body: Json) -> None:
        """Change a request to the Responses API."""

    def change_gemini(self, body: Json) -> None:
        """Change a request to the Gemini API."""

    def change_http_request(self, wire: Wire, request: HttpRequest) -> HttpRequest:
        ends = {
            "/messages": self.change_messages,
            "/chat/completions": self.change_chat,
            "/responses": self.change_responses,
            "enerateContent": self.change_gemini,
        }
        change = next((each for end, each in ends.items() if request.path.endswith(end)), None)
        if change is None:
            return request
        before = msgspec.json.decode(request.body)
        body = copy.deepcopy(before)
        change(body)
        return request if body == before else replace(request, body=msgspec.json.encode(body))


def blocks_of_all(messages: list[Json]) -> Iterator[Json]:
    """The blocks of all messages whose content is a list."""
    for message in messages:
        if isinstance(message.get("content"), list):
            yield from message["content"]
