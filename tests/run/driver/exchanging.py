"""A small adapter that has its key exchanged for a session token, and, told so, asks with another one."""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from typing import Any

from turnproof.messages import FinishReason, Message, ProviderResponse, Text
from turnproof.provider import Binding, Capabilities, Endpoint

_open = urllib.request.build_opener(urllib.request.ProxyHandler({})).open


class Exchanging:
    """Sends texts, reads texts."""

    def __init__(self, endpoint: Endpoint) -> None:
        self._endpoint = endpoint

    def complete(self, messages: list[Message], *_: Any, **__: Any) -> ProviderResponse:
        url, options = self._endpoint.base_url, self._endpoint.options
        exchange = {"authorization": f"token {self._endpoint.api_key}"}
        with _open(urllib.request.Request(f"{url}/copilot_internal/v2/token", headers=exchange)) as answer:
            token = json.load(answer)["token"]
        headers = {
            "authorization": f"Bearer {options.get('instead', token)}",
            "editor-version": "test/1",
            "content-type": "application/json",
        }
        chat_messages = [{"role": "user", "content": message.text} for message in messages]
        body = json.dumps({"model": self._endpoint.model, "messages": chat_messages}).encode()
        try:
            with _open(urllib.request.Request(f"{url}/chat/completions", body, headers)) as answer:
                choice = json.load(answer)["choices"][0]
        except urllib.error.HTTPError as error:
            return ProviderResponse((Text(f"status {error.code}"),), finish_reason=FinishReason.ERROR)
        return ProviderResponse((Text(choice["message"]["content"]),), finish_reason=FinishReason.STOP)


EXCHANGING = Binding("exchanging", "openai-chat@copilot", "gpt-4.1", Capabilities(), open_stateless=Exchanging)
